//! Text that arithmetic evaluates, and assignments that Bash does not carry out. Each line of the first kind deletes `d`: the deletion
//! must be listed, or the line must be an error.

use guard_shell::{Limits, commands};

use crate::{all_are_read, all_are_unknown, none_deletes};

fn all_are_listed_or_errors(lines: &[&str]) {
    for line in lines {
        let found = commands(line, &Limits::default());
        let deletes = |found: &Vec<Vec<String>>| {
            found
                .iter()
                .any(|words| words.first().is_some_and(|one| one == "rm"))
        };
        assert!(found.as_ref().map_or(true, deletes), "{line}: {found:?}");
    }
}

/// The file `y` holds `a[$(rm -rf d)]`.
#[test]
fn output_of_programs_is_no_number_unless_they_print_numbers_only() {
    all_are_listed_or_errors(&[
        "x=$(cat y); ((x))",
        "x=$(shuf y); ((x))",
        "x=$(cat y | shuf); ((x))",
        "x=$(expr \"$(cat y)\"); ((x))",
        "x=$(date \"+$(cat y)\"); ((x))",
        "x=$(stat -c \"$(< y)\" y); ((x))",
        "touch \"$(cat y)\"; x=$(stat -c %n a*); ((x))",
        "touch \"$(cat y)\"; x=$(wc -l a*); ((x))",
        "x=$(bc <<< \"print \\\"$(cat y)\\\"\"); ((x))",
        "x=$(cat y; date >&2); ((x))",
        "x=$(cat y && wc -l </dev/null >&2); ((x))",
        "x=$(exec cat y; wc); ((x))",
        "x=$(trap 'cat y' EXIT; date >&2); ((x))",
        "wc() { cat y; }; x=$(wc); ((x))",
        "f() { x=$(wc); ((x)); }; wc() { cat y; }; f",
        "x=$(grep -hec y -e a y); ((x))",
        "x=$(grep -he-c -ea y); ((x))",
        "x=$(grep -h a -- -c y); ((x))",
        "x=$(cat y); q=$x; ((q))",
        "x=$(cat y); q=x; ((q))",
        "x=$(cat y); q=${x% }; ((q))",
        "x=$(cat y); set -- \"$x\"; (($1))",
        "x=$(cat y); f() { local n=$1; ((n)); }; f \"$x\"",
        "f() { local n=$1; ((n)); }; f \"$(cat y)\"",
        "bash -c '(($1))' _ \"$(cat y)\"",
        "export x=$(cat y); bash -c '((x))'",
        "x=$(cat y); declare -i q=x",
        "x=$(cat y); RANDOM=x",
        "x=$(cat y); export RANDOM=x",
        "echo $((${x:-$(cat y)}))",
        "x=$(cat y); for q in \"$x\"; do ((q)); done",
        "x=$(cat y); printf -v q %s \"$x\"; ((q))",
        "x=$(cat y); read q <<< \"$x\"; ((q))",
        "x=$(cat y); echo ${q[x]}",
        "x=$(cat y); echo ${q[$x]}",
        "x=$(cat y); read q[x] <<< 1",
        "x=$(cat y); for RANDOM in x; do :; done",
        "x=$(cat y); read RANDOM <<< x",
        "x=$(cat y); printf -v RANDOM x",
        "env x=\"$(cat y)\" bash -c '((x))'",
        "xargs -d '\\n' bash -c '(($0))' < y",
        "find . -exec bash -c 'echo $(($1))' _ {} \\;",
    ]);
    all_are_read(&[
        "n=$(wc -l < log); echo $((n / 2))",
        "n=$(cd src && ls | wc -l); ((n > 3)) && echo many",
        "t=$(date +%s); make; echo $(( $(date +%s) - t ))",
        "s=$(stat -c %s \"$f\"); echo $((s / 1024))",
        "n=$(grep -c error \"$log\"); echo $((n + 1))",
        "x=$(echo \"$a * 2\" | bc); echo $((x))",
        "b=$(git rev-parse HEAD); n=$((n + 1)); echo \"$b $n\"",
        "f() { echo $(($1 * 2)); }; f 3; b=$(git branch); echo \"$b\"",
        "for i in $(seq 1 5); do echo $((i * i)); done",
        "declare -A seen; k=$(basename \"$f\"); seen[$k]=1; echo ${seen[$k]}",
        "a=(x y); for i in 0 1; do echo ${a[$i]}; done; b=$(git branch); echo \"$b\"",
        "N=$(nproc); make -j$((N + 1)); make -j$(($(nproc) + 1))",
        "sed -n \"$((LINE-5)),$((LINE+5))p\" file.txt",
    ]);
}

#[test]
fn texts_may_be_put_together_for_arithmetic() {
    all_are_listed_or_errors(&[
        "x='a[qrm -rf dq]'; y='`'; x=${x//q/$y}; ((x))",
        "x='a[qrm -rf dq]'; declare -i z=${x//q/\\`}",
        "mapfile -t x <<< 'a[q]'; x=${x/q/'`rm -rf d`'}; ((x))",
        "echo 'rm -rf d' > s; y='x=1'; x=c; ((y)); sh $x; $x rm -rf d",
        "y='x=1'; x=echo; echo $((y)); $x rm -rf d",
        "x=echo; declare -i y=x=1; $x rm -rf d",
        "x=echo; [[ 'x=1' -eq 1 ]]; $x rm -rf d",
        "x=echo; test -v 'a[x=1]'; $x rm -rf d",
        "x=echo; RANDOM=x=1; $x rm -rf d",
        "x=echo; k=x; y=\"$k=1\"; ((y)); $x rm -rf d",
        "x=echo; y=x++; ((y)); $x rm -rf d",
    ]);
    all_are_read(&[
        "CC=gcc; n=$((n + 1)); $CC -o x --std=c11 x.c",
        "for f in *.txt; do mv \"$f\" \"${f%.txt}.md\"; n=$((n + 1)); done",
        "x=ls; [ -n \"$y\" ] && export LANG=C; $x",
    ]);
}

#[test]
fn an_error_may_discard_the_assignments_behind_it() {
    all_are_listed_or_errors(&[
        "readonly y=1; y=2; x=echo\n$x rm -rf d",
        ": $((1/0)); x=echo\n$x rm -rf d",
        "echo $[1/0]; x=echo\n$x rm -rf d",
        "a[-5]=1; x=echo\n$x rm -rf d",
        "echo ${!y}; x=echo\n$x rm -rf d",
        "echo ${a[]}; x=echo\n$x rm -rf d",
        "cat <<E; x=echo\n$((1/0))\nE\n$x rm -rf d",
        "f() { : $((1/0)); }\nf; x=echo\n$x rm -rf d",
        "{ : $((1/0))\n}; x=echo\n$x rm -rf d",
        "test -v 'a[1/0]'; x=echo\n$x rm -rf d",
        "shopt -s failglob; ls z*; x=echo\n$x rm -rf d",
        "shopt -s extdebug; trap '[[ $BASH_COMMAND != x=* ]]' DEBUG; x=echo; $x rm -rf d",
        "bash -O extdebug -c \"trap false DEBUG; x=echo; $x rm -rf d\"",
        "eval 'readonly y=1; y=2; x=echo\n$x rm -rf d'",
        "bash -c $': $((1/0)); x=echo\\n$x rm -rf d'",
    ]);
    all_are_read(&[
        "x=echo; n=$((n + 1))\n$x hello",
        "n=$((n + 1))\nx=echo\n$x hello",
        "x=$(echo $((1 + 1))); y=ls\n$y",
        "readonly A=1\nx=ls\n$x",
        "time ./x a=b && time make CC=gcc",
    ]);
}

#[test]
fn what_shells_replace_before_they_read_is_not_followed() {
    all_are_listed_or_errors(&[
        "bash --norc -i <<< $'echo -delete\\nfind d !$'",
        "bash -H -c $'set -o history\\necho -delete\\nfind d !$'",
        "bash --norc -i <<< $': rm\\n/bin/!$ -rf d'",
        "HOME=/bin/rm; bash -c '$0 -rf d' ~",
        "HOME=/bin/rm; f() { \"$1\" -rf d; }; f ~",
        "HOME=/bin/rm; $(echo ~) -rf d",
        "HOME='$(rm -rf d)'; eval : ~",
        "cd /proc/self; ./exe <<< 'rm -rf d'",
        "PATH=/proc/self:$PATH; exe <<< 'rm -rf d'",
        "exec 3</bin/rm; cd /dev/fd; ./3 -rf d",
        "exec 3</bin/rm; PATH=/dev/fd; 3 -rf d",
        "bash <<< $'f() { read x; }; f\\n: <<E\\nrm -rf d\\nE'",
        "bash <<< $'time read x\\n: <<E\\nrm -rf d\\nE'",
        "bash <<< $'sed -u 1q\\n: <<E\\nrm -rf d\\nE'",
        "bash <<< $'exec 3<&0; read x <&3\\n: <<E\\nrm -rf d\\nE'",
    ]);
    all_are_read(&[
        "bash -ic 'nvm use 18 && [ $x != 3 ] && ! false'",
        "cp ~/x . && ls ~ && cd ~ && bash -c 'ls ~/src'",
        "cd build && ./run && 7z a x.7z y",
        "bash <<'EOF'\ncd src\nsed -i s/a/b/ x.c\ngrep -rn foo . || grep foo x\nmake\nEOF",
    ]);
}

#[test]
fn an_assignment_that_may_fail_gives_no_value() {
    all_are_listed_or_errors(&[
        // other shells assign nothing if the redirection fails
        "sh -c 'x=echo >/y/z; $x rm -rf f'",
        "sh -c 'x=echo </y/z; $x rm -rf f'",
        "dash -c 'x=echo 2>/y/z; $x rm -rf f'",
        "sh <<'Q'\nx=echo >&9\n$x rm -rf f\nQ",
        // Bash discards the rest of the line
        "OPTIND=1/0; x=echo\n$x rm -rf f",
        "OPTIND=08; x=echo\n$x rm -rf f",
        "HISTCMD='a b'; x=echo\n$x rm -rf f",
        "OPTIND=1/0; x=(echo)\n\"${x[@]}\" rm -rf f",
        "read OPTIND <<< 1/0; x=echo\n$x rm -rf f",
        "printf -v OPTIND 1/0; x=echo\n$x rm -rf f",
        "for OPTIND in 1/0; do :; done; x=echo\n$x rm -rf f",
        "mapfile -t RANDOM <<< 1/0; x=echo\n$x rm -rf f",
        "[[ -v a[1/0] ]]; x=echo\n$x rm -rf f",
        "q=1/0; [[ -v a[q] ]]; x=echo\n$x rm -rf f",
        "a=([1/0]=y); x=echo\n$x rm -rf f",
        "a=([08]=y); x=echo\n$x rm -rf f",
    ]);
    none_deletes(&[
        "SECONDS=0; x=ls; $x; echo $SECONDS",
        "OPTIND=1; x=ls; $x rm",
        "x=$(ls 2>/dev/null); y=ls; $y \"$x\"",
    ]);
}

/// The text in the lines is `a[$(rm -rf d)]`, in base64 or with other characters.
#[test]
fn a_text_that_a_program_decodes_may_run_in_arithmetic() {
    all_are_unknown(&[
        "read x < <(base64 -d <<< YVskKHJtIC1yZiBkKV0=); (( x ))",
        "base64 -d <<< YVskKHJtIC1yZiBkKV0= > s; read x < s; (( x ))",
        "mapfile -t q < <(env base64 --dec <<< YVskKHJtIC1yZiBkKV0=); (( q[0] ))",
        "B=base64; $B -D <<< YVskKHJtIC1yZiBkKV0= | while read x; do (( y += x )); done",
        "xxd -r -p <<< 615b2428726d202d7266206429 > s; read x < s; (( x ))",
        "rev <<< '])d fr- mr($[a' > s; read x < s; (( x ))",
        "tr '<>{}' '[]()' <<< 'a<${rm -rf d}>' > s; read x < s; (( x ))",
        "tr a-c '!-~' <<< x > s; read x < s; (( x ))",
        "sed 's/Q/$/' <<< 'a[Q(rm -rf d)]' > s; read x < s; (( x ))",
        "sed 'y/Q/$/' <<< 'a[Q(rm -rf d)]' > s; read RANDOM < s",
        "declare -i q; read q < <(base64 -d <<< YVskKHJtIC1yZiBkKV0=)",
        "read OPTIND < <(base64 -d <<< YVskKHJtIC1yZiBkKV0=); getopts a o",
        "exec 3< <(base64 -d <<< YVskKHJtIC1yZiBkKV0=); read -u 3 x; (( x ))",
        // compared, and taken for a name
        "[[ $(base64 -d <<< YVskKHJtIC1yZiBkKV0=) -eq 0 ]]",
        "x=$(base64 -d <<< YVskKHJtIC1yZiBkKV0=); [[ $x -eq 0 ]]",
        "x=$(base64 -d <<< YVskKHJtIC1yZiBkKV0=); echo \"${!x}\"",
        "x=$(base64 -d <<< YVskKHJtIC1yZiBkKV0=); [[ -v $x ]]",
        "x=$(base64 -d <<< YVskKHJtIC1yZiBkKV0=); test -v \"$x\"",
        "x=$(sed 's/Q/\\x24/' <<< 'a[Q(rm -rf d)]'); [[ $x -eq 0 ]]",
    ]);
    none_deletes(&["T=$(echo $X | base64 -d); while read -r l; do ((i++)); done < f; echo $i"]);
}

/// A file or a program may hold `a[$(rm -rf d)]`.
#[test]
fn what_is_read_may_run_in_arithmetic() {
    all_are_unknown(&[
        "read n < f; echo $((n+1))",
        "while read n; do echo $((n+1)); done < f",
        "while read -r n; do [[ $n -gt 3 ]] && echo big; done < f",
        "mapfile -t a < f; echo $((a[0]))",
        "while read -r a b; do ((s+=b)); done < f; echo $s",
        "while IFS=, read -r a b; do total=$((total+b)); done < data.csv; echo $total",
        "tr ',' '\\n' < f | while read n; do ((t+=n)); done",
        "df / | tail -1 | tr -d '%' | while read u; do (( u > 90 )) && echo full; done",
    ]);
    none_deletes(&[
        "while read -r l; do ((i++)); done < f; echo $i",
        "while read -r n; do [ \"$n\" -gt 3 ] && echo big; done < f",
        "while read -r n; do echo \"${#n}\" $((i + ${#n})); done < f",
        "awk -F, '{t += $2} END {print t}' data.csv",
    ]);
}

/// The name of the variable that holds what was read is put together.
#[test]
fn names_in_arithmetic_are_put_together() {
    all_are_unknown(&[
        "a1=$(cat f); i=1; echo $((a$i))",
        "read a1 < f; n=1; echo $((a$n + 1))",
        "a1=$(cat f); for i in 1 2; do echo $((a$i)); done",
        "a1=$(cat f); echo $((a$(expr 1)))",
        "a1=$(cat f); i=1; [[ a$i -gt 3 ]]",
        "a1=$(cat f); i=1; (( a$i > 3 ))",
        "read x1 < f; echo $((x\"1\"))",
        "read total_cpu < f; m=cpu; echo $((total_$m))",
        "a1=$(cat f); i=a; echo $((${i}1))",
    ]);
    none_deletes(&[
        "read x < f; i=1; echo $((10#$i + $i * 2))",
        "read line < f; n=3; for ((i = 0; i < $n; i++)); do echo $i; done",
        "a=(1 2); read x < f; i=1; echo $((${a[$i]} + 1)) \"$x\"",
        "read x < f; s=abc; echo ${s:0:2} $((${#s} - 1))",
        "code=$(curl -s u); n=0; while [ \"$code\" != 200 ]; do n=$((n + 1)); sleep 1; done",
    ]);
}

/// The text in the file, or its name, or that of the process, is `a[$(rm -rf d)]`.
#[test]
fn programs_that_count_may_print_texts() {
    all_are_unknown(&[
        "x=$(grep -c . -d recurse d); echo $((x))",
        "[[ $(grep -c . -d recurse d) -gt 0 ]]",
        "x=$(cksum -c f); echo $((x))",
        "x=$(cksum --ch f); echo $((x))",
        "x=$(wc -l --files0-from=f); echo $((x))",
        "x=$(wc --files0 f); echo $((x))",
        "x=$(pgrep -fa 'rm -rf'); echo $((x))",
        "x=$(shuf -n1 --random-source -i f); echo $((x))",
        "x=$(shuf -n1 -- -i); echo $((x))",
        "n=$(cat f || true); [[ $n -gt 0 ]]",
        "n=$(wc -l < f || cat f); [[ $n -gt 0 ]]",
        "n=$(cat f | tr -d 0-9); echo $((n))",
        "n=$(curl -s -w '%{http_code}' u); echo $((n))",
        "n=$(jq .length f.json); echo $((n))",
        "for w in $(stat 'l%'); do [[ $w -gt 0 ]] && echo x; done",
        "for w in $(date -f f 2>&1); do ((w)); done",
    ]);
    none_deletes(&[
        "n=$(wc -l < f); echo $((n+1))",
        "errors=$(grep -c ERROR app.log || true); [[ $errors -gt 0 ]] && exit 1",
        "used=$(df / | tail -1 | cut -d' ' -f5 | tr -dc '0-9'); (( used > 90 )) && echo full",
        "n=$(git rev-list --count HEAD); if [[ $n -gt 3 ]]; then echo $((n - 3)); fi",
        "code=$(curl -s -o /dev/null -w '%{http_code}' https://example.org); [[ $code -eq 200 ]]",
        "n=$(jq length f.json); echo $((n * 2))",
        "n=$(pgrep -fc node); echo $((n+1))",
        "echo $((1 + $(shuf -i 1-10 -n 1)))",
        "for f in src/*.py; do count=$((count + $(wc -l < \"$f\"))); done; echo \"$count\"",
    ]);
}

#[test]
fn a_program_that_prints_numbers_prints_its_words_too() {
    all_are_unknown(&[
        "w=\"a[$(date '+%s$')(rm -rf d)]\"; (( w ))",
        "y=$(seq -f '%g$' 1); w=\"a[$y(rm -rf d)]\"; (( w ))",
        "y=$(seq -s '`' 2); w=\"a[${y}rm -rf d$y]\"; (( w ))",
        "y=$(stat -c '%s$' v); w=\"a[$y(rm -rf d)]\"; echo $((w))",
        "y=$(stat --printf '%s\\044' v); w=\"a[$y(rm -rf d)]\"; (( w ))",
        "y=$(expr 'x$x' : 'x\\(.\\)'); w=\"a[$y(rm -rf d)]\"; [[ $w -eq 0 ]]",
        "touch 'x$'; y=$(cksum 'x$'); w=\"a[${y##* x}(rm -rf d)]\"; (( w ))",
        "y=$(echo 'print \"$\"' | bc); w=\"a[$y(rm -rf d)]\"; (( w ))",
        "y=$(echo 36P | dc); w=\"a[$y(rm -rf d)]\"; (( w ))",
    ]);
    none_deletes(&[
        "n=$(expr \"$v\" : '.*[^0-9]\\([0-9]*\\)$'); ((n++))",
        "n=$(grep -c '^foo$' f); ((n++)); echo ${a[0]}",
        "n=$(awk '{print $1}' f | wc -l); [[ $n -gt 0 ]] && echo '[x]'",
        "x=$(stat -c %s f); ((x > 3)); y=$(date +%s); echo $((y-x))",
        "x=$(echo 'scale=2; 3/4' | bc); echo $((${x%.*}+1))",
    ]);
}

#[test]
fn a_text_is_an_assignment_if_arithmetic_evaluates_it() {
    all_are_unknown(&[
        "(( CC=5 ))",
        "let CC=5",
        "x=CC=5; (( x ))",
        "x=CC=5; y=$x; echo $((y))",
        "read x <<< CC=5; (( x ))",
        "echo LD_PRELOAD=5 | while read x; do (( x )); done",
        "set -- LD_PRELOAD=5; (( $1 ))",
        "f() { (( $1 )); }; f CC=5",
        "a=(CC=5); (( a[0] ))",
        "for x in CC=5; do (( x )); done",
        "declare -i x; x=GOFLAGS=5",
        ": ${x:=CC=5}; (( x ))",
        "[[ CC=5 -eq 5 ]]",
        "SECONDS=CC=5",
    ]);
    all_are_read(&[
        "make -j4 CC=clang all; exit ${PIPESTATUS[0]}",
        "s=$(date +%s); make CC=gcc; echo $(($(date +%s)-s))",
        "for ((i=0;i<3;i++)); do env PYTHONPATH=src python -m pytest && break; done",
        "grep -q 'GOPATH=' ~/.bashrc || echo 'export GOPATH=$HOME/go' >> ~/.bashrc; (( x++ ))",
        "cat > .env <<E\nPYTHON_VERSION=3.11\nE\necho $((1+2))",
        "i=0; while [ $i -lt 5 ]; do docker run -e NODE_OPTIONS=--inspect img; i=$((i+1)); done",
        // the offset is known, whatever the elements are
        "a=($(ls)); echo \"${a[@]:1:2}\"",
        "x=$(git rev-parse HEAD); echo ${x:0:7}",
    ]);
}
