//! `guard lsp` as an editor meets it: a process, messages with their lengths before them, both ways.
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Editor {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: i64,
    /// What the server told between answers.
    told: Vec<Value>,
}

impl Editor {
    fn open(folder: &Path) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_guard"))
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (server.stdin.take(), server.stdout.take().unwrap());
        let mut editor = Editor {
            server,
            to,
            from: BufReader::new(from),
            asked: 0,
            told: Vec::new(),
        };
        let folder = address(folder);
        let answer = editor.ask(
            "initialize",
            json!({"processId": null, "capabilities": {"textDocument": {"definition": {"linkSupport": true}}}, "rootUri": folder,
                   "workspaceFolders": [{"uri": folder, "name": "specs"}]}),
        );
        assert_eq!(answer["serverInfo"]["name"], "guard");
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(
                self.from.read_line(&mut line).unwrap() > 0,
                "the server ended"
            );
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut text = vec![0; length];
        self.from.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn answer(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.told.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn opened(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "guard", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    fn changed(&mut self, uri: &str, version: i32, text: &str) {
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}),
        );
    }

    /// The next findings about a file.
    fn findings(&mut self, uri: &str) -> Vec<Value> {
        loop {
            let waiting = self.told.iter().position(|told| {
                told["method"] == "textDocument/publishDiagnostics" && told["params"]["uri"] == uri
            });
            if let Some(at) = waiting {
                let told = self.told.remove(at);
                return told["params"]["diagnostics"].as_array().unwrap().clone();
            }
            let message = self.receive();
            self.told.push(message);
        }
    }

    fn close(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        drop(self.to.take());
        assert!(self.server.wait().unwrap().success());
    }
}

fn address(path: &Path) -> String {
    // Folders for temporary files have plain names; what is below them may have a space.
    format!("file://{}", path.to_str().unwrap().replace(' ', "%20"))
}

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

const SPEC: &str = "event { tool: string }\n\
                    /// A mail → anybody.\n\
                    predicate mails = tool == \"→mail\" and tool != \"x\"\n\
                    property quiet = never mails\n";

#[test]
fn a_spec_is_followed_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);

    editor.opened(&uri, SPEC);
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());

    // What does not go together is told where it stands, in UTF-16 units, with its fix.
    let broken = SPEC.replace("never mails", "never mials");
    editor.changed(&uri, 2, &broken);
    let found = editor.findings(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "G0201");
    assert_eq!(found[0]["severity"], 1);
    assert_eq!(
        found[0]["range"]["start"],
        json!({"line": 3, "character": 23})
    );
    let actions = editor.ask(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": uri}, "range": found[0]["range"], "context": {"diagnostics": []}}),
    );
    assert_eq!(actions[0]["title"], "write `mails`");
    assert_eq!(actions[0]["edit"]["changes"][&uri][0]["newText"], "mails");

    editor.changed(&uri, 3, SPEC);
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());

    let hover = editor.ask("textDocument/hover", at(&uri, 3, 24));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(
        text.contains("predicate mails") && text.contains("A mail → anybody."),
        "{text}"
    );
    let definition = editor.ask("textDocument/definition", at(&uri, 3, 24));
    assert_eq!(
        definition[0]["targetSelectionRange"]["start"],
        json!({"line": 2, "character": 10})
    );
    // Behind the arrow, which is three bytes and one unit.
    let field = editor.ask("textDocument/definition", at(&uri, 2, 38));
    assert_eq!(
        field[0]["targetSelectionRange"]["start"],
        json!({"line": 0, "character": 8})
    );

    let renamed = editor.ask(
        "textDocument/rename",
        json!({"textDocument": {"uri": uri}, "position": {"line": 3, "character": 24}, "newName": "leaks"}),
    );
    assert_eq!(renamed["changes"][&uri].as_array().unwrap().len(), 2);
    let refused = editor.answer(
        "textDocument/rename",
        json!({"textDocument": {"uri": uri}, "position": {"line": 3, "character": 24}, "newName": "never"}),
    );
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("is no name")
    );

    let candidates = editor.ask("textDocument/completion", at(&uri, 3, 23));
    let labels: Vec<&str> = candidates
        .as_array()
        .unwrap()
        .iter()
        .map(|candidate| candidate["label"].as_str().unwrap())
        .collect();
    assert!(labels.contains(&"mails") && labels.contains(&"tool"));

    let symbols = editor.ask(
        "textDocument/documentSymbol",
        json!({"textDocument": {"uri": uri}}),
    );
    let names: Vec<&Value> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|symbol| &symbol["name"])
        .collect();
    assert_eq!(names, ["event", "mails", "quiet"]);
    let tokens = editor.ask(
        "textDocument/semanticTokens/full",
        json!({"textDocument": {"uri": uri}}),
    );
    assert_eq!(tokens["data"].as_array().unwrap().len() % 5, 0);
    assert!(!tokens["data"].as_array().unwrap().is_empty());
    let places = editor.ask(
        "textDocument/references",
        json!({"textDocument": {"uri": uri}, "position": {"line": 0, "character": 9}, "context": {"includeDeclaration": false}}),
    );
    assert_eq!(places.as_array().unwrap().len(), 2);

    editor.changed(&uri, 4, "property   p = never tool\n");
    let edits = editor.ask(
        "textDocument/formatting",
        json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}}),
    );
    assert_eq!(edits[0]["newText"], "property p = never tool\n");
    editor.close();
}

#[test]
fn imports_come_from_open_texts_first_and_from_the_spec_s_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("lib")).unwrap();
    let (base, mail, spec) = (
        folder.join("lib/base.guard"),
        folder.join("lib/mail.guard"),
        folder.join("my spec.guard"),
    );
    std::fs::write(&base, "event { tool: string }\n").unwrap();
    std::fs::write(&mail, "use lib.base\npredicate mails = tool == \"mail\"\n").unwrap();
    let text = "use lib.mail.{mails}\nuse lib.base\nproperty quiet = never mails\n";
    let (mail_uri, spec_uri) = (address(&mail), address(&spec));
    assert!(spec_uri.ends_with("my%20spec.guard"));
    let mut editor = Editor::open(&folder);
    editor.opened(&spec_uri, text);
    assert_eq!(editor.findings(&spec_uri), Vec::<Value>::new());

    // The import is found from the folder of the spec, though the module lies in a folder of its own.
    editor.opened(&mail_uri, &std::fs::read_to_string(&mail).unwrap());
    assert_eq!(editor.findings(&mail_uri), Vec::<Value>::new());
    editor.findings(&spec_uri);

    // What changes in an open text shows in those that import it, before it is saved.
    editor.changed(
        &mail_uri,
        2,
        "use lib.base\npredicate sends = tool == \"mail\"\n",
    );
    let found = editor.findings(&spec_uri);
    assert_eq!(found[0]["code"], "G0206", "{found:?}");
    let definition = {
        editor.changed(
            &mail_uri,
            3,
            "use lib.base\n\npredicate mails = tool == \"mail\"\n",
        );
        editor.ask("textDocument/definition", at(&spec_uri, 2, 24))
    };
    assert_eq!(definition[0]["targetUri"], mail_uri.as_str());
    assert_eq!(definition[0]["targetSelectionRange"]["start"]["line"], 2);
    editor.close();
}

#[test]
fn the_library_is_shown_as_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);
    editor.opened(
        &uri,
        "use std.agent\nuse std.agent.{phi5}\nproperty p = phi5(tool == \"x\")\n",
    );
    let definition = editor.ask("textDocument/definition", at(&uri, 2, 14));
    let target = definition[0]["targetUri"].as_str().unwrap();
    let path = target.strip_prefix("file://").unwrap();
    let shown = std::fs::read_to_string(path).unwrap();
    let line = definition[0]["targetSelectionRange"]["start"]["line"]
        .as_u64()
        .unwrap();
    let line = shown.lines().nth(usize::try_from(line).unwrap()).unwrap();
    assert!(line.contains("template phi5"), "{line}");
    editor.close();
}

#[test]
fn what_is_not_understood_is_refused_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut editor = Editor::open(&folder.path().canonicalize().unwrap());
    let unknown = editor.answer("textDocument/nonsense", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let wrong = editor.answer("textDocument/hover", json!({"position": 1}));
    assert_eq!(wrong["error"]["code"], -32602);
    // A text that is not open, and one that is in no file.
    assert_eq!(
        editor.ask("textDocument/hover", at("file:///none.guard", 0, 0)),
        Value::Null
    );
    editor.opened("untitled:Untitled-1", "property p = (\n");
    assert_eq!(
        editor.ask("textDocument/hover", at("untitled:Untitled-1", 9, 9)),
        Value::Null
    );
    editor.tell("$/setTrace", json!({"value": "off"}));
    editor.close();
}
