//! Variables that change what runs.

use crate::ShellError;
use crate::follow::git::decides;
use crate::follow::{base, dialect_of, known_name, unversioned};
use crate::syntax::Dialect;
use crate::table::{
    DELETERS, EDITING, EDITOR_OPTIONS, INTERPRETERS, MAKE_FLAGS, MAKE_PROGRAMS, REPLACING,
    RUNS_OR_WRITES, SHELLS, WRITERS, listed,
};
use crate::words::{Field, Hole};
use crate::wrappers::WRAPPERS;

/// The part of a line that an open value of these variables leaves undetermined.
pub(super) const RUN_VARIABLE: &str = "a variable whose value a shell runs";

/// Variables whose value a shell runs, or uses to resolve names.
pub(super) const RUN_VARIABLES: &[&str] = &[
    "BASH_ENV",
    "PROMPT_COMMAND",
    "INPUTRC",
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ARGV0",
    // the characters of the history, and how an older version reads words
    "histchars",
    "HISTCHARS",
    "BASH_COMPAT",
    // where the commands are written to before they run
    "BASH_XTRACEFD",
    // the name by which zsh calls a program, which is `$0` of a shell
    "ARGV0",
    // lines that yash runs
    "COMMAND_NOT_FOUND_HANDLER",
    "YASH_AFTER_CD",
    // translations of `$"…"`
    "TEXTDOMAIN",
    "TEXTDOMAINDIR",
];
/// Variables whose value programs run as a line.
pub(super) const LINE_VARIABLES: &[&str] = &[
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "MANOPT",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSEDIT",
    "SKIM_DEFAULT_COMMAND",
    "FCEDIT",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_CONFIG_PARAMETERS",
    "SSH_ASKPASS",
    "SSH_SK_HELPER",
    "SSH_SK_PROVIDER",
    "SSH_PKCS11_HELPER",
    "SUDO_ASKPASS",
    "SUDO_EDITOR",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "SVN_EDITOR",
    "HGEDITOR",
    "KUBE_EDITOR",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TAR_OPTIONS",
    "ZIPOPT",
    "VIMINIT",
    "GVIMINIT",
    "EXINIT",
    "FZF_DEFAULT_COMMAND",
    "RSYNC_CONNECT_PROG",
    "KUBECTL_EXTERNAL_DIFF",
    "GREP",
    // the program of a redirection alone in zsh
    "NULLCMD",
    "READNULLCMD",
];
/// Variables whose value holds options of `make`.
pub(super) const MAKE_OPTIONS: &[&str] = &["MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS"];
/// A variable whose value is a file that an interactive shell runs.
pub(super) const STARTUP_VARIABLE: &str = "ENV";
/// Variables whose value a shell expands.
pub(super) const EXPANDED_VARIABLES: &[&str] = &["PS0", "PS1", "PS2", "PS3", "PS4", "MAILPATH"];
/// Variables that decide which program a name refers to, which code is loaded into it, or which files it writes: all that begin
/// with a prefix of the first list, except those that begin with one of the second, and the names of the third.
const LOADER_PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "npm_config_",
    "NPM_CONFIG_",
    "CARGO_",
    "RUSTC",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "JAVA_",
    "JDK_JAVA_",
    "MAKE",
    "GCC_",
    "GO",
    "LUA_",
    "PHP_INI_",
    "RSYNC_",
    "SSH_ASKPASS",
    "SUDO_",
];
const HARMLESS_PREFIXES: &[&str] = &[
    "GIT_AUTHOR_",
    "GIT_COMMITTER_",
    "GIT_TERMINAL_PROMPT",
    "GIT_TRACE",
    "CARGO_TERM_",
    "CARGO_INCREMENTAL",
    "CARGO_BUILD_JOBS",
    "CARGO_NET_OFFLINE",
    "CARGO_PROFILE_",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "GOOS",
    "GOARCH",
    "GOMAXPROCS",
    "GOOGLE_",
    "MAKEOPTS",
];
const LOADERS: &[&str] = &[
    "PATH",
    "HOME",
    "XDG_CONFIG_HOME",
    "CLASSPATH",
    "GCONV_PATH",
    "OPENSSL_CONF",
    "LESS",
    "CURL_HOME",
    "COMPILER_PATH",
    "TCL_LIBRARY",
    "TCLLIBPATH",
    "DOCKER_CONFIG",
    "VIMRUNTIME",
    "WGETRC",
    "SYSTEM_WGETRC",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
];

/// Variables that the shell itself sets to texts, which may be texts of the line, and the one that says where words are split. What they
/// hold is never that of the environment.
pub(super) const SET_BY_SHELL: &[&str] = &[
    "_",
    "IFS",
    "PWD",
    "OLDPWD",
    "REPLY",
    "MAPFILE",
    "BASH_REMATCH",
    "BASH_ARGV",
    "BASH_ARGV0",
    "BASH_SOURCE",
    "BASH_COMMAND",
    "BASH_EXECUTION_STRING",
    "BASH_ALIASES",
    "BASH_CMDS",
    "READLINE_LINE",
    "COMP_LINE",
    "COMP_WORDS",
    "OPTARG",
    "FUNCNAME",
    "DIRSTACK",
    // in zsh: the parameters, what a pattern has matched, names and texts of what runs
    "argv",
    "MATCH",
    "match",
    "historywords",
    "dirstack",
    "funcstack",
    "functrace",
    "funcfiletrace",
    "funcsourcetrace",
    "ZSH_ARGZERO",
    "ZSH_EXECUTION_STRING",
    "ZSH_SCRIPT",
];
/// Those in [`SET_BY_SHELL`] of which the parser records what they hold, or that hold no text that a command gives them.
const TEXTS_RECORDED: &[&str] = &[
    "IFS",
    "PWD",
    "OLDPWD",
    "DIRSTACK",
    "dirstack",
    "REPLY",
    "MAPFILE",
    "BASH_REMATCH",
    "OPTARG",
    "argv",
    "MATCH",
    "match",
];

/// Parameters and variables that the shell sets to texts of letters, which may be the name of another variable.
pub(super) const NAMES_OF_SHELL: &[&str] = &[
    "0",
    "-",
    "BASH",
    "BASHOPTS",
    "BASH_VERSINFO",
    "BASH_VERSION",
    "HOSTNAME",
    "HOSTTYPE",
    "MACHTYPE",
    "OSTYPE",
    "SHELL",
    "SHELLOPTS",
    "USER",
    "LOGNAME",
];

/// Whether the shell itself sets a variable to a text that may be any.
pub(super) fn holds_text(name: &str) -> bool {
    SET_BY_SHELL.contains(&name) && !TEXTS_RECORDED.contains(&name)
}

/// Variables that the shell itself sets to numbers, or to names of the machine.
const NUMBERS: &[&str] = &[
    "BASH_ARGC",
    "BASH_LINENO",
    "BASH_SUBSHELL",
    "BASHPID",
    "READLINE_POINT",
    "OPTIND",
    "COPROC",
    "COPROC_PID",
    "UID",
    "EUID",
    "PPID",
    "GROUPS",
    "RANDOM",
    "SRANDOM",
    "SECONDS",
    "LINENO",
    "HISTCMD",
    "PIPESTATUS",
    "COLUMNS",
    "LINES",
    "HOSTNAME",
    "OSTYPE",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
];

/// Whether the shell itself sets a variable, so that an assignment does not determine its value.
pub(super) fn is_set_by_shell(name: &str) -> bool {
    SET_BY_SHELL.contains(&name) || NUMBERS.contains(&name)
}
/// Variables that are arrays from the start.
pub(super) const ARRAYS: &[&str] = &[
    "DIRSTACK",
    "PIPESTATUS",
    "GROUPS",
    "FUNCNAME",
    "MAPFILE",
    "COPROC",
    "BASH_ARGC",
    "BASH_ARGV",
    "BASH_LINENO",
    "BASH_REMATCH",
    "BASH_SOURCE",
    "COMP_WORDS",
    "COMPREPLY",
];
/// Variables that cannot be assigned: Bash then skips the rest of the line, and the assignments in it.
const READ_ONLY: &[&str] = &["UID", "EUID", "PPID", "BASH_VERSINFO"];
/// Variables that are integers from the start: arithmetic evaluates what is assigned to them.
pub(super) const INTEGERS: &[&str] = &[
    "RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO", "BASHPID",
];

/// Whether a variable decides which program a name refers to, which code is loaded into it, or which files it writes.
pub(super) fn loads_code(name: &str) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    LOADERS.contains(&name)
        || LINE_VARIABLES.contains(&name)
        || is_build_variable(name)
        || MAKE_OPTIONS.contains(&name)
        || name == STARTUP_VARIABLE
        || begins(LOADER_PREFIXES) && !begins(HARMLESS_PREFIXES)
}

/// Whether a variable decides what runs, so that its value must be one that the text determines: it [loads code](loads_code), or stands in the
/// commands of a build.
pub(super) fn decides_what_runs(name: &str) -> bool {
    loads_code(name) || is_flags_of_build(name)
}

/// Whether a variable holds the address of a machine to which programs send what they ask for: `https_proxy`.
pub(super) fn is_proxy(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("_proxy")
}

/// Whether the name of some variable through which code may run begins so.
pub(super) fn may_run(begin: &str) -> bool {
    let lists = [
        RUN_VARIABLES,
        EXPANDED_VARIABLES,
        LINE_VARIABLES,
        LOADERS,
        MAKE_OPTIONS,
    ];
    let mut names = lists.into_iter().flatten().chain([&STARTUP_VARIABLE]);
    let mut prefixes = LOADER_PREFIXES.iter();
    names.any(|name| name.starts_with(begin))
        || prefixes.any(|prefix| prefix.starts_with(begin))
        || loads_code(begin)
}

/// Whether programs run the value of a variable as a line, such as those that build others. A value that the text does not determine is listed
/// with the variable, as that of all that [load code](loads_code).
pub(super) fn is_build_variable(name: &str) -> bool {
    let endings = ["_PAGER", "_EDITOR", "_BROWSER", "_ASKPASS", "RUSTC_WRAPPER"];
    name == "LINKER"
        || listed(MAKE_PROGRAMS, name)
        || endings.iter().any(|ending| name.ends_with(ending))
}

/// Variables whose value a program may run as code, and the texts in a value of which one means that; an empty list stands for every
/// value.
const CODE_VARIABLES: &[(&str, &[&str])] = &[
    ("PERL5DB", &[]),
    ("PERL5OPT", &[";", "(", "{", "}", "`", "\n"]),
    ("NODE_OPTIONS", &["data:"]),
    ("LESSKEY_CONTENT", &[]),
    ("JAVA_TOOL_OPTIONS", JAVA_LINES),
    ("JDK_JAVA_OPTIONS", JAVA_LINES),
    ("_JAVA_OPTIONS", JAVA_LINES),
];
/// Options of `java` whose value a shell runs.
const JAVA_LINES: &[&str] = &["OnError", "OnOutOfMemoryError"];

/// Characters that end a command of a recipe, and so begin another one.
pub(super) const RECIPE_ENDS: [char; 5] = [';', '|', '&', '`', '\n'];

/// Whether the implicit rules of `make` put the value of a variable into the commands that they run.
pub(super) fn is_flags_of_build(name: &str) -> bool {
    let begins = ["COMPILE.", "LINK.", "PREPROCESS."];
    listed(MAKE_FLAGS, name) || begins.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the variable of `x[i]`, `x+` and `x`.
pub(super) fn variable_of(name: &str) -> &str {
    name.split(['[', '+']).next().unwrap_or(name)
}

/// Whether a shell runs or expands the value of a variable, or of an element of it.
pub(super) fn runs_values_of(name: &str) -> bool {
    let name = variable_of(name);
    RUN_VARIABLES.contains(&name) || EXPANDED_VARIABLES.contains(&name) || name == STARTUP_VARIABLE
}

/// Whether options of `make` give it text that it reads as a makefile, or values of variables that may change what it runs.
pub(super) fn gives_makefile(options: &str) -> bool {
    // a backslash joins words
    let plain = |value: &str| !value.contains(RECIPE_ENDS) && !value.contains(['$', '\\']);
    let assigns = |word: &str| match word.split_once('=') {
        Some((name, value)) => {
            let is_name = name
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            !is_name || loads_code(name) || is_flags_of_build(name) || !plain(value)
        }
        None => false,
    };
    let mut words = options.split_ascii_whitespace();
    words.any(|word| {
        word.contains("eval") || word.starts_with("-E") || !word.starts_with("--") && assigns(word)
    })
}

/// The value that a variable gets.
pub(super) struct Given<'a> {
    /// The value, or what the text determines of it.
    pub(super) value: &'a str,
    /// Whether it has parts that the text does not determine.
    pub(super) open: bool,
    /// The source text of the value.
    pub(super) written: &'a str,
}

impl<'a> Given<'a> {
    /// Returns the value in a word `NAME=VALUE`.
    pub(super) fn by(field: &'a Field, written: &'a str) -> Given<'a> {
        let value = field.determined().split_once('=');
        Given {
            value: value.map_or(field.determined(), |(_, value)| value),
            open: field.hole != Hole::None || field.pattern,
            written,
        }
    }

    /// Returns the value if the text determines it.
    fn known(&self) -> Option<&'a str> {
        (!self.open).then_some(self.value)
    }
}

/// Refuses variables through which a shell runs code that the line does not show.
pub(super) fn check_variable(name: &str, given: Given<'_>) -> Result<(), ShellError> {
    let name = variable_of(name);
    // the value that it had, which is the choice of the user, or the given one; `SHELL` has a rule of its own
    if given.open
        && name != "SHELL"
        && let Some((source, default)) = with_default(given.written)
        && (source == name || is_editor(name) && matches!(source, "EDITOR" | "VISUAL"))
    {
        let given = Given {
            value: default,
            open: false,
            ..given
        };
        return check_variable(name, given);
    }
    let value = given.known();
    let runs = RUN_VARIABLES.contains(&name) && value != Some("");
    let starts =
        name == STARTUP_VARIABLE && value.is_none_or(|value| value.contains(['/', '$', '`']));
    let expands = EXPANDED_VARIABLES.contains(&name) && value.is_none_or(runs_in_prompt);
    let is_line = LINE_VARIABLES.contains(&name) || name.starts_with("GIT_CONFIG_VALUE_");
    let hides = is_line && value.is_none_or(|value| !is_harmless(value));
    let hides = hides || is_editor(name) && value.is_none_or(|value| !edits_only(value));
    let builds = is_build_variable(name) && value.is_some_and(|value| !is_harmless(value));
    // `make` expands the values of all variables that it inherits
    let flags = is_flags_of_build(name) && {
        let text = match given.open {
            true => without_flags(given.value),
            false => given.value.to_owned(),
        };
        text.contains(RECIPE_ENDS) || text.contains('$')
    };
    let evaluates = MAKE_OPTIONS.contains(&name) && gives_makefile(given.value);
    let calls = ["$(shell", "${shell", "$$("];
    let makes = flags || evaluates || calls.iter().any(|one| given.value.contains(one));
    // files of settings, of which some are lines
    let configures = [
        "GIT_CONFIG",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "APT_CONFIG",
    ]
    .contains(&name)
        && !matches!(value, Some("" | "/dev/null"))
        || name == "GIT_CONFIG_PARAMETERS" && value != Some("")
        || name.starts_with("GIT_CONFIG_KEY_") && value.is_none_or(decides);
    // programs that read a line by `$SHELL`: `su -m`, `script -c`, `flock -c`, `parallel`
    let reads = name == "SHELL"
        && match value {
            Some(program) => !reads_lines(program),
            None => !is_own_shell(given.written),
        };
    // remotes that are programs
    let configures = configures
        || name == "GIT_ALLOW_PROTOCOL" && value.is_none_or(|value| value.contains("ext"));
    let is_odd = |c: char| c.is_whitespace() || ";|&$`()<>'\"\\*?[".contains(c);
    // a tilde stands for it, also in texts
    let sets_home = name == "HOME" && given.value.contains(is_odd);
    // options of `parallel`, of which some are lines
    let parallel = name == "PARALLEL"
        && value.map_or(given.written.contains("$("), |value| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || " -%.+".contains(c);
            !value.chars().all(is_plain) || value.contains("ssh") || value.contains("-S")
        });
    let does = parallel || name == "LESS" && runs_at_start(value.unwrap_or(given.written));
    let holds_code = CODE_VARIABLES.iter().any(|(code, marks)| {
        let marked = marks.iter().any(|mark| given.value.contains(mark));
        *code == name && value != Some("") && (marks.is_empty() || marked)
    });
    // options of a shell; some change how it parses a line
    let sets = sets_home || matches!(name, "SHELLOPTS" | "BASHOPTS") || READ_ONLY.contains(&name);
    let is_line = hides || builds || makes || reads || does || holds_code;
    if runs || starts || expands || is_line || configures || sets || name.starts_with("BASH_FUNC_")
    {
        return Err(ShellError::undetermined(
            RUN_VARIABLE,
            &format!("{name}={}", given.written),
        ));
    }
    Ok(())
}

fn is_editor(name: &str) -> bool {
    name.ends_with("EDITOR") || matches!(name, "VISUAL" | "FCEDIT")
}

/// Returns the variable and the text of a value that is nothing but `${x:-TEXT}` with a plain text: no path, which the line may write.
fn with_default(written: &str) -> Option<(&str, &str)> {
    let inner = written.strip_prefix("${")?.strip_suffix('}')?;
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let name = inner.split(|c: char| !is_part(c)).next()?;
    let rest = inner.strip_prefix(name)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let text = rest.strip_prefix('-')?;
    let is_plain = |c: char| is_part(c) || " -+.".contains(c);
    (!name.is_empty() && text.chars().all(is_plain)).then_some((name, text))
}

/// Returns a value in which parameters for flags of a build are left out, and the texts in their place stand: `${CFLAGS:+$CFLAGS }-g`. Each
/// assignment of such a variable is checked itself.
fn without_flags(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        text.push_str(before);
        match text_in_place(after) {
            Some((inner, behind)) => {
                text.push_str(inner);
                rest = behind;
            }
            None => {
                text.push_str("${");
                rest = after;
            }
        }
    }
    text + rest
}

/// Returns the text in place of a parameter for flags, without the parameter itself, and what stands behind it: ` ` and `-g` of
/// `CFLAGS:+$CFLAGS }-g`.
fn text_in_place(parameter: &str) -> Option<(&str, &str)> {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let (name, rest) = parameter.split_at(parameter.find(|c| !is_part(c))?);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let inner = rest.strip_prefix(['+', '-'])?;
    let own = inner
        .strip_prefix('$')
        .and_then(|own| match own.strip_prefix('{') {
            Some(own) => own.strip_prefix(name)?.strip_prefix('}'),
            None => own
                .strip_prefix(name)
                .filter(|own| !own.starts_with(is_part)),
        });
    let (inner, behind) = own.unwrap_or(inner).split_once('}')?;
    (is_flags_of_build(name) && !inner.contains('$')).then_some((inner, behind))
}

/// Whether a prompt runs a command when it is expanded, with what its own escapes stand for: `\044` is a dollar sign, and `\[` is nothing.
fn runs_in_prompt(value: &str) -> bool {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let digits = after
            .bytes()
            .take(3)
            .take_while(|byte| (b'0'..=b'7').contains(byte))
            .count();
        rest = match after.chars().next() {
            Some('[' | ']') => after.get(1..),
            // the time in a format, which may print anything
            Some('D') => return true,
            _ if digits > 0 => {
                let code = after
                    .get(..digits)
                    .and_then(|code| u32::from_str_radix(code, 8).ok());
                text.extend(code.and_then(|code| char::from_u32(code & 0xff)));
                after.get(digits..)
            }
            // another backslash may begin an escape after the expansion
            _ => Some(after),
        }
        .unwrap_or_default();
    }
    text.push_str(rest);
    let of_parameter = |rest: &str| {
        let inner = rest.split('}').next().unwrap_or_default();
        !inner.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    };
    text.contains(['`'])
        || ["$(", "$[", "@P"].iter().any(|one| text.contains(one))
        || text.split("${").skip(1).any(of_parameter)
}

/// Whether options of `less` may make it run something: commands that it begins with, of which only those that move do not, or what a
/// program prints.
pub(super) fn runs_at_start(options: &str) -> bool {
    let moves = |command: &str| {
        let searches = command.starts_with(['/', '?']) && !command.contains(char::is_control);
        searches
            || matches!(command, "G" | "g" | "F")
            || command.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut words = options.split_ascii_whitespace();
    let begins = |word: &str| {
        word.split_once('+')
            .is_some_and(|(_, command)| !moves(command.trim_start_matches('+')))
    };
    options.contains(['`']) || options.contains("$(") || words.any(begins)
}

/// Whether a program is a shell that reads a line as this crate does.
pub(super) fn reads_lines(program: &str) -> bool {
    SHELLS.contains(&unversioned(base(program))) && dialect_of(base(program)) != Dialect::Other
}

/// Whether the value of `SHELL` is what it was, or the path of a shell: `$SHELL`, `${SHELL:-/bin/sh}`, `$(which bash)`.
fn is_own_shell(written: &str) -> bool {
    let inner = written.trim_matches('"');
    let printed = ["$(which ", "$(command -v "]
        .iter()
        .find_map(|begin| inner.strip_prefix(begin)?.strip_suffix(')'));
    printed.is_some_and(reads_lines)
        || inner == "$SHELL"
        || inner.starts_with("${SHELL") && !inner.contains(['(', '`', '=', '/'])
}

/// Whether a line is an editor that runs nothing of the file that it gets, or a program that only reads or replaces text in it.
pub(super) fn edits_only(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let program = words.next().map_or("", |word| known_name(base(word)));
    let is_plain = |word: &str| !word.starts_with(['-', '+']) || listed(EDITOR_OPTIONS, word);
    listed(EDITING, program) && words.all(is_plain)
        || listed(REPLACING, program)
        || program.is_empty()
}

/// Whether a line is a single command of a program that neither runs others nor writes or deletes files by its words, whatever is appended.
fn is_harmless(line: &str) -> bool {
    let runs = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        SHELLS.contains(&name)
            || INTERPRETERS.contains(&name)
            || listed(RUNS_OR_WRITES, name)
            || WRITERS.iter().any(|(writer, _)| *writer == name)
            || WRAPPERS.iter().any(|one| listed(one.names, name))
            || DELETERS.iter().any(|(deleter, ..)| *deleter == name)
    };
    !line.contains([
        '!', ';', '|', '&', '<', '>', '$', '`', '(', '{', '[', '%', '\n', '\\', '*', '?',
    ]) && !line.split([' ', '\t', '\'', '"', '=']).any(runs)
}
