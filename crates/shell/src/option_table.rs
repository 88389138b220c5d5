//! Options, settings and outputs as data: those by which a program runs commands, writes or sends.

/// Commands that print how a shell is to be set up, for `eval`.
pub(super) const PRINTS_SETUP: &[&str] = &[
    "ssh-agent",
    "ssh-agent -s",
    "pyenv init -",
    "pyenv init --path",
    "pyenv virtualenv-init -",
    "rbenv init -",
    "rbenv init - bash",
    "pyenv init - bash",
    "kubectl completion bash",
    "helm completion bash",
    "gh completion -s bash",
    "docker completion bash",
    "nodenv init -",
    "goenv init -",
    "direnv hook bash",
    "direnv hook zsh",
    "direnv export bash",
    "direnv export zsh",
    "brew shellenv",
    "opam env",
    "fnm env",
    "fnm env --use-on-cd",
    "zoxide init bash",
    "starship init bash",
    "mise activate bash",
    "dircolors",
    "dircolors -b",
    "conda shell.bash hook",
    "minikube docker-env",
];

/// Folders of the programs that print it.
pub(super) const SETUP_FOLDERS: &[&str] = &[
    "/opt/homebrew/bin/",
    "/home/linuxbrew/.linuxbrew/bin/",
    "/usr/local/bin/",
    "/usr/bin/",
];

/// Commands whose output is one word that is no option, or numbers; a last word `*` is any plain words.
pub(super) const PRINTS_WORD: &[&str] = &[
    "seq *",
    "nproc",
    "uname",
    "uname -s",
    "uname -m",
    "uname -r",
    "id -u",
    "id -g",
    "git rev-parse HEAD",
    "git rev-parse --short HEAD",
];

/// Commands whose output is a path or a name that does not begin with a dash, but may hold blanks; a last word `*` is any
/// plain words.
pub(super) const PRINTS_PATH: &[&str] = &[
    "stat -c %s *",
    "stat -c %Y *",
    "which *",
    "pwd",
    "pwd -P",
    "mktemp",
    "mktemp -d",
    "whoami",
    "id -un",
    "hostname",
    "hostname -s",
    "git merge-base *",
    "git rev-parse --show-toplevel",
    "git rev-parse --abbrev-ref HEAD",
    "git branch --show-current",
    "npm bin",
    "npm root",
    "yarn bin",
    "pnpm bin",
    "go env GOPATH",
    "go env GOROOT",
    "brew --prefix",
];

/// Programs of which no option, whatever it is, runs or writes anything.
pub(super) const HARMLESS_OPTIONS: &str = "head tail kill date echo grep egrep fgrep seq wc cut ls ps df du \
    basename dirname stat cat nl paste join comm tr expr sleep fold";

/// Programs that take a number as an option: `git log -5`.
pub(super) const TAKES_NUMBER: &str = "git gzip gunzip bzip2 xz zstd lz4 zip split nice";

/// Programs that run commands, write files or send data by their options: an option that the text does not determine is unknown.
/// Short and long options with a value, here or in the next word.
#[derive(Debug)]
pub(super) struct Optioned {
    pub(super) names: &'static str,
    pub(super) values: &'static str,
    pub(super) long_values: &'static str,
    /// Whether also a word that a program prints, or the name of a file, may be such an option.
    pub(super) printed: bool,
}

pub(super) const OPTIONED: &[Optioned] = &[
    Optioned {
        names: "tar gtar bsdtar",
        values: "fCTXbgIKNVLFH",
        long_values: "file directory files-from exclude-from exclude transform xform strip-components use-compress-program \
                      newer after-date mtime mode owner group blocking-factor label format",
        printed: true,
    },
    Optioned {
        names: "rsync",
        values: "efBTM",
        long_values: "rsh filter exclude include exclude-from include-from files-from rsync-path temp-dir backup-dir suffix \
                      compare-dest copy-dest link-dest chmod chown out-format log-file password-file bwlimit timeout port",
        printed: true,
    },
    Optioned {
        names: "scp sftp",
        values: "cDFiJloPSX",
        long_values: "",
        printed: true,
    },
    Optioned {
        names: "sort gsort",
        values: "kotTS",
        long_values: "key output field-separator temporary-directory buffer-size parallel batch-size files0-from sort \
                      compress-program random-source",
        printed: false,
    },
    Optioned {
        names: "split gsplit",
        values: "abClnt",
        long_values: "suffix-length bytes line-bytes lines number additional-suffix filter separator",
        printed: false,
    },
    Optioned {
        names: "zip",
        values: "bnPtTiOx",
        long_values: "temp-path suffixes password from-date before-date unzip-command include exclude output-file out",
        printed: false,
    },
    Optioned {
        names: "tree",
        values: "LPIoHT",
        long_values: "filelimit charset gitfile infofile timefmt sort",
        printed: false,
    },
    Optioned {
        names: "file",
        values: "efFmP",
        long_values: "exclude files-from separator magic-file parameter",
        printed: false,
    },
    Optioned {
        names: "man",
        values: "CELMPRSemrs",
        long_values: "config-file encoding locale manpath pager prompt sections systems extension",
        printed: false,
    },
    Optioned {
        names: "vi vim nvim view ex",
        values: "cSuUiTwWt",
        long_values: "cmd startuptime listen server",
        printed: false,
    },
    Optioned {
        names: "less more most",
        values: "bhjkoOpPtTxyz",
        long_values: "buffers max-back-scroll jump-target lesskey-file log-file pattern prompt tag tag-file tabs max-forw-scroll window",
        printed: false,
    },
    Optioned {
        names: "curl",
        values: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
        long_values: "user-agent cookie cookie-jar continue-at data data-ascii data-binary data-raw data-urlencode dump-header \
                      referer cert key cacert capath form form-string header config max-time output output-dir quote range \
                      telnet-option upload-file user proxy proxy-user write-out request url url-query connect-timeout retry \
                      retry-delay retry-max-time max-redirs limit-rate resolve interface json unix-socket aws-sigv4 \
                      oauth2-bearer connect-to ciphers proto tls-max",
        printed: false,
    },
    Optioned {
        names: "wget",
        values: "oaeiBtOTwQPUlARDIX",
        long_values: "output-file append-output execute input-file base tries output-document timeout wait quota \
                      directory-prefix user-agent level accept reject domains header user password post-data post-file \
                      body-data body-file method load-cookies save-cookies referer config",
        printed: false,
    },
    Optioned {
        names: "git-fetch",
        values: "obj",
        long_values: "output upload-pack receive-pack exec",
        printed: false,
    },
    Optioned {
        names: "git-rebase git-filter-branch git-grep git-difftool",
        values: "",
        long_values: "",
        printed: false,
    },
    Optioned {
        names: "npm pnpm mise doppler nix-shell nix hyperfine",
        values: "",
        long_values: "",
        printed: false,
    },
];

/// Programs, and their options whose value is a file of settings, of which some are lines for a shell.
pub(super) const SETTINGS_FILES: &[(&str, &str)] = &[
    ("apt apt-get apt-cache aptitude", "-c --config-file"),
    ("ssh slogin autossh scp sftp", "-F"),
];

/// Tests and actions of `find` that have two values.
pub(super) const FIND_TWO_VALUES: &str = "-fprintf";

/// Tests and actions of `find` that have a value.
pub(super) const FIND_VALUES: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname \
    -newer -anewer -cnewer -newermt -newerct -newerat -newerBt -neweraa -newerac -newerca -newercc -newercm -newerma -newermc \
    -newermm -newerBa -newerBc -newerBm -newerBB -neweraB -newercB -newermB -neweram -user -group -uid -gid -perm -size \
    -type -xtype -maxdepth -mindepth -mtime -mmin -atime -amin -ctime -cmin -printf -fprint \
    -fprint0 -fls -samefile -inum -links -fstype -used -context -regextype";

/// Settings of `git` whose value is a line for a shell, besides aliases; `*` is any name.
pub(super) const GIT_LINES: &str = "pager.* core.pager core.editor core.sshcommand core.fsmonitor core.askpass core.gitproxy \
    core.alternaterefscommand sequence.editor diff.external diff.*.textconv diff.*.command merge.*.driver filter.*.clean \
    filter.*.smudge filter.*.process difftool.*.cmd difftool.*.path mergetool.*.cmd mergetool.*.path gpg.program \
    gpg.*.program gpg.ssh.defaultkeycommand credential.helper credential.*.helper interactive.difffilter \
    remote.*.uploadpack remote.*.receivepack trailer.*.command trailer.*.cmd uploadpack.packobjectshook browser.*.cmd \
    browser.*.path man.*.cmd man.*.path guitool.*.cmd submodule.*.update tar.*.command instaweb.httpd \
    gc.recentobjectshook hook.*.command sendemail.smtpserver sendemail.sendmailcmd sendemail.tocmd sendemail.cccmd sendemail.headercmd imap.tunnel";

/// Settings of `git` that name other settings, helpers, hooks or subcommands.
pub(super) const GIT_SOURCES: &str = "include.path includeif.*.path protocol.allow protocol.*.allow remote.*.vcs init.templatedir help.autocorrect \
    rebase.instructionformat";

/// Settings of `git` whose value is a folder with programs that it runs.
pub(super) const GIT_FOLDERS: &str = "core.hookspath";

/// Options of `git rev-parse` that print the folder of a repository, or a path in it.
pub(super) const GIT_ASKS_FOLDER: &str = "--git-dir --absolute-git-dir --git-common-dir --git-path";

/// Options of `git` itself that have a value, here or in the next word.
pub(super) const GIT_VALUES: &str =
    "-c -C --git-dir --work-tree --namespace --super-prefix --attr-source --config-env --exec-path";

/// Options of `git config` that have a value in the next word.
pub(super) const GIT_CONFIG_VALUES: &str =
    "-f --file --blob --type --default --value --comment -t --scope";

/// Files that `git` reads as settings, or runs: hooks.
pub(super) const GIT_FILES: &str = ".gitconfig applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout \
    post-commit post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit \
    pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout \
    reference-transaction sendemail-validate";

/// A program that reads files, and its standard input if its words name none.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) names: &'static str,
    /// The number of operands before the first file.
    pub(super) operands: usize,
    /// Short options with a value, here or in the next word; then the long ones, and those with two values.
    pub(super) values: &'static str,
    pub(super) long_values: &'static str,
    pub(super) pairs: &'static str,
    /// Options that take the place of the operands before the first file.
    pub(super) code: &'static str,
    /// Short options whose value, if any, is in the same word.
    pub(super) attached: &'static str,
    /// Whether an operand `NAME=VALUE` is no file.
    pub(super) assigns: bool,
}

const READER: Reader = Reader {
    names: "",
    operands: 0,
    values: "",
    long_values: "",
    pairs: "",
    code: "",
    attached: "",
    assigns: false,
};

pub(super) const READERS: &[Reader] = &[
    Reader {
        names: "cat rev md5sum sha1sum sha256sum sha512sum b2sum bzip2",
        ..READER
    },
    Reader {
        names: "head",
        values: "cn",
        long_values: "bytes lines",
        ..READER
    },
    Reader {
        names: "tail",
        values: "cns",
        long_values: "bytes lines pid sleep-interval max-unchanged-stats",
        ..READER
    },
    Reader {
        names: "wc",
        long_values: "files0-from total",
        ..READER
    },
    Reader {
        names: "sort",
        values: "kotST",
        long_values: "key output field-separator temporary-directory buffer-size parallel batch-size files0-from sort \
                      compress-program random-source",
        ..READER
    },
    Reader {
        names: "uniq",
        values: "fsw",
        long_values: "skip-fields skip-chars check-chars",
        ..READER
    },
    Reader {
        names: "nl",
        values: "bdfhilnsvw",
        long_values: "body-numbering section-delimiter footer-numbering header-numbering line-increment join-blank-lines \
                      number-format number-separator starting-line-number number-width",
        ..READER
    },
    Reader {
        names: "tac",
        values: "s",
        long_values: "separator",
        ..READER
    },
    Reader {
        names: "cut",
        values: "bcdf",
        long_values: "bytes characters fields delimiter output-delimiter",
        ..READER
    },
    Reader {
        names: "strings",
        values: "neTtsU",
        long_values: "bytes radix target encoding output-separator unicode",
        ..READER
    },
    Reader {
        names: "file",
        values: "efFmP",
        long_values: "exclude exclude-quiet files-from separator magic-file parameter",
        ..READER
    },
    Reader {
        names: "diff",
        operands: 1,
        values: "CUFIWxXDLS",
        long_values: "ignore-matching-lines label exclude exclude-from starting-file from-file to-file ifdef width tabsize \
                      show-function-line horizon-lines line-format old-line-format new-line-format \
                      unchanged-line-format palette",
        ..READER
    },
    Reader {
        names: "cksum",
        values: "al",
        long_values: "algorithm length",
        ..READER
    },
    Reader {
        names: "base64",
        values: "wbio",
        long_values: "wrap break input output",
        ..READER
    },
    Reader {
        names: "gzip gunzip",
        values: "S",
        long_values: "suffix",
        ..READER
    },
    Reader {
        names: "xz",
        values: "TMCFS",
        long_values: "threads memlimit memlimit-compress memlimit-decompress memlimit-mt-decompress memory format check suffix \
                      block-size block-list flush-timeout lzma1 lzma2",
        ..READER
    },
    Reader {
        names: "zstd",
        values: "oDM",
        long_values: "filelist output-dir-flat output-dir-mirror memory",
        ..READER
    },
    Reader {
        names: "jq",
        operands: 1,
        values: "fL",
        long_values: "from-file library-path indent args jsonargs",
        pairs: "arg argjson slurpfile rawfile argfile",
        code: "f from-file",
        ..READER
    },
    Reader {
        names: "sed gsed",
        operands: 1,
        values: "efl",
        long_values: "expression file line-length",
        code: "e f expression file",
        attached: "i",
        ..READER
    },
    Reader {
        names: "grep egrep fgrep",
        operands: 1,
        values: "efmABCdD",
        long_values: "regexp file max-count after-context before-context context label binary-files devices directories \
                      include exclude exclude-from exclude-dir group-separator",
        code: "e f regexp file",
        ..READER
    },
    Reader {
        names: "awk gawk mawk",
        operands: 1,
        values: "fvFeEil",
        long_values: "file assign field-separator source exec include load",
        code: "f e E file source exec",
        assigns: true,
        ..READER
    },
];
