//! Variables that hold one of several values of the line.

use crate::{all_are_listed_or_errors, all_are_unknown, lists, none_deletes, read};

#[test]
fn a_command_is_read_with_each_value() {
    for line in [
        "x=ls; a && x=rm; $x f",
        "a && x=ls || x=rm; $x f",
        "if a; then x=ls; elif b; then x=echo; else x=rm; fi; sudo $x f",
        "case $a in b) x=ls;; *) x=rm;; esac; \"$x\" f",
        "x=; a && x=sudo; $x rm f",
        "x=echo; a && x='sudo rm'; $x f",
        "x=echo; a && x=; y=ls; b && y=rm; $x $y f",
        "x=ls; f() { $x f; }; a && x=rm; f",
        "x=ls; (x=rm; $x f)",
        "{ x=ls; a && x=rm; }; while b; do $x f; done",
    ] {
        let found = read(line);
        assert!(
            found.as_ref().is_ok_and(|found| lists(found, "rm")),
            "{line}: {found:?}"
        );
    }
    none_deletes(&[
        "type -p python3 > /dev/null && PY=python3 || PY=python; $PY --version",
        "SUDO=''; if [ $EUID -ne 0 ]; then SUDO='sudo'; fi; $SUDO apt-get install -y curl",
        "if command -v docker-compose; then DC=docker-compose; else DC='docker compose'; fi; $DC up -d",
        "case $(uname) in Darwin) SED=gsed;; *) SED=sed;; esac; $SED -i 's/a/b/' f",
        "FLAGS=; [ \"$DEBUG\" ] && FLAGS=-v; curl $FLAGS https://h",
    ]);
}

#[test]
fn a_value_that_may_be_another_is_not_known() {
    all_are_unknown(&[
        // it may have none of the line
        "a && x=ls; $x f",
        "true || x=ls || x=echo; $x rm f",
        "a && x=ls && x=echo; $x rm f",
        "if a; then x=ls; elif b; then x=echo; fi; $x rm f",
        "case $a in b) x=ls;; c) x=echo;; esac; $x rm f",
        "case $a in b) x=ls;; *) x=echo; unset x;; esac; $x rm f",
        "while a; do x=ls; x=echo; done; $x rm f",
        "(x=ls; a && x=echo); $x rm f",
        "x=ls & a && x=echo; $x rm f",
        "x=ls y=1 true; x=echo true; $x rm f",
        "f() { $x rm f; }; f; x=ls; a && x=echo",
        "{ x=ls; x=echo; } > /y/z; $x rm f",
        // or another one
        "x=ls; a && x=echo; read x <<< rm; $x f",
        "x=ls; a && x=echo; eval \"$y\"; $x rm f",
        "x=ls; a && x=echo; x+=rm; $x f",
        "x=ls; a && x=$(cat f); $x",
        "IFS=l; x=xlrm; a && x=ls; $x f",
    ]);
    all_are_listed_or_errors(&["x=ls; a && x='[r]m'; $x f", "x=ls; a && x=y=1; $x rm f"]);
}
