//! Variables of the line in the code of `sed`.

use crate::{all_are_unknown, none_deletes};

#[test]
fn variables_of_the_line_are_commands_and_flags() {
    all_are_unknown(&[
        r#"sed "1${HOME/*/$'\x65'} rm f" g"#,
        r#"sed "1${x[0]:-e} rm f" g"#,
        "set -e 'e rm f'; sed \"1$1\" g",
        "set -eo pipefail 'e rm f'; sed \"1$1\" g",
        "set -o \"$x\" 'e rm f'; sed \"1$1\" g",
        "set -- -e 'e rm f'; sed \"1$2\" g",
        r#"false || x='e rm f'; sed "1$x" g"#,
        r#"read x <<< 'e rm f'; sed "1$x" g"#,
        r#"x=p; x='e rm f'; sed "1$x" g"#,
        r#"printf -v x %s 'e rm f'; sed "1$x" g"#,
        r#"x=('e rm f'); sed "1${x[0]}" g"#,
        r#"x='e rm f'; sed "1${x%q}" g"#,
        r#"x='e rm f'; sed "1${x:-p}" g"#,
        r#"x='e rm f'; sed "1${x#q}" g"#,
        r#"x=g; x=e; sed "s/x/rm f/$x" g"#,
        r#"read x <<< '/e;#'; sed "s/x/rm f$x/g" g"#,
        r#"export x='e rm f'; bash -c 'sed "1$x" g; x=ls'"#,
        r#"read y <<< 'e rm f'; x=$y; sed "1$x" g"#,
        r#"read y <<< 'e rm f'; x=${y%q}; sed "1$x" g"#,
        r#"read y <<< 'e rm f'; for x in "$y"; do sed "1$x" g; done"#,
        r#"read <<< 'e rm f'; sed "1$REPLY" g"#,
        r#": 'e rm f'; sed "1$_" g"#,
        r#"[[ 'e rm f' =~ .* ]]; sed "1$BASH_REMATCH" g"#,
        r#"set -- 'e rm f'; sed "1$1" g"#,
        r#"bash -c 'sed "1${1%q}" g' _ 'e rm f'"#,
        r#"read x <<< 'e rm f'; sed -e p -e "1$x" g"#,
        r#"read x <<< 'e rm f'; sed --expression="1$x" g"#,
        r#"read x <<< 'e rm f'; sed "1$(echo "$x")" g"#,
        r#"x=1; x=XaXrm; sed "s${x} fXe" g"#,
        r#"x=a; x=/ew; sed "s/x/rm f$x/g" g"#,
        r#"f() { sed "1$1" g; }; f 'e rm f'"#,
        r#"x='e rm f'; y=x; sed "1${!y}" g"#,
        r#"x=/a; x=/e; sed "/$x/ rm f" g"#,
        r#"x=/a; x=b; sed "s/x/rm f$x/e" g"#,
        r#"f() { sed "1$1" g; }; x='e rm f'; f "$x""#,
    ]);
    none_deletes(&[
        "sed \"s/x/${x//a/b}/\" f; sed \"s/x/${x%.c}/\" f",
        "set -euo pipefail; V=\"$1\"; sed -i \"s/x/$V/\" f",
        "set -e; set +x -o errexit; sed -i \"s/x/$1/\" f",
        r#"V=$(git describe); sed -i "s/x/$V/" f"#,
        r#"V=$(cat VERSION); sed -i "s/x/${V#v}/; s/y/$(date +%F)/" f"#,
        r#"V=1.2.3; sed -i "s/x/${V%.*}/" f"#,
        r#"if a; then V=1.2; else V=1.3; fi; sed -i "s/x/v$V/g" f"#,
        r#"for f in *.c; do sed -i "s/x/$f/" g; done"#,
        r#"for f in $(ls); do sed -i "s/x/y/" "$f"; done"#,
        r#"while read -r f; do sed -i 's/a/b/' "$f"; done < list"#,
        r#"n=$(wc -l < f); sed -n "1,${n}p" f"#,
        r#"n=1; n=$((n+1)); sed -n "${n}p" f"#,
        r#"cd a && sed -i "s|x|$PWD|; s|y|$HOME/z|" f"#,
        r#"sed -i "s/a/$1/" "$2""#,
        r#"f() { sed -i "s/x/$1/" "$2"; }; f a b"#,
        r#". ./.env; sed -i "s/x/$VERSION/" f"#,
        r#". ./.env; T=1; sed -i "s/x/$T/" f"#,
        r#"V=$(git describe); W=${V#v}; sed -i "s/^version = .*/version = \"$W\"/" Cargo.toml"#,
        r#"for i in 1 2 3; do sed -n "${i}p" f; done"#,
        r#"sed "s/x/$RANDOM/;s/y/$$/" f"#,
        r#"P=/usr/lib; [ -d $P ] || P=/usr/lib64; sed -i "s|@P@|$P|" f"#,
        r#"DIR=$(cd "$(dirname "$0")" && pwd); sed "s|@D@|$DIR|g" t > o"#,
        r#"P=/usr/lib; [ -d $P ] || P=/usr/lib64; sed -i "s#@P@#$P#;s/a/b/" f"#,
    ]);
}

#[test]
fn a_label_ends_at_a_blank_or_at_the_end_of_the_line() {
    all_are_unknown(&[
        "echo x | sed ':a e rm -rf f'",
        "echo x | sed ':a s/x/rm -rf f/e'",
        "echo x | sed -n ':a\te rm -rf f'",
        "sed 'ba;:a e rm -rf f' g",
        "sed '/q/ba e rm -rf f\n:a' g",
        "sed 'tq s/x/rm -rf f/e\n:q' g",
        "sed '{:a e rm -rf f\n}' g",
        "sed -f - g <<< ':a e rm -rf f'",
        "sed 'v 0s e rm -rf f' g",
        // for other versions the label goes on
        "sed ':a s\ne rm -rf f' g",
        "sed 'v 0s\ne rm -rf f' g",
    ]);
    none_deletes(&[
        r"sed ':a;N;$!ba;s/\n/ /g' f",
        r"sed -e ':a' -e 's/^\(.*\) x/\1y/;ta' f",
        "sed -n '/a/{p;b end};s/x/y/;:end' f",
        "sed ':again\ns/aa/a/\nt again\n' f",
    ]);
}
