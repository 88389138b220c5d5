//! Lines that builders run by their words: variables that name programs, and functions in values of `make`.

use super::options::given_line;
use super::{Result, Run, refuse};
use crate::table::{MAKE_FUNCTIONS, MAKE_PROGRAMS, listed};
use crate::variables::{MAKE_OPTIONS, RECIPE_ENDS, gives_makefile, is_flags_of_build, reads_lines};
use crate::words::{Field, Hole};

/// Endings of variables of `cmake` whose value is a program that builds run, with words.
const CMAKE_PROGRAMS: [&str; 7] = [
    "_COMPILER",
    "_LAUNCHER",
    "_MAKE_PROGRAM",
    "_EMULATOR",
    "CMAKE_AR",
    "CMAKE_LINKER",
    "CMAKE_RANLIB",
];

/// Returns the lines that `cmake` runs by its words: `-DCMAKE_C_COMPILER=PROGRAM`, in which `;` separates words.
pub(super) fn lines_of_cmake(words: &[Field]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    // `cmake -E chdir FOLDER PROGRAM`
    if let [option, tool, rest @ ..] = words
        && option.text == "-E"
    {
        let skipped = match tool.text.as_str() {
            "chdir" => 1,
            "env" => rest
                .iter()
                .take_while(|word| word.text.starts_with('-') || word.text.contains('='))
                .count(),
            "time" => 0,
            _ => rest.len(),
        };
        runs.push(Run::Words(rest.get(skipped..).unwrap_or_default().to_vec()));
    }
    for word in words {
        let Some((name, value)) = word.text.split_once('=') else {
            continue;
        };
        // `-D NAME:TYPE=VALUE`
        let name = name.split(':').next().unwrap_or(name);
        let names_program = CMAKE_PROGRAMS.iter().any(|ending| name.ends_with(ending));
        if names_program && !value.is_empty() {
            match word.hole {
                Hole::None => runs.push(given_line(&Field::known(value.replace(';', " ")), true)?),
                _ if word.environment => {}
                _ => return refuse("a program of a build", word),
            }
        }
    }
    Ok(runs)
}

/// Returns the lines that `make` or `configure` runs by its words.
pub(super) fn lines_of_make(words: &[Field]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for word in words {
        runs.extend(functions(word)?);
        if let Some((name, value)) = word.text.split_once('=')
            && !name.starts_with('-')
        {
            runs.extend(of_variable(name, value, word)?);
        }
    }
    Ok(runs)
}

/// Returns the lines that the value of a variable holds: `CC=LINE`, `NAME!=LINE`, and `SHELL=PROGRAM` if it is no shell.
fn of_variable(name: &str, value: &str, word: &Field) -> Result<Option<Run>> {
    let runs = name.ends_with('!');
    let name = name.trim_end_matches([':', '?', '!', '+']);
    let determined = word.determined().split_once('=');
    let determined = determined.map_or(value, |(_, value)| value);
    if MAKE_OPTIONS.contains(&name) && gives_makefile(determined) {
        return refuse("the options of `make`", word);
    }
    if name == ".SHELLFLAGS" {
        return refuse("how `make` runs a recipe", word);
    }
    // commands of `$(shell …)` are listed
    let calls = ["$(shell ", "${shell "].iter();
    let others = calls.fold(determined.to_owned(), |text, call| text.replace(call, ""));
    if is_flags_of_build(name) && others.contains('$') {
        return refuse("a variable of `make`", word);
    }
    if determined.contains(RECIPE_ENDS) && !runs && !listed(MAKE_PROGRAMS, name) {
        return refuse("a value in a recipe of `make`", word);
    }
    let is_shell = name == "SHELL";
    if !runs && !is_shell && !listed(MAKE_PROGRAMS, name) {
        return Ok(None);
    }
    if is_shell && reads_lines(value) || value.is_empty() {
        return Ok(None);
    }
    // `make CC="$CC"` gives the variable that it has
    if word.hole != Hole::None || word.pattern {
        return match !word.pattern && word.environment && !is_shell && !runs {
            true => Ok(None),
            false => refuse("a program of `make`", word),
        };
    }
    // `make` puts the value of a variable in its place, which may end a quote or the command
    if value.contains('$') {
        return refuse("a variable of `make`", word);
    }
    given_line(&Field::known(value), !runs && !is_shell).map(Some)
}

/// Returns the lines of `$(shell LINE)` in a word, and refuses functions that write, or that read a text as a makefile.
fn functions(word: &Field) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for (open, close) in [('(', ')'), ('{', '}')] {
        let begin = format!("${open}");
        for rest in word.determined().split(begin.as_str()).skip(1) {
            let Some((name, _)) = rest.split_once([' ', '\t', ',']) else {
                continue;
            };
            if name.contains([close, ':']) || listed(MAKE_FUNCTIONS, name) {
                continue;
            }
            if name != "shell" || word.hole != Hole::None {
                return refuse("a function of `make`", word);
            }
            // what a function inside of the line gives is not known
            let line = rest.get(name.len()..).unwrap_or_default();
            match line.split_once(close) {
                Some((line, _)) if !line.contains(['(', '{']) => {
                    runs.push(given_line(&Field::known(line.trim()), false)?);
                }
                _ => return refuse("a function of `make`", word),
            }
        }
    }
    Ok(runs)
}
