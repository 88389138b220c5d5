//! Programs that print numbers, by their words.

use crate::table::{PRINTS_NUMBERS, listed};

/// Whether a program prints numbers only, given its words, or their beginnings.
pub(super) fn prints_numbers(name: &str, words: &[String]) -> bool {
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
        "git" => {
            words.iter().any(|word| word == "--count")
                && words.first().is_some_and(|word| word == "rev-list")
        }
        "jq" => words.first().is_some_and(|word| word == "length"),
        // what is fetched goes elsewhere
        "curl" => {
            let follows = |option: &str| {
                let mut rest = words.iter().skip_while(|word| *word != option);
                rest.nth(1).map(String::as_str)
            };
            follows("-w") == Some("%{http_code}")
                && (follows("-o").is_some() || follows("-so").is_some())
                && !any(&["-i", "-v", "-K", "--"])
        }
        // the format says so, if it has no name of a file
        "stat" => {
            let mut formats = words.iter().filter(|word| word.contains('%')).peekable();
            let is_plain = !words.iter().any(|word| word.contains('\\'));
            let is_number = |format: &String| !format.contains(['n', 'N']);
            let is_given = any(&["-c", "--f", "--p"]);
            is_given && formats.peek().is_some() && is_plain && formats.all(is_number)
        }
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
