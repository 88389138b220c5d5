//! Lines that programs give to shells, in folders, files and inputs of their own. Each table is followed by ordinary lines near its rule.

use crate::{all_are_listed_or_errors, all_are_read, all_are_unknown};

#[test]
fn texts_of_the_line_reach_arithmetic_in_other_ways() {
    all_are_unknown(&["x='a[$ (rm -rf /v/d)0]'; set -- $x; y=$1$2$3$4; ((y))"]);
    all_are_read(&[
        "printf '\\033[31m%s\\033[0m\\n' error; count=0; ((count++))",
        "RED='\\033[0;31m'; NC='\\033[0m'; n=$((n+1)); printf \"${RED}failed: %d${NC}\\n\" \"$n\"",
        "while read -r line; do ((n++)); done < file.txt; echo $n",
        "f=${1%.c}; if [[ $f =~ ^[a-z]+$ ]]; then ((k++)); fi",
        "read -p \"Continue? \" yn; case $yn in [Yy]*) echo ok;; esac; i=$((i+1))",
        "for i in {1..5}; do printf -v n '%02d' \"$i\"; echo \"$n\"; done",
        "arr=(a b c); echo \"${arr[0]} ${#arr[@]}\"; for x in \"${arr[@]}\"; do echo \"$x\"; done",
        "jq -r '.a[] | select(.b > 1)' f.json | while read -r x; do echo \"$x\"; ((i++)); done",
    ]);
}

#[test]
fn an_interactive_shell_or_a_terminal_reads_otherwise() {
    all_are_unknown(&[
        "zsh -ic 'echo a #; rm -rf /v/d'",
        "bash -ic $'set +o interactive-comments\\n: #\\\\\\nrm -rf /v/d'",
        "HISTCHARS=@^# zsh -i <<< $'echo rm -rf /v/d\\n@:1 @:2 @:3'",
        "read histchars <<< '@^#'; bash -i <<< 'echo x'",
        "rlwrap sh <<< $'echo a\\rrm -rf /v/d'",
        "echo $'echo a\\x15rm -rf /v/d' | runuser --pty root",
        "script -q -c 'bash --norc' /dev/null <<< $'echo a \\x08\\x08\\x08\\x08\\x08\\x08rm -rf /v/d'",
    ]);
    all_are_read(&[
        "script -qc 'npm test' /dev/null | tee log",
        "bash -ic 'nvm use 20 && npm test'",
    ]);
}

#[test]
fn a_program_of_a_script_may_read_a_part_of_it() {
    all_are_unknown(&[
        "bash <<'E'\nruby -e 'STDIN.sysread(6)'\necho '\nrm -rf /v/d\n'\nE",
        "sh <<'E'\ntimeout 1 perl -e 'sysread STDIN,$x,6'\necho '\nrm -rf /v/d\n'\nE",
        "bash -s <<'E'\nx=$(diff -q - /dev/null)\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\nrm -i x\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\ngpg -d\necho '\nrm -rf /v/d\n'\nE",
    ]);
    all_are_read(&[
        "ssh deploy@host <<'E'\nset -e\ncd /srv/app\ngit pull --ff-only\nnpm ci\nnpm run build\ndocker compose up -d --build\nsudo systemctl restart app\nE",
        "ssh host 'bash -s' <<'E'\napt-get update\napt-get install -y nginx\nsystemctl enable --now nginx\n./deploy.sh\nE",
        "bash <<'E'\nfor f in *.txt; do\n  echo \"$f\"\n  wc -l \"$f\"\ndone\nif [ -f x ]; then cat x | grep foo; fi\nE",
        "cat > build.sh <<'E'\n#!/bin/sh\nmake\nE\ngit add build.sh && git commit -m \"update build\"",
        "mkdir -p src/hooks && cat > src/hooks/useX.ts <<'E'\nexport const x = 1\nE\ngit add -A && git commit -m \"add hook\"",
        "python3 - <<'E'\nx = [1]\nprint(x[0])\nE",
        "cat <<'E' | bash\necho hi\nsleep 1\nE",
    ]);
}

#[test]
fn make_puts_variables_into_lines() {
    all_are_unknown(&[
        "make E=\\; 'AS=as $E rm -rf /v/d #' x.o",
        "gmake 'V!=echo $(firstword a b)$(E)' E='; /bin/[r]m -rf /v/d'",
        "GIT_EDITOR='gmake -f' git commit -em $'x:\\n\\trm -rf /v/d'",
        "y=-f$(rev <<< -); make \"$y\" <<< '$(shell rm -rf /v/d)'",
        "make -f \"$(rev <<< -)\" <<< '$(shell rm -rf /v/d)'",
        "make --file=$(rev <<< -) <<< '$(shell rm -rf /v/d)'",
        "ln -s /dev/stdin k; make -f k <<< '$(shell rm -rf /v/d)'",
        "ln -sf /proc/self/fd/0 GNUmakefile; cat f | make",
        "cp -a /dev/stdin k; make -f k <<< '$(shell rm -rf /v/d)'",
    ]);
    all_are_read(&[
        "make CC=clang CFLAGS=\"-O2 -g\" -j4",
        "make -C src all && make install DESTDIR=\"$PWD/out\"",
        "yes | make config",
        "make -f \"$(git rev-parse --show-toplevel)/Makefile\" all",
        "ln -s /dev/null log && make",
        "CFLAGS=\"$CFLAGS -O2\" ./configure --prefix=/usr && make",
        "cmake -E make_directory build && cmake -E copy a b",
        "git rebase --exec 'make test' HEAD~3",
    ]);
}

#[test]
fn tokens_of_ssh_and_names_of_files_are_no_text() {
    all_are_unknown(&[
        "ssh -o 'LocalCommand=/bin/r%h -rf /v/d' -o PermitLocalCommand=yes m",
        "ssh -o 'ProxyCommand=nc %h %p' ';rm -rf /v/d;'",
        "rsh -o 'ProxyCommand=r%h -rf /v/d' m",
        "vim.tiny -es -c 'w !sh -c \"r# -rf /v/d\"' m",
        "nvim -es -c ':!#m -rf /v/d' r",
        "vim.nox -es -c '!/bin/[r]m -rf /v/d' -c q!",
        "echo 'Host m\nProxyCommand rm -rf /v/d' > ~/.ssh/config; ssh m",
        "GIT_SSH_COMMAND=\"ssh -o ProxyCommand=/bin/r%h\" git fetch ssh://m/x",
    ]);
    all_are_read(&[
        "ssh -o 'ProxyCommand=ssh -W %h:%p bastion' host uptime",
        "ssh -o ProxyCommand='nc -X 5 -x localhost:1080 %h %p' user@host",
        "vim -c ':wq' file.txt",
        "vim +42 src/main.rs",
        "mkdir -p ~/.ssh && ssh-keyscan github.com >> ~/.ssh/known_hosts && git clone git@github.com:a/b.git",
        "GIT_SSH_COMMAND=\"ssh -i ~/.ssh/id -o IdentitiesOnly=yes\" git pull",
    ]);
}

#[test]
fn commands_of_tmux_are_read_as_tmux_does() {
    all_are_unknown(&[
        "tmux new -d \\; run-shell '#{?1,r,}m -rf /v/d'",
        "tmux new -d -n rm -- '#W -rf /v/d'",
        "tmux pipe-pane -t x '#{l:rm} -rf /v/d'",
        "tmux if true 'run \"rm -rf /v/d\"'",
        "tmux send-keys -t x 'r'; tmux send-keys -t x 'm -rf /v/d' Enter",
        "tmux set -g default-command 'rm -rf /v/d' \\; new -d",
        "tmux bind-key x run-shell 'rm -rf /v/d'",
        "echo 'run \"rm -rf /v/d\"' > c; tmux source-file c",
        "tmux set-hook -g session-created 'run \"rm -rf /v/d\"'",
        "cat x > \"$HOME/.tmux.conf\"; tmux new -d",
        "tmux neww -c / rm -rf v/d",
    ]);
    all_are_listed_or_errors(&["tmux send -t x 'rm -rf /tmp/' 'victim/d' C-m"]);
    all_are_read(&[
        "tmux send-keys -t dev 'npm start' Enter",
        "tmux send-keys -t dev C-c",
        "tmux new-session -d -s dev 'npm run dev' \\; split-window -h 'npm test'",
        "tmux capture-pane -t dev -p | tail -20",
        "tmux display -p '#S'",
    ]);
}

#[test]
fn pagers_run_commands() {
    all_are_unknown(&["less -p x '+!/bin/[r]m -rf /v/d' f", "less +v f"]);
    all_are_listed_or_errors(&["more '+!rm -rf /v/d' f", "less $'+/x\\n!rm -rf /v/d' f"]);
    all_are_read(&["less +F /var/log/syslog", "less -R +/error build.log"]);
}

#[test]
fn git_runs_what_the_line_writes_or_sets() {
    all_are_unknown(&[
        "printf '#!/bin/sh\\nrm -rf /v/d\\n' | perl -ne 'open F, \">>h/post-commit\"; print F'; git commit -m x",
        "cd b/hooks; printf '#!/bin/sh\\nrm -rf /v/d\\n' > update; chmod +x update; cd ../../a; git push ../b HEAD",
        "printf '#!/bin/sh\\nrm -rf /v/d\\n' | tee b/hooks/update; git push b x",
        "install -m755 x b/hooks/update; git push b x",
        "git config core.hooksPath h; n=$(echo cGM= | base64 -d); cp x \"h/$n\"; git commit -m x",
        "cp x .git/hooks/\"$(cat name)\"; git commit -m x",
        "mkdir t/hooks; cp x \"t/hooks/$(cat name)\"; git init --template=t r; cd r; git commit -m x",
        "printf '[core]\\npager=rm -rf /v/d\\n' > b/config; git --git-dir=b log",
        "git -c rebase.instructionFormat='%n%B' rebase -i --root",
        "git config --global rebase.instructionFormat 'x%nx rm -rf /v/d'",
        "git clone -c rebase.instructionFormat=x%nexec\\ false a b",
        "git for-each-repo --keep-going --config m.r -c alias.z='!/bin/[r]m -rf /v/d' z",
        "EDITOR='vim -S' git commit -em '!rm -rf /v/d'",
        "git config core.editor 'just -f'; git commit -em $'x:\\n rm -rf /v/d'",
        "VISUAL='tclsh' git commit -em 'exec rm -rf /v/d'",
        "git --work-tree=/ -c alias.z='!rm -rf v/d' z",
        "GIT_DIR=x/.git GIT_WORK_TREE=/ git rebase -x 'rm -rf v/d' HEAD~1",
    ]);
    all_are_listed_or_errors(&[
        "git for-each-repo --config=m.r -- -c alias.z='!rm -rf /v/d' z",
        "/usr/lib/git-core/git-submodule foreach 'rm -rf /v/d'",
        "git-rebase -x 'rm -rf /v/d' HEAD~1",
    ]);
    all_are_read(&[
        "GIT_EDITOR=true git rebase --continue",
        "GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick/edit/'\" git rebase -i HEAD~3",
        "EDITOR=vim git commit",
        "export EDITOR=\"code --wait\"",
        "git -c core.editor=true commit --amend --no-edit",
        "git config --global core.editor \"nano\"",
        "git config core.hooksPath .husky",
        "echo \"a\" > config.yml; git add config.yml; git commit -m x",
        "pip install pre-commit && pre-commit install && git commit -m x",
        "gh pr create --title \"update pre-commit config\" --body \"x\" && git push",
        "npx prettier --write src && git add -u && git commit -m \"format\"",
        "awk '{print > \"out.txt\"}' f; git add out.txt; git commit -m x",
        "git submodule foreach 'git pull origin main'",
        "git -C sub status && rm -rf build",
    ]);
}

#[test]
fn files_and_folders_that_the_line_writes_hold_programs() {
    all_are_unknown(&[
        "X='; rm -rf /v/d;' make CFLAGS='$(X)' x.o",
        "CFLAGS='$X' X='; rm -rf /v/d;' make x.o",
        "nohup printf 'rm -rf /v/d'; bash nohup.out",
        "nohup printf '#!/bin/sh\\nrm -rf /v/d\\n'; chmod +x nohup.out; ./nohup.out",
        "echo 'rm -rf /v/d' > x; uftrace record sh x",
        "printf '#!/bin/sh\\nrm -rf /v/d\\n' > y; perl -w y",
        "cp t y; perl5.36-x86_64-linux-gnu y",
        "mkdir p; cp x p/as; g++-13 -B p -c x.cc",
        "mkdir p; cp x p/ld; clang-15 -Bp/ x.c",
        "echo '-wrapper sh,-c,rm' > o; aarch64-linux-gnu-gcc-12 @o x.c",
        "mkdir p; cp x p/cc1; export COMPILER_PATH=$PWD/p; make x.o",
        "cp x t/init.tcl; TCL_LIBRARY=t wish",
        "cp x d/cli-plugins/docker-y; env DOCKER_CONFIG=d docker y",
        "cp r/vimrc.vim r/defaults.vim; VIMRUNTIME=r vim f",
        "cp x ~/.docker/cli-plugins/docker-y; docker y",
        "cd .vim/plugin; echo '!rm -rf /v/d' > y.vim; vim f",
        "clang++-15 -wrapper sh,-c,'/bin/[r]m -rf /v/d' -c x.cc",
        "cmake -E chdir / rm -rf v/d",
        "mise -C / x -- rm -rf v/d",
        "tar -C / --to-command='rm -rf v/d' -xf /tmp/a.tar",
        "RSYNC_CONNECT_PROG='rm -rf /v/d' rsync h::x .",
        "KUBECTL_EXTERNAL_DIFF='rm -rf /v/d' kubectl diff -f x",
        "export RSYNC_CONNECT_PROG=\"sh -c 'rm -rf /v/d'\"",
    ]);
    all_are_read(&[
        "gcc-12 -O2 -c x.c -o x.o > log 2>&1",
        "x86_64-linux-gnu-gcc -c x.c",
        "perf stat -e cycles -r 5 ./a.out",
        "perf record -g ./bench && perf report",
        "grep -c '[0-9]$' f | { read n; [ \"$n\" -gt 3 ]; }",
        "echo 'set number' > ~/.vimrc",
        "sed -i 's/foo/bar/w changes.txt' file && cat changes.txt",
        "docker run --rm -v \"$PWD:/w\" img bash script.sh",
        "hyperfine --prepare 'rm -rf target' 'cargo build'",
        "export DOCKER_CONFIG=/tmp/d; docker login -u x",
        "perl script.pl a b",
        "sudo -u postgres psql -c 'select 1' && tar czf b.tgz b",
    ]);
}

#[test]
fn lines_in_the_code_of_sed_and_in_a_makefile_that_is_an_input_are_unknown() {
    all_are_unknown(&[
        "sed -n '1e/bin/[r]m -rf /v/d' f",
        "sed 's/.*/rm -rf \\/v\\/d/e' f",
        "sed -ne 'p;e rm -rf /v/d' f",
        "sed --expression='/x/{s,a,b,gew y\n}' f",
        "make -f <(printf 'x:\\n\\trm -rf /v/d\\n') x",
        "printf 'x:\\n\\trm -rf /v/d\\n' | make -f - x",
        "tmux -f <(echo 'run \"rm -rf /v/d\"') new -d",
        "bash <<'E'\nawk 'BEGIN{getline}'\necho '\nrm -rf /v/d\n'\nE",
        "bash <<'E'\n: $(node -e 'fs.readSync(0,Buffer.alloc(6))')\necho '\nrm -rf /v/d\n'\nE",
        "git init --bare z; cd z/hooks; mv update.sample update; git push . a:b",
        "vim -es --cmd '!r%:t -rf /v/d' x/m",
        "git -c core.editor='env make -f' commit -em x",
    ]);
    all_are_read(&[
        "sed -i 's/raw/make/' f && make",
        "sed -i.before 's/e/x/g' essay.txt",
        "sed -e 's#new#git#g' -e '/e/d' a; git status",
        "sed -n '/a/,/e/p;$d' f",
        "sed -E 's/(a|e)+/\\1/g; y/ae/ea/' f",
        "sed -f code.sed f",
        "make -f build.mk all",
        "echo hi | sh",
    ]);
}

/// Returns a script that a shell reads from its standard input: a line, and behind it a text that is a command if the line reads
/// a part.
fn script(line: &str) -> String {
    format!("bash <<'E'\n{line}\n: '\nrm -rf f\n: '\nE")
}

#[test]
fn the_value_of_an_option_is_no_file() {
    let reading = [
        "head -c 4",
        "head -n 1 -c 4 > /dev/null",
        "timeout 5 head -c 4",
        "bash -c 'head -c 4'",
        "y=$(head -c 4)",
        "f() { head -c 4; }; f",
        "find . -maxdepth 0 -exec head -c 4 \\;",
        "head --byt 4",
        "head $none",
        "tail -n +5",
        "tail +5",
        "sed -u -l 5 1q",
        "sed --expression 1q",
        "sed -i.e 1q",
        "grep -m 1 x",
        "grep --max-count 1 x",
        "grep -A1 -e x",
        "awk -v x=1 1",
        "awk 1 x=1",
        "awk 'BEGIN { getline x < \"-\" }' g",
        "jq .",
        "jq --arg a b .",
        "sort -k 2",
        "cut -d : -f 1",
        "diff g",
        "strings -n 4",
    ];
    let lines = reading.map(script);
    all_are_unknown(&lines.each_ref().map(String::as_str));
    let others = [
        "head -n 1 -c 4 g",
        "tail -n +5 \"$LOG\"",
        "tail -f -- g",
        "sed -i.bak -e s/a/b/ g",
        "sed -ne 5p g",
        "grep -m 1 x g",
        "grep -q -e x -- g",
        "awk -v x=1 '{ print $x }' g",
        "jq -r --arg a b '.[$a]' g",
        "jq -f p g",
        "sort -k 2 -o g g",
        "cut -d: -f1 /etc/passwd",
        "for g in a b; do cat $g; done",
        "ps aux | grep x | awk '{ print $2 }' | head -n 1",
    ];
    let lines = others.map(|line| format!("ssh h bash <<'E'\n{line}\nls\nE"));
    all_are_read(&lines.each_ref().map(String::as_str));
}
