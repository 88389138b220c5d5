//! Texts for shells other than Bash, and code of `sed` and `parallel`.

use super::{all_are_listed_or_errors, all_are_read, all_are_unknown};

#[test]
fn what_only_another_shell_has_is_unknown() {
    all_are_unknown(&[
        "zsh -c 'hash ls=/bin/rm; ls -rf /v/d'",
        "zsh -c 'builtin hash ls=/bin/rm; ls -rf /v/d'",
        "zsh <<< 'hash ls=/bin/rm; ls -rf /v/d'",
        "zsh -c 'x=ls; zformat -f x \"%a\" a:rm; $x -rf /v/d'",
        "zsh -c 'zmodload zsh/files; zf_rm -rf /v/d'",
        "zsh -c 'x=/w/v/d; rm -rf $x[6,-1]'",
        "zsh -c 'x=/w/v/d; rm -rf \"$x[6,-1]\"'",
        "zsh -c 'x=/w/v/d; rm -rf $x:s_/w__'",
        "zsh -c 'cdpath=/; cd v; rm -rf d'",
        "zsh -c 'setopt cdablevars; v=/v; cd v; rm -rf d'",
        "zsh -T -c 'v=/v; cd v; rm -rf d'",
        "zsh -c '< /dev/stdin' <<< 'rm -rf /v/d'",
        "READNULLCMD=sh zsh -c 'ls'",
        "export SHELL=/bin/zsh; script -qc 'hash ls=/bin/rm; ls -rf /v/d' /dev/null",
        "mksh -c 'COLUMNS=\"a[\\$(rm -rf /v/d)]\"'",
        "mksh -c 'x=ls; nameref y=x; y=rm; $x -rf /v/d'",
        "yash -c 'x=ls; array x rm; $x -rf /v/d'",
        "env YASH_AFTER_CD='rm -rf /v/d' yash -c 'cd /'",
        "COMMAND_NOT_FOUND_HANDLER='rm -rf /v/d' yash -c zz",
        "fish -c 'alias x \"rm -rf\"; x /v/d'",
        "tcsh -c 'set cdpath=/; cd v; rm -rf d'",
        "tcsh -c 'alias cwdcmd \"rm -rf d\"; cd /v'",
        "elvish -c 'e:rm -rf /v/d'",
    ]);
    all_are_listed_or_errors(&[
        "fish -c 'source' <<< 'rm -rf /v/d'",
        "fish -c 'echo rm -rf /v/d | source'",
        "fish -c 'not rm -rf /v/d'",
        "zsh -c 'repeat 1 rm -rf /v/d'",
        "zsh -c '- rm -rf /v/d'",
    ]);
    all_are_read(&[
        "zsh -lc 'source ~/.zshrc && nvm use 18'",
        "zsh -ic 'echo $PATH:$HOME'",
        "ksh -c 'for f in *.c; do cc -c \"$f\"; done'",
        "fish -c 'cd build; and make'",
        "tcsh -c 'make all'",
    ]);
}

#[test]
fn code_of_sed_is_read_as_each_version_reads_it() {
    all_are_unknown(&[
        "sed 's/[^/]*/rm -rf \\/v\\/d/e' <<< x",
        "sed '/[/]/!e rm -rf /v/d' <<< x",
        "sed 's/[[:space:]/]*x/rm -rf \\/v\\/d/e' <<< x",
        "sed 's/[]/]*x/rm -rf \\/v\\/d/e' <<< x",
        "sed 's,[,x],rm -rf /v/d,e' <<< x",
        "sed -l 5 'e rm -rf /v/d' <<< x",
        "sed -nl 5 'e rm -rf /v/d' <<< x",
        "sed --line-length 5 'e rm -rf /v/d' <<< x",
        "sed -e 's/x/a\\' -e 'b/e' <<< x",
        "sed -f - f <<< '1e rm -rf /v/d'",
        "sed -nf/dev/stdin f <<< '1e rm -rf /v/d'",
        "sed -f <(echo 'e rm -rf /v/d') f",
        "echo '1e rm -rf /v/d' > s.sed; sed -f s.sed f",
    ]);
    all_are_read(&[
        "sed 's/[^/]*$//' f",
        "sed -i '' 's/[0-9]/x/' f",
        "sed -f script.sed f",
        "sed -f - f <<< 's/a/b/'",
        "sed -n '/begin/,/[e]nd/p' f",
    ]);
}

#[test]
fn options_of_parallel_are_no_lines() {
    all_are_unknown(&[
        "parallel --ssh 'rm -rf /v/d;ssh' -S h echo ::: a",
        "parallel -S '1/rm -rf /v/d;ssh x' echo ::: a",
        "parallel --tagstring '{= `rm -rf /v/d` =}' echo ::: a",
        "parallel --wd '{= `rm -rf /v/d` =}' echo ::: a",
        "PARALLEL='--ssh \"rm -rf /v/d;ssh\" -S h' parallel echo ::: a",
        "echo '--ssh x' > ~/.parallelrc; parallel echo ::: a",
    ]);
    all_are_read(&[
        "parallel -S host1,host2 -j4 gzip ::: a",
        "PARALLEL=4 make",
        "cross-env A=1 mocha test/test-*",
        "ls | entr -c npm test",
    ]);
}
