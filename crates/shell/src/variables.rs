//! Variables that change what runs.

use crate::follow::listed;
use crate::table::MAKE_PROGRAMS;

/// Variables whose value a shell runs, or uses to resolve names.
pub(super) const RUN_VARIABLES: &[&str] =
    &["BASH_ENV", "PROMPT_COMMAND", "BASH_ALIASES", "BASH_CMDS"];
/// Variables whose value programs run as a line.
pub(super) const LINE_VARIABLES: &[&str] = &[
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
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
    "WGETRC",
    "SYSTEM_WGETRC",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
];

/// Variables that the shell itself sets, so that an assignment does not determine their values.
pub(super) const SET_BY_SHELL: &[&str] = &[
    "_",
    "PWD",
    "OLDPWD",
    "REPLY",
    "MAPFILE",
    "OPTARG",
    "OPTIND",
    "COPROC",
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
    "FUNCNAME",
    "DIRSTACK",
    "COLUMNS",
    "LINES",
    "HOSTNAME",
    "OSTYPE",
    "EPOCHSECONDS",
    "EPOCHREALTIME",
];
/// Variables that are integers from the start: arithmetic evaluates what is assigned to them.
pub(super) const INTEGERS: &[&str] = &[
    "RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "SECONDS", "LINENO",
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

/// Whether programs run the value of a variable as a line when they build others. A value that the text does not determine is listed
/// with the variable, as that of all that [load code](loads_code).
pub(super) fn is_build_variable(name: &str) -> bool {
    name == "LINKER" || listed(MAKE_PROGRAMS, name)
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

/// Whether options of `make` give it text that it reads as a makefile.
pub(super) fn gives_makefile(options: &str) -> bool {
    let mut words = options.split_ascii_whitespace();
    words.any(|word| word.contains("eval") || word.starts_with("-E"))
}
