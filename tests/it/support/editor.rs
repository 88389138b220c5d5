//! Projects in memory, and a client of `guard lsp`.
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use guard_cli::editor::{Change, Workspace};
use guard_lang::modules::Loader;
use serde_json::{Value, json};

/// The texts of a project, by name. All imports are relative to one folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Texts(pub(crate) BTreeMap<String, String>);

impl Texts {
    pub(crate) fn of(files: &[(&str, &str)]) -> Texts {
        let owned = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Texts(owned.collect())
    }

    pub(crate) fn text_of(&self, file: &str) -> &str {
        &self.0[file]
    }

    /// Returns the texts after changes.
    pub(crate) fn changed(&self, changes: &[Change]) -> Texts {
        let mut all = self.clone();
        let mut changes: Vec<&Change> = changes.iter().collect();
        changes.sort();
        for change in changes.into_iter().rev() {
            let text = all.0.get_mut(&change.at.file).unwrap();
            text.replace_range(
                change.at.start as usize..change.at.end as usize,
                &change.text,
            );
        }
        all
    }
}

impl Workspace for Texts {
    fn files(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn text(&self, file: &str) -> Option<String> {
        self.0.get(file).cloned()
    }

    fn resolve(&self, _spec: &str, import: &str) -> String {
        import.to_owned()
    }
}

impl Loader for Texts {
    fn load(&self, path: &str) -> Result<(String, String), String> {
        let text = self.0.get(path).ok_or("it is not there")?;
        Ok((text.clone(), path.to_owned()))
    }
}

/// A client of `guard lsp`: a process with length-prefixed messages in both directions.
pub(crate) struct Editor {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: i64,
    /// The messages received while waiting for other answers.
    pub(crate) told: Vec<Value>,
}

impl Editor {
    /// Opens a folder with a client that supports links and snippets.
    pub(crate) fn open(folder: &Path) -> Editor {
        Editor::with(
            folder,
            &json!({"textDocument": {
                "definition": {"linkSupport": true},
                "completion": {"completionItem": {"snippetSupport": true}},
            }}),
        )
    }

    /// Opens a folder with a client of these capabilities.
    pub(crate) fn with(folder: &Path, capabilities: &Value) -> Editor {
        Editor::initialized(Editor::parameters(folder, capabilities))
    }

    /// Opens a folder with a server whose folder for temporary files is this one.
    pub(crate) fn with_temporary(folder: &Path, temporary: &Path) -> Editor {
        let mut server = Editor::server();
        server.env("TMPDIR", temporary);
        Editor::started(&mut server, Editor::parameters(folder, &json!({})))
    }

    fn parameters(folder: &Path, capabilities: &Value) -> Value {
        let folder = address(folder);
        json!({"processId": null, "capabilities": capabilities, "rootUri": folder,
               "workspaceFolders": [{"uri": folder, "name": "specs"}]})
    }

    fn server() -> Command {
        let mut server = Command::new(env!("CARGO_BIN_EXE_guard"));
        server.args(["lsp", "--stdio"]);
        server
    }

    /// Begins a session with these parameters.
    pub(crate) fn initialized(params: Value) -> Editor {
        Editor::started(&mut Editor::server(), params)
    }

    fn started(server: &mut Command, params: Value) -> Editor {
        let mut server = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
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
        let answer = editor.ask("initialize", params);
        assert_eq!(answer["serverInfo"]["name"], "guard");
        assert_eq!(answer["capabilities"]["hoverProvider"], true);
        editor.tell("initialized", json!({}));
        editor
    }

    /// Sends bytes, preceded by their length.
    pub(crate) fn send_raw(&mut self, text: &[u8]) {
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n", text.len()).unwrap();
        to.write_all(text).unwrap();
        to.flush().unwrap();
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_raw(message.to_string().as_bytes());
    }

    pub(crate) fn receive(&mut self) -> Value {
        read_message(&mut self.from)
    }

    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns the answer to a request.
    pub(crate) fn answer_to(&mut self, id: i64) -> Value {
        let known = self
            .told
            .iter()
            .position(|told| told["id"] == id && told.get("method").is_none());
        if let Some(at) = known {
            return self.told.remove(at);
        }
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.told.push(message);
        }
    }

    pub(crate) fn answer(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.answer(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(crate) fn opened(&mut self, uri: &str, text: &str) {
        let document = json!({"uri": uri, "languageId": "guard", "version": 1, "text": text});
        self.tell("textDocument/didOpen", json!({"textDocument": document}));
    }

    pub(crate) fn changed(&mut self, uri: &str, version: i32, text: &str) {
        self.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}),
        );
    }

    /// Returns the next published diagnostics of a file.
    pub(crate) fn findings(&mut self, uri: &str) -> Vec<Value> {
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

    /// Renames the name at a position. Returns the edits by address, or the error message.
    pub(crate) fn rename(
        &mut self,
        uri: &str,
        (line, character): (u32, u32),
        to: &str,
    ) -> Result<BTreeMap<String, Vec<Value>>, String> {
        let mut params = at(uri, line, character);
        params["newName"] = json!(to);
        let answer = self.answer("textDocument/rename", params);
        match answer.get("error") {
            Some(error) => Err(error["message"].as_str().unwrap().to_owned()),
            None => Ok(serde_json::from_value(answer["result"]["changes"].clone()).unwrap()),
        }
    }

    /// Shuts the server down and checks its exit code.
    pub(crate) fn close(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        assert_eq!(self.exit(), Some(0));
    }

    /// Sends `exit` and returns the server's exit code.
    pub(crate) fn exit(mut self) -> Option<i32> {
        self.tell("exit", Value::Null);
        drop(self.to.take());
        self.server.wait().unwrap().code()
    }
}

/// Reads the next length-prefixed message.
pub(crate) fn read_message(from: &mut impl BufRead) -> Value {
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert!(from.read_line(&mut line).unwrap() > 0, "the server ended");
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).unwrap();
    serde_json::from_slice(&text).unwrap()
}

pub(crate) fn address(path: &Path) -> String {
    // Temporary folders have plain names; only the names below them may contain spaces.
    format!("file://{}", path.to_str().unwrap().replace(' ', "%20"))
}

pub(crate) fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

/// Returns a text after edits of the protocol. Lines end with `\n`, and every character is one UTF-16 unit and one
/// byte.
pub(crate) fn edited(text: &str, edits: &[Value]) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().unwrap() as usize;
        let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        before + position["character"].as_u64().unwrap() as usize
    };
    let mut all: Vec<(usize, usize, &str)> = edits
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            let text = edit["newText"].as_str().unwrap();
            (offset(&range["start"]), offset(&range["end"]), text)
        })
        .collect();
    all.sort();
    let mut text = text.to_owned();
    for (start, end, new) in all.into_iter().rev() {
        text.replace_range(start..end, new);
    }
    text
}
