//! Shells other than Bash: what they have of their own, so that a text for them is not what it is for Bash.

use super::syntax::Dialect;
use super::words::Field;

/// Builtins, functions and reserved words of zsh, ksh, mksh and yash that POSIX does not have, or that do more there.
const OF_EXTENDED: &str = "foreach always hash rehash unhash disable enable emulate setopt unsetopt \
    zmodload autoload functions zformat zstyle zparseopts zregexparse strftime zle zcompile zpty zselect zsocket ztcp zftp zsystem sysread \
    syswrite sysopen sysseek syserror zcurses zstat zf_chgrp zf_chmod zf_chown zf_ln zf_mkdir zf_mv zf_rm zf_rmdir zf_sync zmv zcp zln zargs \
    zed zcalc zrecompile zprof ztie zuntie zgdbmpath print pushln getln vared sched bindkey compdef compadd compctl comparguments compcall \
    compinit echotc echoti log private nameref integer float compound enum global rename redirect hist history r fc alias unalias typeset \
    declare local readonly read getopts mapfile readarray array let bind complete compgen dirs cap clone getcap setcap pcre_compile \
    pcre_match promptinit add-zsh-hook zsh-defer coproc";

/// Builtins and reserved words of fish, csh, nu, elvish, PowerShell and others, which are not what they are for Bash, if it has them.
const OF_OTHER: &str = "alias unalias abbr set unset setenv unsetenv string read begin end switch foreach function functions \
    argparse bind bindkey builtin complete uncomplete contains emit math status history cdh nextd prevd dirh psub funced funcsave trap vared \
    block count fish_add_path @ onintr sched hup notify glob hashstat rehash unhash filetest settc setty termname goto shift def let mut \
    const use overlay module hide run-external do each fn var del tmp peach xonsh aliases whatis eval-string iex invoke-expression icm \
    invoke-command start-process saps sal set-alias nal new-alias new-item ni function: filter invoke-item ii set-item si add-type";

/// Variables of these shells that stand for others, or whose value they run, split, search or evaluate as arithmetic.
const VARIABLES: &str = "path cdpath fpath mailpath manpath module_path argv status pipestatus commands aliases galiases saliases \
    dis_aliases functions dis_functions builtins options parameters modules history widgets dirstack psvar signals fignore \
    chpwd_functions precmd_functions preexec_functions periodic_functions zshaddhistory_functions zshexit_functions zsh_directory_name_functions \
    NULLCMD READNULLCMD ARGV0 PROMPT PROMPT2 PROMPT3 PROMPT4 RPROMPT RPS1 RPS2 SPROMPT POSTEDIT STTY TIMEFMT WORDCHARS ZDOTDIR \
    CDPATH FPATH COLUMNS LINES TMOUT HISTSIZE SAVEHIST KEYTIMEOUT LISTMAX MAILCHECK PERIOD LOGCHECK DIRSTACKSIZE FUNCNEST BAUD ERRNO \
    OPTIND RANDOM SECONDS LINENO USER_ID PGRP KSHEGID KSHGID KSHUID UID GID EUID EGID PPID TRY_BLOCK_ERROR ZSH_EVAL_CONTEXT \
    COMMAND_NOT_FOUND_HANDLER YASH_AFTER_CD YASH_LOADPATH PROMPT_COMMAND HISTEDIT FCEDIT VISUAL EDITOR fish_function_path \
    fish_complete_path fish_user_paths _";

/// The short options of these shells that are not options for how they read a text.
pub(super) const FLAGS: &str = "cdefilnsuvx";

/// The letters of `set` that mean the same for shells like ksh.
const SET: &str = "euxvnfo";

/// Whether a shell has much that POSIX does not have.
pub(super) fn has_own_words(dialect: Dialect) -> bool {
    matches!(dialect, Dialect::Extended | Dialect::Other)
}

/// Whether a command of a text may be another one in the shell for which the text is.
pub(super) fn may_differ(dialect: Dialect, words: &[Field]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    let listed = |list: &str| {
        let mut names = list.split_ascii_whitespace();
        names.any(|name| name.eq_ignore_ascii_case(&first.text))
    };
    let options = || rest.iter().filter(|word| word.text.starts_with(['-', '+']));
    let has_odd = |known: &str| {
        options().any(|word| {
            !word
                .text
                .chars()
                .skip(1)
                .all(|letter| known.contains(letter))
        })
    };
    match dialect {
        Dialect::Bash | Dialect::Posix => false,
        Dialect::Extended => match first.text.as_str() {
            // words of zsh before a command, which leave it a builtin
            "-" | "noglob" | "nocorrect" => true,
            "set" => has_odd(SET),
            "export" => has_odd("p"),
            _ => listed(OF_EXTENDED),
        },
        // `e:rm`, `core:x`
        Dialect::Other => listed(OF_OTHER) || first.text.contains(':'),
    }
}

/// Whether a word in place of a program may be a folder, to which fish then changes.
pub(super) fn may_be_folder(dialect: Dialect, program: &str) -> bool {
    dialect == Dialect::Other && (program.contains('/') || program.bytes().all(|one| one == b'.'))
}

/// Returns the first of these variables to which such a shell gives a meaning of its own.
pub(super) fn own_variable<'n>(
    dialect: Dialect,
    mut names: impl Iterator<Item = &'n String>,
) -> Option<&'n String> {
    let is_own = |name: &str| VARIABLES.split_ascii_whitespace().any(|one| one == name);
    names.find(|name| has_own_words(dialect) && is_own(name))
}
