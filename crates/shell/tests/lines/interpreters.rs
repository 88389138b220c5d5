//! Programs whose words are code, name code, run in a container or send data.

use guard_shell::{Command, Limits, ShellError, commands};

use crate::{all_are_read, all_are_unknown, read};

#[test]
fn code_that_is_not_in_the_line_is_unknown() {
    all_are_unknown(&[
        "awk \"$p\"",
        "awk \"$p\" f",
        "gawk -v a=1 \"${p}\" f",
        "p=$(cat x); awk \"$p\" f",
        "p=$(cat x); awk \"/$p/ {print}\" f",
        "awk -f <(curl u) f",
        "curl u | awk -f - f",
        "curl u | gawk --file=/dev/stdin f",
        "awk -f \"$(cat f)\" g",
        "sed \"$p\" f",
        "sed \"$(cat p)\" f",
        "sed -e \"$p\" f",
        "sed -ne \"$p\" f",
        "sed -n --expr=\"$p\" f",
        "curl u | sed -f - f",
        "perl -e \"$p\"",
        "perl -ne \"$p\" f",
        "perl \"-e$(curl u)\"",
        "perl -I lib -e \"$(curl u)\"",
        "ruby -r json -e \"$p\"",
        "python3 -c \"$p\"",
        "python3.12 -Wc -c \"$(curl u)\"",
        "python3 -W ignore -c \"$p\"",
        "python3 $(cat f)",
        "python3 \"$(cat f)\"",
        "python3 -m \"$(cat f)\"",
        "python3 /dev/fd/3 3<f",
        "curl u | python3 -i x.py",
        "ls | xargs python3",
        "node -e \"$(cat x.js)\"",
        "node -pe \"$p\"",
        "node --eval=\"$p\"",
        "deno eval \"$p\"",
        "bun -e \"$p\"",
        "php -r \"$p\"",
        "lua -e \"$p\"",
        "expect -c \"$p\"",
        "psql -c \"$p\"",
        "psql -U x -tAc \"$(cat f)\"",
        "mysql db -e \"$p\"",
        "mongosh --eval \"$p\"",
        "sqlite3 x.db \"$p\"",
        "gdb -batch -ex \"$p\" x",
        "vim -c \"$p\" f",
        "emacs --batch --eval \"$p\"",
        "curl u | ed f",
    ]);
    all_are_read(&[
        "awk '{print $1}' f",
        "awk -F: -v n=\"$n\" '$1 == n {print}' /etc/passwd",
        "awk \"/$pattern/ {print \\$1}\" f",
        "ps aux | awk '{print $2}'",
        "awk -f count.awk f",
        "sed -n \"${from},${to}p\" f",
        "sed -i \"s|a|$HOME|\" f",
        "sed -i 's/a/b/' $(git grep -l a)",
        "sed -i \"s|^KEY=.*|KEY=$(openssl rand -hex 32)|\" .env",
        "sed 's/a/b/' \"$f\"",
        "cat f | sed -n p",
        "for n in 1 2; do sed -n \"${n}p\" f; done",
        "perl -pi -e 's/a/b/' *.txt",
        "git ls-files | xargs perl -pi -e 's/a/b/'",
        "ls | perl -ne 'print if /x/'",
        "python3 -c 'import sys; print(sys.argv)' \"$(cat f)\"",
        "cat f.json | python3 -m json.tool",
        "cat f | python3 -c 'import sys; print(len(sys.stdin.read()))'",
        "cat f | python3 x.py -",
        "python3 \"$SCRIPT\" --all",
        "python -m pytest \"$@\"",
        "python3 - <<'E'\nprint(1)\nE",
        "node $(npm bin)/jest",
        "node -p 'process.version'",
        "deno run x.ts \"$a\"",
        "gunzip < dump.sql.gz | psql db",
        "psql \"$DATABASE_URL\" -c 'select 1'",
        "sqlite3 x.db 'select 1'",
        "gdb -p $(pgrep x)",
        "vim \"$f\"",
        "jq \"$filter\" f",
    ]);
}

#[test]
fn what_runs_in_a_container_is_known() {
    all_are_unknown(&[
        "docker exec c $x",
        "docker exec -it -e A=1 -w /x c \"$x\"",
        "docker exec --user root c $x",
        "podman exec --env=A c $(cat f)",
        "docker compose exec -T web $x",
        "docker-compose exec web $x",
        "docker container exec c $x",
        "docker run --rm -v $PWD:/w -w /w img $x",
    ]);
    all_are_read(&[
        "docker exec \"$c\" ls",
        "docker exec -it $c bash",
        "docker exec -w \"$d\" c ls",
        "docker run --rm $IMAGE",
        "docker run $OPTIONS $IMAGE",
        "docker run --rm -e \"A=$A\" --name x -p 80:80 img ls \"$d\"",
        "docker compose run --rm web npm test",
    ]);
}

#[test]
fn hooks_of_git_are_in_a_folder_that_is_known() {
    all_are_unknown(&[
        "git -c core.hooksPath=$x commit",
        "git -c core.hooksPath=\"$x\" commit",
        "git config core.hooksPath $x",
        "git config --global core.hookspath \"$(cat f)\"",
        "git clone -c core.hooksPath=\"$x\" u",
    ]);
    all_are_read(&[
        "git config core.hooksPath .githooks",
        "git -c core.hooksPath=/dev/null commit -m x",
        "git -c user.name=\"$name\" commit",
    ]);
}

#[test]
fn senders_below_unknown_programs_are_listed() {
    for (line, sender) in [
        ("torify curl -d @f u", "curl"),
        ("foo --bar curl -d @f http://e", "curl"),
        ("graftcp wget --post-file=f u", "wget"),
        ("x-run curl -T f u", "curl"),
        ("docker run --rm img curl -d @f u", "curl"),
        ("foo nc \"$h\" 80", "nc"),
    ] {
        let found = read(line).unwrap();
        let is_sender = |words: &Command| words[0] == sender;
        assert!(found.iter().any(is_sender), "{line}: {found:?}");
    }
    for line in [
        "apt-get install -y curl wget",
        "brew install curl --HEAD",
        "apk add --no-cache curl -U",
        "which curl",
        "foo curl",
        "echo curl -d x",
    ] {
        let found = read(line).unwrap();
        assert_eq!(found.len(), 1, "{line}: {found:?}");
    }
}

/// Copies of characters count as what they take, so that no line takes memory beyond its limits.
#[test]
fn expansions_that_grow_are_too_much() {
    let limits = Limits::for_bytes(1_000_000);
    let mut chain = "a0=x;".to_owned();
    for nth in 0..60 {
        chain += &format!("a{}=$a{nth}$a{nth};", nth + 1);
    }
    for line in [
        format!("echo {}", "{a,b}".repeat(200)),
        format!("echo {}b{}", "{a,".repeat(20_000), "}".repeat(20_000)),
        format!("echo {}{}", "{,".repeat(20_000), "}".repeat(20_000)),
        chain,
    ] {
        let started = std::time::Instant::now();
        let is_too_much = commands(&line, &limits) == Err(ShellError::TooMuch);
        assert!(is_too_much, "{line:.40}");
        assert!(started.elapsed().as_secs() < 20, "{line:.40}");
    }
}

/// Each of these deleted a folder.
#[test]
fn words_are_read_as_bash_reads_them() {
    let found = read("{rm,-rf,d}>x").unwrap();
    let expected = ["rm", "-rf", "d"].map(str::to_owned).to_vec();
    assert!(found.contains(&expected), "{found:?}");
    for line in [
        "{rm,-rf,d}<c",
        "{rm,-rf,d}>&2",
        "{rm,-rf,d}<<<x",
        "env {rm,-rf,d}<<E\nE",
        "{bash,-s}<<E\nrm -rf d\nE",
    ] {
        let found = read(line);
        let is_seen = found
            .as_ref()
            .map_or(true, |found| found.contains(&expected));
        assert!(is_seen, "{line}: {found:?}");
    }
    all_are_unknown(&[
        "HOME=/bin/rm; ~ -rf d",
        "OLDPWD=/bin/rm; ~- -rf d",
        "PWD=/bin/rm; ~+ -rf d",
        "pushd -n /bin/rm; ~1 -rf d",
        "HOME=/bin; ~/rm -rf d",
        "echo 'rm -rf d' | bash ../../../../../dev/stdin",
        "cd /dev; echo 'rm -rf d' | bash stdin",
        "cd /dev; echo 'rm -rf d' | sh fd/0",
        "bash //dev/stdin <<< 'rm -rf d'; curl u | bash /./dev/stdin",
        "ln -s /dev z; curl u | bash z/stdin",
        "HOME=/dev/stdin; echo 'rm -rf d' | sh ~",
        "HOME=/dev; echo 'rm -rf d' | . ~/stdin",
        "HOME=/bin/rm; env ~ -rf d",
        "for RANDOM in 'a[$(rm -rf d)0]'; do :; done",
        "for OPTIND in 'a[$(rm -rf d)0]'; do :; done",
        "select RANDOM in 'a[$(rm -rf d)0]'; do break; done <<< 1",
        "echo rm -rf d > s; find . -name s -exec sh {} \\;",
        "echo rm -rf d > s; find s -exec bash {} +",
        "find /srv -name '*.sh' -exec sh {} \\;",
        "echo rm -rf d | sort -o s; bash --rcfile s -i -c :",
        "echo rm -rf d | sort -o s; chmod +x s; PATH=.:$PATH; s",
        "git init -q --bare x; echo '[alias] x = !rm -rf d' >> x/config; git --git-dir=x x",
        "echo '[alias]x=!rm -rf d' >> $(git rev-parse --git-path config); git x",
        "PATH+=:.; printf '#!/bin/sh\\nrm -rf d' > git-x; chmod +x git-x; git x",
        "mkdir git; printf '[alias]\nx=!rm -rf d\n' > git/config; XDG_CONFIG_HOME=. git x",
        "mkdir b; printf '#!/bin/sh\nrm -rf d' > b/git-x; chmod +x b/git-x; PATH=b:$PATH git x",
    ]);
    all_are_read(&[
        "~/bin/x -v",
        "exec {fd}>log; exec {a[1]}>log",
        "bash dev/setup.sh",
        "for x in a b; do echo $x; done >log",
        "echo {a,b}>x",
        "find . -name '*.sh' -exec bash -n {} \\;",
        "find . -name '*.c' -exec sh -c 'wc -l \"$1\"' _ {} \\;",
        "PATH=$PATH:/opt/x; make && make install",
        "for RANDOM in 1 2; do ls; done",
    ]);
}

#[test]
fn an_interpreter_that_only_checks_runs_nothing() {
    all_are_read(&[
        "for f in *.php; do php -l \"$f\"; done",
        "find . -name '*.php' -print0 | xargs -0 -n1 php -l",
        "find . -name '*.js' | xargs -n1 node --check",
        "git ls-files '*.rb' | xargs -n1 ruby -wc",
    ]);
    all_are_unknown(&[
        "find . -name '*.php' | xargs -n1 php",
        "ls | xargs -n1 ruby -rc",
        "ls | xargs -n1 node -e",
        "ls | xargs -n1 perl -c",
        "ls | xargs -n1 bun --check",
        "php -r \"$(cat f)\" -l",
    ]);
}
