//! What a recursive deletion deletes: parts of paths that may lead to another folder. Most lines were run by Bash 5.2 or dash, and
//! deleted a folder outside of the one that they name.

use crate::{all_are_read, all_are_unknown, read};

#[test]
fn what_is_not_known_may_lead_out_of_a_folder() {
    all_are_unknown(&[
        // parameters
        "set -- ../x; rm -rf \"/srv/$1\"",
        "set -- ../x; rm -rf /srv/${1:-a}",
        "set -- ../x; for x; do rm -rf \"/srv/$x\"; done",
        "f() { shift; rm -rf \"/srv/$*\"; }; f a ../x",
        "bash -c 'shift; rm -rf \"/srv/$1\"' _ a ../x",
        // variables of the shell, and of the line
        ": ../x; rm -rf \"/srv/$_\"",
        "[[ ../x =~ .* ]]; rm -rf \"/srv/$BASH_REMATCH\"",
        "read x <<< ../x; rm -rf \"/srv/$x\"",
        "export x=../x; bash -c 'rm -rf \"/srv/$x\"'",
        "systemd-run -E x=../x sh -c 'rm -rf \"/srv/$x\"'",
        // output
        "v=$(cat VERSION); rm -rf \"dist/app-$v\"",
        "rm -rf \"/srv/$(head -1 f)\"",
        "for x in $(ls); do rm -rf \"build/$x\"; done",
        "basename .. | xargs -I% rm -rf /srv/%/x",
        "x=${y:-$(cat f)}; rm -rf \"/srv/$x\"",
        "rm -rf -- \"-a$(cat f)\"",
        "PATH=bin:$PATH; rm -rf \"/srv/$(whoami)\"",
        // values that are cut
        "rm -rf \"/srv/${HOME/#*/.}./x\"",
        "rm -rf \"/srv/${1%x}\"",
        "for f in ..?; do rm -rf \"/srv/${f%a}/x\"; done",
    ]);
    all_are_read(&[
        "rm -rf \"/srv/$USER\" /srv/app-$VERSION.d /tmp/x.$$ ./$((1 + 2))",
        "rm -rf \"out/${TARGET:-debug}\" \"out/${x%.gz}\"",
        "B=build-$ARCH; rm -rf \"./$B\"",
        "B=${B:-build/out}; rm -rf \"./$B\"",
        "rm -rf \"logs/$(date +%F)\"",
        "for d in a b; do rm -rf \"out/$d\"; done",
        "for d in */; do rm -rf \"./$d/target\"; done",
        "f() { rm -rf \"out/$1\"; }; f a",
    ]);
}

#[test]
fn dots_and_patterns_may_be_the_folder_above() {
    all_are_unknown(&[
        "rm -rf /srv/${x-.}./x",
        "rm -rf /srv/.$x./x",
        "rm -rf \"/srv/.${HOME:-.}/x\"",
        "rm -rf /srv/${x:-.}${y:-.}/x",
        "rm -rf /srv/.$(:)$x./x",
        "x=.$y; rm -rf /srv/$x/x",
        "rm -rf /srv/.?/x",
        "rm -rf /srv/.[.]/x",
        "rm -rf /srv/'.'?*/x",
        "rm -rf /srv/..*/x",
        "rm -rf /srv/.[[:punct:]]/x",
        "x='.?'; rm -rf /srv/$x/x",
        "for x in .?; do rm -rf \"/srv/$x/x\"; done",
        "sh -c 'rm -rf /srv/.[^.]*/x'",
        "shopt -s extglob; rm -rf /srv/@(.)./x",
        "shopt -s extglob; rm -rf /srv/?(x)../x",
        "shopt -s extglob; rm -rf /srv/.!(x)/x",
    ]);
    all_are_read(&[
        "rm -rf ./* .[!.]* ..?* .??* .cache* ._* .[a-z]*",
        "rm -rf *.egg-info '.?' build-[0-9]/",
        "shopt -s extglob; rm -rf !(.git|*.md) *.@(o|a)",
    ]);
}

#[test]
fn a_text_that_stands_there_or_not_is_read_as_both() {
    let found = read("rm -rf \"/srv/.${HOME:+.}/x\"").unwrap();
    assert_eq!(found[0][2], "/srv/./x");
    assert_eq!(found[1][2], "/srv/../x");
}

#[test]
fn a_file_that_is_found_is_below_a_starting_point() {
    for (line, expected) in [
        ("find . -exec rm -rf {} +", "{}"),
        ("find . -exec rm -rf {}/out \\;", "{}/out"),
        ("find /a -exec rm -rf {}/out \\;", "/a/{}/out"),
        ("find / -exec rm -rf -- {}/out \\;", "/{}/out"),
        ("fd out /a -x rm -rf {}", "/a"),
        ("cd /a && rm -rf -- -x", "/a/-x"),
    ] {
        let found = read(line).unwrap();
        let deletes = |words: &Vec<String>| words[0] == "rm" && words.last().unwrap() == expected;
        assert!(found.iter().any(deletes), "{line}: {found:?}");
    }
    all_are_unknown(&[
        "find /srv/.. -exec rm -rf {}/x \\;",
        "find .. -exec rm -rf {}/x \\;",
        "find ~ -exec rm -rf {}/x \\;",
        "find \"$HOME\" -exec rm -rf {}/x \\;",
        "find /srv/.? -exec rm -rf {}/x \\;",
        "find . -exec rm -rf /srv/.{}/x \\;",
        "find . -exec rm -rf {}{} \\;",
        "find . -exec sh -c 'rm -rf /srv/.$1/x' _ {} \\;",
        "parallel rm -rf {//} ::: ../x/y",
        "echo a | parallel -a f rm -rf {}",
    ]);
}

#[test]
fn options_of_pushd_do_not_change_to_the_folder() {
    all_are_unknown(&[
        "cd /a && pushd -n /srv && rm -rf x",
        "cd /a && builtin pushd -n /srv && rm -rf x",
        "cd /a; pushd /srv; pushd +1; rm -rf x",
        "popd /srv; rm -rf x",
    ]);
    all_are_read(&["cd /a && pushd /srv && rm -rf x", "pushd src; rm -rf x"]);
}

/// What a loop over names of files deletes is listed as the pattern of the names.
#[test]
fn a_loop_deletes_what_its_pattern_matches() {
    for (line, expected) in [
        (
            "for f in /tmp/build-*; do rm -rf \"$f\"; done",
            "rm -rf /tmp/build-*",
        ),
        (
            "for f in /a/* b; do rm -rf -- \"${f}\"; done",
            "rm -rf -- /a/* b",
        ),
        ("cd /x; for f in a*; do rm -r \"$f\"; done", "rm -r /x/a*"),
    ] {
        let found = crate::read(line).unwrap();
        let words: Vec<String> = found.iter().map(|words| words.join(" ")).collect();
        assert!(words.iter().any(|one| one == expected), "{line}: {words:?}");
    }
    crate::all_are_unknown(&[
        // a name with blanks becomes other words
        "for f in /tmp/build-*; do rm -rf $f; done",
        "for f in /tmp/.*; do rm -rf \"$f\"; done",
        "for f in $(cat f); do rm -rf \"$f\"; done",
        "for f in /tmp/a*; do f=$x; rm -rf \"$f\"; done",
    ]);
}
