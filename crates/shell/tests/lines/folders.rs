//! The folder in which a command runs: in a pipe, in what is called back, behind a move by other names; and the name of a shell.

use super::{all_are_listed_or_errors, all_are_read, all_are_unknown, none_deletes, read};

fn deletes_in(line: &str, path: &str) -> bool {
    match read(line) {
        Ok(found) => found.iter().any(|words| {
            words.first().is_some_and(|one| one == "rm") && words.contains(&path.to_owned())
        }),
        Err(_) => true,
    }
}

#[test]
fn each_part_of_a_pipe_begins_in_the_folder_of_the_pipe() {
    for line in [
        "cd /v; cd /w | rm -rf d",
        "cd /v; cd /w |& rm -rf d",
        "cd /v; pushd /w | cat | rm -rf d",
        "cd /v; { cd /w; } | { rm -rf d; }",
        "cd /v; cd /w | bash -c 'rm -rf d'",
        "cd /v; cd /w | while rm -rf d; do break; done",
        "cd /v; time cd /w | rm -rf d",
        "cd /v; f() { rm -rf d; }; cd /w | f",
        // other shells run the last part themselves
        "zsh -c 'cd /w; true | cd /v; rm -rf d'",
    ] {
        assert!(deletes_in(line, "/v/d"), "{line}: {:?}", read(line));
    }
    assert!(!deletes_in("cd /w; true | cd /v; rm -rf d", "/v/d"));
    all_are_read(&["cd build && make | tee log; rm -rf x"]);
}

#[test]
fn words_and_redirections_are_expanded_before_a_command_moves() {
    for line in [
        "cd /v; cd /w <<< $(rm -rf d)",
        "cd /v; cd /w > \"$(rm -rf d)\"",
        "cd /v; cd /w \"$(rm -rf d)\"",
        "cd /v; x=$(rm -rf d) cd /w",
        "cd /v; { cd /w; } <<< $(rm -rf d)",
        "cd /v; f() { cd /w; }; f <<< \"$(rm -rf d)\"",
        "cd /v; eval 'cd /w' <<< $(rm -rf d)",
    ] {
        assert!(deletes_in(line, "/v/d"), "{line}: {:?}", read(line));
    }
}

#[test]
fn what_is_called_back_runs_in_an_unknown_folder() {
    all_are_unknown(&[
        "f() { rm -rf d; }; trap f EXIT; cd /v",
        "trap f EXIT; f() { rm -rf d; }; cd /v",
        "f() { rm -rf d; }; trap f DEBUG; cd /v; :",
        "f() { rm -rf d; }; g() { f; }; trap g USR1; cd /v",
        "f() { rm -rf d; }; trap 'if true; then f; fi' EXIT; pushd /v",
        "f() { rm -rf d; }; cd /v; mapfile -c1 -C f <<< x",
        "command_not_found_handle() { rm -rf d; }; cd /v; zz",
        "f() { trap 'rm -rf d' RETURN; cd /v; }; f",
        "f() { rm -rf d; }; trap f EXIT; eval 'cd /v'",
        "zsh -c 'chpwd() { rm -rf d; }; cd /v'",
        "ksh -c 'x.get() { rm -rf d; }; cd /v; : $x'",
    ]);
    let twice = "mapfile -c1 -C 'rm -rf d; cd /v #' <<< x";
    assert!(deletes_in(twice, "/v/d"), "{:?}", read(twice));
    all_are_read(&[
        "f() { rm -rf build; }; trap f EXIT; make",
        "f() { rm -rf build; }; f; cd src; make",
        "tmp=$(mktemp -d); f() { rm -rf \"$tmp\"; }; trap f EXIT; cd \"$tmp\"; make",
    ]);
}

#[test]
fn moves_have_other_names_in_other_shells() {
    for line in [
        "sh -c 'chdir /v; rm -rf d'",
        "dash -c 'f() { chdir /v; }; f; rm -rf d'",
        "busybox sh <<< 'chdir /v; rm -rf d'",
        "zsh -c 'cd /w; cd w v; rm -rf d'",
        "zsh -c 'cd /w; pushd w v; rm -rf d'",
        "zsh -c 'cd /v; pushd /w; cd +1; rm -rf d'",
        "fish -c '/v; rm -rf d'",
        "fish -c '..; rm -rf d'",
        "fdfind --base-directory=/v d -X rm -rf",
        "fd --search-path /v . -x rm -rf",
        "mpirun -wdir /v rm -rf d",
    ] {
        assert!(deletes_in(line, "/v/d"), "{line}: {:?}", read(line));
    }
}

#[test]
fn the_name_of_a_shell_is_not_known() {
    all_are_unknown(&[
        "exec -a rm bash -c '$0 -rf /v/d'",
        "exec -a rm bash -c '${0} -rf /v/d'",
        "exec -a rm bash -c 'f() { $0 -rf /v/d; }; f x'",
        "exec -a rm bash -c 'set -- $0; $1 -rf /v/d'",
        "exec -a /v/d sh -c 'rm -rf $0'",
        "ARGV0=rm zsh -c 'bash -c \"\\$0 -rf /v/d\"'",
        "env ARGV0=rm zsh -c ls",
    ]);
    all_are_read(&[
        "bash -c 'npm test -- \"$@\"'",
        "bash -c '\"$0\" -rf x' ls",
        "bash -c 'rm -f \"$1\"' _ x",
    ]);
    none_deletes(&["bash -c 'ls \"$@\"'"]);
}

#[test]
fn a_reserved_word_behind_a_redirection_may_become_one() {
    all_are_unknown(&[
        "echo $(>f ! /bin/r? -rf /v/d)",
        "echo $(2>&1 ! cd /v; rm -rf d)",
        "echo $(<<<a ! cd /v; rm -rf d)",
        "echo $(>f coproc /bin/r? -rf /v/d)",
        "echo \"$(>f ! cd /v; rm -rf d)\"",
        "cat <(>f time cd /v; rm -rf d)",
        "x=$(>f [[ a ]])",
    ]);
    all_are_read(&[
        "echo $(>f '!' x)",
        "echo $(2>/dev/null ls)",
        "time x=$(date)",
    ]);
}

#[test]
fn options_of_deletions_are_whole_words() {
    all_are_unknown(&[
        "rm \"-f$x\" /v/d",
        "rm -f${x:-r} /v/d",
        "rm --rec${x:-ursive} /v/d",
        "rm --rec* /v/d",
        "rm -f? /v/d",
        "rm ?rf /v/d",
        "xargs rm -f${x:-r} <<< /v/d",
        "find . -del${x:-ete}",
    ]);
    all_are_read(&["rm -f *", "rm -f *.o /tmp/x", "rm -rf build/*"]);
    all_are_listed_or_errors(&["printf \"${x:--v}\" 'a[$(rm -rf /v/d)]' y"]);
}

#[test]
fn a_value_of_an_array_is_expanded() {
    for first in [
        "y=(1)",
        "declare -a y",
        "read -a y <<< 1",
        "mapfile y <<< 1",
        "y[1]=1",
        ": ${y[1]:=1}",
        "exec {y[0]}>f",
        "coproc y { :; }",
    ] {
        all_are_unknown(&[&format!("{first}; declare y=\"$(base64 -d f)\"")]);
    }
    all_are_unknown(&["declare DIRSTACK=\"$(base64 -d f)\""]);
    all_are_read(&["y=(1); declare z=\"$(date)\""]);
}
