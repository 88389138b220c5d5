//! Texts in place of parameters and arrays: `${x:-TEXT}`, `${x:+TEXT}`, `$x{a,b}`. The line does not assign `x`.

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown, read};

#[test]
fn a_plain_default_is_read_in_place_of_the_value() {
    all_are_read(&[
        "timeout ${T:-60} npm test",
        "T=${T:-60}; timeout $T npm test",
        "nice -n ${N:-10} make",
        "find . -name '*.c' -print0 | xargs -0 -P ${N:-4} -n 1 gcc -c",
        "ssh -p ${PORT:-22} ${U:-root}@$H uptime",
        "sudo -u ${U:-postgres} psql -c 'select 1'",
        "rsync -avz -e ssh --exclude-from=x ./ $H:app/",
        "rsync -az -e \"ssh -p ${PORT:-22}\" dist/ $H:/srv/",
        "watch -n ${N:-2} kubectl get pods",
        "cargo +${TOOLCHAIN:-stable} build",
        "make CC=${CC:-gcc} all",
        "CFLAGS=\"-O${O:-2}\" make",
        "scp -i ${KEY:-~/.ssh/id_rsa} f $U@$H:",
        "curl ${CURL_OPTS:--sS} https://h",
        "JOBS=${JOBS:-$(nproc)}; make -j$JOBS",
        "git pull ${R:-origin} ${B:-$(git branch --show-current)}",
        "tar czf backup-$(date +%F-%H%M).tar.gz d",
    ]);
    all_are_listed_or_errors(&[
        "timeout ${T:-rm} -rf d",
        "timeout 3 ${T:-rm} -rf d",
        "xargs ${T:-rm} -rf d < f",
        "T=${T:-'3 rm'}; timeout $T -rf d",
        "T=${T:-rm}; env $T -rf d",
        "sh -c \"${T:-rm} -rf d\"",
        "for t in ${T:-rm}; do $t -rf d; done",
    ]);
    for (line, expected) in [
        ("sort ${x:--oa} list", vec!["sort", "-oa", "list"]),
        ("curl ${x:--T} f u", vec!["curl", "-T", "f", "u"]),
        ("curl ${x:--s -T} f u", vec!["curl", "-s", "-T", "f", "u"]),
        ("rm ${x:--r} d", vec!["rm", "-r", "d"]),
    ] {
        let found = read(line).unwrap();
        let is_listed = found.iter().any(|words| *words == expected);
        assert!(is_listed, "{line}: {found:?}");
    }
    all_are_unknown(&[
        "find d ${x:--delete}",
        "zsh -c 'sort ${x:--b -o} f'",
        "bash ${x:-*}",
        "HOME=-oa; sort ${x:-~/f}",
        "timeout $x 3 ${HOME:+\"${a[@]}\"} -r d",
        "a=(rm); timeout $x 3 ${a[@]} -r d",
    ]);
    let found = read("aws s3 ${x:-\"cp\"} f s3://b").unwrap();
    assert!(
        found.contains(
            &["aws", "s3", "cp", "f", "s3://b"]
                .map(str::to_owned)
                .to_vec()
        )
    );
}

#[test]
fn a_text_or_nothing_is_read_as_both() {
    all_are_read(&[
        "npm ${X:+--silent} test",
        "sudo ${X:+-E} ls",
        "tar ${V:+-v} -xzf a.tar.gz",
        "tar -czf a.tgz ${EXCLUDE:+--exclude=$EXCLUDE} src",
        "rsync -a ${DRY:+--dry-run} src/ dst/",
        "find . ${DEPTH:+-maxdepth $DEPTH} -name '*.py'",
        "node ${DEBUG:+--inspect} app.js",
    ]);
    let found = read("git push ${FORCE:+--force} origin").unwrap();
    assert_eq!(found[0], ["git", "push", "origin"]);
    assert_eq!(found[1], ["git", "push", "--force", "origin"]);
    let found = read("${SUDO:+sudo} rm -rf d").unwrap();
    assert_eq!(found[0], ["rm", "-rf", "d"]);
    assert_eq!(found[1], ["sudo", "rm", "-rf", "d"]);
    let found = read("bash ${x:+-c 'rm -rf d'}").unwrap();
    assert_eq!(found[2], ["rm", "-rf", "d"]);
    all_are_unknown(&[
        "find d ${x:+-exec} ${y:+rm} ${z:+-rf} ${w:+{\\}} \\;",
        "${x:+export} PATH=/tmp/bin; ls",
        "export ${x:+PATH=/tmp/bin}; ls",
        "IFS=x; find d ${x:+-xdelete}",
        "sed ${x:+'1e rm -rf d'} f",
    ]);
}

#[test]
fn quotes_within_quotes_are_not_read() {
    all_are_unknown(&[
        r#""${HOME:+$'r\x6d'}" f"#,
        r#""${HOME+$'\162m'}" f"#,
        r#"env "${HOME:+$'r\x6d'}" f"#,
        r#""${HOME:+$"rm"}" f"#,
        r#""${HOME:+r$''m}" f"#,
        r#""${HOME:+r$""m}" f"#,
        r#""${HOME:+"r\m"}" f"#,
        r#""${HOME:+"{rm,f}"}""#,
        r#""${HOME:+"${HOME:+$'rm'}"}" f"#,
        r#"find . -name f "${HOME:+$'\x2ddelete'}""#,
        r#"find . -name f "${HOME:+"\-exec"}" rm {} +"#,
        r#"bash -c "echo ${HOME:+$'\x3brm f'}""#,
        r#"sed "1${NOPE:-$'\x65'} rm f" g"#,
        r#"echo 'rm f' | tee "${HOME:+"\s"}"; sh s"#,
        "sh <<E\n${HOME:+$'rm'} f\nE",
    ]);
    all_are_read(&[
        r#"echo "${HOME:+"a b"}" "${1:-"$HOME/x"}" "${1:-$(date "+%Y\n")}""#,
        r#"echo "${x%$'\n'}" "${x//$'\n'/ }" "${x#"\a"}""#,
        r#"echo "${x:-\$y}" "${x:-\"a\"}" "${x:-a\}b}""#,
        r#"[ -n "${x+"set"}" ]"#,
        r#"printf "${x:-%s\n}" a; echo "${x:-C:\dir}""#,
        r#"echo ${x:+$'a\n'} ${x:-"a\"b"}"#,
    ]);
}

#[test]
fn braces_behind_a_name_are_read_first() {
    for (line, expected) in [
        ("cp $F{,.bak}", vec!["cp", "$F", "$F.bak"]),
        ("mkdir $D{1,2}", vec!["mkdir", "$D1", "$D2"]),
        ("echo $A{1..3}", vec!["echo", "$A1", "$A2", "$A3"]),
        ("A1=rm; echo $A{1,2}", vec!["echo", "rm", "$A2"]),
    ] {
        assert_eq!(read(line).unwrap()[0], expected, "{line}");
    }
    for line in [
        "a$F{,x}y",
        "ls $F{a,$b}",
        "ls $F{01..03}",
        "ls $F{a,b}{c,d}",
        "x=echo; xa=rm; {$x,$x}{a,b} f",
        "x=echo; xa=rm; env {$x,:}{1..2} f",
        "c=({$x,$x}{m,m} f); \"${c[@]}\"",
        "x=rm; {:,$}x f",
        "{$,:}{HOME:+rm} f",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn numbers_are_no_options() {
    all_are_read(&[
        "git log -$N --oneline",
        "git log -$((N+1))",
        "git format-patch -${N:-1} HEAD",
        "gzip -${L:-9} f",
        "nice -$N make",
        "for i in $(seq 1 5); do curl https://h/$i; done",
        "i=0; while [ $i -lt 5 ]; do curl -s localhost/$i; i=$((i+1)); done",
        "for ((i=0; i<5; i++)); do tar xf a$i.tar; done",
        "n=$((n+1)); git log -$n",
        "for i in $(seq 1 $N); do tar xf $i; done",
    ]);
    all_are_unknown(&[
        "for i in $(seq -5 5); do tar xf $i; done",
        "N='-f x'; for i in $(seq $N); do tar xf $i; done",
        "seq() { echo --to-command=x; }; for i in $(seq 5); do tar xf $i; done",
        "x=$(cat f); git log -$x",
        "i=0; read i < f; i=$((i+1)); git log -$i",
        "i=0; eval \"$(cat f)\"; i=$((i+1)); git log -$i",
        "for ((i=-9; i<5; i++)); do tar xf a.tar $i; done",
        "i=0; i=$((i+1)); IFS=1; tar xf a$i",
        "i=1; i=$(cat f); ((i)); tar xf a.tar $i",
        "timeout $(seq 5 1) 3 rm -rf d",
    ]);
}

#[test]
fn what_a_command_passes_on_leaves_the_values_of_the_line() {
    all_are_read(&[
        "env -i PATH=$PATH HOME=$HOME make",
        "tmux new -d -s $S 'npm run dev'",
        "git archive -o $N-$V.tar HEAD",
        "nohup ./server > $LOG 2>&1 &",
        "nohup bin/server >> ${LOG:-server.log} &",
        "echo \"sha=$(git rev-parse HEAD)\" >> \"$GITHUB_OUTPUT\"; ./build.sh",
    ]);
    all_are_unknown(&[
        "env X=rm bash -c 'env X=$X make'",
        "./server > ${LOG:-server.sh}; bash server.sh",
        "rsync a -f -e a.sh; bash a.sh",
        "nohup ./server > ${LOG:-server} &",
        "echo 'rm -rf d' > $LOG; ./server",
        "cat f > $LOG & ./server",
        "GITHUB_ENV=build.sh; echo 'rm -rf d' > $GITHUB_ENV; ./build.sh",
        "cat f > $GITHUB_ENV_$x; ./build.sh",
        "bash -c 'env X=\"a rm\"; env Y=$X make'",
    ]);
    all_are_listed_or_errors(&["tmux neww -S 'rm -rf /v/d' \\; kill-session"]);
    let found = read("PATH='x rm'; env PATH=$PATH -rf d").unwrap();
    assert!(
        found.contains(&["rm", "-rf", "d"].map(str::to_owned).to_vec()),
        "{found:?}"
    );
}

#[test]
fn elements_of_an_array_are_read() {
    for (line, expected) in [
        ("c=(rm -rf d); \"${c[@]}\"", vec!["rm", "-rf", "d"]),
        ("c=(rm); c+=(-rf); \"${c[@]}\" d", vec!["rm", "-rf", "d"]),
        (
            "f() { \"${a[@]}\" d; }; a=(rm -r); f",
            vec!["rm", "-r", "d"],
        ),
        (
            "x=(-oa list); sort \"${x[@]}\"",
            vec!["sort", "-oa", "list"],
        ),
        ("c=(rm); x && c+=(-r); \"${c[@]}\" d", vec!["rm", "-r", "d"]),
        (
            "c=(rm); if x; then c+=(-r); fi; \"${c[@]}\" d",
            vec!["rm", "-r", "d"],
        ),
    ] {
        let found = read(line).unwrap();
        assert_eq!(found.last().unwrap(), &expected, "{line}");
    }
    all_are_read(&[
        "args=(); if [ \"$V\" ]; then args+=(--verbose); fi; npm test \"${args[@]}\"",
        "cmd=(docker run --rm); cmd+=(-it); \"${cmd[@]}\" alpine ls",
        "args=(-x -y); make \"${args[@]}\"",
        "a=(ls); \"${a[@]}\" d; echo \"${#a[@]}\"",
    ]);
    all_are_unknown(&[
        "for i in 1 2; do a+=(rm); done; \"${a[@]}\" -rf d",
        "f() { \"${a[@]}\" d; }; f; a=(rm -rf); f",
        "a=(ls); f() { \"${a[@]}\" d; }; a=(rm -rf); f",
        "a=(ls); a[0]=rm; \"${a[@]}\" -rf d",
        "a=(ls); read -a a <<< 'rm -rf'; \"${a[@]}\" d",
        "a=(ls); unset a; \"${a[@]}\" rm -rf d",
        "a=(ls); x && a=(rm -rf); \"${a[@]}\" d",
        "a=(export PATH=/tmp); \"${a[@]}\"; ls",
        "(a=(ls)); \"${a[@]}\" rm d",
        "a=(ls) & \"${a[@]}\" rm d",
        "a=(ls); eval 'a=(rm -rf)'; \"${a[@]}\" d",
        "a=($(cat f)); \"${a[@]}\" d",
        "a=([1]=rm); \"${a[@]}\" d",
        "a=(ls); bash -c '\"${a[@]}\" rm'",
        "f() { local a=(rm -rf); \"${a[@]}\" d; }; a=(ls); f",
        "a=(ls); IFS=l; \"${a[@]}\" rm",
        "x=$((1/0)); a=(ls); \"${a[@]}\" rm d",
    ]);
}
