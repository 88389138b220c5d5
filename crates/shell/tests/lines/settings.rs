//! Settings, variables and options whose value decides what a program runs.

use guard_shell::Command;

use crate::{all_are_read, all_are_unknown, none_deletes, read};

fn pushes_are_listed(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        let lists = |found: &Vec<Command>| {
            let is_push = |c: &Command| {
                c.first().is_some_and(|p| p == "git") && c.contains(&"push".to_owned())
            };
            found.iter().any(is_push)
        };
        assert!(found.as_ref().is_ok_and(lists), "{line}: {found:?}");
    }
}

#[test]
fn the_subcommand_of_git_is_known() {
    all_are_unknown(&[
        "git -c help.autocorrect=immediate pusj",
        "git config help.autocorrect 1; git puhs",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=help.autocorrect GIT_CONFIG_VALUE_0=1 git puhs",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
        "export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=Alias.p GIT_CONFIG_VALUE_0=push; git p",
        "GIT_CONFIG_PARAMETERS=\"'alias.p'='push'\" git p",
        "git push$x",
        "mkdir push; git p*h",
        "mkdir push; git pus?",
        "mkdir push; find push -exec git {} \\;",
        "exec -a git-push git origin",
        "bash -c 'exec -a git-push git'",
        "exec -a rm busybox -rf d",
    ]);
    all_are_read(&[
        "git -c color.ui=always log",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=x git commit -m y",
        "git log origin/$x",
        "git add src/*.rs",
        "cmake ../$x",
        "exec -a server java -jar x.jar",
    ]);
}

#[test]
fn a_setting_of_ssh_is_read_however_it_is_written() {
    pushes_are_listed(&[
        "ssh -o'proxycommand = git push' x",
        "ssh -o' ProxyCommand=git push' x",
        "ssh -o $'ProxyCommand\\tgit push' x",
        "ssh -o $'ProxyCommand\\t=\\tgit push' x",
        "ssh -o '\"ProxyCommand\" git push' x",
        "scp -o 'ProxyCommand git push' c x:",
    ]);
    all_are_read(&[
        "ssh -o 'StrictHostKeyChecking = no' x ls",
        "ssh -oBatchMode=yes x ls",
    ]);
}

#[test]
fn options_and_variables_whose_value_is_a_line_are_followed() {
    pushes_are_listed(&[
        "zip -T -TT'git push #' x c",
        "zip -qT -TT'git push #' x c",
        "zip -qTT 'git push' x c",
        "dpkg --status-logger='git push' -i x",
        "dpkg --pre-invoke='git push' -i x",
        "dpkg-architecture -c git push",
        "dpkg-architecture -c 'git push'",
        "apt-get update -oAPT::Update::Pre-Invoke::='git push'",
        "make --eval 'x:;git push' x",
    ]);
    all_are_unknown(&[
        "ZIPOPT='-T -TT \"git push;\"' zip x c",
        "VIMINIT='!git push' vim -c q c",
        "MAILCHECK=0 MAILPATH='c?$(git push)' bash --norc -i",
        "MAILPATH='c?`git push`'; export MAILPATH; bash -i",
    ]);
    all_are_read(&[
        "zip -rq x.zip c",
        "zip -T x.zip c",
        "apt-get install -y -o Dpkg::Options::=--force-confold x",
        "dpkg -i x.deb",
        "make -j4 all",
    ]);
}

#[test]
fn settings_of_a_clone_are_read_however_they_are_written() {
    let lines = [
        "git clone -qc core.sshCommand='git push;:' ssh://h/x z",
        "git clone --conf core.sshCommand='git push;:' ssh://h/x z",
        "git clone --confi=core.sshCommand='git push;:' ssh://h/x z",
        "git clone -q -ccore.sshCommand='git push;:' ssh://h/x z",
        "git clone -vlc core.sshCommand='git push;:' ssh://h/x z",
    ];
    pushes_are_listed(&lines);
    all_are_read(&[
        "git clone -q --depth 1 -c core.autocrlf=false https://h/x z",
        "git clone --config=core.eol=lf -b c -o upstream https://h/x",
    ]);
}

#[test]
fn helpers_that_a_variable_names_run() {
    all_are_unknown(&[
        "echo 'rm f' > q; chmod +x q; SSH_SK_HELPER=./q ssh-keygen -t ed25519-sk -f k",
        "SSH_SK_HELPER=\"$(cat l)\" ssh-add -K",
        "export SSH_PKCS11_HELPER='sh -c r\"\"m'; ssh-add -s x",
    ]);
    all_are_read(&["SSH_SK_PROVIDER=internal ssh-add -K"]);
}

#[test]
fn a_key_with_known_ends_is_that_of_its_section() {
    all_are_unknown(&[
        "git config \"$a.b.c\" x",
        "git config \"alias.$b\" x",
        "git config \"diff.x.$b\" x",
        "git config url.\"$B\".insteadOf x",
        "git config url.ext::\"$B\".insteadOf x",
        "git config diff.$b.textconv \"$x\"",
        "git -c \"diff.$b.cachetextconv=$x\" log",
    ]);
    all_are_read(&[
        "git config --global url.\"https://${TOKEN}@h/\".insteadOf \"https://h/\"",
        "git config url.\"https://x:$(cat tok)@h/\".insteadOf https://h/",
        "git -c url.\"https://${TOKEN}@h/\".insteadOf=https://h/ clone https://h/x",
        "git config \"branch.$b.remote\" origin",
    ]);
}

#[test]
fn a_pattern_is_no_file_of_git() {
    all_are_unknown(&[
        "awk 'BEGIN { print \"x\" > \".git\" }'; git status",
        "awk 'BEGIN { print \"x\" > \"\\.git\" }'; git status",
        "sed 's/a/b/w .git/config' f; git status",
        "sort -o .git/config f; git status",
        "rsync -a --exclude x y .git; git status",
    ]);
    all_are_read(&[
        "git remote get-url origin | sed 's/\\.git$//'",
        "git remote get-url origin | sed -E 's#.*h[:/](.*)\\.git#\\1#'",
        "git remote get-url origin | perl -pe 's/\\.git$//'",
        "git remote get-url origin | awk -F/ '{sub(/\\.git$/,\"\",$NF); print $NF}'",
        "tar czf a.tgz --exclude=.git . && git status",
        "rsync -a --exclude .git ./ /tmp/x && git status",
    ]);
}

/// A variable that keeps its value keeps the choice of the user, and a plain text in its place is checked as any value. What the line gives
/// the variable otherwise is checked where it does.
#[test]
fn variables_of_programs_keep_their_own_values() {
    all_are_read(&[
        "export EDITOR=\"${EDITOR:-vim}\"",
        "export VISUAL=\"${EDITOR:-vim}\"",
        "PAGER=${PAGER:-less} git log",
        "env PAGER=${PAGER-less} git log",
        "export CFLAGS=\"${CFLAGS:+$CFLAGS }-fPIC\"",
        "export LDFLAGS=\"${LDFLAGS:+${LDFLAGS} }-L/opt/lib\"",
        "CXXFLAGS=\"${CXXFLAGS:-} -O2\" make",
        ": ${EDITOR:=vi}; export EDITOR",
        ": ${CFLAGS:=-O2}; export CFLAGS",
    ]);
    all_are_unknown(&[
        "export EDITOR=\"${FOO:-vim}\"",
        "export EDITOR=\"${EDITOR:-rm -rf d}\"",
        "export EDITOR=\"${EDITOR:-$x}\"",
        "PAGER=${PAGER:-sh} git log",
        "PAGER=${PAGER:-./p.sh} git log",
        "PAGER=${PAGER:+less} git log",
        ": ${PAGER:='bash -c \"r\\m -rf d\"'}; PAGER=${PAGER:-less} git log",
        ": ${CFLAGS:=;rm -rf d}; export CFLAGS; make",
        "read CFLAGS <<< ';rm -rf d;'; CFLAGS=\"${CFLAGS:-} -g\" make",
        "for CFLAGS in ';rm -rf d;'; do CFLAGS=\"$CFLAGS -g\" make; done",
        "read EDITOR < f; export VISUAL=\"${EDITOR:-vim}\"; git commit",
        "for PAGER in 'rm -rf d #'; do export PAGER=${PAGER:-less}; git log; done",
        "x=$(cat f); EDITOR='${EDITOR:-'\"$x\"'}' git commit",
        "export CFLAGS=\"${CFLAGS:+;rm -rf d}\"",
        "export CFLAGS=\"${x:+;rm -rf d}\"",
        "X=';rm -rf d'; export CFLAGS=\"${CFLAGS:+$X }-g\"",
        "export CFLAGS=\"${CFLAGS:+$(cat f)}\"",
    ]);
}

/// With `-v` no operand of `command` runs, whatever it is.
#[test]
fn operands_of_programs_that_only_look_are_not_read() {
    all_are_read(&[
        "command -v \"$1\" >/dev/null 2>&1 || exit 1",
        "while read -r c; do command -v \"$c\"; done < f",
        "command -p -V \"$1\"",
    ]);
    all_are_unknown(&[
        "command \"$1\"",
        "command \"$1\" -v ls",
        "command $x -v rm f",
    ]);
}

/// `ln`, `cp` and `mv` run none of their operands, also if one has the name of a program.
#[test]
fn files_with_the_names_of_programs_are_no_commands() {
    all_are_read(&["ln -s ../mail \"$HOME/mail\"", "cp a/mail b/mail"]);
    none_deletes(&["ln -s ../rm b/rm", "cp a/rm /tmp/rm"]);
    all_are_unknown(&["ln -s ../x \"$HOME/mail\"; mail", "cp a/rm b/rm; rm f"]);
}
