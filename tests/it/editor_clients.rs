//! Installed editors, set up as in `editors/README.md`: the commands of its sections run unchanged, in a temporary home folder.
//! An editor that is not installed is reported as skipped.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::cli::Folder;
use crate::support::skip;

const SPEC: &str = "event {\n  tool: string\n}\n\npredicate pays   = tool == \"pay\"\nproperty none = never payz\n";

/// A home folder that was set up for an editor, with a spec that has an error in its last line.
struct Home {
    folder: Folder,
    editor: &'static str,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The blocks of code in a section of the guide.
pub(crate) fn blocks(section: &str, language: &str) -> Vec<String> {
    let guide = fs::read_to_string(root().join("editors/README.md")).unwrap();
    let (_, section) = guide.split_once(&format!("\n## {section}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let fence = format!("```{language}\n");
    let blocks = section.split(&fence).skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

impl Home {
    /// Returns `None` if the editor is not installed.
    fn new(editor: &'static str) -> Option<Home> {
        if Command::new(editor).arg("--version").output().is_err() {
            skip(&format!("the guide for {editor}: it is not installed"));
            return None;
        }
        let folder = Folder::new(&[("post.guard", SPEC)]);
        // The root of the project, as most have one.
        fs::create_dir(folder.path().join(".git")).unwrap();
        Some(Home { folder, editor })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str) -> Command {
        let guard = Path::new(env!("CARGO_BIN_EXE_guard")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command
            .env("HOME", self.folder.path())
            .env("PATH", format!("{}:{path}", guard.display()))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs the commands of a section.
    fn follow(&self, section: &str) {
        for block in blocks(section, "sh") {
            let mut shell = self.command("sh");
            let run = shell.args(["-euc", &block]).current_dir(root());
            let run = run.output().unwrap();
            let problems = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{section}: {block}: {problems}");
        }
    }

    /// Runs the editor with the spec, and returns the lines that a script writes to `$OUT`.
    fn lines(&self, args: &[&str]) -> Vec<String> {
        let out = self.path("out");
        let mut command = self.command(self.editor);
        command.args(args).env("OUT", &out);
        let run = command.current_dir(self.folder.path()).output().unwrap();
        let told = String::from_utf8_lossy(&run.stderr);
        let lines = fs::read_to_string(&out).unwrap_or_else(|_| panic!("{}: {told}", self.editor));
        lines.lines().map(str::to_owned).collect()
    }
}

#[test]
fn vim_as_the_guide_sets_it_up() {
    let Some(home) = Home::new("vim") else { return };
    home.follow("Vim");
    home.folder.write(
        "check.vim",
        r#"
call writefile([&filetype, synIDattr(synID(5, 1, 1), 'name'), &formatexpr], $OUT)
silent make
call writefile(map(getqflist(), {_, one -> one.lnum . ': ' . one.text}), $OUT, 'a')
normal! gggqG
call writefile([getline(5)], $OUT, 'a')
call append(0, 'event {{{')
normal! gggqG
call writefile([getline(1)], $OUT, 'a')
call setline(1, ['const name =', '  /\bx/'])
call writefile([synIDattr(synID(2, 3, 1), 'name')], $OUT, 'a')
qall!
"#,
    );
    let plain = ["-T", "xterm-256color", "--not-a-term", "-i", "NONE", "-n"];
    let args = [&plain[..], &["post.guard", "-S", "check.vim"]].concat();
    let lines = home.lines(&args);
    assert_eq!(lines[..3], ["guard", "guardItem", "guard#Format()"]);
    assert!(
        lines[3].starts_with("6: ") && lines[3].contains("payz"),
        "{lines:?}"
    );
    // Formatted; and left alone where it is broken. A regular expression on a line of its own has its colour.
    assert_eq!(
        lines[lines.len() - 3..],
        [
            "predicate pays = tool == \"pay\"",
            "event {{{",
            "guardRegex"
        ]
    );
}

/// Puts specs that `guard fmt` laid out into the folder of an editor.
fn formatted_specs(home: &Home) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for folder in ["examples/scenarios", "examples/corpora", "stdlib"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "guard") {
                let text = fs::read_to_string(&path).unwrap();
                let name = format!("{}.guard", all.len());
                home.folder.write(&name, &text);
                all.push((name, text));
            }
        }
    }
    assert!(all.len() > 30);
    all
}

/// `=` leaves specs that `guard fmt` laid out as they are, and lines without indentation get it.
#[test]
fn vim_indents_as_the_formatter_does() {
    let Some(home) = Home::new("vim") else { return };
    home.follow("Vim");
    let specs = formatted_specs(&home);
    let flat = "event {\ntool: string\n}\nenforce p {\nviolated => block \"x (\"\n}\nproperty p =\nnever (\na\n  and b\n)\n\
                test \"t\" {\ngiven [\n{tool: \"x\"}\n]\n}\n";
    home.folder.write("flat.guard", flat);
    home.folder.write(
        "indent.vim",
        "set nomore\nfor file in glob('*.guard', 0, 1)\n  execute 'edit! ' . file\n  silent normal! gg=G\n  silent write!\nendfor\n\
         call writefile([], $OUT)\nqall!\n",
    );
    let plain = ["-T", "xterm-256color", "--not-a-term", "-i", "NONE", "-n"];
    home.lines(&[&plain[..], &["post.guard", "-S", "indent.vim"]].concat());
    for (name, text) in specs {
        assert_eq!(home.folder.read(&name), text);
    }
    let indented = "event {\n  tool: string\n}\nenforce p {\n  violated => block \"x (\"\n}\nproperty p =\n  never (\n    a\n    and b\n  )\n\
                    test \"t\" {\n  given [\n    {tool: \"x\"}\n  ]\n}\n";
    assert_eq!(home.folder.read("flat.guard"), indented);
}

#[test]
fn emacs_indents_as_the_formatter_does() {
    let Some(home) = Home::new("emacs") else {
        return;
    };
    let init = blocks("Emacs", "elisp")[0].replace("REPOSITORY", &root().display().to_string());
    home.folder.write("init.el", &init);
    let specs = formatted_specs(&home);
    home.folder.write(
        "indent.el",
        r#"
(let (changed)
  (dolist (file (directory-files "." nil "^[0-9]+[.]guard$"))
    (find-file file)
    (let ((before (buffer-string)) (inhibit-message t))
      (indent-region (point-min) (point-max))
      (unless (string= before (buffer-string)) (push file changed))))
  (write-region (format "%s\n%s\n" major-mode changed) nil (getenv "OUT")))
"#,
    );
    let lines = home.lines(&["--batch", "-l", "init.el", "-l", "indent.el"]);
    assert_eq!(lines, ["guard-mode", "nil"], "{} specs", specs.len());
}

/// Helix has no mode without a terminal: `script` gives it one, with the keys and a time for each.
#[test]
fn helix_as_the_guide_sets_it_up() {
    if Command::new("cc").arg("--version").output().is_err()
        || Command::new("script").arg("--version").output().is_err()
    {
        return skip("the guide for hx: no C compiler, or no `script`");
    }
    let Some(home) = Home::new("hx") else { return };
    home.follow("Helix");
    let health = home.command("hx").args(["--health", "guard"]).output();
    let health = String::from_utf8_lossy(&health.unwrap().stdout).into_owned();
    let found = |what: &str| {
        let line = health.lines().find(|line| line.contains(what));
        assert!(
            line.is_some_and(|line| line.contains('✓')),
            "{what}: {health}"
        );
    };
    for what in [
        "guard:",
        "Tree-sitter parser",
        "Highlight queries",
        "Textobject queries",
        "Indent queries",
    ] {
        found(what);
    }
    // The list of findings is opened; then the file is formatted and written.
    let mut session = home.command("script");
    session
        .args(["-qfec", "stty rows 40 cols 120; hx post.guard", "screen"])
        .env("TERM", "xterm-256color")
        .env("COLORTERM", "truecolor")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .current_dir(home.folder.path());
    let mut session = session.spawn().unwrap();
    let mut keys = session.stdin.take().unwrap();
    let mut press = |text: &str| {
        keys.write_all(text.as_bytes()).unwrap();
        keys.flush().unwrap();
    };
    let screen = || {
        let bytes = fs::read(home.path("screen")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let wait = |what: &dyn Fn(&str) -> bool| {
        for _ in 0..400 {
            if what(&screen()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{}", screen());
    };
    wait(&|screen| screen.contains("predicate"));
    press(" d");
    wait(&|screen| screen.contains("G0201"));
    press("\u{1b}");
    // With a key right behind it, an escape is another key.
    std::thread::sleep(std::time::Duration::from_millis(500));
    press(":format\r");
    press(":w\r");
    wait(&|_| {
        fs::read_to_string(home.path("post.guard")).is_ok_and(|text| text.contains("pays = tool"))
    });
    press(":q!\r");
    drop(keys);
    assert!(session.wait().unwrap().success());
    // Colours by the tree: the keyword and the name of an item differ.
    let screen = screen();
    let colour = |word: &str| {
        let before = screen[..screen.find(word).unwrap()]
            .rfind("\u{1b}[38;2;")
            .unwrap();
        screen[before..].split('m').next().unwrap().to_owned()
    };
    assert_ne!(colour("predicate"), colour("pays"));
}

#[test]
fn neovim_as_the_guide_sets_it_up() {
    if Command::new("cc").arg("--version").output().is_err() {
        return skip("the guide for nvim: no C compiler");
    }
    let Some(home) = Home::new("nvim") else {
        return;
    };
    home.follow("Neovim");
    home.folder.write(
        "check.lua",
        r#"
vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
local found = vim.diagnostic.get(0)[1] or { message = "no finding" }
local has_tree = vim.treesitter.start == nil or vim.treesitter.highlighter.active[vim.api.nvim_get_current_buf()] ~= nil
vim.fn.writefile({ vim.bo.filetype, tostring(found.lnum), found.message, tostring(has_tree) }, vim.env.OUT)
vim.cmd("qall!")
"#,
    );
    let lines = home.lines(&["--headless", "post.guard", "-c", "luafile check.lua"]);
    assert_eq!(lines[..2], ["guard", "5"], "{lines:?}");
    assert!(lines[2].contains("payz"), "{lines:?}");
    assert_eq!(lines.last().unwrap(), "true", "colours by the tree");
}

#[test]
fn emacs_as_the_guide_sets_it_up() {
    let Some(home) = Home::new("emacs") else {
        return;
    };
    let blocks = blocks("Emacs", "elisp");
    let init = blocks[0].replace("REPOSITORY", &root().display().to_string());
    home.folder.write("init.el", &init);
    home.folder.write(
        "check.el",
        r#"
(find-file "post.guard")
(font-lock-ensure)
(let ((lines (list (symbol-name major-mode)
                   (format "%s" (progn (goto-char (point-min)) (search-forward "predicate") (get-text-property (match-beginning 0) 'face))))))
  (package-activate-all)
  (when (require 'eglot nil t)
    ;; What `M-x eglot' does, without its questions.
    (apply #'eglot--connect (eglot--guess-contact))
    (let ((patience 400) found)
      (while (and (null found) (> (setq patience (1- patience)) 0))
        (accept-process-output nil 0.05)
        (flymake-start)
        (setq found (flymake-diagnostics)))
      (setq lines (append lines (list (format "%s" (mapcar #'flymake-diagnostic-text found)))))))
  (write-region (string-join lines "\n") nil (getenv "OUT")))
"#,
    );
    let lines = home.lines(&["--batch", "-l", "init.el", "-l", "check.el"]);
    assert_eq!(lines[..2], ["guard-mode", "font-lock-keyword-face"]);
    match lines.get(2) {
        Some(found) => assert!(found.contains("payz"), "{lines:?}"),
        None => skip("findings in Emacs: it has no eglot"),
    }
}

/// The mode of Emacs 29 and later, by the tree, with the grammar that its command compiles.
#[test]
fn the_tree_sitter_mode_of_emacs_as_the_guide_sets_it_up() {
    let Some(home) = Home::new("emacs") else {
        return;
    };
    let has_trees =
        "(kill-emacs (if (and (fboundp 'treesit-available-p) (treesit-available-p)) 0 1))";
    let status = home
        .command("emacs")
        .args(["--batch", "--eval", has_trees])
        .status();
    if !status.unwrap().success() {
        return skip("guard-ts-mode: this Emacs has no tree-sitter");
    }
    let blocks = blocks("Emacs", "elisp");
    let path = blocks[0].lines().next().unwrap();
    let init = path.replace("REPOSITORY", &root().display().to_string()) + "\n" + &blocks[1];
    home.folder.write("init.el", &init);
    home.folder.write(
        "check.el",
        r#"
(guard-ts-mode-install-grammar)
(find-file "post.guard")
(font-lock-ensure)
(let ((face (lambda (text) (goto-char (point-min)) (search-forward text) (format "%s" (get-text-property (match-beginning 0) 'face)))))
  (write-region
   (string-join
    (list (symbol-name major-mode)
          (funcall face "predicate")
          (funcall face "pays")
          (format "%s" (mapcar #'car (funcall imenu-create-index-function)))
          (progn (goto-char (point-max)) (beginning-of-defun) (buffer-substring (point) (line-end-position))))
    "\n")
   nil (getenv "OUT")))
"#,
    );
    let lines = home.lines(&["--batch", "-l", "init.el", "-l", "check.el"]);
    assert_eq!(lines[0], "guard-ts-mode");
    assert_eq!(lines[1], "font-lock-keyword-face");
    assert_eq!(lines[2], "font-lock-function-name-face");
    assert!(
        lines[3].contains("pays") && lines[3].contains("none"),
        "{lines:?}"
    );
    assert!(lines[4].starts_with("property none"), "{lines:?}");
}
