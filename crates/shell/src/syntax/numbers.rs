//! Programs that print numbers, by their words.

use super::texts::EXPANSION;
use crate::table::{PRINTS_NUMBERS, listed};

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
    match name {
        "date" if prints_names(words) => Printed::Names,
        "id" if !has_letters(words, "ugG") || has_letters(words, "n") => Printed::Names,
        "seq" if has_letters(words, "fs") => Printed::Names,
        "git"
            if words
                .iter()
                .map(String::as_str)
                .eq(["rev-parse", "--local-env-vars"]) =>
        {
            Printed::Names
        }
        "stat" => printed_by_stat(words),
        "printf"
            if words
                .first()
                .is_some_and(|format| converts_to_numbers(format)) =>
        {
            Printed::Numbers
        }
        name => match prints_numbers(name, words) {
            true => Printed::Words,
            false => Printed::Texts,
        },
    }
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

/// Returns what `stat` prints, which its format says.
fn printed_by_stat(words: &[String]) -> Printed {
    let attached = words.iter().enumerate().find_map(|(at, word)| {
        let format = ["--format=", "--printf="]
            .iter()
            .find_map(|one| word.strip_prefix(one))?;
        Some((at, at, format))
    });
    let apart = || {
        let at = words
            .iter()
            .position(|word| word == "--format" || is_cluster(word, "Lc"))?;
        Some((at, at + 1, words.get(at + 1)?.as_str()))
    };
    let Some((from, to, format)) = attached.or_else(apart) else {
        return Printed::Texts;
    };
    let mut others = words
        .iter()
        .enumerate()
        .filter(|(at, word)| *at < from || *at > to && *word != "-L");
    // a second operand makes an option of the first one
    let is_single = others
        .next()
        .is_some_and(|(at, word)| at > to && !word.contains(SEVERAL))
        && others.next().is_none();
    match numbers_of(format) {
        Printed::Numbers if !is_single => match words.iter().any(|word| word.contains(SEVERAL)) {
            true => Printed::Texts,
            false => Printed::Words,
        },
        printed => printed,
    }
}

/// Whether a word is a cluster of short options of these letters, of which the last one is given.
fn is_cluster(word: &str, letters: &str) -> bool {
    let cluster = word.strip_prefix('-').unwrap_or_default();
    let last = letters.chars().next_back();
    cluster.chars().all(|c| letters.contains(c)) && cluster.chars().next_back() == last
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
            [list, option, ..] if option == "--count" => list == "rev-list",
            [list, range, option] => {
                list == "rev-list" && option == "--count" && !range.starts_with('-')
            }
            _ => false,
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
        name => {
            let row = PRINTS_NUMBERS
                .iter()
                .find(|(names, ..)| listed(names, name));
            row.is_some_and(|(_, letters, options)| {
                !words.iter().any(|word| asks(word, letters, options))
            })
        }
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

/// Whether a word gives one of these short options, in a cluster or with its value, or one of these options, also abbreviated.
fn asks(word: &str, letters: &str, options: &str) -> bool {
    let whole = word.split_once('=').map_or(word, |(whole, _)| whole);
    let abbreviates = |one: &str| whole.len() > 2 && one.starts_with(whole);
    match word.starts_with("--") {
        true => options.split_ascii_whitespace().any(abbreviates),
        false => {
            word.starts_with('-') && word.contains(|c| letters.contains(c)) || listed(options, word)
        }
    }
}
