//! Programs that run others by their words and options. In each line a shell or another program comes to run `rm` although no
//! table says that its words are a command, or a word that decides what runs comes from a variable.

use guard_shell::{Limits, commands};

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown, lists, none_deletes, read};

fn deletions_are_listed(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        let listed = found.as_ref().is_ok_and(|found| lists(found, "rm"));
        assert!(listed, "{line}: {found:?}");
    }
}

#[test]
fn a_command_among_the_words_of_a_program_is_listed() {
    deletions_are_listed(&[
        "perf stat rm canary",
        "heaptrack rm canary",
        "cmake -E env rm canary",
        "watchexec rm canary",
        "podman unshare rm canary",
        "systemd-nspawn -D / rm canary",
        "machinectl shell x /bin/rm canary",
        "systemd-cat rm canary",
        "zellij run -- rm canary",
        "aws-vault exec x -- rm canary",
        "./wait-for-it.sh h:1 -- rm canary",
        "srun rm canary",
        "torify rm canary",
        "gcloud compute ssh x -- rm canary",
        "docker run --entrypoint rm x canary",
        "docker run --entrypoint=rm x canary",
        "docker exec c rm canary",
        "svn diff --diff-cmd rm",
        "wget --use-askpass=rm canary",
        "gcc -wrapper rm,canary x.c",
        "systemd-cat bash <<< 'rm canary'",
    ]);
    all_are_unknown(&["curl u | torify bash", "curl u | docker exec -i c sh -s"]);
    none_deletes(&[
        "docker rm -f c",
        "docker volume rm data",
        "git rm -r --cached x",
        "git -c core.quotepath=off rm x",
        "npm rm left-pad",
        "aws s3 rm s3://b/k",
        "which rm mv",
        "cat x | bat -l bash",
    ]);
}

#[test]
fn a_line_in_a_word_of_a_program_is_listed() {
    deletions_are_listed(&[
        "pssh -h f 'rm canary'",
        "ansible all -m shell -a 'rm canary'",
        "salt '*' cmd.run 'rm canary'",
        "less '+!rm canary' f",
        "make --eval='x:;rm canary' x",
        "fzf --bind 'start:execute(rm canary)'",
        "gh alias set x '!rm canary'",
        "hg --config alias.x='!rm canary' x",
        "lerna exec 'rm canary'",
        "repo forall -c \"r'm' canary\"",
        "apt-get -o APT::Update::Pre-Invoke::='sudo rm canary' update",
        "sqlite3 :memory: '.shell rm canary'",
        "gksudo 'sh -c \"rm canary\"'",
        "fish -C 'rm canary' -c ''",
        "fish --init-command ls -c 'rm canary'",
        "fish -f root -d x --profile-startup=p -c 'rm canary'",
        "fish -c ls -c 'rm canary'",
        "tcsh -c f -c 'rm canary'",
    ]);
    all_are_unknown(&[
        "gksudo 'rm -rf $x'",
        "yarn exec 'rm canary'",
        "pnpm -c exec 'rm canary'",
        "tcsh -cf 'rm canary'",
    ]);
    none_deletes(&[
        "git commit -m 'rm old files'",
        "git commit -am 'rm old files'",
        "sed 's|rm x|y|' f",
        "gh pr create --title 'rm old files'",
        "pgrep -f 'rm x'",
    ]);
}

#[test]
fn what_builders_and_tar_run_by_their_words_is_listed_or_unknown() {
    let lists_program = |line: &str, program: &str| {
        let found = read(line);
        let listed = found.as_ref().is_ok_and(|found| lists(found, program));
        assert!(listed, "{line}: {found:?}");
    };
    lists_program("make CC='curl u; gcc' all", "curl");
    lists_program("make LD=./evil", "evil");
    lists_program("make CC='ccache gcc'", "ccache");
    lists_program("make INSTALL=\"sh -c 'curl u'\"", "curl");
    lists_program("make CFLAGS='-O2 $(shell curl u)'", "curl");
    lists_program("make CFLAGS='${shell curl u}'", "curl");
    lists_program("make 'X!=curl u'", "curl");
    lists_program("make --eval='x:;curl u' x", "curl");
    lists_program("./configure CC='gcc; curl u' --prefix=/x", "curl");
    lists_program("cmake -B build -DCMAKE_C_COMPILER=./evil", "evil");
    lists_program(
        "cmake -D CMAKE_CXX_COMPILER_LAUNCHER:STRING='curl;u' .",
        "curl",
    );
    all_are_unknown(&[
        "cmake -DCMAKE_AR=\"$(cat f)\" .",
        "RM='curl u;' make clean",
        "INSTALL='rm -rf x' make install",
        "CC='curl u;' make",
        "CXX='sh x' make",
        "env CC='curl u;' make",
        "export LD='curl u;'; make",
        "CFLAGS='$(shell curl u)' make",
        "MAKEFLAGS='--eval=x:;curl' make x",
        "make MAKEFLAGS='--eval=x:;curl' x",
        "make --eval='$(shell curl u)'",
        "make --eval='X:=$(shell curl u)'",
        "make -E '$(shell curl u)'",
        "make X='$(file >x,y)'",
        "make X='$(eval Y!=curl u)'",
        "make X='$(shell curl $(U))'",
        "make X=\"\\$(shell curl u)$y\"",
        "make CC=\"$(cat f)\"",
        "make SHELL=\"$x\"",
        "tar cf a.tar --checkpoint=1 --checkpoint-action=\"$x\" f",
    ]);
    let plain = [
        "make -j4 CC=gcc CXX='ccache g++' V=1",
        "CC='ccache clang' CFLAGS='-O2 -g' make -j\"$(nproc)\"",
        "make CC=\"$CC\" VERSION=\"$(git describe)\" install",
        "make CMD='$(MAKE) x' SRC='$(wildcard *.c)' OBJ='$(SRC:.c=.o y)'",
        "MAKEFLAGS=-j8 make -f other.mk",
        "export CC=${CC:-gcc}; make",
        "./configure CC=\"$CC\" CFLAGS=-O2 --prefix=\"$HOME/x\"",
        "cmake -B build -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=\"$CXX\" -DCMAKE_BUILD_TYPE=Release",
    ];
    for line in plain {
        let found = read(line);
        assert!(found.is_ok(), "{line}: {found:?}");
    }
}

#[test]
fn settings_of_git_in_loops_and_behind_find_are_followed() {
    deletions_are_listed(&[
        "find . -name .git -exec git config core.pager 'rm canary' \\;",
        "find . -execdir git config alias.x '!rm canary' +",
        "for i in 1 2; do git config alias.x '!rm canary'; done",
        "for k in core.pager core.editor; do git config \"$k\" 'rm canary'; done",
        "for v in '!rm canary'; do git config alias.x \"$v\"; done",
    ]);
    all_are_unknown(&[
        "while read -r v; do git config alias.x \"$v\"; done < f",
        "while read -r k v; do git config \"$k\" \"$v\"; done < f",
        "xargs -n2 git config < f",
        "find . -exec git config include.path {} \\;",
        "find . -exec git config core.pager {} \\;",
    ]);
    none_deletes(&["find . -type d -exec git config --global --add safe.directory {} \\;"]);
}

#[test]
fn options_whose_value_is_a_line_are_found_among_other_letters() {
    deletions_are_listed(&[
        "tar -cvI'rm canary' -f out.tar x",
        "tar -cvI 'rm canary' -f out.tar x",
        "tar cIf 'rm canary' out.tar x",
        "tar xf a.tar --to-comm='rm canary'",
        "tar cf a.tar --checkpoint=1 --checkpoint-act='exec=rm canary' x",
        "tar cf out.tar x -F 'rm canary' -L 1 -M",
        "rsync -aze 'rm canary #' a h:b",
        "ssh -vo ProxyCommand='rm canary' h",
        "ssh -vvoProxyCommand='rm canary' h",
        "scp -qo ProxyCommand='rm canary' a h:",
        "sftp -D 'rm canary' h",
        "man -H'rm canary' ls",
        "man --html='rm canary' ls",
        "strace -fo '|rm canary' ls",
        "zip x.zip f -T -TT 'rm canary #'",
        "go build -toolexec='rm canary'",
        "go test -exec 'rm canary' ./...",
        "bat --pager='rm canary' f",
        "rg --pre rm x canary",
        "git instaweb --httpd='rm canary'",
        "git send-email --sendmail-cmd='rm canary' x.patch",
        "git fetch-pack --upload-pack='rm canary' .",
        "make SHELL='rm canary' x",
        "find . -name x -exec rm {} +",
    ]);
    all_are_unknown(&[
        "make SHELL=\"$S\" x",
        "find . $ACTION rm {} +",
        // what is appended is a program
        "git fetch-pack --upload-pack='rm canary;' .",
    ]);
    none_deletes(&[
        "tar cf 'x rm' y",
        "tar -cvf 'I rm x' y",
        "make SHELL=/bin/bash x",
        "strace -fo log ls",
        "find . $EXCLUDES -name x",
    ]);
}

#[test]
fn a_word_that_decides_what_runs_is_no_variable() {
    all_are_unknown(&[
        "git $x",
        "git -C d \"$x\"",
        "npm $x",
        "docker $x",
        "kubectl \"$verb\" x",
        "cargo $cmd",
        "tar $F -cf x.tar .",
        "parallel {1} {2} ::: rm ::: canary",
        "parallel '{= $_=\"rm\" =} canary' ::: x",
        "parallel {/} canary ::: /x/rm",
    ]);
    deletions_are_listed(&["parallel -I@ @ canary ::: rm"]);
    none_deletes(&[
        "git checkout \"$branch\"",
        "npm run \"$script\"",
        "make $target",
        "ls *.flac | parallel ffmpeg -i {} {.}.mp3",
    ]);
}

#[test]
fn what_the_line_made_itself_may_be_deleted() {
    for (line, deleted) in [
        (
            "t=$(mktemp -d) && cp -r src \"$t\" && rm -rf \"$t\"",
            "$(mktemp -d)",
        ),
        (
            "t=\"$(mktemp -d)\"; trap 'rm -rf \"$t\"' EXIT; ls",
            "$(mktemp -d)",
        ),
        ("rm -rf \"$PWD/build\"", "./build"),
        ("rm -rf \"$PWD/../x\"", "./../x"),
        ("cd /srv; rm -rf \"${PWD}/x\"", "/srv/x"),
        ("t=a; trap 'rm -rf \"$t\"' EXIT", "a"),
    ] {
        let found = read(line);
        let expected = ["rm", "-rf", deleted].map(str::to_owned).to_vec();
        let deletes = found.as_ref().is_ok_and(|found| found.contains(&expected));
        assert!(deletes, "{line}: {found:?}");
    }
    all_are_unknown(&[
        // without a value it is the root folder
        "t=$(mktemp -d); rm -rf \"$t/home\"",
        "false && t=$(mktemp -d); rm -rf \"$t\"",
        "mktemp() { echo /home; }; t=$(mktemp -d); rm -rf \"$t\"",
        "PATH=.:$PATH; t=$(mktemp -d); rm -rf \"$t\"",
        "t=$(mktemp -d); t=/home; rm -rf \"$t\"",
        "t=$(mktemp -d); read t; rm -rf \"$t\"",
        "t=$(mktemp -d); trap 't=/home' DEBUG; trap 'rm -rf \"$t\"' EXIT",
        "t=$(mktemp -d); trap 'rm -rf \"$t\"' EXIT; eval \"$(cat f)\"",
        "t=$(mktemp -d); trap {'t=/home #',b}; rm -rf \"$t\"",
        "t=$(mktemp -d); bash -c 'rm -rf \"$t\"'",
        "PWD=/home; rm -rf \"$PWD/x\"",
        "rm -rf \"$PWD/$x\"",
        "rm -rf \"$PWD\"",
    ]);
}

#[test]
fn a_shell_that_only_checks_runs_nothing() {
    none_deletes(&["bash -n scripts/*.sh", "bash -n \"$f\""]);
    all_are_unknown(&[
        "bash -n -i scripts/*.sh",
        "bash -n +n scripts/*.sh",
        "bash -n +o noexec scripts/*.sh",
        "bash scripts/*.sh",
    ]);
}

#[test]
fn a_program_below_a_folder_that_a_program_prints_is_known() {
    none_deletes(&["$(npm bin)/eslint .", "$(go env GOPATH)/bin/dlv x"]);
    all_are_unknown(&[
        "$(cat f)/eslint .",
        "npm() { echo x; }; $(npm bin)/eslint .",
        "cd 'rm x'; $(npm bin)/eslint .",
    ]);
}

#[test]
fn many_traps_over_many_variables_cost_work() {
    let variables: String = (0..20_000).map(|nth| format!("x{nth}=1;")).collect();
    let line = variables + &"trap 'a' EXIT;".repeat(20_000);
    let found = commands(&line, &Limits::for_bytes(line.len()));
    assert_eq!(found, Err(guard_shell::ShellError::TooMuch));
}

#[test]
fn a_wrapper_with_an_option_among_the_words_of_a_program_is_followed() {
    deletions_are_listed(&[
        "perf stat env '-Srm -rf canary'",
        "debconf env '-Srm -rf canary'",
        "gpg-agent --daemon env '-Srm -rf canary'",
        "npm explore x -- env '-Srm -rf canary'",
        "heaptrack timeout -k 1 5 env '-Srm -rf canary'",
        "gdb -batch -ex '!env -S\"rm -rf canary\"'",
        "gdb -batch -ex 'shell env -S\"rm -rf canary\"'",
        "sqlite3 x '.shell env \"-Srm -rf canary\"'",
        "sqlite3 x '.sy env \"-Srm -rf canary\"'",
        "vim -es +'!env -S\"rm -rf /v/canary\"' +q",
    ]);
    none_deletes(&[
        "apt install nice -y",
        "brew install watch --HEAD",
        "pip install env -U",
        "docker compose exec web env",
    ]);
}

#[test]
fn files_that_a_shell_reads_when_it_starts_may_be_written_by_any_program() {
    all_are_unknown(&[
        "echo 'rm -rf canary' | sort -o ~/.bashrc; bash -i -c :",
        "echo 'rm -rf canary' | uniq - .bashrc; bash -i -c :",
        "ed -s ~/.bashrc < x; bash -i -c :",
        "HISTFILE=~/.bashrc; history -w .bashrc; bash -i -c :",
        "xxd -r -p - .bashrc; bash -i -c :",
        "curl localhost -o.bashrc; bash -i -c :",
        "awk 'BEGIN { print \"rm\" > \".bashrc\" }'; bash -i -c :",
        "perl -e 'open F, \">.bashrc\"'; bash -i -c :",
        "python3 -c 'open(\".profile\", \"w\")'; bash -l -c :",
    ]);
    none_deletes(&[
        "grep PATH ~/.bashrc; bash -c 'echo ok'",
        "cat ~/.profile | head; bash x.sh",
        "aws --profile x s3 ls; bash -c 'echo ok'",
        "git add .bashrc && bash -c 'echo ok'",
    ]);
}

#[test]
fn one_word_of_an_input_is_one_value() {
    all_are_read(&[
        "ls *.tar.gz | xargs -n1 tar xzf",
        "ls | xargs --max-args=1 tar -xf",
    ]);
    all_are_unknown(&[
        "ls *.tar.gz | xargs tar xzf",
        "ls *.tar.gz | xargs -n1 -L2 tar xzf",
        "ls | xargs -n1 tar xzf a",
        "ls | xargs -n1 tar -I",
        "ls | xargs -n1 ssh h -o",
        "ls | xargs -n1 env -S",
        "ls | xargs -n1 sudo -u",
    ]);
}

#[test]
fn the_path_of_a_program_is_no_option() {
    all_are_read(&["file $(which python3)", "file \"$(which g++)\""]);
    all_are_unknown(&[
        "file $(which -a x)",
        "file $(which $x)",
        "PATH=b:$PATH; file $(which x)",
        "which() { echo -C; }; file $(which x)",
    ]);
}

#[test]
fn options_are_found_where_the_program_finds_them() {
    deletions_are_listed(&["runuser -u root sh -- -c 'rm -rf f'"]);
    all_are_unknown(&[
        "runuser -u root nice -c 'rm f'",
        "start-stop-daemon -S sh -x /usr/bin/nice -- -c 'rm -rf f'",
        "start-stop-daemon -S sh --startas /usr/bin/nohup -- -c 'rm -rf f'",
        // in some versions `-P` has a value
        "ssh -P h 'rm -rf f'",
        "ssh -P22 h g",
    ]);
    all_are_read(&[
        "runuser -u postgres -- psql -c 'select 1'",
        "runuser -u postgres psql",
        "start-stop-daemon --start --quiet --pidfile /run/x.pid --exec /usr/bin/x -- --port 1",
        "ssh -p 22 h ls",
    ]);
}

#[test]
fn an_action_of_find_is_no_value() {
    all_are_unknown(&[
        "find . -maxdepth 0 -fprintf -exec echo -exec sh -c 'rm f' \\;",
        "find . -fprintf -ok echo -exec sh -c 'rm f' \\;",
        "find . -name -exec -exec rm f \\;",
        "find . -fprintf g -execdir -exec rm f \\;",
    ]);
    all_are_read(&[
        "find . -newermt 2024-01-01 -fprintf out '%p\\n' -exec ls {} \\;",
        "find . -newerBt yesterday -print",
    ]);
}

#[test]
fn digits_stand_among_short_options() {
    all_are_listed_or_errors(&[
        "ssh -4oProxyCommand='rm -rf /v/d' h",
        "ssh -4o ProxyCommand='x=r; ${x}m -rf /v/d' h",
        "ssh -6o LogLevel=quiet -4oProxyCommand='x=r; ${x}m -rf /v/d' h",
        "scp -4oProxyCommand='sh -c \"x=r; \\${x}m -rf /v/d\"' a h:b",
        "sftp -4oProxyCommand='x=r; ${x}m -rf /v/d' h",
        "git grep -1O'rm -rf /v/d' a",
        "git grep -n1O'x=r; ${x}m -rf /v/d;:' a",
        "git -c x.y=. for-each-repo --config=x.y grep -1O'x=r; ${x}m -rf /v/d' a",
        "git clone -4u 'x=r; ${x}m -rf /v/d;:' . dst",
        "git clone --no-local -4u 'x=r; ${x}m -rf /v/d;:' . dst",
        "git clone -4c core.sshCommand='x=r; ${x}m -rf /v/d;:' ssh://h/x dst",
        "git clone -q6c core.sshCommand='x=r; ${x}m -rf /v/d;:' ssh://h/x dst",
    ]);
    all_are_unknown(&[
        "echo 'ProxyCommand rm -rf /v/d' >> c; ssh -4F c h",
        "perl -0777ne \"$(cat f)\" a.txt",
        "ruby -0777ne \"$(cat f)\"",
        "psql -1c \"$(cat f)\"",
    ]);
    none_deletes(&[
        "git grep -1n rm src",
        "ssh -4 -p 22 h uptime",
        "tail -n5F log",
        "cat a.txt | perl -0777pe 's/\\n/,/g'",
        "perl -0777ne 'print' < f",
        "perl -l0ne 'print' < f",
    ]);
}

#[test]
fn a_setting_has_a_name_between_its_parts() {
    all_are_listed_or_errors(&[
        "git -c sendemail.x.tocmd='x=r; ${x}m -rf /v/d' send-email --identity=x --from a@b --confirm=never -1",
        "git config sendemail.work.sendmailcmd 'x=r; ${x}m -rf /v/d'; git send-email --identity=work -1",
        "git submodule--helper foreach 'x=r; ${x}m -rf /v/d'",
        "git submodule--helper --quiet foreach 'x=r; ${x}m -rf /v/d'",
    ]);
    none_deletes(&["git config sendemail.work.smtpuser me@example.org"]);
}

/// GNU's `sed` takes any text for the length of lines.
#[test]
fn the_length_of_lines_may_be_any_text() {
    all_are_listed_or_errors(&[
        "sed -l x 'e rm -rf /v/d' f",
        "sed -l p 'e rm -rf /v/d' f",
        "sed -nl p 'e rm -rf /v/d' f",
        "sed --line-length p 'e rm -rf /v/d' f",
        "sed --line-length 5x 'e rm -rf /v/d' f",
        "sed -l -n 'e rm -rf /v/d' f",
        "sed -l -f 'e rm -rf /v/d' f",
        "sed -l -e 'e rm -rf /v/d' f",
    ]);
    none_deletes(&["sed -l 5 l f", "sed -n -l 5 -e l f"]);
}

#[test]
fn tmux_reads_commands_and_passes_variables() {
    all_are_unknown(&[
        "tmux -L q -C new <<< 'run \"x=r; \\${x}m -rf /v/d\"'",
        "tmux -C new < f",
        "tmux -CC attach",
        "tmux -L q new -d -n '#' cat \\; display -p '#{T;=:#{window_name}(x=r; rm -rf /v/d)}'",
        "tmux display -p '#{E:@line}'",
        "tmux new -d \\; detach -E 'rm -rf /v/d'",
        "echo 'rm -rf /v/d' > f; tmux -L q new -d -e BASH_ENV=f 'bash -c :'",
        "perl \"-M-strict;$(cat f);\" -e 1",
        "perl -0M\"strict;$(cat f);\" -e 1",
    ]);
    all_are_read(&[
        "tmux new -d -s x 'npm start'",
        "tmux display -p '#{pane_id}'",
        "tmux new -d -e PORT=3000 'npm start'",
        "perl -MList::Util=sum -e 'print sum(1, 2)'",
        "perl -MJSON::PP -0777ne 'print' f.json",
    ]);
}

#[test]
fn what_a_session_or_a_hook_of_settings_runs() {
    crate::all_are_unknown(&[
        "screen -S x -p 0 -X stuff 'rm -rf d^M'",
        "screen -X eval 'screen rm -rf d'",
        "screen -X \"$c\"",
    ]);
    crate::all_are_listed_or_errors(&[
        "screen -X exec rm -rf d",
        "git svn clone --authors-prog='rm -rf d' u",
        "git svn --authors-prog 'rm -rf d' fetch",
        "git -c hook.x.command='rm -rf d' -c hook.x.event=pre-commit commit",
        "git config hook.x.command 'rm -rf d'",
    ]);
    crate::none_deletes(&[
        "screen -S x -X quit; screen -ls",
        "git svn fetch && git svn rebase",
        "git config hook.x.event pre-commit",
    ]);
}

#[test]
fn xargs_replaces_in_the_name_of_a_program_or_not() {
    for mark in ["-I rm", "-Irm", "-irm", "--replace=rm", "-I m", "-n1 -I rm"] {
        let line = format!("echo ls | xargs {mark} rm -rf d");
        let found = read(&line).unwrap();
        assert!(lists(&found, "rm"), "{line}: {found:?}");
    }
    all_are_listed_or_errors(&[
        "xargs -I rm rm -rf d <<< r",
        "xargs -I /bin/rm /bin/rm -rf d <<< ls",
        "xargs -I bash bash -c 'r\\m -rf d' <<< ls",
        "echo rm | xargs -I x x -rf d",
    ]);
    none_deletes(&["echo l | xargs -I{} cp {} d", "ls | xargs -I % mv % d"]);
}

#[test]
fn programs_of_gnu_parallel_read_their_words_as_a_line() {
    all_are_unknown(&[
        "sem '$(rm -rf d)'",
        "sem --fg '$(echo mr | rev) -rf d'",
        "niceload 'a; $(echo mr | rev) -rf d'",
        "niceload --sensor '$(echo mr | rev) -rf d' ls",
        "sem --unknown ls",
    ]);
    all_are_listed_or_errors(&[
        "sem 'a;r\\m -rf d'",
        "sem a \\; r\\\\m -rf d",
        "sem --id x -j 2 'r{}m -rf d'",
        "niceload a \\; r\\\\m -rf d",
        "sem <<< 'rm -rf d'",
        "sem bash <<< 'rm -rf d'",
    ]);
    none_deletes(&["sem -j 4 gzip f", "sem --wait", "niceload -l 2 make -j4"]);
}

#[test]
fn other_names_of_wrappers_and_shells_are_known() {
    all_are_listed_or_errors(&[
        "fakeroot-tcp <<< 'rm -rf d'",
        "fakeroot-sysv bash -c 'r\\m -rf d'",
        "fakeroot-ng <<< 'rm -rf d'",
        "sudo.ws -s <<< 'rm -rf d'",
        "sudo-rs -s <<< 'rm -rf d'",
        "bash-static -c 'r\\m -rf d'",
        "zsh-static <<< 'rm -rf d'",
        "bsd-csh -c 'r\\m -rf d'",
        "uname26 <<< 'rm -rf d'",
        "run0 <<< 'rm -rf d'",
        "fakechroot <<< 'rm -rf d'",
        "torify bash -c 'r\\m -rf d'",
    ]);
}
