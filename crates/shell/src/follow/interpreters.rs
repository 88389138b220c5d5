//! Programs that run code of their own language: which of their words are code, or name a file with code.
//!
//! The code itself is not analysed. It must be in the line, or in a file that the line names: a rule sees the words of the program
//! alone.

use super::checks::is_descriptor;
use super::options::{split_value, take};
use super::others::option_of;
use super::{Result, refuse, unversioned};
use crate::feed::Feed;
use crate::table::listed;
use crate::walk::Walk;
use crate::words::{Field, Hole, Leading};
use crate::{Construct, ShellError};

/// The meaning of an interpreter's operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// The first one is a file with code, and the others are for that.
    Script,
    /// The first one is code, unless an option gives some.
    Code,
    /// Those after the first one are code.
    CodeAfterFirst,
    /// None of them is code.
    Data,
}

/// The words of an interpreter that are code.
#[derive(Debug)]
struct Interpreter {
    names: &'static str,
    /// Options whose value is code.
    code: &'static str,
    /// Options whose value names a file or a module with code.
    files: &'static str,
    /// Short options with a value, here or in the next word; then the long ones.
    values: &'static str,
    long_values: &'static str,
    operands: Operands,
    /// Whether what a program prints may be a part of its code: the replacement of `sed`, which everyday lines make.
    printed: bool,
    /// Whether it reads code from its standard input if its words name none.
    reads: bool,
    /// Options with which it reads code from there in any case.
    interactive: &'static str,
    /// Options with which it only checks the code.
    checks: &'static str,
}

const LANGUAGE: Interpreter = Interpreter {
    names: "",
    code: "-e",
    files: "",
    values: "e",
    long_values: "",
    operands: Operands::Script,
    printed: false,
    reads: true,
    interactive: "",
    checks: "",
};

const TABLE: &[Interpreter] = &[
    Interpreter {
        names: "python pypy",
        code: "-c",
        files: "-m",
        values: "cmWXQ",
        long_values: "check-hash-based-pycs",
        interactive: "-i",
        ..LANGUAGE
    },
    Interpreter {
        names: "perl raku",
        code: "-e -E",
        values: "eEI",
        ..LANGUAGE
    },
    Interpreter {
        names: "ruby",
        values: "eIrEC",
        checks: "-c",
        ..LANGUAGE
    },
    Interpreter {
        names: "node nodejs",
        code: "-e --eval -p --print",
        values: "eprC",
        long_values: "require import loader conditions env-file title",
        interactive: "-i --interactive",
        checks: "-c --check",
        ..LANGUAGE
    },
    Interpreter {
        names: "bun deno",
        code: "-e --eval -p --print",
        values: "eprC",
        long_values: "require import loader conditions env-file title",
        interactive: "-i --interactive",
        ..LANGUAGE
    },
    Interpreter {
        names: "php",
        code: "-r -B -R -E --run --process-begin --process-code --process-end",
        files: "-f -F --file --process-file",
        values: "rBREfFcdztS",
        interactive: "-a --interactive",
        checks: "-l --syntax-check",
        ..LANGUAGE
    },
    Interpreter {
        names: "lua luajit",
        values: "el",
        interactive: "-i",
        ..LANGUAGE
    },
    Interpreter {
        names: "Rscript R osascript ghci ghc irb groovy scala elixir tclsh wish",
        values: "el",
        ..LANGUAGE
    },
    Interpreter {
        names: "julia racket guile expect",
        code: "-e -E -c --eval --print",
        values: "eEcL",
        ..LANGUAGE
    },
    Interpreter {
        names: "awk gawk mawk nawk",
        code: "-e --source",
        files: "-f --file -E --exec -i --include",
        values: "efEivF",
        long_values: "assign field-separator load",
        operands: Operands::Code,
        reads: false,
        ..LANGUAGE
    },
    Interpreter {
        names: "sed gsed",
        code: "-e --expression",
        files: "-f --file",
        values: "efl",
        long_values: "line-length",
        operands: Operands::Code,
        printed: true,
        reads: false,
        ..LANGUAGE
    },
    Interpreter {
        names: "sqlite3 duckdb",
        code: "-cmd -c -s",
        files: "-init -f",
        values: "csf",
        operands: Operands::CodeAfterFirst,
        reads: false,
        ..LANGUAGE
    },
    Interpreter {
        names: "psql mysql mariadb mongosh mongo cqlsh clickhouse-client",
        code: "-c --command -e --execute --eval --query",
        files: "-f --file",
        values: "cefhpUdPFRTvoLu",
        long_values: "host port username dbname output variable user password database",
        operands: Operands::Data,
        reads: false,
        ..LANGUAGE
    },
    Interpreter {
        names: "vi vim nvim view ex emacs gdb lldb",
        code: "-c --cmd -ex -iex -eval --eval --execute -eval-command --eval-command -o --one-line",
        files: "-S -s -x --command -l --load",
        values: "cSsxloTuUiwWtp",
        operands: Operands::Data,
        reads: false,
        ..LANGUAGE
    },
    Interpreter {
        names: "ed red",
        code: "",
        values: "p",
        operands: Operands::Data,
        ..LANGUAGE
    },
];

const CODE: &str = "the code that an interpreter runs";

impl Walk<'_> {
    /// Refuses an interpreter whose code the text does not determine.
    pub(super) fn check_interpreter(
        &self,
        program: &str,
        words: &[Field],
        feed: &Feed,
    ) -> Result<()> {
        let plain = unversioned(program);
        let named = |one: &&Interpreter| listed(one.names, program) || listed(one.names, plain);
        let Some(table) = TABLE.iter().find(named) else {
            return Ok(());
        };
        let mut operands: Vec<&Field> = Vec::new();
        let (mut given, mut interactive, mut ended) = (false, false, false);
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            let text = word.text.as_str();
            if word.hides_option() && !ended {
                return refuse(Construct::Option, word);
            }
            let is_option = text.starts_with('-') && text != "-" && word.hole != Hole::Start;
            if ended || !is_option {
                operands.push(word);
                ended |= table.operands == Operands::Script;
                continue;
            }
            if text == "--" {
                ended = true;
                continue;
            }
            // whatever it checks does not run, if nothing runs before that
            let is_check = option_of(table.checks, table.values, text).is_some();
            if is_check && word.hole == Hole::None && operands.is_empty() && !given {
                return Ok(());
            }
            interactive |= listed(table.interactive, text);
            let is_code = option_of(table.code, table.values, text);
            let is_file = option_of(table.files, table.values, text);
            if let Some((_, inside, _)) = is_code.or(is_file) {
                // `node -pe CODE`
                let letters = |value: &&str| listed(table.code, &format!("-{value}"));
                let value = match inside.filter(|value| !letters(value)) {
                    Some(value) => Field {
                        text: value.to_owned(),
                        ..word.clone()
                    },
                    None if at == words.len() => break,
                    None => take(words, &mut at, word)?.clone(),
                };
                match is_code {
                    Some(_) => check_code(&value, table.printed)?,
                    None => self.check_file(&value, feed)?,
                }
                given = true;
                // what follows `python -c` and `-m` is for the code
                ended |= table.operands == Operands::Script && !listed("perl raku ruby lua", plain);
                continue;
            }
            // a module, and code behind it: `-M'strict;CODE'`
            let is_module = plain == "perl" && option_of("-M -m", table.values, text).is_some();
            if is_module && word.hole != Hole::None {
                return refuse("the code that an interpreter runs", word);
            }
            let (name, value) = split_value(text);
            let is_long = name
                .strip_prefix("--")
                .is_some_and(|name| listed(table.long_values, name));
            let last = text.chars().last().unwrap_or_default();
            let is_short = !text.starts_with("--") && table.values.contains(last);
            at += usize::from(is_long && value.is_none() || is_short);
        }
        let subcommand = listed("bun deno", plain)
            .then(|| operands.first().map(|word| word.text.as_str()))
            .flatten();
        match (table.operands, operands.as_slice()) {
            _ if given => {}
            (Operands::Script, [_, rest @ ..]) if subcommand == Some("eval") => {
                rest.iter().try_for_each(|code| check_code(code, false))?;
            }
            (Operands::Script, [_, file, ..]) if subcommand == Some("run") => {
                self.check_file(file, feed)?
            }
            (Operands::Script, [file, ..]) => self.check_file(file, feed)?,
            (Operands::Code, [code, ..]) => check_code(code, table.printed)?,
            (Operands::CodeAfterFirst, [_, rest @ ..]) => {
                rest.iter().try_for_each(|code| check_code(code, false))?;
            }
            _ => {}
        }
        let has_code = given || !operands.is_empty() && table.operands != Operands::Data;
        if table.reads && (interactive || !has_code) && feed.is_open() {
            let what = "the code that an interpreter reads from its standard input";
            return Err(ShellError::undetermined(what, ""));
        }
        Ok(())
    }

    /// Refuses a file with code that is not named in the text, or is no file.
    fn check_file(&self, file: &Field, feed: &Feed) -> Result<()> {
        let reads = matches!(
            file.text.as_str(),
            "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"
        );
        let odd = !reads && is_descriptor(&file.text);
        let open = file.leading > Leading::Determined || file.may_split() || file.silent;
        let open = open && !self.prints_folder(file);
        if odd || open || file.process.is_some() || reads && feed.is_open() {
            return refuse(CODE, file);
        }
        Ok(())
    }
}

/// Refuses code of which nothing is in the text, or which holds what a program prints, unless that is allowed (`printed`) behind its
/// beginning. A parameter that the line does not assign is a part of it as it stands; at the beginning it may change what the rest
/// means, but for `sed`: `"${x},5p"`.
fn check_code(code: &Field, printed: bool) -> Result<()> {
    let partly = match printed {
        true => code.environment || code.hole == Hole::Within,
        false => code.environment && code.hole != Hole::Start,
    };
    let plain = code.hole == Hole::None || partly && !code.silent && has_own(&code.text);
    if !plain || code.process.is_some() {
        return refuse(CODE, code);
    }
    Ok(())
}

/// Whether a text holds more than parameters.
fn has_own(text: &str) -> bool {
    let mut rest = text;
    while let Some(after) = rest.strip_prefix('$') {
        let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        rest = match after.strip_prefix('{') {
            Some(braced) => braced.split_once('}').map_or("", |(_, rest)| rest),
            None => after.trim_start_matches(part),
        };
    }
    !rest.trim().is_empty()
}
