//! Parts of words and words that may be empty, and words in which a mark is replaced. The line does not assign `x`.

use guard_shell::Command;

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown, read};

#[test]
fn what_may_be_empty_hides_no_deletion() {
    all_are_listed_or_errors(&[
        "timeout $x 3 rm -r d",
        "nice -n $x 5 rm -r d",
        "timeout -k $x 1 5 rm -r d",
        "flock $x f rm -r d",
        "taskset $x 1 rm -r d",
        "env -u $x A rm -r d",
        "env -u $HOME -u $x A rm -r d",
        "env -C $x . rm -r d",
        "stdbuf -o $x L rm -r d",
        "ionice -c $x 3 rm -r d",
        "exec -a $x q rm -r d",
        "sg $x nogroup 'rm -r d'",
        "git -C $x . -c alias.q='!rm -r d' q",
        "ssh -o $x ProxyCommand='rm -r d' h",
        "ssh h -o $x ProxyCommand='rm -r d'",
        "npm exec -- r${x}m -r d",
        "timeout $x 3 $y/bin/rm -r d",
        "env -u $x A B=1 $y rm -r d",
        "xargs -n $x 1 rm -r d <<< ''",
        "bash --rcfile $x f -c 'rm -r d'",
        "watch -n $x 1 rm -r d",
        "sftp -o $x 'ProxyCommand=rm -r d' m",
        "env -u $x A \"$(echo v- | rev)\" rm -r d",
        "git -C $x . \"$(rev <<< p-)\" -c alias.q='!rm -r d' q",
        "ssh -o '=ProxyCommand=rm -r d' h",
        "scp -o ' = ProxyCommand=rm -r d' f h:",
    ]);
    let found = read("rm $x-rf d").unwrap();
    assert_eq!(found, [["rm", "$x-rf", "d"], ["rm", "-rf", "d"]]);
    for line in [
        "y=-${x}delete; find d $y",
        "y=-del$x; find d \"${y}ete\"",
        "y=-del${HOME:+ete}; find d $y",
        "bash --rcfile $x f -c \"$x\"'find d -delete'",
        "for w in -del${x}ete; do find d $w; done",
        "for w in a -del${x}ete; do find d \"$w\"; done",
    ] {
        let found = read(line);
        let deletes = |found: &Vec<Command>| {
            let mut words = found.iter().flatten();
            words.any(|word| word == "-delete")
        };
        assert!(found.as_ref().map_or(true, deletes), "{line}: {found:?}");
    }
    all_are_unknown(&["rm $x-rf $d", "rm \"$x\"-rf \"$HOME\""]);
}

#[test]
fn what_may_be_empty_hides_no_assignment_file_or_setting() {
    all_are_unknown(&[
        "declare P${x}S4='$(rm -r d)'; set -x; :",
        "export P${x}S4='$(rm -r d)'; bash -xc :",
        "export P${x}ATH=/tmp/bin:$PATH; ls",
        "echo 'rm -r d' > q; export BASH_${x}ENV=q; bash -c :",
        "mapfile -t P${x}S4 <<< '$(rm -r d)'; set -x; :",
        "printf ${x[@]} ``-v y 'a[%c(rm -r d)0]' '$'; ((y))",
        "printf $x -v PS4 '$(rm -r d)'; set -x; :",
        "echo 'rm -r d' > f; sort f --output=a.${x}sh; bash a.sh",
        "echo 'rm -r d' > f; gcc -E -P -x c f -o a.${x}sh; bash a.sh",
        "find f -fprintf $x a.sh 'rm -r d'; bash a.sh",
        "find f -fprintf a.${x}sh 'rm -r d'; bash a.sh",
        "echo 'ProxyCommand rm -r d' > c; ssh -F $x c h",
        "sed -l $x 5 '1e rm -r d' f",
        "sed -l *5 'e rm -r d' <<< x",
        "make -f - <<< \"\\$(shell rm -r d)$y\"",
        "make -sf- <<< \"\\$(shell rm -r d)$y\"",
        "make -f /dev/fd/3 3<<< \"\\$(shell rm -r d)\"",
        "echo \"\\$(shell rm -r d)$y\" | make -f -",
        "echo 'rm -r d' > q; sort -o _${x}_ q; bash __",
        "make $x-f - <<< '$(shell rm -r d)'\"$y\"",
        "shopt -so - keyword; bash -c : BASH_ENV=/dev/stdin <<< 'rm -r d'",
    ]);
}

#[test]
fn words_in_front_of_a_command_that_may_be_none_cost_no_everyday_line() {
    all_are_read(&[
        "timeout $T ls -l",
        "nice -n $N make -j4",
        "sudo -u $U systemctl restart x",
        "ssh -p $PORT $HOST ls -la",
        "ssh $HOST cp $A $B",
        "git add $A $B $C $D",
        "ls | head -$N; tail -\"$N\" f",
        "git -C $DIR status",
        "sudo -E -u $U env CI=$X B=1 make $T",
        "docker build -t $IMAGE:$TAG .",
        "xargs -P4 -I{} curl -sO {} < urls",
        "cat q.sql | ssh $HOST psql",
        "tar czf - . | ssh $HOST 'cat > b.tgz'",
        "cat a | sudo -u $U tee b",
        "export FOO_$NAME=1",
        "ssh -i $KEY -o StrictHostKeyChecking=no $USER@$HOST 'systemctl status app'",
        "sed s/a.*/b/ f",
        "git rebase \"$(git merge-base main HEAD)\"",
    ]);
}

#[test]
fn a_word_in_which_a_mark_is_replaced_is_what_both_are() {
    all_are_listed_or_errors(&[
        "rev <<< 'd r- mr=dnammoc-ot--' | xargs -I% tar xf a.tar %",
        "echo +delete | tr + - | xargs -I% find d %",
        "echo '-exec' | xargs -I% find d \"$x%\" rm -r {} \\;",
        "echo '--to-command=rm -r d' | xargs -I% tar xf a.tar \"$x%\"",
        "echo 'e rm -r d' | xargs -I% sed \"${x}1%\" f",
        "echo --filter='rm -r d' | xargs -I% split f $x%",
        "echo ProxyCommand='rm -r d' | xargs -I% ssh -o \"$x%\" h",
        "parallel tar xf a.tar {} ::: *",
    ]);
    let found = read("echo '-r' | xargs -I% rm \"$x%\" d").unwrap();
    assert_eq!(found.last().unwrap(), &["rm", "-r", "d"]);
    let found = read("parallel curl http://h/{} :::: f").unwrap();
    assert_eq!(found[1], ["curl", "http://h/$(cat)"]);
}

#[test]
fn names_that_are_put_together_are_assigned() {
    all_are_unknown(&[
        "export BASH_ENV; y='++BASH'; y=\"${y}_ENV\"; ((y)); bash -c :",
        "export BASH_ENV; set -- ++BASH _ENV; (($1$2)); bash -c :",
        "export BASH_ENV; z=++bash_env; z=${z^^}; ((z)); bash -c :",
        "export BASH_ENV; [ -v 'a[B$@ASH_ENV=1]' ]; bash -c :",
        "y=S4; declare P$y='$(rm -r d)'; set -x; :",
        "declare PS$((4))='$(rm -r d)'; set -x; :",
        "y=OPEN; export LESS$y='|rm -r d'; less f",
        "set -- ENV; echo 'rm -r d' > q; export BASH_$1=./q; bash -c :",
        "declare PS${HOME:+4}='$(rm -r d)'; set -x; :",
        "sed \"1${HOME:+e rm -r d}\" f",
        "make ${HOME:+-f-} <<< '$(shell rm -r d)'",
        "for i in 1; do echo '$(shell rm -r d)'; done | make -f -",
        "touch '1e rm -r d'; sed 1* f",
        "y=-del$(rev <<< ete); find d \"$y\"",
        "export BAS\"$x\"H_ENV; set -- ++BASH _ENV; (($1$2)); bash -c :",
        "export BASH_ENV; printf -v z %s%s +$x$y+BASH _ENV; ((z)); bash -c :",
        "n=BASH_EXE${x}CUTION_STRING; y=${!n}; y=${y##*#}; (( y )) #a[$(rm -r d)0]",
        "zsh -c 'x=ls; - typeset x=rm; $x -r d'",
        "zsh -c 'noglob alias ls=rm; eval ls d'",
    ]);
    assert!(read("zsh -c 'for 1 in rm; do $1 -r d; done'").is_err());
}

#[test]
fn a_pattern_that_no_file_matches_may_be_no_word() {
    all_are_unknown(&[
        "shopt -s nullglob; make -f zz* - <<< '$(shell rm -r d)'",
        "shopt -s nullglob; sed -l zz* 5 '1e rm -r d' f",
        "f() { sed -l zz* 5 '1e rm -r d' f; }; shopt -s nullglob; f",
        "bash -O nullglob -c \"sed -l zz* 5 '1e rm -r d' f\"",
        "o=nullglob; shopt -s $o; sed -l zz* 5 '1e rm -r d' f",
        "shopt -s nullglob; bash --rcfile zz* f -c 'find d -delete'",
    ]);
    all_are_listed_or_errors(&[
        "shopt -s nullglob; timeout zz* 3 rm -r d",
        "shopt -s nullglob; env -u zz* A rm -r d",
        "shopt -s nullglob; ssh -o zz* ProxyCommand='rm -r d' h",
    ]);
    all_are_read(&[
        "shopt -s nullglob; for f in *.md; do wc -l \"$f\"; done",
        "shopt -s nullglob; files=(*.c); gcc -c *.c && ls -l *.o",
        "make -f *.mk all",
    ]);
}

#[test]
fn arrays_of_which_the_name_is_open_are_arrays() {
    all_are_unknown(&[
        "printf $x -v 'y[1]' a; z='($(rm -r d))'; declare y=\"$z\"",
        "y[1]=1; z='($(rm -r d))'; declare y${x}=\"$z\"",
        "y1[1]=1; z='($(rm -r d))'; declare y$((1))=\"$z\"",
        "y1[1]=1; declare y$((1))=\"$(cat f)\"",
    ]);
    all_are_read(&["y=(a b); declare z$((1))=\"$(cat f)\""]);
}

#[test]
fn the_file_of_a_redirection_is_also_what_is_left_of_it() {
    for (line, file) in [
        ("echo a > ~/.cur${x}lrc; curl http://h", "~/.curlrc"),
        ("echo a > ~/.cur${x:+l}rc; curl http://h", "~/.curlrc"),
        ("p=/dev/t$x; exec 3<>${p}cp/h/1", "/dev/tcp/h/1"),
        ("cat < /dev/${x}tcp/h/1", "/dev/tcp/h/1"),
    ] {
        let found = read(line).unwrap();
        let is_listed = found
            .iter()
            .any(|words| words[0].contains(['<', '>']) && words[1] == file);
        assert!(is_listed, "{line}: {found:?}");
    }
    all_are_unknown(&["echo 'rm -r d' > a.${x:+sh}; bash a.sh"]);
}

#[test]
fn defaults_with_blanks_are_words_behind_an_assignment() {
    all_are_listed_or_errors(&[
        "env x=1${NOPE:- rm} f",
        "env x=${U:-1 rm} f",
        "env x=${NOPE:-1 rm f}",
        "env x=1${NOPE:- rm }f",
        "env --chdir=${NOPE:-. rm} f",
        "env --unset=${NOPE:-x rm} f",
        "env PATH=$PATH${NOPE:- rm} f",
        "y=${NOPE:-1 rm}; env x=$y f",
        "env x=${HOME:+${NOPE:-1 rm}} f",
    ]);
    all_are_read(&[
        "env x=${y:-1} make",
        "env x=\"${y:-a b}\" make",
        "env PATH=$HOME/bin:$PATH make",
    ]);
}

#[test]
fn another_reading_decides_no_program() {
    all_are_unknown(&[
        "d=r; d+=; timeout ${c:--k} 5 5 ${d}m f",
        "timeout ${c:--k} 5 5 ${d:-$(echo r)}m f",
        "flock ${NOPE:--n} g ${d:-$(echo r)}m f",
        "flock ${NOPE:--w} 5 g ${d:-$(echo r)}m f",
        "taskset ${NOPE:--c} 0 ${d:-$(echo r)}m f",
        "chrt ${NOPE:--o} 0 ${d:-$(echo r)}m f",
        r#"flock ${NOPE:--n} g -c "${d:-$(echo r)}m f""#,
    ]);
    all_are_listed_or_errors(&[
        "flock $NOPE g -c '${HOME:+rm} f'",
        "flock $NOPE g -c '${d:-rm} f'",
        "flock -w $NOPE 5 g -c '${d:-rm} f'",
        "git -C $NOPE . -c alias.q='!${d:-rm} f' q",
        "bash --rcfile $NOPE x -c '${d:-rm} f'",
        "bash --init-file $NOPE x -c '${HOME:+rm} f'",
        "flock $NOPE g -c '${x:=rm} f'",
    ]);
    all_are_read(&[
        "timeout ${c:--k} 5 5 make",
        "flock ${o:--n} lock -c 'make all'",
    ]);
}

#[test]
fn files_do_not_hide_programs_of_their_names() {
    all_are_unknown(&[
        ">find; timeout $NOPE 5 find f -delete",
        ">git; timeout $NOPE 5 git clean -fdx",
        ">nc; timeout $NOPE 5 nc h 80 < f",
        ">mkfs.ext4; timeout $NOPE 5 mkfs.ext4 /dev/sda",
        ">python3.11; timeout $NOPE 5 python3.11 a.py",
    ]);
    all_are_read(&[
        "echo x > list.txt; ssh $H cat list.txt",
        "echo x > list.txt; sudo -u $U cat list.txt",
        "touch a.py; timeout $T python a.py",
    ]);
}
