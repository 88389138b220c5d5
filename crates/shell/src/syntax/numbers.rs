//! Programs that print numbers, by their words.

use super::texts::EXPANSION;
use crate::table::listed;

/// The kinds of output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Printed {
    /// Numbers, whatever the words of the program are.
    Numbers,
    /// Numbers, and words of the program itself.
    Words,
    /// Words that may be names of variables, numbers, and words of the program.
    Names,
    /// Any texts.
    Texts,
}

/// Stands before the mark of an expansion that may be several words.
pub(super) const SEVERAL: char = '\u{2}';

/// Returns what a program prints, given its words, of which those with expansions end with a mark behind their beginning.
pub(super) fn printed_by(name: &str, words: &[String]) -> Printed {
    let words_or = |only: bool, other: Printed| match only {
        true => Printed::Words,
        false => other,
    };
    let begins = |begin: &str| words.iter().any(|word| word.starts_with(begin));
    let n_operands = words.iter().filter(|word| !word.starts_with('-')).count();
    // texts of the program itself
    let asks_help = ["--h", "--v", "-V"].into_iter().any(begins);
    match name {
        "printf" => match words
            .first()
            .is_some_and(|format| converts_to_numbers(format))
        {
            true => Printed::Numbers,
            false => Printed::Texts,
        },
        "expr" => words_or(is_sum(words), Printed::Names),
        _ if asks_help => Printed::Texts,
        "nproc" => Printed::Words,
        "date" => words_or(!prints_names(words), Printed::Names),
        "id" => words_or(
            has_letters(words, "ugG") && !has_letters(words, "n"),
            Printed::Names,
        ),
        "seq" => words_or(!has_letters(words, "fs"), Printed::Names),
        // others may be `undefined`, or texts
        "getconf" => {
            let is_known = matches!(words, [key] if listed(SYSTEM_NUMBERS, key));
            words_or(is_known, Printed::Names)
        }
        // one limit
        "ulimit" => {
            let is_one = matches!(words, [option] if !option.contains([EXPANSION, 'a']));
            words_or(is_one, Printed::Names)
        }
        "sum" => words_or(n_operands == words.len() && n_operands <= 1, Printed::Names),
        "wc" if begins("--f") => Printed::Texts,
        // `total`
        "wc" => words_or(n_operands <= 1, Printed::Names),
        "cksum" if begins("-c") || begins("--c") => Printed::Texts,
        "cksum" => words_or(n_operands == words.len() && n_operands <= 1, Printed::Names),
        "pgrep" if has_letters(words, "al") => Printed::Texts,
        "pgrep" => words_or(!has_letters(words, "d"), Printed::Names),
        "stat" => printed_by_stat(words),
        "git" if matches!(words, [parse, option] if parse == "rev-parse" && option == "--local-env-vars") => {
            Printed::Names
        }
        name => words_or(prints_numbers(name, words), Printed::Texts),
    }
}

/// Configuration values of the system that are numbers everywhere.
const SYSTEM_NUMBERS: &str = "_NPROCESSORS_ONLN _NPROCESSORS_CONF NPROCESSORS_ONLN NPROCESSORS_CONF PAGE_SIZE PAGESIZE ARG_MAX \
    LONG_BIT CLK_TCK";

/// Whether words of `expr` are a sum: operands with operators of arithmetic between them.
fn is_sum(words: &[String]) -> bool {
    let operators = ["+", "-", "*", "/", "%"];
    let mut pairs = words.chunks_exact(2);
    let are_operators = pairs.by_ref().all(|pair| {
        let operator = pair.get(1).map(String::as_str).unwrap_or_default();
        operators.contains(&operator)
    });
    are_operators && pairs.remainder().len() == 1
}

/// Whether a format of `printf` has conversions to decimal numbers only, and no other letters.
pub(super) fn converts_to_numbers(format: &str) -> bool {
    let format = format.replace("\\n", "");
    let mut parts = format.split('%');
    let is_plain = |text: &str| text.chars().all(|c| c == ' ' || c.is_ascii_digit());
    let is_number = |part: &str| {
        let flags = |c: char| c.is_ascii_digit() || "-+ ".contains(c);
        let rest = part.trim_start_matches(flags).strip_prefix(['d', 'i', 'u']);
        rest.is_some_and(is_plain)
    };
    parts.next().is_some_and(is_plain) && parts.all(is_number)
}

/// Returns what `stat` prints: it has one format and one operand, and no other words but `-L`.
fn printed_by_stat(words: &[String]) -> Printed {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| *word != "-L").collect();
    let format = match words.as_slice() {
        ["-c" | "-Lc" | "--format", format, operand] if !operand.starts_with('-') => format,
        [attached, operand] if !operand.starts_with('-') => {
            let options = ["--format=", "--printf=", "-c", "-Lc"];
            match options.iter().find_map(|one| attached.strip_prefix(one)) {
                Some(format) => format,
                None => return Printed::Texts,
            }
        }
        _ => return Printed::Texts,
    };
    match words.iter().any(|word| word.contains(SEVERAL)) {
        true => Printed::Texts,
        false => numbers_of(format),
    }
}

/// Returns what `stat` prints by a format.
fn numbers_of(format: &str) -> Printed {
    let mut parts = format.split('%');
    let begins = parts.next() == Some("");
    let directives: Vec<&str> = parts.collect();
    let is_number = |part: &&str| {
        let rest = part.strip_prefix(|c: char| "sXYZWhugbBdoa".contains(c));
        rest.is_some_and(|rest| rest.chars().all(|c| c == ' '))
    };
    let is_flag = |c: char| c.is_ascii_digit() || "-+ #'.".contains(c);
    let is_text = |part: &&str| {
        let directive = part.trim_start_matches(is_flag);
        directive.starts_with(['n', 'N', 'C', 'm']) || part.contains('\\')
    };
    let is_numeric = begins && directives.iter().all(is_number);
    match directives.iter().any(is_text) || directives.is_empty() {
        true => Printed::Texts,
        false if is_numeric => Printed::Numbers,
        false => Printed::Names,
    }
}

/// Whether short options in clusters, or long ones that begin so, hold one of these letters.
fn has_letters(words: &[String], letters: &str) -> bool {
    words.iter().any(|word| {
        let cluster = word.strip_prefix("--").and_then(|name| name.get(..1));
        let cluster = cluster.or_else(|| word.strip_prefix('-'));
        cluster.is_some_and(|cluster| cluster.contains(|c| letters.contains(c)))
    })
}

/// Whether `date` prints other words than numbers: it has no format, or one with letters or with directives of names.
fn prints_names(words: &[String]) -> bool {
    let mut formats = words.iter().filter_map(|word| word.strip_prefix('+'));
    let is_number = |format: &str| {
        let mut parts = format.split('%');
        let is_plain = |text: &str| !text.contains(|c: char| c == EXPANSION || c.is_alphabetic());
        let is_directive = |part: &str| {
            let part = part.trim_start_matches(['-', '_', '0']);
            let rest = part.strip_prefix(|c: char| "sYmdHMSjuwyNCGVUWegkIlFTDR".contains(c));
            rest.is_some_and(is_plain)
        };
        parts.next().is_some_and(is_plain) && parts.all(is_directive)
    };
    !formats.next().is_some_and(is_number)
}

/// Whether a program prints numbers only, besides its own words.
fn prints_numbers(name: &str, words: &[String]) -> bool {
    let any = |begins: &[&str]| {
        words
            .iter()
            .any(|word| begins.iter().any(|begin| word.starts_with(begin)))
    };
    match name {
        // the first word says so: the value of an option may look the same
        "grep" | "egrep" | "fgrep" | "zgrep" => words.split_first().is_some_and(|(first, rest)| {
            let letters = first.strip_prefix('-').unwrap_or_default();
            let counts =
                letters.contains('c') && letters.chars().all(|c| "chinqsvwxEFGP".contains(c));
            let is_recursive =
                |word: &String| word.starts_with('-') && word.contains(['r', 'R', 'd']);
            (counts || first == "--count") && !rest.iter().any(is_recursive)
        }),
        // what is left of any text
        "tr" => match words {
            [option, set] => {
                let keeps = matches!(option.as_str(), "-dc" | "-cd");
                keeps && matches!(set.as_str(), "0-9" | "[:digit:]" | "[0-9]")
            }
            _ => false,
        },
        "git" => match words {
            [option, _, rest @ ..] if option == "-C" => counts_commits(rest),
            words => counts_commits(words),
        },
        "jq" => match words {
            [filter, files @ ..] => {
                filter == "length" && files.iter().all(|word| !word.starts_with('-'))
            }
            [] => false,
        },
        "tput" => matches!(words, [one] if listed("cols lines colors", one)),
        "curl" => prints_status(words),
        // `--random-source -i` makes the range an option's value
        "shuf" => any(&["-i"]) && !any(&["--r"]) && !words.iter().any(|word| word == "--"),
        _ => false,
    }
}

/// Whether `git` prints the number of commits, or the time of one.
fn counts_commits(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_time = |word: &str| matches!(word, "--format=%ct" | "--format=%at");
    match words.as_slice() {
        ["rev-list", "--count", ..] => true,
        ["rev-list", range, "--count"] => !range.starts_with('-'),
        ["log", "-1", format] | ["log", format, "-1"] => is_time(format),
        ["log", "-1", format, commit] => is_time(format) && !commit.starts_with('-'),
        ["show", "-s", format] => is_time(format),
        ["show", "-s", format, commit] => is_time(format) && !commit.starts_with('-'),
        _ => false,
    }
}

/// Whether `curl` prints the status of one answer: what is fetched goes nowhere.
fn prints_status(words: &[String]) -> bool {
    let (mut addresses, mut formats, mut drops) = (0, 0, false);
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "-w" => match words.next() {
                Some("%{http_code}") => formats += 1,
                _ => return false,
            },
            "-o" | "-so" | "-sSo" => match words.next() {
                Some("/dev/null") => drops = true,
                _ => return false,
            },
            "-s" | "-S" | "-sS" | "-k" | "-L" | "-sL" | "-sk" | "-f" | "-sf" | "-I" | "-sI" => {}
            word if word.starts_with('-') => return false,
            _ => addresses += 1,
        }
    }
    (addresses, formats, drops) == (1, 1, true)
}
