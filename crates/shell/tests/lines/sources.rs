//! Where texts come from that arithmetic evaluates, and what is known of them. The file `f`, or a program, may give the text
//! `a[$(rm -rf d)]`, or `-v a[$(rm${IFS}-rf${IFS}d)] -o 1`.

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown, none_deletes};

#[test]
fn words_of_test_without_quotes_may_be_operators() {
    all_are_unknown(&[
        "read n < f; [ $n -gt 3 ]",
        "n=$(cat f); if [ $n -gt 3 ]; then echo; fi",
        "n=$(cat f); test $n -gt 3",
        "[ $(cat f) -gt 3 ]",
        "[ ${x:-$(cat f)} -gt 3 ]",
        "f() { [ $1 -gt 3 ]; }; f \"$(cat f)\"",
        "f() { [ \"$@\" ]; }; f $(cat f)",
        "x=$(head -1 f | sed 's/x/ /'); [ $x -gt 3 ]",
        "x=$(awk 'NR==1{print $1}' f); y=\"-v $x\"; [ $y ]",
        "x=$(uname | cat f); [ $x = y ]",
        "[ $(uname) = x ]; uname() { cat f; }",
    ]);
    none_deletes(&[
        "n=$(wc -l < f); [ $n -gt 3 ] && echo many",
        "if [ $(uname -s) = Linux ]; then echo; fi",
        "b=$(git rev-parse --abbrev-ref HEAD); [ $b = main ] && exit 1",
        "p=$(df / | tail -1 | awk '{print $5}' | tr -d '%'); [ $p -gt 90 ] && echo full",
        "for x in a b; do [ $x = b ] && echo; done; [ $# -lt 1 ] && exit 1",
        "read -r n < f; [ \"$n\" -gt 3 ] && echo big",
    ]);
}

#[test]
fn variables_that_the_shell_sets_hold_texts() {
    all_are_unknown(&[
        "echo \"$(cat f)\"; echo $((_))",
        "cd \"$(cat f)\"; echo $((${PWD##*/}))",
        "cd \"$(cat f)\"; cd /; x=1$OLDPWD; echo $((x))",
        "set -- -a \"$(cat f)\"; getopts a: o; echo $((OPTARG))",
        "getopts a: o -a \"$(cat f)\"; n=$OPTARG; ((n))",
        "[[ $(cat f) =~ .* ]]; echo $((BASH_REMATCH))",
        "x=$(cat f); [[ $x =~ ([0-9]*)(.*) ]]; echo $((BASH_REMATCH[2]))",
        "x=$(cat f); re='(.*)'; [[ $x =~ $re ]]; n=${BASH_REMATCH[1]}; echo $((n))",
    ]);
    none_deletes(&[
        "t=$(git describe); [[ $t =~ ^v([0-9]+)\\.([0-9]+)$ ]] && echo $((BASH_REMATCH[2] + 1))",
        "while getopts j: o; do case $o in j) J=$OPTARG;; esac; done; make -j$((J * 2))",
        "cd \"$(git rev-parse --show-toplevel)\" && n=$((n + 1)) && echo \"${PWD##*/}\"",
    ]);
}

#[test]
fn defaults_are_assigned() {
    all_are_unknown(&[
        ": ${z:=$(cat f)}; echo $((z))",
        "echo ${z=$(cat f)}; [[ $z -gt 3 ]]",
        ": \"${z:=x$(cat f)}\"; y=$z; ((y))",
        "read x < f; : ${z:=$x}; echo $((z))",
    ]);
    none_deletes(&[
        ": ${N:=$(nproc)}; make -j$((N + 1))",
        "J=${J:-$(nproc)}; make -j$((J / 2))",
        ": \"${o:=$(git rev-parse --show-toplevel)}\"; n=$((n + 1)); echo \"$o\"",
    ]);
}

#[test]
fn names_of_variables_that_the_line_does_not_write_are_evaluated() {
    all_are_unknown(&[
        "r() { read \"$1\" < f; }; r z; echo $((z))",
        "r() { mapfile -t $1 < f; }; r z; echo $((z))",
        "declare \"$(cat f)\"",
        "f() { local \"$1\"; }; f \"$(cat f)\"",
        "unset \"$(cat f)\"",
        "while read -r x; do unset \"$x\"; done < f",
        "x=$(cat f); exec {a[x]}>g",
        "x=$(cat f); sleep 0 & wait -n -p \"$x\"",
        "f() { [ -v \"$1\" ]; }; f \"$(cat f)\"",
    ]);
    none_deletes(&[
        "ask() { read -rp \"$1\" a; }; ask 'Name? '; n=$((n + 1))",
        "for v in FOO BAR; do unset \"$v\"; done; unset \"${!GIT_@}\"",
        "unset $(git rev-parse --local-env-vars); b=$(git branch); n=$((n + 1))",
        "p=$(cat pid); wait \"$p\"; echo $((n + 1))",
        "f() { local \"$1=$2\"; }; f a b",
        "export $(grep -v '^#' .env | xargs)",
    ]);
}

#[test]
fn patterns_in_values_are_names_of_files() {
    all_are_unknown(&[
        "x='a*'; for n in $x; do echo $((n)); done",
        "x='a?'; y=$x; set -- $y; echo $(($1))",
        "x='a*'; f() { echo $(($1)); }; f $x",
        "for n in ${y:-a*}; do echo $((n)); done",
        "for n in !(b); do echo $((n)); done",
        "x='@(a)+(b)'; for n in $x; do [[ $n -gt 3 ]]; done",
    ]);
    none_deletes(&[
        "x='*.c'; for n in $x; do i=$((i + 1)); done",
        "x='a*'; f() { echo $(($1)); }; f 3; echo \"$x\"",
        "for n in 1 2; do echo $((n)); done; ls *.c",
    ]);
}

/// A text names another variable, which holds the text of the file.
#[test]
fn names_are_printed_or_put_together() {
    all_are_unknown(&[
        "root=$(cat f); echo $(( $(id -un) ))",
        "Mon=$(cat f); d=$(date +%a); ((d))",
        "ag1=$(cat f); for i in $(seq -f a%g 1); do echo $((i)); done",
        "root=$(cat f); u=$(stat -c %U f); [[ $u -gt 0 ]]",
        "read a1 < f; v=a; v+=1; echo $((v))",
        "read a1 < f; v=A1; echo $((${v,}))",
        "read a1 < f; v=A1; [[ ${v,,} -gt 3 ]]",
        "read a1 < f; declare -l v=A1; echo $((v))",
        "read ab1 < f; for v in ${!ab*}; do echo $((v)); done",
        "read a1 < f; v=a; w=${v}1; echo $((w))",
        "read a1 < f; v=a; printf -v w %s1 $v; echo $((w))",
        "read a1 < f; for v in a{1,2}; do echo $((v)); done",
        "read a1 < f; IFS=y read v w <<< a1y2; echo $((v))",
    ]);
    none_deletes(&[
        "n=$(id -u); d=$(date +%Y%m%d); echo $((n + d)); b=$(cat f)",
        "s=a; s+=b; b=$(cat f); echo $((n + 1)) $s",
        "b=$(cat f); m=\"step $i\"; echo \"$m\" $((i + 1))",
        "b=$(cat f); v=FOO_$x; echo \"${!v}\"",
        "b=$(cat f); printf -v p '%03d' 7; echo $((10#$p))",
        "b=$(cat f); for i in {1..3}; do echo $((i * 2)); done",
    ]);
}

#[test]
fn texts_of_the_line_and_sizes_are_no_unknown_texts() {
    all_are_unknown(&[
        "IFS=. read a b < f <<< 1.2; echo $((a))",
        "read -u 3 a 3< f <<< 1.2; echo $((a))",
        "x=$(cat f); read a b <<< \"1 $x\"; echo $((b))",
        "for d in a*; do s=$(du -sk \"$d\" | cut -f1); echo $((s)); done",
        "s=$(du -k . | cut -f1); echo $((s))",
        "s=$(stat -c %s a* -c %n); echo $((s))",
        "f=$(cat f); s=$(stat -c %s $f); echo $((s))",
        "x=$(cat f); n=${x//[0-9]/}; echo $((n))",
        "x=$(cat f); [[ $(expr \"$x\") -eq 0 ]]",
    ]);
    none_deletes(&[
        "IFS=. read a b c <<< 1.2.3; echo $((a + 1))",
        "v=1.2.3; IFS=. read -r a b c <<< \"$v\"; echo $((c + 1)); b=$(git branch)",
        "s=$(du -sk build | cut -f1); echo $((s / 1024))",
        "for f in *.log; do s=$(stat -c %s \"$f\"); t=$((t + s)); done",
        "x=$(cat f); n=${x//[^0-9]/}; echo $((n + 1))",
    ]);
}

#[test]
fn functions_print_what_their_commands_print() {
    all_are_unknown(&[
        "f() { cat f; }; echo $(($(f) + 1))",
        "f() { echo \"$1\"; }; echo $(($(f \"$(cat f)\") + 1))",
        "g() { cat f; }; f() { g; }; x=$(f); ((x))",
        "f() { echo 1; }; f() { cat f; }; echo $(($(f)))",
        "f() { for i in a*; do echo $i; done; }; x=$(f); ((x))",
        "f() { echo -e 'a[\\x24(rm -rf d)]'; }; echo $(($(f)))",
        "read a1 < f; f() { echo -n a; echo 1; }; echo $(($(f)))",
        "alias f='cat f'; f() { echo 1; }; echo $(($(f)))",
    ]);
    none_deletes(&[
        "fact() { local n=$1; if (( n <= 1 )); then echo 1; else echo $((n * $(fact $((n-1))))); fi; }; fact 5",
        "fib() { if [ \"$1\" -le 1 ]; then echo \"$1\"; else echo $(($(fib $(($1-1))) + $(fib $(($1-2))))); fi; }; fib 9",
        "walk() { for f in \"$1\"/*; do if [ -d \"$f\" ]; then walk \"$f\"; else echo \"$f\"; fi; done; }; walk .",
    ]);
    // a call within itself may run elsewhere
    all_are_listed_or_errors(&["f() { rm -rf x; f $y; cd /etc; }; f $y"]);
}

#[test]
fn conditions_find_numbers() {
    all_are_unknown(&[
        "read n < f; [[ $n =~ ^[0-9]+ ]] && echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]*|a$ ]] && echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] || echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] && true || echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]]; echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ || 1 ]] && echo $((n))",
        "read n < f; [[ ! $n =~ ^[0-9]+$ ]] && echo $((n))",
        "read n < f; [[ $n -eq 3 && $n =~ ^[0-9]+$ ]]",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] && n=$(cat f) && echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] && while :; do echo $((n)); read n < f; done",
        "n=1; g() { read n < f; }; [[ $n =~ ^[0-9]+$ ]] && g && echo $((n))",
        "n=1; trap 'read n < f' DEBUG; [[ $n =~ ^[0-9]+$ ]] && echo $((n))",
        "n=(1 \"$(cat f)\"); [[ $n =~ ^[0-9]+$ ]] && echo $((n[1]))",
        "read n < f; if [[ $n =~ ^[0-9]+$ ]]; then :; else echo $((n)); fi",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] || continue; echo $((n))",
        "n=$(cat f); if [[ $n =~ ^[0-9]+$ ]] & then echo $((n)); fi",
        "n=$(cat f); [[ $n =~ ^[0-9]*\"$\" ]] && for w in $n; do ((w)); done",
        "n=$(cat f); [[ $n =~ ^[0-9]*\\$ ]] && for w in $n; do ((w)); done",
        ": 5; [[ $_ =~ ^[0-9]+$ ]] && : \"$(cat f)\" && ((_))",
        "n=$(cat f); [[ $n =~ ^[0-9]+$ ]] || { : $((1/0)); exit 1; }\necho $((n))",
        "for i in 1; do n=$(cat f); ([[ $n =~ ^[0-9]+$ ]] || continue; echo $((n))); done",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] || exit 1 2; echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] || exit 1 > /y/z; echo $((n))",
        "read n < f; [[ $n =~ ^[0-9]+$ ]] || (exit 1); echo $((n))",
        "read n < f; exit() { :; }; [[ $n =~ ^[0-9]+$ ]] || exit 1; echo $((n))",
    ]);
    none_deletes(&[
        "read n < f; [[ $n =~ ^[0-9]+$ ]] && echo $((n + 1))",
        "read n < f; [[ $n =~ ^[1-9][0-9]*$ && $n -gt 3 ]] && echo big",
        "read n < f; if [[ \"$n\" =~ ^-?[0-9]+$ ]] && ((n > 3)); then n=$((n - 1)); echo $((n)); fi",
        "while read -r n; do if [[ $n =~ ^[[:digit:]]+$ ]]; then ((s += n)); fi; done < f",
        "f() { local n=$1; [[ $n =~ ^[0-9]{1,3}$ ]] && echo $((n * 2)); }; f \"$(cat f)\"",
    ]);
}

#[test]
fn quotes_and_neighbours_make_names() {
    all_are_unknown(&[
        "max_n=$(cat f); y=max\"_n\"; echo $((y))",
        "x1=$(cat f); y=x\\1; ((y))",
        "x1=$(cat f); y=${q:-\"x\"1}; [[ $y -gt 3 ]]",
        "x1=$(cat f); y=x; z=1; (($y$z))",
        "x1=$(cat f); y=x; (( \"$y\"\"$((1))\" ))",
        "x1=$(cat f); y=x; n=$(nproc); echo ${a[$y$n]}",
        "x1=$(cat f); IFS=; set -- x 1; y=\"$*\"; ((y))",
        "x1=$(cat f); y=x; n=$(expr $y$z); ((n))",
        "bash=$(cat f); n=${0##*/}; echo $((n))",
        "linux=$(cat f); echo $((OSTYPE))",
        "x5=$(cat f); n=${#/0/x}5; echo $((n))",
        "x1=$(cat f); y=x; declare \"a[$y$z]=1\"",
    ]);
    none_deletes(&[
        "x=$(cat f); a=1; b=2; echo $(($a$b)) \"$x\"",
        "x=$(cat f); log() { echo \"$(date +%T) $*\"; }; log start; n=5; echo $((n + 1)) $x",
        "x=$(cat f); name=${0##*/}; echo \"$name: $((1 + 1)) $x\"",
        "s=hello; for ((i = 0; i < ${#s}; i++)); do echo \"${s:$i:1}\"; done",
    ]);
}

#[test]
fn names_that_are_open_stand_for_any_variable() {
    all_are_unknown(&[
        "for i in 1 2; do declare \"v$i=$(cat f)\"; done; echo $((v1))",
        "for i in 1 2; do export a_$i=$(cat f); done; echo $((a_1))",
        "printf -v 'a[1]' %s \"$(cat f)\"; ((a[1]))",
        "x=$(cat f); printf -v y x %d; ((y))",
        "x=$(cat f); set -- -x; getopts x o; echo $((o))",
        "x=$(cat f); sleep 1 & wait -np \"$x\"",
        "f() { echo \"${!1}\"; }; f \"$(cat f)\"",
        "f() { local i=1; echo $((${!i})); }; f \"$(cat f)\"",
        "declare -A m; m[$(cat f)]=1; for k in \"${!m[@]}\"; do echo $((k)); done",
        "read -dp x < f; ((x))",
        "read -aarr < f; ((arr[0]))",
        "n=1; let n=n*2",
        "x=(1); unset x*",
        "x=a*; printf -v y %s $x; ((y))",
        "read a b c < f; [ \"$a\" \"$b\" \"$c\" ]",
        "x=$(cat f); [ -v HOME -a -v \"$x\" ]",
    ]);
    none_deletes(&[
        "n=0; while IFS= read -r -d '' f; do n=$((n + 1)); done < <(find . -print0); echo $n",
        "readarray -d '' a < <(find . -print0); for ((i = 0; i < ${#a[@]}; i++)); do echo \"${a[i]}\"; done",
        "files=(*.txt); for i in \"${!files[@]}\"; do echo \"$((i + 1)): ${files[$i]}\"; done",
        "arr=(a b); unset arr[1] 'arr[0]'; n=1; let n++ \"n = n * 2\"",
        "v=$(cat f); w=$(cat g); if [ \"$v\" = \"$w\" -a -n \"$v\" ]; then echo ok; fi",
        "pids=(); for i in 1 2; do sleep 1 & pids+=($!); done; for p in \"${pids[@]}\"; do wait \"$p\"; done",
    ]);
}

#[test]
fn checks_hold_for_values_where_they_stand() {
    all_are_unknown(&[
        "n=$(cat f); if false; then [[ $n =~ ^[0-9]+$ ]]; fi && echo $((n))",
        "[[ $n =~ ^[0-9]*$ && -n ${n:=$(cat f)} ]] && echo $((n))",
        "n=5; if [[ $n =~ ^[0-9]+$ ]]; then m=n; fi; n=$(cat f); echo $((m))",
        "[[ $(cat f) =~ ^[()0-9]*(.*) ]] && echo $((BASH_REMATCH[1]))",
        "[[ $(cat f) =~ ([[:digit:]()]*)(.*) ]] && echo $((BASH_REMATCH[2]))",
    ]);
}

#[test]
fn programs_of_numbers_have_exact_forms() {
    all_are_unknown(&[
        "total=$(cat f); for n in $(wc -c a b); do ((n > 3)); done",
        "unlimited=$(cat f); (( $(ulimit -u) < 5 ))",
        "undefined=$(cat f); n=$(getconf SYMLOOP_MAX); ((n))",
        "is=$(cat f); for w in $(nproc --version); do ((w)); done",
        "b=$(cat f); n=$(expr substr abc 2 1); ((n))",
        "FF=$(cat f); d='obase=16; 255'; n=$(echo \"$d\" | bc); ((n))",
        "directory=$(cat f); n=$(stat -c %s -c %F .); ((n))",
        "o=-r; n=$(grep -c x \"$o\"); echo $((n))",
        "n=$(grep -c x \"${1:--r}\"); echo $((n))",
        "a=$(cat f); o='1 -fa'; n=$(seq $o 1); ((n))",
        "p='*'; n=$(expr $p); ((n))",
        "v_2=$(cat f); n=$(printf v_; nproc); echo $((n))",
        "for n in $(date -f f +%s 2>//dev/stdout); do ((n)); done",
        "n=$(X=>(cat f) nproc); echo $((n))",
        "g() { [[ -n >(cat f) ]]; echo 5; }; for n in $(g); do ((n)); done",
        "g() { cp f /proc/$BASHPID/fd/1 > /dev/null; echo 5; }; for n in $(g); do ((n)); done",
        "x=$(cat f); readonly x; g() { readonly; echo 5; }; for n in $(g); do ((n)); done",
    ]);
    none_deletes(&[
        "x=$(cat f); n=$(wc -l < g | tr -d ' '); echo $((n + 1)) $x",
        "x=$(cat f); n=$(stat -c%s g); echo $((n + 1)) $x",
        "x=$(cat f); n=$(git -C sub rev-list --count HEAD); echo $((n)) $x",
        "x=$(cat f); d=$(git log -1 --format=%ct); echo $(($(date +%s) - d)) $x",
        "x=$(cat f); m=5; t=10; p=$(echo \"$m * 100 / $t\" | bc); ((p > 3)) && echo $x",
        "x=$(cat f); [[ $(ulimit -n) -lt 1024 ]] && echo low $x",
        "x=$(cat f); n=$(getconf _NPROCESSORS_ONLN); make -j$((n)); echo $x",
    ]);
}

#[test]
fn parameters_reach_shells_by_any_name() {
    all_are_unknown(&[
        "/bin/bash -c 'echo $(($1))' _ \"$(cat f)\"",
        "flock /tmp/l bash -c 'echo $(($1))' _ \"$(cat f)\"",
        "cat f | /usr/bin/xargs /bin/bash -c '(($0))'",
        "cat f | xargs -I{} env x={} bash -c '((x))'",
        "/usr/bin/env N=\"$(cat f)\" /bin/bash -c '((N))'",
        "g() { (($2)); }; mapfile -t -C g -c 1 a < f",
    ]);
}

#[test]
fn an_empty_file_runs_nothing() {
    all_are_read(&[
        "tmux -f /dev/null new -d 'make -j4'",
        "bash --rcfile /dev/null -ic ls",
    ]);
    all_are_unknown(&["echo 'run x' > c; tmux -f c new -d make"]);
}

#[test]
fn a_colon_in_a_pattern_is_no_offset() {
    all_are_read(&[
        "while IFS= read -r l; do echo \"${l%%:*}\"; done < f",
        "x=$(cat f); echo \"${x#*:}\" \"${x/:/ }\" \"${x%a:*}\"",
    ]);
    all_are_unknown(&[
        "x=$(cat f); echo ${y:x}",
        "x=$(cat f); echo ${y[0]:x}",
        "x=$(cat f); echo ${@:x}",
        "x=$(cat f); echo ${y%%${z:x}}",
        "x=$(cat f); echo ${y%%a[$((x))]:}",
    ]);
}

#[test]
fn options_and_files_of_programs_run_commands() {
    all_are_unknown(&[
        "printf -- '--pre=/bin/rm\\n' > c; RIPGREP_CONFIG_PATH=c rg x v",
        "echo 'rm -f v' > ~/.selected_editor; sensible-editor d/x",
    ]);
}
