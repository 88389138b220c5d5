//! Programs that run the command in their own words: their options, and where the command begins.

/// A program that runs a command given in its own words.
///
/// Options are listed completely, because the start of the command is unknown after an unknown option. Lists of long
/// options are separated by blanks, and may be abbreviated as `getopt_long` allows.
#[derive(Debug)]
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Short options without a value.
    pub(super) flags: &'static str,
    /// Short options with a value, here or in the next word.
    pub(super) values: &'static str,
    /// Short options whose value, if any, is in the same word.
    pub(super) attached: &'static str,
    pub(super) long_flags: &'static str,
    pub(super) long_values: &'static str,
    /// Options, short and long, whose value is a line for a shell.
    pub(super) lines: &'static str,
    /// Options, short and long, whose value is the program.
    pub(super) programs: &'static str,
    /// Options whose value is `NAME=VALUE` for the environment of the command, or the name of a variable.
    pub(super) sets: &'static str,
    /// Options whose value is a file that the program writes.
    pub(super) writes: &'static str,
    /// Options with which the program does not run the command.
    pub(super) idle: &'static str,
    /// Subcommands, one of which must come first: `run` in `poetry run`.
    pub(super) subcommand: Option<&'static str>,
    /// Operands before the command.
    pub(super) operands: usize,
    /// Whether assignments may precede the command.
    pub(super) assigns: bool,
    /// `Some` if it is a shell that reads standard input without a command: always if empty, else with one of these options.
    pub(super) shell: Option<&'static str>,
    /// `Some` if the command runs in another folder: always if empty, else with one of these options.
    pub(super) moves: Option<&'static str>,
    /// Whether options also count behind operands, up to `--`.
    pub(super) permutes: bool,
}

const PLAIN: Wrapper = Wrapper {
    names: "",
    flags: "",
    values: "",
    attached: "",
    long_flags: "help version",
    long_values: "",
    lines: "",
    programs: "",
    sets: "",
    writes: "",
    idle: "",
    subcommand: None,
    operands: 0,
    assigns: false,
    shell: None,
    moves: None,
    permutes: false,
};

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: "entr",
        flags: "acdnprxz",
        ..PLAIN
    },
    Wrapper {
        names: "nohup builtin and or not busybox toybox eatmydata unbuffer torsocks torify usewithtor proxychains proxychains4 \
                dumb-init dbus-run-session catchsegv noglob nocorrect -",
        ..PLAIN
    },
    Wrapper {
        names: "firejail proot fakechroot tsocks",
        shell: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "bwrap tini catatonit chronic ifne rlwrap tsp run-one dbus-launch caffeinate trickle systemd-inhibit daemonize arch sotruss memusage heaptrack",
        ..PLAIN
    },
    Wrapper {
        names: "repeat logsave faketime gosu su-exec setuidgid s6-setuidgid envuidgid runcon",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "ssh-agent",
        flags: "cDdks",
        values: "aEOPt",
        ..PLAIN
    },
    Wrapper {
        names: "valgrind",
        flags: "dhqv",
        long_flags: "tool leak-check leak-resolution show-leak-kinds show-reachable show-possibly-lost errors-for-leak-kinds \
                     track-origins track-fds undef-value-errors error-exitcode error-limit exit-on-first-error \
                     trace-children trace-children-skip child-silent-after-fork suppressions gen-suppressions \
                     default-suppressions log-file log-fd xml xml-file xml-fd num-callers main-stacksize max-stackframe \
                     malloc-fill free-fill freelist-vol redzone-size keep-stacktraces keep-debuginfo fullpath-after \
                     demangle run-libc-freeres vgdb vgdb-error time-stamp stats sim-hints read-var-info \
                     callgrind-out-file cachegrind-out-file massif-out-file dump-instr collect-jumps cache-sim branch-sim \
                     collect-atstart instr-atstart toggle-collect separate-threads threshold time-unit detailed-freq \
                     max-snapshots pages-as-heap history-level quiet verbose help version",
        writes: "log-file xml-file callgrind-out-file cachegrind-out-file massif-out-file",
        ..PLAIN
    },
    Wrapper {
        names: "chpst",
        flags: "vP012",
        values: "uUbnlmdofpcrtC",
        moves: Some("C"),
        ..PLAIN
    },
    Wrapper {
        names: "numactl",
        flags: "alshH",
        values: "NCmipPwx",
        ..PLAIN
    },
    Wrapper {
        names: "cpulimit",
        flags: "bvqzif",
        values: "lpPesc",
        ..PLAIN
    },
    Wrapper {
        names: "cgexec",
        values: "g",
        long_flags: "sticky help",
        ..PLAIN
    },
    Wrapper {
        names: "sshpass",
        flags: "vhV",
        values: "pfdP",
        attached: "e",
        ..PLAIN
    },
    Wrapper {
        names: "choom",
        flags: "hV",
        values: "np",
        long_flags: "help version",
        long_values: "adjust pid",
        idle: "p pid",
        ..PLAIN
    },
    Wrapper {
        names: "cross-env",
        assigns: true,
        ..PLAIN
    },
    Wrapper {
        names: "npx bunx pnpx",
        flags: "yqvh",
        values: "pw",
        long_flags: "yes no quiet no-install ignore-existing prefer-offline prefer-online offline bun verbose silent \
                     version help workspaces include-workspace-root",
        long_values: "package workspace cache userconfig registry prefix",
        lines: "c call",
        ..PLAIN
    },
    Wrapper {
        names: "setarch uname26 linux32 linux64 i386 x86_64 ppc ppc32 ppc64 s390 s390x sparc sparc32 sparc64",
        flags: "BFILRSTXZv3hV",
        long_flags: "32bit fdpic-funcptrs short-inode addr-compat-layout addr-no-randomize whole-seconds \
                     sticky-timeouts read-implies-exec mmap-page-zero 3gb 4gb uname-2.6 verbose list help version",
        shell: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "sudo sudoedit",
        flags: "ABbEeHKiklNnPSsVv",
        values: "CcDghpRrTtUu",
        long_flags: "askpass bell background edit preserve-env preserve-groups set-home help login remove-timestamp \
                     reset-timestamp list no-update non-interactive stdin shell version validate",
        long_values: "close-from login-class chdir group host prompt chroot role type command-timeout other-user user",
        assigns: true,
        shell: Some("s i shell login"),
        moves: Some("D chdir i login R chroot"),
        ..PLAIN
    },
    Wrapper {
        names: "doas",
        flags: "Lns",
        values: "aCu",
        shell: Some("s"),
        ..PLAIN
    },
    Wrapper {
        names: "pkexec",
        long_flags: "disable-internal-agent keep-cwd help version",
        long_values: "user",
        shell: Some(""),
        moves: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "env",
        flags: "i0v",
        values: "uCa",
        long_flags: "ignore-environment null debug list-signal-handling help version block-signal default-signal \
                     ignore-signal",
        long_values: "unset chdir argv0",
        assigns: true,
        moves: Some("C chdir"),
        ..PLAIN
    },
    Wrapper {
        names: "nice",
        flags: "0123456789",
        values: "n",
        long_values: "adjustment",
        ..PLAIN
    },
    Wrapper {
        names: "ionice",
        flags: "thV",
        values: "cnpPu",
        long_flags: "ignore help version",
        long_values: "class classdata pid pgid uid",
        ..PLAIN
    },
    Wrapper {
        names: "time gtime",
        flags: "apvhqV",
        values: "fo",
        long_flags: "append portability quiet verbose help version",
        long_values: "format output",
        assigns: true,
        writes: "o output",
        ..PLAIN
    },
    Wrapper {
        names: "timeout gtimeout",
        flags: "fpv",
        values: "ks",
        long_flags: "foreground preserve-status verbose help version",
        long_values: "kill-after signal",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "stdbuf gstdbuf",
        values: "ioe",
        long_values: "input output error",
        ..PLAIN
    },
    Wrapper {
        names: "setsid",
        flags: "cfwhV",
        long_flags: "ctty fork wait help version",
        ..PLAIN
    },
    Wrapper {
        names: "exec",
        flags: "cl",
        values: "a",
        ..PLAIN
    },
    Wrapper {
        names: "command",
        flags: "pvV",
        idle: "v V",
        ..PLAIN
    },
    Wrapper {
        names: "su",
        flags: "flmpPTVh",
        values: "gGsw",
        long_flags: "fast login preserve-environment pty no-pty help version",
        long_values: "group supp-group shell whitelist-environment",
        lines: "c command session-command",
        ..PLAIN
    },
    Wrapper {
        names: "runuser",
        flags: "flmpPTVh",
        values: "gGswu",
        long_flags: "fast login preserve-environment pty no-pty help version",
        long_values: "group supp-group shell whitelist-environment user",
        lines: "c command session-command",
        permutes: true,
        ..PLAIN
    },
    Wrapper {
        names: "script",
        flags: "aefqhV",
        values: "BEIOTom",
        attached: "t",
        long_flags: "append return flush force quiet timing help version",
        long_values: "log-io log-in log-out log-timing logging-format output-limit echo",
        lines: "c command",
        operands: 1,
        shell: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "flock",
        flags: "sxeunoFhVv",
        values: "wE",
        long_flags: "shared exclusive unlock nonblock nb close no-fork verbose help version fcntl",
        long_values: "wait timeout conflict-exit-code start length",
        lines: "c command",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "unshare",
        flags: "muinpUCTfrchV",
        values: "RwSGl",
        long_flags: "mount uts ipc net pid user cgroup time fork map-root-user map-current-user map-auto kill-child \
                     mount-proc mount-binfmt keep-caps forward-signals help version",
        long_values: "root wd setuid setgid propagation setgroups monotonic boottime map-user map-group map-users \
                      map-groups load-interp owner",
        shell: Some(""),
        moves: Some("w wd R root"),
        ..PLAIN
    },
    Wrapper {
        names: "nsenter",
        flags: "aFZechV",
        values: "tSGN",
        attached: "muinpCUTrwW",
        long_flags: "all mount uts ipc net pid cgroup user time root wd wdns no-fork env preserve-credentials \
                     keep-caps follow-context join-cgroup user-parent help version",
        long_values: "target setuid setgid net-socket",
        shell: Some(""),
        moves: Some("w wd W wdns r root"),
        ..PLAIN
    },
    Wrapper {
        names: "chroot",
        long_flags: "skip-chdir help version",
        long_values: "userspec groups",
        operands: 1,
        shell: Some(""),
        moves: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "setpriv",
        flags: "dhV",
        long_flags: "dump nnp no-new-privs clear-groups keep-groups init-groups reset-env list-caps help version",
        long_values: "ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig \
                      selinux-label apparmor-profile ptracer landlock-access landlock-rule seccomp-filter",
        ..PLAIN
    },
    Wrapper {
        names: "taskset",
        flags: "acphV",
        long_flags: "all-tasks cpu-list pid help version",
        idle: "p pid",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "chrt",
        flags: "bdefiormpavRGhV",
        values: "TPD",
        long_flags: "batch deadline ext fifo idle other rr reset-on-fork all-tasks max pid verbose help version reclaim",
        long_values: "sched-runtime sched-period sched-deadline",
        idle: "p pid m max",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "prlimit",
        flags: "hV",
        values: "po",
        attached: "cdefilmnqrstuvxy",
        long_flags: "core data nice fsize sigpending memlock rss nofile msgqueue rtprio stack cpu nproc as locks rttime \
                     noheadings raw verbose help version",
        long_values: "pid output",
        ..PLAIN
    },
    Wrapper {
        names: "systemd-run",
        flags: "qGrtPSdhv",
        values: "pEMHuC",
        long_flags: "user system scope remain-after-exit send-sighup no-block wait pty pty-late pipe quiet collect shell \
                     no-ask-password same-dir slice-inherit on-timezone-change on-clock-change verbose help version \
                     ignore-failure no-pager",
        long_values: "unit property description slice expand-environment service-type uid gid nice working-directory \
                      setenv host machine on-active on-boot on-startup on-unit-active on-unit-inactive on-calendar \
                      path-property socket-property timer-property background job-mode capsule",
        shell: Some("S shell"),
        moves: Some(""),
        sets: "E setenv",
        writes: "p property",
        ..PLAIN
    },
    // `systemd-run` under another name
    Wrapper {
        names: "run0",
        flags: "hVi",
        values: "ugDa",
        long_flags: "no-ask-password slice-inherit pty pty-late pipe via-shell lightweight empower help version",
        long_values: "unit property description slice user group nice chdir setenv background machine area \
                      shell-prompt-prefix",
        shell: Some(""),
        moves: Some(""),
        sets: "setenv",
        writes: "property",
        ..PLAIN
    },
    Wrapper {
        names: "start-stop-daemon",
        flags: "SKTHVtobmqvi",
        values: "nupsdrgkcNPIROC",
        long_flags: "start stop status help version test oknodo background make-pidfile remove-pidfile quiet verbose \
                     notify-await no-close",
        long_values: "name user pid pidfile ppid signal chdir chroot group umask chuid nicelevel procsched iosched retry \
                      output notify-timeout",
        programs: "x exec a startas",
        moves: Some(""),
        writes: "O output p pidfile",
        permutes: true,
        ..PLAIN
    },
    Wrapper {
        names: "strace ltrace",
        flags: "cCdDfFhiknqrtTvVwxyzZAY",
        values: "aeEoOpPsSuUXIbl",
        long_flags: "follow-forks help version summary-only summary instruction-pointer stack-traces quiet \
                     no-abbrev decode-fds strings-in-hex seccomp-bpf",
        long_values: "attach trace expr env output user string-limit trace-path",
        sets: "E env",
        writes: "o output",
        ..PLAIN
    },
    Wrapper {
        names: "xvfb-run",
        flags: "ahl",
        values: "efnpsw",
        long_flags: "auto-servernum help listen-tcp auto-display",
        long_values: "error-file auth-file server-num xauth-protocol server-args wait",
        writes: "e error-file",
        ..PLAIN
    },
    Wrapper {
        names: "fakeroot",
        flags: "uhv",
        values: "lsibf",
        long_flags: "unknown-is-real help version",
        long_values: "lib faked",
        shell: Some(""),
        ..PLAIN
    },
    Wrapper {
        names: "ld.so",
        long_flags: "list verify inhibit-cache list-tunables list-diagnostics help version",
        long_values: "library-path glibc-hwcaps-prepend glibc-hwcaps-mask inhibit-rpath audit preload argv0",
        idle: "list verify",
        ..PLAIN
    },
    Wrapper {
        names: "uv",
        subcommand: Some("run"),
        flags: "mnqsvU",
        values: "p",
        long_flags: "frozen locked no-sync isolated no-project all-extras no-dev dev quiet verbose offline module \
                     all-groups no-config active no-cache script exact upgrade refresh all-packages help",
        long_values: "with python extra group only-group no-group with-editable with-requirements env-file directory \
                      project package index index-url extra-index-url",
        moves: Some("directory"),
        ..PLAIN
    },
    Wrapper {
        names: "poetry pipenv pdm hatch rye",
        subcommand: Some("run"),
        flags: "qnv",
        ..PLAIN
    },
    Wrapper {
        names: "bundle asdf rbenv pyenv nodenv goenv pnpm yarn",
        subcommand: Some("exec"),
        ..PLAIN
    },
    Wrapper {
        names: "mosh",
        flags: "46avn",
        values: "p",
        long_flags: "no-init no-ssh-pty local help version",
        long_values: "family port bind-server predict predict-overwrite experimental-remote-ip",
        lines: "ssh client server",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "perf",
        subcommand: Some("stat record trace mem c2c"),
        flags: "adghinvSsTBA0qR",
        values: "eprjoFCcumIxDtGzk",
        attached: "",
        long_flags: "all-cpus no-inherit verbose detailed big-num null sync per-core per-socket no-aggr summary stat-only tail-synthesize help \
                     version quiet group",
        long_values: "event repeat pid output freq count cpu delay timeout interval-print field-separator call-graph clockid mmap-pages \
                      filter buildid-all pre post",
        writes: "o output",
        ..PLAIN
    },
    Wrapper {
        names: "direnv",
        subcommand: Some("exec"),
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        names: "conda mamba micromamba",
        subcommand: Some("run"),
        flags: "v",
        values: "np",
        long_flags: "no-capture-output live-stream verbose dev",
        long_values: "name prefix cwd",
        moves: Some("cwd"),
        ..PLAIN
    },
];

/// `ssh` after its host, where further options may follow.
pub(super) const SSH_AFTER_HOST: Wrapper = Wrapper { operands: 0, ..SSH };

/// `xargs`, whose command gets more words from the standard input.
pub(super) const XARGS: Wrapper = Wrapper {
    names: "xargs gxargs",
    flags: "0optrx",
    values: "adEILnPsSRJ",
    attached: "eil",
    long_flags: "null open-tty interactive no-run-if-empty exit verbose show-limits eof replace max-lines help version",
    long_values: "arg-file delimiter max-args max-procs max-chars process-slot-var",
    sets: "process-slot-var",
    ..PLAIN
};

pub(super) const PARALLEL: Wrapper = Wrapper {
    names: "parallel",
    flags: "0kmqrtuvXz",
    values: "aCEIjJLnNPsSd",
    attached: "eil",
    long_flags: "null bar dry-run keep-order no-run-if-empty group ungroup line-buffer lb verbose eta progress pipe \
                 citation will-cite link xapply quote no-notice halt-on-error version help env",
    long_values: "arg-file colsep jobs max-args max-procs delay timeout retries results joblog tmpdir halt workdir wd \
                  load memfree nice ssh sshlogin delimiter tagstring block recstart recend",
    moves: Some("workdir wd S sshlogin"),
    writes: "joblog",
    ..PLAIN
};

/// `parallel` as a semaphore.
pub(super) const SEM: Wrapper = Wrapper {
    names: "sem",
    long_flags: "null bar dry-run keep-order no-run-if-empty group ungroup line-buffer lb verbose eta progress pipe \
                 citation will-cite link xapply quote no-notice halt-on-error version help env semaphore fg bg wait",
    long_values: "arg-file colsep jobs max-args max-procs delay timeout retries results joblog tmpdir halt workdir wd \
                  load memfree nice ssh sshlogin delimiter tagstring block recstart recend semaphore-name semaphorename \
                  id semaphore-timeout semaphoretimeout st",
    ..PARALLEL
};

/// `niceload` of GNU parallel, whose words are a line.
pub(super) const NICELOAD: Wrapper = Wrapper {
    names: "niceload",
    flags: "DHSNBqhvV",
    values: "fILlMnpst",
    long_flags: "debug hard soft sn startnoswap start-noswap start-no-swap rn runnoswap run-noswap run-no-swap noswap \
                 battery net baseline quote help verbose version",
    long_values: "factor si sio startio start-io ri rio runio run-io io sl startload start-load rl runload run-load load \
                  sm startmem start-mem rm runmem run-mem mem nethops nice program prg process pid suspend recheck",
    lines: "sensor",
    ..PLAIN
};

pub(super) const WATCH: Wrapper = Wrapper {
    names: "watch",
    flags: "bcCdeghprtvwxf",
    values: "nqs",
    long_flags: "beep color no-color differences errexit chgexit precise no-rerun no-title no-wrap exec help version \
                 follow",
    long_values: "interval equexit shotsdir",
    ..PLAIN
};

pub(super) const SSH: Wrapper = Wrapper {
    names: "ssh slogin autossh",
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    // `-P`, which has a value in some versions and none in others, is in no list
    values: "BbcDEeFIiJLlmOopQRSWw",
    operands: 1,
    writes: "E",
    ..PLAIN
};

/// Shells: their options that take a value. `-c` takes a line.
pub(super) const SHELL: Wrapper = Wrapper {
    flags: "abefhiklmnprstuvxBCDEHPTVXqNGIZFL",
    values: "oO",
    long_flags: "norc noprofile posix login dump-strings dump-po-strings noediting noline-editing \
                 restricted verbose rpm-requires version help wordexp",
    long_values: "rcfile init-file",
    lines: "c",
    ..PLAIN
};

/// Shells of which each option for a line counts, and of which other options have values.
pub(super) const OTHER_SHELLS: &[Wrapper] = &[
    Wrapper {
        names: "fish",
        flags: "hPilNnv",
        values: "pdfDo",
        long_flags: "help version interactive login no-config no-execute private print-rusage-self print-debug-categories",
        long_values: "features debug debug-output debug-stack-frames profile profile-startup",
        lines: "c command C init-command",
        writes: "p profile profile-startup o debug-output",
        ..PLAIN
    },
    // behind `-b` all words are operands
    Wrapper {
        names: "csh tcsh",
        flags: "defFilmnqstvVxX",
        lines: "c",
        ..PLAIN
    },
];
