//! Lines in which hidden, later or foreign text comes to run: what a shell keeps in its variables, options and traps, what another program
//! gives to a shell, names of files within texts. Each table is followed by ordinary lines near its rule.

use guard_shell::Command;

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown, none_deletes, read};

#[test]
fn variables_that_the_shell_sets_are_texts_of_the_line() {
    all_are_unknown(&[
        r#"bash -c "echo x${IFS}rm -rf /v/d""#,
        "find /v/d$IFS-exec${IFS}rm${IFS}-rf${IFS}{}${IFS}+",
        "find /v/d${IFS}-delete",
        "timeout 5${IFS}rm${IFS}-rf${IFS}/v/d",
        "nice -n5${IFS}rm -rf /v/d",
        "env -uX${IFS}rm -rf /v/d",
        "xargs -n1${IFS}rm${IFS}-rf <<< /v/d",
        "rm x${IFS}-rf${IFS}/v/d",
        r#"echo '; rm -rf /v/d'; bash -c "echo $_""#,
        r#"echo '; rm -rf /v/d'; ssh h "ls $_""#,
        r#"[[ '; rm -rf /v/d' =~ .* ]]; flock f -c "echo $BASH_REMATCH""#,
        r#"[[ '; rm -rf /v/d' =~ .* ]]; watch "echo $BASH_REMATCH""#,
        r#"cd './;/bin/r? -rf v;'; bash -c "echo $PWD""#,
        r#"cd './;/bin/r? -rf v;'; bash -c "bash -c 'bash -c \"echo \$PWD\"'""#,
        r#"env -C './;/bin/r? -rf v;' bash -c 'bash -c "echo $PWD"'"#,
        r#"cd './;rm -rf v;'; cd /; sh -c "echo $OLDPWD""#,
        r#"pushd './;rm -rf v;'; bash -c "echo $DIRSTACK""#,
        r#"bash -c 'bash -c "echo $BASH_EXECUTION_STRING"'"#,
        "echo 'rm -rf /v'; $_/d",
        "env $_/d",
        "[[ 'rm -rf /v' =~ .* ]]; $BASH_REMATCH/d",
        "echo -rf; rm $_ /v/d",
        "echo -delete; find /v/d $_",
        r#"[[ 'PS4=$(/bin/r? -rf /v/d)' =~ .* ]]; export "$BASH_REMATCH"; set -x; :"#,
        r#"[[ 'PS4=$(/bin/r? -rf /v/d)' =~ .* ]]; declare "$BASH_REMATCH"; set -x; :"#,
        r#"x=1; read x <<< BASH_ENV=/dev/stdin; export "$x"; bash -c : <<< 'rm -rf /v/d'"#,
        "[[ keyword =~ .* ]]; set -o $BASH_REMATCH",
        "echo keyword; set -o $_",
        r#"[[ '--filter=rm -rf /v/d' =~ .* ]]; split "$BASH_REMATCH" f"#,
        r#"f() { bash -c "echo $*"; }; IFS=';'; f x 'rm -rf /v/d'"#,
        "eval 'IFS=_'; $(echo rm_-rf_/v/d)",
    ]);
    all_are_read(&[
        r#"echo "$PWD" "$OLDPWD" "$RANDOM" "$UID""#,
        r#"cd sub && docker run -v "$PWD:/x" img ls"#,
        r#"cd sub; tar czf "$PWD/../a.tgz" ."#,
        r#"mkdir -p foo && cd "$_""#,
        r#"user=$(whoami); sudo -u "$user" ls"#,
        r#"img=$(docker images -q x); sudo docker rmi "$img""#,
        r#"export FOO="$BAR" BAZ=1"#,
        "export $(grep -v '^#' .env | xargs)",
        r#"IFS=, read -r a b <<< "x,y"; echo "$a""#,
        r#"f() { echo "$*"; }; f a b"#,
        "exit $?",
        r#"BRANCH=$(git rev-parse --abbrev-ref HEAD) && git push -u origin "$BRANCH""#,
    ]);
}

#[test]
fn builtins_are_found_behind_what_runs_them() {
    all_are_unknown(&[
        r#"x=ls; command -pp eval 'x="rm -rf /v/d"'; $x"#,
        r#"x=ls; builtin command -pp eval 'x="rm -rf /v/d"'; $x"#,
        "x=ls; command -pp read x <<< 'rm -rf /v/d'; $x",
        "x=ls; command -pp printf -v x 'rm -rf /v/d'; $x",
        r#"command -pp trap 'x="rm -rf /v/d"' DEBUG; x=ls; :; $x"#,
        "command -pp exec <<< 'rm -rf /v/d'; bash",
        "command -p -pp exec <<< 'rm -rf /v/d'; bash",
        "shopt -s expand_aliases; command -pp alias ls='rm -rf'\nls /v/d",
        "v=/v; command -pp shopt -s cdable_vars; cd v; rm -rf d",
        "x=ls; time -p command -p -p -p -p -p read x <<< 'rm -rf /v/d'; $x",
        r#"declare -A m; k='$(rm -rf /v/d)'; command -p -p -p -p -p unset "m[$k]""#,
        r#"p=-pp; x=ls; command $p eval 'x="rm -rf /v/d"'; $x"#,
        r#"c=command; x=ls; $c eval 'x="rm -rf /v/d"'; $x"#,
        "c=builtin; x=ls; $c read x <<< 'rm -rf /v/d'; $x",
        "x=ls; {builtin,read} x <<< 'rm -rf /v/d'; $x",
        "jobs -x eval '/bin/r? -rf /v/d'",
        r#"a=(rm -rf /v/d); jobs -x "${a[@]}""#,
        "o=-x; jobs $o eval '/bin/r? -rf /v/d'",
        "jobs -lx cd /v; rm -rf d",
        r#"f() { bash -c "$*"; }; f '/bin/r? -rf /v/d'"#,
        "env -uC /bin/r? -rf /v/d",
        "env -iuC /bin/r? -rf /v/d",
        "env -a git-push -S git",
        "enable -n echo; PATH=/w:$PATH; $(echo ls)",
    ]);
    all_are_read(&[
        "command -v git >/dev/null 2>&1 || exit 1",
        "command -p ls -l",
        "jobs -l; jobs -p | xargs kill",
        "time -p make",
        "env -u FOO -C sub make",
        "env -uC ls",
        "builtin echo x",
    ]);
}

#[test]
fn options_of_the_shell_are_those_that_change_no_words() {
    all_are_unknown(&[
        "shopt -so keyword; bash -c : BASH_ENV=/dev/stdin <<< 'rm -rf /v/d'",
        "set -eo keyword; ls",
        "o=keyword; set -o $o",
        "shopt -so history histexpand\nhistory -s '; rm -rf /v/d'\necho !!",
        "shopt -sq lastpipe; true | cd /v; rm -rf d",
        "set +B; ls",
        "set -kx; ls",
        "shopt -s extdebug",
        "bash -O failglob -c ls",
        "bash -o histexpand -c ls",
        "x=$(cat f); set $x",
        r#"shopt -s "$x""#,
        "shopt -s xpg_echo",
        "shopt -s -- lastpipe",
        "set + -k",
        r#"bind -x '"a":/bin/r? -rf /v/d'; read -e x"#,
        r#"bind '"a":"rm -rf /v/d\n"'; read -e x"#,
    ]);
    all_are_read(&[
        "set -euxo pipefail; make",
        "set -o errexit -o nounset -o pipefail; ls",
        "set +e; make; set -e",
        "set +H; ls",
        "set -- a b",
        "shopt -s globstar nullglob; ls **/*.rs",
        "shopt -q login_shell && echo yes",
        "bash -O globstar -c 'ls **/*.c'",
        "bind 'set completion-ignore-case on'",
    ]);
}

#[test]
fn what_runs_later_sees_what_the_whole_line_does() {
    all_are_unknown(&[
        "trap 'bash -ic :' EXIT; echo 'rm -rf /v/d' > ~/.bashrc",
        "trap 'bash -lc :' EXIT; echo 'rm -rf /v/d' > ~/.bash_profile",
        "{ sleep .3; bash -lc :; } & echo 'rm -rf /v/d' > ~/.bash_profile; wait",
        "coproc bash -ic :; echo 'rm -rf /v/d' > ~/.bashrc",
        "f() { bash -lc :; }; f & echo 'rm -rf /v/d' > ~/.bash_profile",
        "while bash -ic :; do echo 'rm -rf /v/d' > ~/.bashrc; done",
        "ENV=f; export ENV; trap 'sh -ic :' EXIT; echo 'rm -rf /v/d' > f",
        "trap 'zz -rf /v/d' INT; cp /bin/rm /p/zz",
        "until zz -rf /v/d; do cp /bin/rm /p/zz; done",
        "for i in 1 2; do zz -rf /v/d; install /bin/rm /p/zz; done",
        "{ sleep .3; zz -rf /v/d; } & ln -s /bin/rm /p/zz; wait",
        r#"trap 'bash -c "echo $x"' EXIT; eval 'x=";rm -rf /v/d"'"#,
        r#"trap 'sh -c "echo $x"' EXIT; . /dev/stdin <<< 'x=";rm -rf /v/d"'"#,
        r#"while :; do eval 'bash -c "echo $x"'; eval 'x=";rm -rf /v/d"'; done"#,
        r#"trap 'ls /v/d' EXIT; shopt -s expand_aliases; eval 'alias ls="rm -rf"'"#,
        r#"eval 'ls /v/d'; eval 'shopt -s expand_aliases; alias ls="rm -rf"'"#,
        "while bash; do exec <<< 'rm -rf /v/d'; done",
        "exec < f; if true; then exec <<< ls; fi; bash",
        "y=1; y+=/../../v/d; rm -rf /work/$y",
        r#"y=1; y+=/../../v/d; rm -r "./$y""#,
        r#"for y in 1 "$z"; do :; done; read y <<< ../v/d; rm -rf "/work/$y""#,
        r#"f() { rm -rf /work/$1; }; y=1; y+=/../../v/d; f "$y""#,
        r#"mapfile -C 'cd "$x";:' -c 1 <<< x; rm -rf d"#,
        r#"mapfile -c 1 -C 'f() { eval "$2"; }; f' <<< 'rm -rf /v/d'"#,
        r#"compgen -C 'f() { eval "$1"; }; f' 'rm -rf /v/d'"#,
        "export GIT_EXTERNAL_DIFF=./y.sh; echo 'rm -rf /v/d' > y.sh; git diff",
    ]);
    all_are_read(&[
        "for i in 1 2; do make; done; cp app /p/",
        r#"trap 'rm -f "$tmp"' EXIT; tmp=$(mktemp); ls > "$tmp""#,
        "eval 'x=1'; echo $x",
        "while read -r l; do bash build.sh; done < list",
        "bash -c 'x=1; echo $x'; ls",
        r#"v=${V:-1.0}; rm -rf "dist/app-$v""#,
        r#"for d in a b; do rm -rf "build/$d"; done"#,
        r#"clean() { rm -rf "build/$1"; }; clean x"#,
    ]);
}

#[test]
fn what_is_printed_beside_a_command_is_not_known() {
    all_are_unknown(&[
        "PS4=' rm -rf /v/d #'; set -x; { echo ls; } 2>&1 | bash",
        "PS4=' rm -rf /v/d #'; set -x; $( (echo ls) 2>&1 )",
        "PS4=' rm -rf /v/d #'; set -x; (echo ls) |& bash",
        "cat <<< ls |& bash",
        "BASH_XTRACEFD=1; PS4=' rm -rf /v/d #'; set -x; echo ls | bash",
        r#"set -T; trap 'echo "rm -rf /v/d"' DEBUG; $(echo ls)"#,
        r#"set -E; trap 'echo "rm -rf /v/d"' ERR; { echo ls | tee /x/y; } | bash"#,
        r#"set -T; trap 'echo "rm -rf /v/d;"' RETURN; { echo ls; } | bash"#,
        "echo() { builtin printf 'rm -rf /v/d'; }; trap '$(echo ls)' EXIT",
        "cat() { builtin printf 'rm -rf /v/d'; }; trap 'cat <<< ls | bash' EXIT",
        r#"eval 'echo() { builtin printf "rm -rf /v/d"; }'; $(echo ls)"#,
    ]);
    all_are_read(&[
        "echo ls | bash",
        "make 2>&1 | tee build.log",
        "echo hello |& tee log",
        "set -x; PS4='+ ${LINENO} '; ls",
        "trap 'echo failed' ERR; make",
        "$(echo ls) -l",
        "for x in $(echo a b); do ls $x; done",
        "mapfile -c 1 -C 'echo' x < f",
    ]);
}

#[test]
fn all_that_reads_the_input_takes_it() {
    all_are_unknown(&[
        "case $(read x; echo a) in a) bash;; esac <<< \"echo '\nrm -rf /v/d\n'\"",
        "for i in $(read x; echo 1); do bash; done <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ A=$(read y) bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "exec <<< \"echo '\nrm -rf /v/d\n'\"; A=$(read x) bash",
        "{ bash 2>/dev/null$(read y); } <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ : > /dev/null$(read x); bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ : <<< $(read x); bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ : <<E\n$(read x)\nE\nbash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ bash; } <<< ls 2>/dev/null$(read y)",
        "{ x=$(head -1); bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "{ export X=\"$(head -1)\"; bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "if [ \"$(read x)\" ]; then :; else bash; fi <<< \"echo '\nrm -rf /v/d\n'\"",
        "sleep() { read x; }; { sleep 1; bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "mkdir() { read x; }; { mkdir 1; bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "trap 'read x' DEBUG; { :; bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "trap 'read x' USR1; (kill -USR1 $$) & { sleep 1; bash; } <<< \"echo '\nrm -rf /v/d\n'\"",
        "bash <<'E'\nread x < /dev/stdin\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\ncat < /proc/self/fd/0\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\ngrep -m1 x /dev/stdin\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\nselect x in a; do break; done\necho '\nrm -rf /v/d\n'\nE",
    ]);
    all_are_read(&[
        "{ echo a; echo b; } | sort",
        "bash <<'E'\nset -e\ncd app\nnpm test\nE",
        "bash <<'E'\nsleep 1\nkill 12\nls /dev/shm\nexit 1\nE",
        "bash <<'E'\nls > /dev/null < /dev/null\nE",
        "cat <<E | bash -s \"$(pwd)\"\nls\nE",
        r#"while read -r l; do echo "$l"; done <<< "a b""#,
        "{ mkdir a; bash; } <<< ls",
    ]);
}

#[test]
fn lines_that_programs_give_to_a_shell_have_their_input_and_words() {
    all_are_unknown(&[
        "git -c filter.x.clean=sh add f",
        "git -c credential.helper='!sh #' credential fill",
        "tar xf a --to-command=sh",
        "tar xf a --to-com='bash -s'",
        "split --filter=sh f",
        "vim -es -c '%!sh' -c 'q!' f",
        "vim '+%!sh' f",
        "git -c core.editor=bash commit -em 'rm -rf /v/d'",
        "git config core.editor sh; git commit -em 'rm -rf /v/d'",
        "git -c core.editor='sh -x' notes edit",
        "git config --global core.editor 'timeout 9 sh'; git commit",
        "git grep -Osh rm",
        "git -c diff.external='bash -e' diff",
        "git config diff.x.textconv 'env sh'; git diff",
        "git -c trailer.x.cmd=sh interpret-trailers --trailer 'x=f' f",
        "git -c trailer.x.command='echo $ARG' interpret-trailers --trailer 'x=$(/bin/r? -rf /v/d)' f",
        "git -c core.sshcommand=sh fetch h:x",
        "git difftool -x sh",
        "install -s --strip-program=sh f g",
        "rg --pre sh x f",
        "rsync -e sh a h:b",
        "man -P sh ls",
        "fd f -x sh",
        "make CC=sh x",
        "cmake -DCMAKE_C_COMPILER=sh .",
        "git -c sequence.editor='cp todo' rebase -i HEAD~2",
        "GIT_SEQUENCE_EDITOR='cp todo' git rebase -i --root",
        "GIT_EDITOR='find /v/d -delete -o -name' git commit",
        "GIT_EDITOR='xargs -a l -I@ env -S@' git commit",
        "GH_PAGER='rm -rf /v/d' gh pr list",
        "GREP='rm -rf /v/d --' zgrep x f",
        "socat - SYSTEM:'/bin/r? -rf /v/d'",
        r"tmux new-session -d $'/bin/r?\t-rf\t/v/d'",
        "tmux new-session -d 'r${z}m${IFS}-rf${IFS}/v/d'",
        "tmux display -p '#(/bin/r? -rf /v/d)'",
        "gcc -wrapper sh,-c,'/bin/r? -rf /v/d' -c x.c",
        "vim -es '+!/bin/r? -rf /v/d'",
        "git remote-ext x 'sh -c /bin/r?% -rf% /v/d'",
        "git -c gc.recentObjectsHook='/bin/r? -rf /v/d;:' prune",
        "GIT_ALLOW_PROTOCOL=ext:file git fetch x",
        "git -c remote.x.url='ext::sh -c x' fetch x",
        "git archive --remote='ext::sh -c x' HEAD",
    ]);
    all_are_read(&[
        "git -c core.editor=true rebase --continue",
        "git config core.editor 'code --wait'",
        "git -c core.pager=cat log",
        "git config --global credential.helper store",
        r#"git -c credential.helper='!f() { echo username=x; echo "password=$TOKEN"; }; f' push"#,
        "git config merge.ours.driver true",
        "git config core.sshCommand 'ssh -i k'",
        "git rebase -x 'make test' main",
        "git difftool -x meld HEAD",
        "GIT_SEQUENCE_EDITOR='sed -i -e 2s/pick/f/' git rebase -i HEAD~2",
        "GIT_SSH_COMMAND='ssh -i k' git fetch",
        "rsync -avz -e 'ssh -p 2222' a h:b",
        "ssh -o ProxyCommand='ssh -W %h:%p bastion' h uptime",
        "tar -I 'zstd -19' -cf a.tar.zst x",
        "make CC=clang CFLAGS='-O2 -g' all",
        "cmake -B build -DCMAKE_C_COMPILER=clang",
        "vim +10 src/main.rs",
        "tmux new-session -d -s dev 'npm run dev'",
        "tmux list-panes -F '#{pane_id} #{pane_pid}'",
        "gcc -wrapper gdb,--args -c x.c",
        "git commit -m 'std::ext::foo'",
        "hyperfine -w 3 './a' './b --x'",
        r#"TEST_RUNNER='python -m pytest'; echo "$TEST_RUNNER""#,
    ]);
}

#[test]
fn options_set_variables_and_write_files() {
    all_are_unknown(&[
        "echo x | xargs --process-slot-var=BASH_ENV bash -c :",
        "xargs --process-slot-v=BASH_ENV bash -c :",
        "strace -E BASH_ENV=/dev/stdin bash -c : <<< 'rm -rf /v/d'",
        "strace -EPS4='$(/bin/r? -rf /v/d)' bash -xc :",
        "systemd-run --user -EBASH_ENV=f bash -c :",
        "envdir e bash -c :",
        "touch 'PS4=$(/bin/r? -rf v)'; env PS4=* bash -xc :",
        "touch 'PS4=$(/bin/r? -rf v)'; export P*; set -x; :",
        "touch PS4; read P* <<< '$(/bin/r? -rf /v/d)'; set -x; :",
        "shopt -s expand_aliases; touch 'ls=rm -rf'; alias l*\nls /v/d",
        r#"PYENV_ROOT='$(/bin/r? -rf /v/d)'; export PYENV_ROOT; eval "$(pyenv init -)""#,
        "HISTFILE=y.sh; history -s 'rm -rf /v/d'; history -w; bash y.sh",
        "read HISTFILE <<< y.sh; history -s 'rm -rf /v/d'; history -w; . ./y.sh",
        r#"HISTFILE=y.sh bash -ic "history -s 'rm -rf /v/d'"; bash y.sh"#,
        "/usr/bin/time -o y.sh -f 'rm -rf /v/d' true; bash y.sh",
        "command time -o y.sh -f 'rm -rf /v/d' true; bash y.sh",
        "start-stop-daemon -S -b -x /bin/echo -O /w/y.sh -- 'rm -rf /v/d'; bash /w/y.sh",
        "ssh -E y.sh -b ';rm -rf /v/d;' h; bash y.sh",
        "echo 'rm -rf /v/d' > x; gcc -E -P -x c x -o y.sh; bash y.sh",
        "scp -q /bin/rm zz; ./zz -rf /v/d",
        "scp h:y.sh .; bash y.sh",
        "git mv q zz && ./zz -rf /v/d",
        "curl -s -o 'z#1' 'file:///w/[x-x]'; bash zx",
        "curl -s -D y.sh http://h/; bash y.sh",
        "rsync --log-file y.sh --log-file-format 'rm -rf /v/d' a b; bash y.sh",
        "parallel --joblog y.sh echo ::: 'rm -rf /v/d'; bash y.sh",
        "ltrace -o y.sh echo 'rm -rf /v/d'; bash y.sh",
        "tree -o y.sh; bash y.sh",
        "cp /bin/rm q; cp -b /bin/ls q; ./q~ -rf /v/d",
        "mv -b --suffix=.sh e x; bash x.sh",
        "sed -i.bak d x; bash x.bak",
        "perl -i.bak -ne 1 x; bash x.bak",
        "GIT_PAGER='sort -o y.sh' git -p log --format='rm -rf /v/d'; bash y.sh",
        r#"script -qc 'echo "rm -rf /v/d;"'; bash typescript"#,
    ]);
    all_are_read(&[
        "strace -o trace.log -E FOO=1 ls",
        "/usr/bin/time -v ./bench",
        "systemd-run --user --setenv=FOO=bar ls",
        "gcc -o app main.c && ./app",
        "sed -i.bak 's/a/b/' c.py && bash run.sh",
        "test -f run.sh && bash run.sh",
        "cat run.sh; bash run.sh",
        "scp build.tgz h:/tmp/ && ssh h 'tar xzf /tmp/build.tgz'",
        "curl -fsSL https://x/y.tgz -o y.tgz && tar xzf y.tgz",
        "HISTFILE=/dev/null bash -c ls",
        "xargs -n1 echo < f",
    ]);
}

#[test]
fn names_of_files_are_no_part_of_a_text() {
    all_are_unknown(&[
        r#"shopt -s nullglob; bash -c "echo "zz* 'rm -rf /v/d'"#,
        r#"trap "ls -l"* EXIT"#,
        "flock f -c 'ls -l'*",
        "touch ';cd ..;rm -rf v'; eval echo *",
        "watch -n9 ls *",
        r#"su -c "ls "* u"#,
        r#"git -c core.editor="ls "* commit"#,
        r#"tmux new "ls "*"#,
        r#"x='*'; eval "ls "$x"#,
        r"find . -type f -exec sh -c 'echo {}' \;",
        r"find . -type f -exec flock f -c 'cat {}' \;",
        r"find . -type f -execdir su -c 'ls {}' u \;",
        r"find . -exec watch 'ls {}' \;",
        "fd -x sh -c 'ls {}'",
        "fdfind . -X bash -c 'ls {}'",
        r"find . -exec ssh h 'ls {}' \;",
        r"printf '/v/d\0' | find -files0-from - -exec rm -rf {} +",
        "find -files0-from l -delete",
        r#"touch "$(printf '%b' 'a[\x24(rm v)0]')"; for x in *; do ((x)); done"#,
        "set -- *; (($1))",
        "f() { (($1)); }; f *",
        "a=(*); ((a[0]))",
    ]);
    all_are_read(&[
        r#"find . -type f -exec sh -c 'echo "$1"' _ {} \;"#,
        r"find . -name '*.tmp' -exec mv {} {}.bak \;",
        r#"find . -name '*.py' -exec grep -l "x {}" {} +"#,
        "fd -e jpg -x convert {} {.}.png",
        "watch -n1 'ls *.log'",
        r#"for f in *.txt; do [ -s "$f" ] && wc -l "$f"; done"#,
        r#"a=(*.txt); echo "${#a[@]}""#,
        r"find . \( -name a -o -name b \) -print",
    ]);
}

#[test]
fn subscripts_are_read_twice() {
    all_are_unknown(&[
        r#"declare -A m; k='$(rm -rf /v/d)'; unset "m[$k]""#,
        r#"declare -A m; k='$(rm -rf /v/d)'; read "m[$k]" <<< a"#,
        r#"declare -A m; k='$(rm -rf /v/d)'; printf -v "m[$k]" a"#,
        r#"declare -A m; k='$(rm -rf /v/d)'; test -v "m[$k]""#,
        r#"declare -A m; k='$(rm -rf /v/d)'; [ -v "m[$k]" ]"#,
        "declare -A m; k='$(rm -rf /v/d)'; [[ -v m[$k] ]]",
        r#"declare -A m; k='$(rm -rf /v/d)'; let "m[$k]++""#,
        r#"declare -A m; k='$(rm -rf /v/d)'; declare "m[$k]=1""#,
        r#"declare -A m; k='`rm -rf /v/d`'; unset "m[$k]""#,
        r#"declare -A m; set -- '$(rm -rf /v/d)'; unset "m[$1]""#,
        r#"declare -A m; k='$(rm -rf /v/d)'; m[$k]=1; for i in "${!m[@]}"; do unset "m[$i]"; done"#,
        r#"f() { local -A m; local k='$(rm -rf /v/d)'; unset "m[$k]"; }; f"#,
        r#"declare -A m; k='$(rm -rf /v/d)'; r="m[$k]"; echo "${!r}""#,
        r#"declare -A m; k='$'; j='(rm -rf /v/d)'; unset "m[$k$j]""#,
        r#"declare -A m; read k <<< '$(rm -rf /v/d)'; unset "m[$k]""#,
        r#"declare -A m; for k in '$(rm -rf /v/d)'; do unset "m[$k]"; done"#,
        r#"declare -A m; a=('$(rm -rf /v/d)'); unset "m[${a[0]}]""#,
        r#"declare -A m; k='$(rm -rf /v/d)'; wait -p "m[$k]""#,
    ]);
    all_are_read(&[
        r#"declare -A m=([a]=1 [b]=2); echo "${m[a]}""#,
        r#"declare -A m; for k in a b; do m[$k]=1; done; echo "${!m[@]}""#,
        r#"declare -A m; m[x]=1; for k in "${!m[@]}"; do unset "m[$k]"; done"#,
        r#"var=PATH; echo "${!var}""#,
        r#"x="X_$(nproc)"; echo "${!x}""#,
    ]);
}

#[test]
fn what_is_deleted_is_listed_with_its_path() {
    for line in [
        "find -D stat /v/d -exec rm -rf {} +",
        "find - /v/d -exec rm -rf {} +",
        "mkdir '!x'; find '!x' /v/d -exec rm -rf {} +",
        "find '(x' /v/d -exec rm -rf {} +",
        "find ',x' /v/d -exec rm -rf {} +",
        "find -E /v/d -exec rm -rf {} +",
        "find -f /v/d -exec rm -rf {} +",
        "mapfile -C 'cd /v;:' -c 1 <<< x; rm -rf d",
        "readarray -C 'cd /v;:' -c 1 x <<< x; rm -rf d",
        r#"bash -c 'bash -c "$*"' _ rm -rf /v/d"#,
        r#"f() { bash -c "$*"; }; f rm -rf /v/d"#,
        "env -uC rm -rf /v/d",
        "env -aC rm -rf /v/d",
    ] {
        let found = read(line).unwrap();
        let is_deletion = |words: &Command| {
            words.first().is_some_and(|word| word == "rm") && words.contains(&"/v/d".to_owned())
        };
        assert!(found.iter().any(is_deletion), "{line}: {found:?}");
    }
}

#[test]
fn scripts_that_the_line_does_not_hold_call_its_functions() {
    all_are_unknown(&[
        "id() { $3; rm -rf f; }; . /etc/profile",
        "id() { rm -rf \"$2\"f; }; . /etc/profile",
        "tput() { $1; rm -rf f; }; source ~/.bashrc",
        "echo() { $2; rm -rf f; }; eval \"$(ssh-agent -s)\"",
        "export() { $2; rm -rf f; }; eval \"$(dircolors -b)\"",
        "set -a; echo() { $1; rm -rf f; }; ldd --version",
        "set -ea; cat() { $1; rm -rf f; }; ldd --version",
        "set -o allexport; echo() { $1; rm -rf f; }; ldd --version",
    ]);
    none_deletes(&[
        "id() { echo \"$1\"; }; . ./env.sh; id -u",
        "log() { printf '%s\\n' \"$@\"; }; . ./env.sh; log x",
        "run() { \"$@\"; }; run make",
    ]);
}

#[test]
fn a_parameter_that_is_empty_joins_what_stands_around_it() {
    all_are_unknown(&[
        "bash -c \": \\\\$x\\\\; \\$(echo mr | rev) -rf d\"",
        "bash -c \": \\\"\\$$x(echo d fr- mr | rev | sh)\\\"\"",
        "bash -c \"y='\\$(rm -rf d)'; : \\\"\\$$x{y@P}\\\"\"",
        "bash -c \"y='a[\\$(rm -rf d)]'; : \\\"\\$$x((y))\\\"\"",
        // the others keep their values meanwhile
        "bash -c \": \\\\$x\\\\; $SHELL <<< 'rm -rf d'\"",
        // each of two may be empty
        "bash -c \": \\\\$x; \\\\$y; ls\"",
        "ssh h \": \\\\$x\" \"\\\\$y;\" ls",
        // the line may be the end
        "bash -c \"cat <<E\nE$x\nrm -rf d\"",
        "sh -c \"cat <<'E'\n${x}E\nrm -rf d\"",
        "flock l -c \"cat <<-E\n\t$x\nrm -rf d\"",
        "bash -c \"cat <<E$x\nE\nrm -rf d\nE\"",
        "ssh h \"cat <<E\" \"\nE$x\nrm -rf d\"",
        "bash -c \"bash -c \\$': \\x5c$x\\x3b rm -rf d'\"",
    ]);
    all_are_listed_or_errors(&[
        "bash -c \": \\\\$x\\\\; rm -rf d\"",
        "bash -c \": $x# '\nrm -rf d #'\"",
        "bash -c \"printf ': \\x5c$x\\x3b rm -rf d' | bash\"",
        "bash -c \"echo a$x\nrm -rf d\"",
        "bash -c \": <$x(\\$(echo mr | rev) -rf d)\"",
    ]);
    all_are_read(&[
        "ssh h \"cat > f <<EOF\nhost=$H\nport=$P\nEOF\"",
        "ssh h \"awk '{print \\$$n}' f\"",
        "ssh h \"grep -E 'a|$x|b' f\"",
        "ssh h \"grep 'a$' $F | tr -d '\\r'\"",
        "bash -c \"cd $D && make -j$N > $L 2>&1\"",
        "bash -c 'cat <<E\n$x\nE'",
    ]);
}

/// A shell that reads the text takes such a parameter for nothing.
#[test]
fn a_parameter_within_single_quotes_of_a_text_may_be_empty() {
    all_are_listed_or_errors(&[
        "bash -c \"'$x'rm -rf d\"",
        "bash -c \"r'$x'm -rf d\"",
        "bash -c \"rm '$x'-rf d\"",
        "bash -c \"rm '$x-rf' d\"",
        "sh -c \"sh '$x'-c 'rm -rf d'\"",
        "flock l -c \"env '$x'rm -rf d\"",
        "bash -c \"echo 'rm -rf d' | s'$x'h\"",
        "bash -c \"sh <<< $x 'rm -rf d'\"",
        "timeout 3 bash -c \"sudo sh <<< $x 'rm -rf d'\"",
    ]);
    all_are_read(&[
        "ssh h \"grep '$pattern' '$file'\"",
        "bash -c \"psql -c 'select $a from $b'\"",
        "ssh h \"mkdir -p '$D' && tar -xzf '$F' -C '$D'\"",
        "bash -c \"echo 'it is $x' >> f\"",
        "git commit -m \"don't $x\"",
    ]);
}

/// What a text gives a variable is the value that the line put there: that of the environment stays open.
#[test]
fn a_text_may_give_a_variable_its_own_value() {
    all_are_read(&[
        "bash -c \"PORT=$PORT npm start\"",
        "ssh h \"RAILS_ENV=${RAILS_ENV} rake db\"",
        "docker exec web sh -c \"DEBUG=$DEBUG python app.py\"",
    ]);
    all_are_listed_or_errors(&[
        "bash -c \"x=$x; \\$x -rf d\"",
        "x='rm -rf d'; bash -c \"x=$x; \\$x\"",
        "x='rm -rf d'; bash -c \"x=$x sh -c '\\$x'\"",
        "x='a; rm -rf d'; bash -c \"x=$x\"",
        "bash -c \"x=$x; x='rm -rf d'; \\$x\"",
        "read x <<< 'a; rm -rf d'; bash -c \"x=$x true\"",
        "eval \"x=$x\"; x='rm -rf d'; $x",
        "x='rm -rf d'; eval \"x=$x\"",
        "for x in 'a; rm -rf d'; do sh -c \"x=$x\"; done",
    ]);
}
