//! Tables of programs: shells, interpreters, and those that run, delete, write or print by their words.

pub(super) const SHELLS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "mksh", "pdksh", "oksh", "lksh", "posh", "yash", "ash",
    "rbash", "rksh", "rzsh", "csh", "tcsh", "fish", "elvish", "nu", "xonsh", "hush", "bosh", "osh",
    "ysh", "rc", "es", "pwsh",
];

/// Endings of the names of alternatives of a program: `vim.basic`, `nc.openbsd`.
pub(super) const ALTERNATIVES: &str =
    "basic tiny nox athena gtk gtk3 traditional openbsd gnu distrib mini full static ws byron";

/// The first parts of the names of targets: `x86_64-linux-gnu`.
pub(super) const ARCHITECTURES: &str = "x86_64 aarch64 arm armv7 armv7l armeb i386 i486 i586 i686 riscv32 riscv64 powerpc powerpc64 powerpc64le \
    ppc64le mips mipsel mips64 mips64el s390x sparc64 loongarch64 alpha hppa m68k sh4 avr wasm32";

/// Other names of programs.
pub(super) const OTHER_NAMES: &[(&str, &str)] = &[
    ("c89 c99 c17 cpp", "gcc"),
    ("editor vimdiff rvim rview gvim gview evim", "vim"),
    ("rsh remsh", "ssh"),
    ("zless", "less"),
    ("fakeroot-tcp fakeroot-sysv fakeroot-ng", "fakeroot"),
    ("bash-static", "bash"),
    ("zsh-static", "zsh"),
    ("mksh-static", "mksh"),
    ("bsd-csh", "csh"),
    ("busybox-static", "busybox"),
    ("sudo-rs", "sudo"),
    ("su-rs", "su"),
    ("expect_unbuffer", "unbuffer"),
    ("gdb-multiarch", "gdb"),
];

/// Programs that run code of their own language, from their standard input if no file is named.
pub(super) const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "Rscript",
    "osascript",
    "guile",
    "ghci",
    "irb",
];

/// Programs, and their options whose value is a line for a shell, or a program with words. `git-rebase` is the subcommand.
pub(super) const LINE_OPTIONS: &[(&str, &str)] = &[
    (
        "tar gtar bsdtar",
        "-I -F --use-compress-program --checkpoint-action --to-command --rsh-command --info-script --new-volume-script",
    ),
    ("rsync", "-e --rsh --rsync-path"),
    ("split gsplit", "--filter"),
    ("sort gsort", "--compress-program"),
    ("ssh slogin autossh", "-o"),
    ("scp sftp", "-o -S -D"),
    ("man", "-P --pager -H --html"),
    ("strace ltrace", "-o --output"),
    ("sshuttle", "-e --ssh-cmd"),
    ("bat batcat delta ack ag", "--pager"),
    ("rg", "--pre"),
    ("tcpdump", "-z"),
    ("svn", "--diff-cmd --diff3-cmd --merge-cmd --editor-cmd"),
    ("wget", "--use-askpass"),
    (
        "aria2c",
        "--on-bt-download-complete --on-download-complete --on-download-error --on-download-pause --on-download-start \
         --on-download-stop",
    ),
    ("zip", "-TT --unzip-command"),
    ("dpkg", "--status-logger --pre-invoke --post-invoke"),
    ("dpkg-architecture", "-c --command"),
    ("apt apt-get apt-cache aptitude", "-o --option"),
    ("make gmake", "-E --eval"),
    ("cpio", "--rsh-command"),
    ("borg", "--rsh"),
    ("restic rclone", "--password-command"),
    ("yt-dlp youtube-dl", "--exec"),
    ("fzf sk", "--preview"),
    ("go", "-exec -toolexec -vettool"),
    ("sbatch", "--wrap"),
    ("gcloud vagrant", "--command"),
    ("nodemon", "--exec"),
    (EDITORS, "-c -S --cmd"),
    (PAGERS, ""),
    ("install ginstall", "--strip-program"),
    ("cc gcc g++ c++ clang clang++", "-wrapper"),
    ("nix-shell", "--run --command"),
    ("npm pnpm", "-c --call"),
    ("mise", "-c --command"),
    ("doppler", "--command"),
    ("nc ncat netcat", "-e -c --exec --sh-exec"),
    (
        "hyperfine",
        "-p --prepare -s --setup -c --cleanup -C --conclude",
    ),
    ("git-rebase", "-x --exec"),
    (
        "git-filter-branch",
        "--setup --subdirectory-filter --env-filter --tree-filter --index-filter --parent-filter --msg-filter \
         --commit-filter --tag-name-filter",
    ),
    ("git-svn", "--authors-prog"),
    ("git-grep", "-O --open-files-in-pager"),
    ("git-fetch", "-u --upload-pack --receive-pack --exec"),
    ("git-difftool", "-x --extcmd"),
    ("git-instaweb", "-d --httpd -b --browser"),
    (
        "git-send-email",
        "--sendmail-cmd --to-cmd --cc-cmd --header-cmd --smtp-server",
    ),
];

/// Editors whose commands may run a line: `:!LINE`.
pub(super) const EDITORS: &str = "vi vim nvim view ex";

/// Pagers whose commands may run a line: `+!LINE`.
pub(super) const PAGERS: &str = "less more most";

/// Programs of which `-o` gives a setting of `ssh`.
pub(super) const SSH_PROGRAMS: &str = "ssh scp sftp slogin autossh";

/// Programs of [`LINE_OPTIONS`] that give a line to a shell as it is, without words behind it.
pub(super) const WHOLE_LINES: &str = "tar gtar bsdtar split gsplit sort gsort man bat batcat delta ack ag hyperfine sbatch gcloud vagrant vi vim \
    nvim view ex nix-shell npm pnpm mise doppler nc ncat netcat strace ltrace fzf sk apt apt-get apt-cache aptitude dpkg git-rebase \
    git-filter-branch restic rclone make gmake dpkg-architecture less more most";

/// Programs, the words that announce a command (one of them is enough), and the number of operands between that word
/// and the command.
pub(super) const COMMAND_MARKS: &[(&str, &str, usize)] = &[
    (
        "mise op dotenv doppler infisical perf kubectl oc lxc",
        "--",
        0,
    ),
    ("gdb lldb", "--args --", 0),
    ("nix dpkg-architecture", "-c --command", 0),
    ("fd fdfind", "-x -X --exec --exec-batch", 0),
    ("ip", "exec", 1),
    ("screen", "-dm -Dm", 0),
];

/// Commands that `screen -X` gives to a session, and that run nothing by their words; `exec` runs them.
pub(super) const SCREEN_QUIET: &str =
    "quit kill detach select title hardcopy number next prev windows version wall exec";

/// Programs whose operands are lines for a shell, if they are no plain words.
pub(super) const LINE_OPERANDS: &str = "hyperfine sops pee";

/// Programs that run what their words say in the folder in which they run themselves.
pub(super) const STAYS_IN_FOLDER: &str = "hyperfine nix-shell nix nodemon npm pnpm doppler fzf sk fd fdfind watchexec docker podman sqlite3 \
    gdb lldb capsh perf op dotenv infisical";

/// Commands of `tmux` that run nothing by their words.
pub(super) const TMUX_QUIET: &str = "ls list-sessions lsw list-windows lsp list-panes lsc list-clients list-buffers lsb list-keys lsk \
    list-commands lscm has has-session kill-session kill-window killw kill-pane killp kill-server attach attach-session a detach detach-client \
    capture-pane capturep display display-message rename rename-session rename-window renamew resize-pane resizep resize-window resizew \
    select-window selectw select-pane selectp select-layout selectl swap-pane swapp swap-window swapw show show-options show-buffer showb \
    show-environment showenv wait wait-for start start-server switch-client switchc next next-window prev previous-window last last-window \
    move-window movew move-pane movep join-pane joinp break-pane breakp clear-history clearhist refresh refresh-client info server-info";

/// Other commands of `tmux`, what their words are (a file with commands, keys, a line for a shell, or a line or a program), and their options
/// with a value.
pub(super) const TMUX_COMMANDS: &[(&str, &str, &str)] = &[
    ("source source-file", "file", "t"),
    ("send send-keys", "keys", "cNt"),
    ("run run-shell if if-shell pipep pipe-pane", "shell", "cdt"),
    ("new new-session neww new-window", "start", "cefFnstxy"),
    (
        "splitw split-window respawnp respawn-pane respawnw respawn-window",
        "start",
        "ceFlpt",
    ),
    ("popup display-popup", "start", "bcdehsStTwxy"),
];

/// Compilers and linkers that take options from a file (`@FILE`), and programs from a folder.
pub(super) const OPTION_FILES: &str =
    "cc gcc g++ c++ clang clang++ gfortran ld ar as javac java rustc swiftc nvcc";

/// Options of these that name a file or folder with what they run.
pub(super) const OPTION_FOLDERS: &[&str] = &[
    "-B",
    "-specs",
    "--specs",
    "-fplugin",
    "-fuse-ld",
    "--sysroot",
    "-iplugindir",
    "--config",
    "-load",
    "-Xclang",
];

/// Editors, their options that run nothing, and programs that change or print a file as an editor.
pub(super) const EDITING: &str = "vi vim nvim nano emacs emacsclient ed ex code code-insiders codium subl mate atom micro helix hx kak pico \
    joe mcedit gedit kate idea zed cursor windsurf notepad";
pub(super) const EDITOR_OPTIONS: &str =
    "--wait -w -n -f -nw -t -a -R -r --nofork --new-window --reuse-window --noplugin --clean";
pub(super) const REPLACING: &str = "sed gsed true false : cat echo touch sleep head rm";

/// Options by which a program changes to a folder.
pub(super) const FOLDER_OPTIONS: &str =
    "-C --cd --cwd --chdir --directory --workdir --working-dir --working-directory --prefix --dir";

/// Options by which some programs change to a folder, or search another one.
pub(super) const FOLDER_OPTIONS_OF: &[(&str, &str)] = &[
    ("fd fdfind", "--base-directory --search-path"),
    ("mpirun mpiexec orterun prterun", "-wdir --wdir -wd"),
    ("schroot dchroot kitty", "-d"),
    ("daemon", "-D"),
    ("pueue", "-w"),
];

/// Settings of `ssh` whose value is a line for a shell.
pub(super) const SSH_LINES: &str =
    "proxycommand localcommand knownhostscommand remotecommand match";

/// Parts of the names of settings of `apt` whose value is a line for a shell or a program.
pub(super) const APT_LINES: &str =
    "invoke pre-install-pkgs dir::bin proxy-auto-detect proxyautodetect";

/// Programs that run what the name says by which they are called.
pub(super) const NAMED_BY_CALL: &str = "git busybox toybox coreutils";

/// Programs whose words are plain text or files, so that no word is run as a command.
pub(super) const OWN_WORDS: &str = "echo printf grep egrep fgrep zgrep rg ag ack man which type whereis whatis apropos info \
    help test [ [[ expr set logger notify-send sed gsed awk gawk mawk nawk jq yq curl http https xh pgrep pkill history hash \
    apt-cache dpkg cp mv ln link";

/// Variables of `make` whose value its rules run as a program with words.
pub(super) const MAKE_PROGRAMS: &str = "CC CXX CPP FC F77 LD AR AS RM NM STRIP RANLIB OBJCOPY OBJDUMP INSTALL MAKE YACC LEX LINT M2C PC \
    GET CO TEX WEAVE CWEAVE TANGLE CTANGLE MAKEINFO TEXI2DVI HOSTCC HOSTCXX HOSTLD";

/// Variables whose value the implicit rules of `make` put into the commands that they run.
pub(super) const MAKE_FLAGS: &str = "CFLAGS CXXFLAGS CPPFLAGS LDFLAGS LDLIBS LOADLIBES ASFLAGS ARFLAGS FFLAGS F90FLAGS GFLAGS PFLAGS \
    RFLAGS LFLAGS YFLAGS LINTFLAGS COFLAGS M2FLAGS MODFLAGS DEFFLAGS OBJCFLAGS TARGET_ARCH TARGET_MACH OUTPUT_OPTION DEFINES INCLUDES";

/// Functions of `make` that neither run a command nor read a text as a makefile.
pub(super) const MAKE_FUNCTIONS: &str = "subst patsubst strip findstring filter filter-out sort word wordlist words firstword lastword \
    dir notdir suffix basename addsuffix addprefix join wildcard realpath abspath if or and foreach value origin flavor";

/// Programs that delete their operands: a word of another program with such a name is listed as a command, too.
pub(super) const DELETING: &str = "rm unlink shred srm";

/// Programs that send data: a word of another program with such a name, and an option or address behind it, is listed as a command.
pub(super) const SENDING: &str =
    "curl wget scp rsync sftp ftp lftp telnet nc ncat netcat socat aria2c mail mailx sendmail";

/// Words before the names of packages.
pub(super) const PACKAGE_VERBS: &str = "install add remove purge uninstall upgrade update reinstall info show search list -S -Sy -Syu -R -Q";

/// Programs that run commands in containers with `exec` or `run`: words before these, and the options of both without a value.
pub(super) const CONTAINERS: &[(&str, &str, &str, &str)] = &[(
    "docker podman nerdctl docker-compose podman-compose",
    "container compose",
    "dtiPTq",
    "detach tty interactive rm init privileged read-only publish-all no-healthcheck sig-proxy oom-kill-disable quiet latest \
     build no-deps service-ports use-aliases quiet-pull no-TTY remove-orphans replace",
)];

/// Programs with a subcommand `rm` of their own.
pub(super) const DELETING_SUBCOMMANDS: &str = "git svn hg jj dvc fossil bzr gsutil s3cmd s5cmd mc aws gcloud ipfs az docker \
    docker-compose podman podman-compose nerdctl buildah lxc incus multipass npm pnpm yarn bun cargo brew gh glab heroku fly flyctl \
    pass gopass op vercel netlify firebase wrangler railway etcdctl vault minikube composer snap dotnet hdfs hadoop stack zypper \
    rclone lpass chezmoi sdk conda mamba asdf mise kubectl oc helm pulumi jfrog repo lerna uv poetry pdm rye";

/// Words after which a program with subcommands runs the command that follows.
pub(super) const RUNNING_WORDS: &str =
    "run exec foreach unshare shell ssh x dlx start -- --command --entrypoint --exec";

/// Options whose value may be the name of a shell as a language.
pub(super) const LANGUAGE_OPTIONS: &str =
    "-l -S -t -s -f --language --lang --syntax --type --format --shell";

/// Options whose value is text for people.
pub(super) const TEXT_OPTIONS: &str =
    "-m --message --title --body --notes --description --comment --subject -b --msg";

/// Words of a shell that stand before a command, besides the wrappers; commands of `sqlite3` may be abbreviated.
pub(super) const KEYWORDS: &str = "do then else if while until exec eval xargs find shell .shell .shel .she .sh spawn system .system .syste .syst .sys .sy";

/// Wrappers whose names are also subcommands or operands of other programs: `docker exec -it c sh`.
pub(super) const ALSO_SUBCOMMANDS: &str =
    "exec command builtin time watch script and not repeat arch";

/// Programs whose first operand decides what they run.
pub(super) const SUBCOMMANDS: &str = "git hg svn jj npm pnpm yarn bun deno cargo go docker podman nerdctl docker-compose kubectl \
    oc gh uv poetry pipenv pdm hatch rye conda mamba bundle cmake mise asdf nix tar gtar bsdtar";

/// Programs whose operands may be assignments for the commands that they run, or for later commands.
pub(super) const ASSIGNS: &[&str] = &[
    "env",
    "sudo",
    "doas",
    "cross-env",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
];

/// Variables that hold the paths of files in which a line leaves results for the program that runs it.
pub(super) const RUNNER_FILES: &str =
    "GITHUB_ENV GITHUB_OUTPUT GITHUB_PATH GITHUB_STATE GITHUB_STEP_SUMMARY";

/// Programs that make links, or copy them.
pub(super) const LINKING: &str = "ln cp rsync link";

/// Builtins whose operands arithmetic may evaluate.
pub(super) const EVALUATES_SUBSCRIPTS: &[&str] = &[
    "let",
    "test",
    "[",
    "printf",
    "unset",
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "mapfile",
    "readarray",
    "wait",
    "getopts",
];

/// Builtins that evaluate the subscript of a name of which the line writes nothing: `unset "$x"`.
pub(super) const EVALUATES_NAMES: &[&str] = &[
    "unset",
    "declare",
    "typeset",
    "local",
    "read",
    "mapfile",
    "readarray",
    "getopts",
];

/// Programs that print numbers, and names of files which are among their words.
pub(super) const NAMES_FILES: &str =
    "grep egrep fgrep zgrep wc cksum sum du stat git curl jq pgrep getconf";

/// Variables by which a program of a known name is another one, or prints other texts.
pub(super) const CHANGES_PROGRAMS: &[&str] = &[
    "PATH",
    "CDPATH",
    "BC_ENV_ARGS",
    "TERMINFO",
    "QUOTING_STYLE",
    "GREP_OPTIONS",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
];

/// Commands that print nothing, or text from the line itself.
pub(super) const PRINTS_NOTHING: &[&str] = &[":", "true", "test", "[", "sleep"];

/// Commands that print nothing by themselves; with `-p` some print variables.
pub(super) const PRINTS_NOTHING_HERE: &[&str] = &[
    ":", "true", "false", "test", "[", "local", "readonly", "let", "return", "shift", "exit",
    "break", "continue", "unset", "read", "sleep",
];

/// Programs that print one word at most, and the words with which they begin then.
pub(super) const PRINTS_ONE_WORD: &[(&str, &str)] = &[
    ("uname hostname whoami arch nproc logname hostid tty", ""),
    ("uname", "-s"),
    ("uname", "-m"),
    ("uname", "-r"),
    ("uname", "-n"),
    ("uname", "-p"),
    ("hostname", "-s"),
    ("id", "-un"),
    ("id", "-gn"),
    ("id", "-u"),
    ("git", "rev-parse HEAD"),
    ("git", "rev-parse --short HEAD"),
    ("git", "rev-parse --abbrev-ref HEAD"),
    ("git", "branch --show-current"),
    ("git", "symbolic-ref --short HEAD"),
    ("systemctl", "is-active"),
    ("systemctl", "is-enabled"),
    ("mktemp", "-d"),
    ("dpkg", "--print-architecture"),
];

/// Commands that pass their words to a shell as its parameters, besides functions and shells.
pub(super) const PASSES_ARGUMENTS: &[&str] = &[
    "set", "eval", ".", "source", "env", "sudo", "exec", "time", "timeout", "nice", "nohup",
    "setsid", "xargs", "find",
];

/// Programs that give a shell among their words more words: of their input, or names of files.
pub(super) const GIVES_WORDS: &str = "xargs gxargs parallel find gfind fd fdfind";

/// Programs that delete their operands, and the options with which they delete whole folders.
pub(super) const DELETERS: &[(&str, &str, &str)] = &[
    ("rm", "rR", "recursive"),
    ("rmdir", "", ""),
    ("unlink", "", ""),
    ("shred", "", ""),
    ("srm", "rR", "recursive"),
];

/// Programs that run or write what their words say, besides those that other tables list.
pub(super) const RUNS_OR_WRITES: &str =
    "find gfind xargs gxargs parallel sem niceload watch eval . source dd git awk gawk mawk nawk";

/// The operands of a program that name the files that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writes {
    All,
    Last,
    /// The value of `-o` or `-O`, or the end of an address.
    Fetched,
}

pub(super) const WRITERS: &[(&str, Writes)] = &[
    ("tee", Writes::All),
    ("sponge", Writes::All),
    ("cp", Writes::Last),
    ("mv", Writes::Last),
    ("ln", Writes::Last),
    ("install", Writes::Last),
    ("link", Writes::Last),
    ("rsync", Writes::Last),
    ("scp", Writes::Last),
    ("curl", Writes::Fetched),
    ("wget", Writes::Fetched),
    ("base64", Writes::Fetched),
    ("openssl", Writes::Fetched),
];

/// Programs, and the file that they write without a word that names it.
pub(super) const OUTPUT_FILES: &[(&str, &str)] =
    &[("script", "typescript"), ("nohup", "nohup.out")];

/// Programs whose words are code that may write files.
pub(super) const CODE_PROGRAMS: &str = "awk gawk mawk nawk perl python python2 python3 ruby node php lua tclsh vi vim nvim ex ed sqlite3";

/// Other programs that the files of a shell and the scripts of a system call by their names.
pub(super) const RUN_AT_START: &str = "dircolors tput lesspipe run-parts mesg tty stty clear reset gettext cut sort uniq tr tee \
    sed expr xauth fortune deactivate command_not_found_handle";

/// Options whose value names files that a program leaves out.
pub(super) const EXCLUDING: &str = "--exclude --exclude-dir --exclude-file --ignore --ignore-dir --ignore-path --ignore-pattern \
    --skip-dirs";

/// Files that a shell reads when it starts or ends.
pub(super) const STARTUP_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    "profile",
    "bash.bashrc",
    "bashrc",
    "zshenv",
    "zshrc",
    "config.fish",
];

/// Options of the shell, of `set -o` and of `shopt`, after which it reads lines and runs commands as before. Of all others a line is unknown:
/// they change words, names, folders or assignments.
pub(super) const SHELL_OPTIONS: &str = "allexport errexit errtrace functrace hashall ignoreeof monitor noclobber \
    noexec noglob nolog notify nounset onecmd physical pipefail posix privileged verbose vi emacs xtrace checkhash checkjobs \
    checkwinsize cmdhist direxpand dirspell dotglob execfail expand_aliases extglob globasciiranges globskipdots globstar histappend \
    huponexit inherit_errexit lithist localvar_inherit localvar_unset login_shell nocaseglob nocasematch nullglob progcomp \
    promptvars shift_verbose sourcepath";

/// Builtins that change what later words mean: aliases, parameters, the table of programs, the history, options.
pub(super) const MEANINGS: &[&str] = &[
    "alias", "set", "shift", "hash", "enable", "fc", "command", "builtin", "shopt",
];

/// Programs that may write a file named anywhere in their words, as in `sed 'w FILE'`, although another table lists
/// them.
pub(super) const MAY_WRITE: &[&str] = &[
    "script", "logsave", "scp", "rsync", "curl", "wget", "base64", "openssl",
];

/// Programs and builtins that write none of the files that their words name, or write only by a redirection.
pub(super) const READS: &str = ". : [ test true false alias bg bind break builtin caller cd chdir command compgen complete \
    continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help jobs kill let local logout \
    mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend time times trap type typeset \
    ulimit umask unalias unset wait cat tac head tail more bat nl wc ls dir stat file du df find gfind fd fdfind \
    locate which whereis whatis man readlink realpath basename dirname pathchk grep egrep fgrep zgrep rg ag ack diff cmp comm \
    colordiff icdiff cksum sum md5sum sha1sum sha256sum sha512sum b2sum shasum od hexdump strings nm objdump readelf ldd \
    chmod chown chgrp chattr lsattr getfacl setfacl mkdir rmdir rm unlink shred touch mkfifo sleep date seq yes uptime who \
    whoami id groups hostname uname nproc free ps pgrep pkill killall top htop lsof fuser ss netstat ping printenv shellcheck \
    gdb lldb rr hyperfine open xdg-open systemctl service journalctl launchctl jq xargs gxargs parallel sem niceload watch ssh slogin rsh \
    at batch crontab";

/// Programs that build other programs. A program that they build does not count as written by the line.
pub(super) const COMPILES: &str = "cc gcc g++ c++ clang clang++ rustc cargo go make gmake cmake ninja meson bazel javac java \
    kotlinc scalac ghc stack cabal swift swiftc zig nvcc ld as ar tsc npm npx yarn pnpm pip pip3 docker podman kubectl";

/// Programs that take files from a repository, an archive or another machine.
pub(super) const STORES: &str =
    "git hg svn jj tar gtar bsdtar zip unzip 7z scp rsync brew apt apt-get dnf yum pacman";

/// Subcommands of `git` that can write files of any name with content from the line.
pub(super) const GIT_PLUMBING: &str = "apply am checkout-index read-tree unpack-file update-index hash-object fast-import \
    format-patch";

/// Programs that leave their standard input alone, unless a word or an option says otherwise. After any other program, the rest of a script
/// that a shell reads from its standard input may begin anywhere.
pub(super) const LEAVES_INPUT: &str = "mkdir rmdir rm cp mv ln ls dir chmod chown chgrp touch install mktemp mkfifo stat du df date sleep \
    id who whoami hostname uname nproc free uptime ps pgrep pkill killall lsof which whereis basename dirname realpath readlink find gfind \
    seq unlink shred truncate make gmake cmake ninja meson npm npx yarn pnpm pip pip3 poetry uv cargo rustup go mvn gradle dotnet composer \
    bundle gem pytest tox ruff black mypy tsc eslint jest vitest docker docker-compose podman kubectl helm terraform ansible-playbook aws \
    gcloud az gh apt apt-get apt-cache add-apt-repository yum dnf rpm apk pacman brew snap systemctl service journalctl useradd usermod \
    userdel groupadd adduser addgroup mount umount sysctl modprobe ufw ip ping dig curl wget zip unzip ssh scp rsync ssh-keygen \
    ssh-keyscan pm2 nginx certbot supervisorctl createdb dropdb pg_dump pg_isready locale-gen update-alternatives ldconfig tzselect \
    timedatectl hostnamectl swapon swapoff fallocate lsblk findmnt netstat ss export printenv";

/// Programs with an option `-i` by which they ask, or keep their standard input open.
pub(super) const ASKS: &str = "rm cp mv ln docker podman kubectl git";

/// Subcommands of `git` that leave the standard input alone.
pub(super) const GIT_LEAVES_INPUT: &str = "add commit push pull fetch clone status log diff checkout switch branch merge rebase reset restore \
    stash tag remote init config clean submodule rev-parse describe show ls-files worktree cherry-pick revert mv rm";

/// Programs that connect their standard input to a terminal, which edits what is typed: always, or with one of these options.
pub(super) const TERMINALS: &[(&str, &str)] = &[
    ("script rlwrap expect screen", ""),
    ("unbuffer", "p"),
    ("su runuser", "P pty"),
    ("systemd-run", "t pty pty-late"),
    ("ssh slogin autossh mosh", "t"),
];

/// Programs that run commands later, at the same time or more than once.
pub(super) const UNORDERED: &str = "trap find gfind xargs gxargs parallel sem watch at batch crontab mapfile readarray complete compgen repeat";

/// Programs that write files whose names are not in their words (parts and contents of archives): if one of these
/// letters is among their short options, or one of these options is given; always, if both lists are empty.
pub(super) const UNPACKS: &[(&str, &str, &str)] = &[
    (
        "split csplit patch unzip bsdunzip unrar rar 7z 7za 7zr cpio pax unar lha arj cabextract unshield dtrx aunpack atool \
         unshar munpack ripmime uudecode uudeview gunzip bunzip2 unxz unlzma unzstd unlz4 lz4 lunzip unpigz lbunzip2 unbrotli \
         uncompress runzip lrunzip pixz",
        "",
        "",
    ),
    (
        "gzip pigz bzip2 pbzip2 lbzip2 xz lzma lzip plzip clzip brotli zstd zstdmt pzstd lzop compress rzip lrzip",
        "d",
        "--decompress --uncompress",
    ),
    ("ar", "x", ""),
    ("jar", "x", "--extract"),
    ("tar gtar bsdtar star", "x", "--extract --get"),
    (
        "dpkg dpkg-deb",
        "xXeR",
        "--extract --vextract --control --raw-extract",
    ),
    // also of a text that it has packed itself
    (
        "gpg gpg2",
        "cdes",
        "--decrypt --decrypt-files --symmetric --store --encrypt --sign --clear-sign",
    ),
    (
        "cc gcc g++ c++ clang clang++ gfortran nvcc",
        "",
        "-save-temps --save-temps",
    ),
];

/// Variables with options of programs that [pack](UNPACKS).
pub(super) const UNPACK_VARIABLES: &str = "XZ_OPT XZ_DEFAULTS GZIP BZIP BZIP2 LZOP LRZIP PIGZ";

/// Options by which archives get files of other names than those that were packed.
pub(super) const RENAMES: &[(&str, &str)] = &[
    ("tar gtar star", "--transform --xform"),
    ("bsdtar pax", "-s"),
    ("cpio pax", "-r --rename"),
    ("7z 7za 7zr", "rn"),
];

/// Programs of [`COMPILES`], and the words with which they write a text of their input rather than a program.
pub(super) const COPIES_TEXT: &[(&str, &str)] = &[
    (
        "cc gcc g++ c++ clang clang++ gfortran nvcc ghc",
        "-E --preprocess -MF -MT -MQ",
    ),
    ("ld", "--oformat -oformat"),
    ("docker podman kubectl nerdctl", "cp"),
    ("cmake", "-E"),
    ("zig", "objcopy -E"),
];

/// Programs that make a program of a script with this ending, by copying it.
pub(super) const BUILDS_BY_COPY: &[(&str, &str)] = &[("make gmake", ".sh")];

/// Programs that write files with text of their words, and how the names of these end.
pub(super) const LEAVES_TEXTS: &[(&str, &str)] = &[
    (
        "git",
        "COMMIT_EDITMSG MERGE_MSG SQUASH_MSG TAG_EDITMSG NOTES_EDITMSG FETCH_HEAD",
    ),
    ("ssh-keygen", ".pub"),
];

/// Programs of [`READS`] that write files by commands among their words.
pub(super) const WRITES_BY_COMMAND: &str = "gdb lldb rr";

/// Whether a list of words has this one.
pub(super) fn listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == name)
}
