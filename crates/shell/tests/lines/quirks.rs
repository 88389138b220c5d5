//! Lines that Bash reads otherwise than they look, each of which deletes `d`: the deletion must be listed, or the line must be an error.

use guard_shell::ShellError;

use crate::{all_are_listed_or_errors, all_are_unknown, none_deletes, read};

#[test]
fn quirks_of_bash_are_read_as_bash_does() {
    all_are_listed_or_errors(&[
        "<&-{rm,-rf,d}",
        "bash 2>&--c 'rm -rf d'",
        "env <&-{bash,-c,'rm -rf d'}",
        r"((rm -rf d $'\'') ; : ' ));: ' ) #'",
        r"((rm -rf d; : $'\'' ' ));: ' ) )#'",
        ": $[a[0] # ]& rm -rf d",
        "x='$(rm -rf d)'; echo ${x@P\\\n}",
        "y=x; x='a[$(rm -rf d)]'; echo ${\\\n!x}",
        ": <<E; a=(\nfoo\nE\n)\n# $(rm -rf d)",
        "cat <<E\n`echo \\\"; rm -rf d; : \\\"`\nE",
        "echo \"${x:-`echo \\\"; rm -rf d; : \\\"`}\"",
        "x=ls; time x=rm; $x -rf d",
        "x=ls; time -p x=rm; $x -rf d",
        "time a[0 #]=1 & rm -rf d",
        "time a[0 <<E ]=1\nrm -rf d\nE",
        "x='a['; y='$(rm -rf d)]'; (($x$y))",
        "y='a[$'; z='(rm -rf d)]'; (($y$z))",
        "y='a['; y+='$(rm -rf d)]'; ((y))",
        "y='`rm -rf d`'; printf -v z 'a[%s]' \"$y\"; ((z))",
        "y='a[x'; z='`rm -rf d`]'; ((${y%x}$z))",
        "$(echo echo 1<&2) rm -rf d",
        "x=$(echo echo 1<&2); $x rm -rf d",
        "sh 00<<< 'rm -rf d'",
        "sh 3<<< 'rm -rf d' 00<&3",
        "exec -- <<< 'rm -rf d'; sh",
        "command exec <<< 'rm -rf d'; sh",
        "e=exec; $e <<< 'rm -rf d'; sh",
        "eval 'exec <<< \"rm -rf d\"'; sh",
        "trap sh EXIT; exec <<< 'rm -rf d'",
        "echo 'rm -rf d' | echo $(sh)",
        "echo 'rm -rf d' | x=$(sh)",
        "{ x=$(sh); } <<< 'rm -rf d'",
        "for i in $(sh); do :; done <<< 'rm -rf d'",
        "echo 'rm -rf d' | cat <(sh)",
        "{ read x; sh; } <<< $': <<E\\nrm -rf d\\nE'",
        "while read x; do sh; done <<< $': <<E\\nrm -rf d\\nE'",
        "bash <<< $'read x\\n: <<E\\nrm -rf d\\nE'",
        "bash <<< $'mapfile -n1\\n: <<E\\nrm -rf d\\nE'",
        "BASH_REMATCH=ls; [[ rm =~ rm ]]; $BASH_REMATCH -rf d",
        "bash -c 'BASH_ARGV0=rm; $0 -rf d' ls",
        "set -o pipefail -k; bash -c : BASH_ENV='$(rm -rf d)'",
        "x=$(cat <<'E'\nE) ; rm -rf d #\nE\n)",
        "git commit -m \"$(cat <<'EOF'\nEOF)\"; rm -rf d #\nEOF\n)\"",
        "x=ech; $x{o,o} rm -rf d",
        "x=l; xs=rm; $x{s,s} -rf d",
        r"find . -maxdepth 0 ! -name {a}x,-exec,rm,-rf,d,\;}",
        "echo 'rm -rf d' > s03; sh s{03..3}",
    ]);
    none_deletes(&[
        "exec 3>&- 2>&1; echo x >&2 2>&-",
        "echo $(( $(wc -l < \"$f\") + 1 )); for ((i=0; i<3; i++)); do echo $i; done",
        "time CARGO_TERM_COLOR=never cargo build --release",
        "while read -r h; do echo \"$h\"; done <<< \"a b\"",
        "bash -c 'x=$(date); [ -f x ] && echo $((1+1))'",
        "bash <<'EOF'\ncd src\nmake -j4\nEOF",
        "mkdir -p src/{bin,lib}/{a,b} && cp x{,.bak} && echo {1..3}",
        "exec > log 2>&1; make",
        "git commit -m \"$(cat <<'EOF'\nfix: x (y)\n\nEnd of it\nEOF\n)\"",
        "set -euo pipefail; make",
    ]);
}

#[test]
fn what_is_printed_is_read_once_and_only_if_it_is_printed() {
    all_are_listed_or_errors(&[
        "$(echo echo </nosuch) rm -rf d",
        "$(echo echo 2<&7) rm -rf d",
        "$(echo echo <<< $((1/0))) rm -rf d",
        "$( (echo echo) </nosuch) rm -rf d",
        "x=$(echo echo </nosuch); $x rm -rf d",
        "$(echo echo 2> /nosuch/x) rm -rf d",
        "$(tee -x <<< echo) rm -rf d",
        "{ echo \": '\"; cat; cat; echo \"rm -rf d #'\"; } <<< \"'\" | sh",
        "exec <<< $': <<E\\nrm -rf d\\nE'; read x; sh",
        "exec -a x <<< 'rm -rf d'; sh",
        "bash <<< $'command read x\\n: <<E\\nrm -rf d\\nE'",
        "printf '%s\\n' echo 'rm -rf d' | xargs -L1 env",
        "echo echo x x rm -rf d | xargs -n3 env",
        "//proc/self/exe <<< 'rm -rf d'",
    ]);
    none_deletes(&[
        "$(echo echo 2>/dev/null) hello",
        "x=$(echo a 2>&1); echo $x",
        "find . -name '*.py' -print0 | xargs -0 -n1 pylint",
        "ls | xargs -n 1 echo",
        "./scripts/dev/run.sh",
        "exec ./server --port 80 < /dev/null",
    ]);
}

#[test]
fn names_mean_what_bash_makes_of_them() {
    all_are_listed_or_errors(&[
        "x=ech; {$x,$x}o rm -rf d",
        "x='a[$'; ((${x}(rm -rf d)]))",
        "x='$'; y='a['; (($y$x(rm -rf d)]))",
        "printf -v x '%s[%s]' a '$(rm -rf d)'; ((x))",
        "echo \"${x:-\"`echo \\\"; rm -rf d; : \\\"`\"}\"",
        "UID=1; x=echo\n$x rm -rf d",
        "shopt -s expand_aliases\nalias 'if'='env -S\"rm -rf d\"; if'\nif :; then :; fi",
        "alias elif='elif rm -rf d;'\nif false; then :; elif :; then :; fi",
    ]);
    none_deletes(&[
        "cp {$a,$b}/x {c,d} && echo {$a,$b}",
        "echo \"${x:-\"`date`\"}\"",
        "alias ll='ls -l'; ls",
    ]);
}

#[test]
fn prompts_callbacks_and_values_of_find_are_followed() {
    all_are_listed_or_errors(&[
        r"PS4='$\050rm -rf d)'; set -x; :",
        r"PS4=$'$\\050rm -rf d)'; set -x; :",
        r"PS4='\540rm -rf d\540'; set -x; :",
        r"PS4='$\D{(rm -rf d)}'; set -x; :",
        r"PS4='$\[(rm -rf d)'; set -x; :",
        "x='a[$(rm -rf d)]'; PS4='$[x]'; set -x; :",
        "x='a[$(rm -rf d)]'; PS4='${!x}'; set -x; :",
        "mapfile -dC: -c1 -C 'rm -rf d;' <<< x",
        "mapfile -d -C: -c1 -C 'rm -rf d;' <<< x",
        "compgen -PC: -C 'rm -rf d'",
        "compgen -C : -C 'rm -rf d'",
        "x=echo; mapfile -c1 -C 'unset x;' <<< y; $x rm -rf d",
        r"find . -maxdepth 0 -name -exec , -exec env '-Srm -rf d' \;",
        "newgrp <<< 'rm -rf d'",
        "sg root <<< 'rm -rf d'",
        "echo 'rm -rf d' | sg - root",
        "git merge-index rm -a",
        "git merge-index -o -q rm -- d/f",
    ]);
    none_deletes(&[
        r"PS1='\[\e[01;32m\]\u@\h\[\033[00m\]:\w\$ '",
        r"PS1='\[\033[01;34m\]\w\$\[\033[00m\] '; PS2='> '",
        "PS4='+ ${BASH_SOURCE}:${LINENO}: '; set -x; make",
        "mapfile -t files < <(git ls-files)",
        r"find . -name '*.rs' -exec grep -l foo {} \;",
        "git for-each-repo --config=maintenance.repo status",
    ]);
}

#[test]
fn clusters_abbreviations_and_patterns_hide_no_option() {
    all_are_listed_or_errors(&[
        "git rebase -fx 'env -S\"rm -rf d\"' HEAD~1",
        "git clone -qu 'env -S\"rm -rf d\";git-upload-pack' . x",
        "make -kE'x:;env -S\"rm -rf d\"' x",
        "npm -sc 'env -S\"rm -rf d\"' x",
        "git config foo.x '!env -S\"rm -rf d\"'; git config --rename-section foo alias; git x",
        "git config --fil .git/config alias.x '!env -S\"rm -rf d\"'; git x",
        "touch 5 rm; timeout [5r]* d/f",
        "touch 5 rm; nice -n [5r]* d/f",
        "shopt -s nullglob; timeout y* 5 env '-Srm -rf d'",
        "x=ls; touch 'x=rm'; export x*; $x -rf d",
        "x=ls; touch x; read x* <<< rm; $x -rf d",
        "x=echo; touch x; unset [x]; $x rm -rf d",
        "fc -l -s :=rm",
        "export TEXTDOMAIN=x TEXTDOMAINDIR=$PWD\n$\"ls\" -rf d",
    ]);
    none_deletes(&[
        "git rebase -i HEAD~3",
        "git config --global user.name x && git config --get remote.origin.url",
        "timeout 5 ls *.rs; nice -n 5 cat [a-c]*",
        "fc -l; fc -ln",
        "ls -la && tar -czf x.tgz src && grep -rn foo .",
    ]);
}

#[test]
fn values_that_are_split_elsewhere_are_shown_as_written() {
    for (line, word) in [
        ("IFS=,; git clean $(echo -q,-fd)", "$(echo -q,-fd)"),
        ("IFS=,; x=-q,-fd; echo $x", "$x"),
        ("eval 'IFS=,'; echo a$(echo b,c)", "a$(echo b,c)"),
    ] {
        let found = read(line).unwrap();
        let shows = |words: &Vec<String>| words.last().is_some_and(|last| last == word);
        assert!(found.iter().any(shows), "{line}: {found:?}");
    }
}

/// A mark that is replaced, or a folder that is put before operands, multiplies text: the work counts before the text is built.
#[test]
fn text_that_would_be_multiplied_is_counted_before() {
    let long = "a".repeat(7000);
    for line in [
        format!("echo {long} | xargs -I% echo {}", "%".repeat(7000)),
        format!("parallel -I % echo {} ::: {long}", "%".repeat(7000)),
        format!("parallel echo {} ::: {long}", "{}".repeat(3500)),
        format!("find /{long} -exec echo {} \\;", "{}".repeat(3500)),
        format!("fd x /{long} -x echo {}", "{}".repeat(3500)),
        format!("cd /{long}; rm -r {}", "b ".repeat(3500)),
    ] {
        let found = read(&line);
        assert!(found == Err(ShellError::TooMuch), "{}", line.len());
    }
    assert!(read("echo a b | xargs -I% echo %%; find /x -exec echo {}{} \\;").is_ok());
}

#[test]
fn everyday_lines_that_look_like_quirks_are_read() {
    none_deletes(&[
        "docker exec c sh -c '[ \"$(stat -c %a /x)\" = 600 ]'",
        "bash -c 'while [[ \"$(date +%s)\" -lt 5 ]]; do sleep 2; done'",
        "ssh h 'for i in $(seq 1 5); do [ -f \"f%$i\" ] && echo; done'",
        "curl -s https://x/jq | jq .",
        "curl -fsSL https://x/gpg | sudo gpg --dearmor -o /etc/k.gpg",
        "case $a in amd64) url=a ;; arm64) url=b ;; esac; wget -O f \"$url\"",
        "dir=src; [ -d lib ] && dir=lib; find \"$dir\" -name '*.c'",
        "tar czf $NAME-$VERSION.tgz dist; ssh $USER@host ls; mkdir \"$dir-old\"",
        "timeout $((60 * 5)) make; docker build -t $NAME-web .",
        "export GOPATH=$HOME/go PATH=$HOME/bin:$PATH; n=$((n + 1)); go build",
    ]);
    for line in [
        "D=$PWD/build; rm -rf \"$D\"",
        "D=$(pwd)/build; rm -rf \"$D\"",
    ] {
        let found = read(line).unwrap();
        assert!(
            found.iter().any(|words| words == &["rm", "-rf", "./build"]),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn words_of_hash_and_trap_are_known() {
    all_are_unknown(&[
        r#"c=(-p /bin/rm q); hash "${c[@]}"; q f"#,
        "false || c='-p /bin/rm q'; hash $c; q f",
        "read c <<< '-p /bin/rm q'; hash $c; q f",
        r#"set -- -p /bin/rm q; hash "$@"; q f"#,
        "c='-p /bin/rm q'; hash ${c#x}; q f",
        r#"c=(-p /bin/rm q); command hash "${c[@]}"; q f"#,
        r#"hash "${HOME:+"\-p"}" /bin/rm q; q f"#,
        r#"c=('rm f' EXIT); trap "${c[@]}""#,
        r#"c=(-- 'rm f' EXIT); trap "${c[@]}""#,
        r#"set -- 'rm f' EXIT; trap "$@""#,
        r#"c=('rm f' EXIT); command trap "${c[@]}""#,
        r#"c=('rm f' EXIT); trap "${c[@]:0}""#,
        r#"read -a c <<< 'rm EXIT'; trap "${c[@]}""#,
    ]);
    none_deletes(&[
        "hash -r; hash cargo git 2>/dev/null",
        "hash \"$1\" 2>/dev/null || exit",
        "for c in git curl; do hash $c || exit 1; done",
        "trap - EXIT; trap '' INT TERM; trap -p",
        "for s in INT TERM; do trap 'echo bye' $s; done",
    ]);
}
