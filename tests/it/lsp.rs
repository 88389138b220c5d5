//! `guard lsp` as an editor uses it: a process with length-prefixed messages in both directions.
use serde_json::{Value, json};

use crate::support::editor::{Editor, address, at, edited};

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
            .contains("is not a name")
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

    let text = "property   p = never tool\n";
    editor.changed(&uri, 4, text);
    let edits = editor.ask(
        "textDocument/formatting",
        json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}}),
    );
    let edits = edits.as_array().unwrap();
    assert_eq!(edits.len(), 1, "only the white space is replaced");
    assert_eq!(edited(text, edits), "property p = never tool\n");
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
    let found = editor.findings("untitled:Untitled-1");
    assert_eq!(found[0]["code"], "G0102");
    editor.tell("$/setTrace", json!({"value": "off"}));
    editor.close();
}

/// Messages that real clients send and the protocol forbids, and some that nobody should: none ends the server.
#[test]
fn no_message_ends_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut editor = Editor::open(&folder);
    for bytes in [
        &b"{"[..],
        b"[]",
        b"null",
        b"{\"jsonrpc\": \"2.0\"}",
        b"\xff\xfe",
        b"{\"jsonrpc\": \"2.0\", \"method\": 7}",
        b"{\"jsonrpc\": \"2.0\", \"method\": \"textDocument/didOpen\"}",
        b"{\"jsonrpc\": \"2.0\", \"method\": \"$/cancelRequest\", \"params\": {\"id\": []}}",
    ] {
        editor.send_raw(bytes);
    }
    editor.tell("textDocument/didOpen", json!(null));
    editor.tell("textDocument/didOpen", json!({"textDocument": {}}));
    editor.tell("textDocument/didChange", json!([1, 2]));
    let text = "property p = (\n";
    for (at, name) in [
        "[team]/a.guard",
        "a b.guard",
        "é.guard",
        "{x}|y.guard",
        "%5Bb%5D.guard",
    ]
    .into_iter()
    .enumerate()
    {
        // The address as the client writes it, with nothing escaped.
        let uri = format!("file://{}/{name}", folder.display());
        let version = if at == 0 { Value::Null } else { json!(1) };
        editor.tell(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "guard", "version": version, "text": text}}),
        );
        let symbols = editor.ask(
            "textDocument/documentSymbol",
            json!({"textDocument": {"uri": uri}}),
        );
        assert_eq!(symbols[0]["name"], "p", "{name}");
    }
    for method in [
        "hover",
        "definition",
        "rename",
        "codeAction",
        "selectionRange",
        "diagnostic",
    ] {
        let method = format!("textDocument/{method}");
        let answer = editor.answer(&method, json!({"textDocument": {"uri": "http://["}}));
        assert!(
            answer.get("error").is_some() || answer["result"].is_null(),
            "{answer}"
        );
    }
    editor.close();
}

#[test]
fn the_session_ends_as_the_protocol_says() {
    let folder = tempfile::tempdir().unwrap();
    let editor = Editor::open(folder.path());
    assert_eq!(editor.exit(), Some(1), "`exit` without `shutdown`");
    let mut editor = Editor::open(folder.path());
    editor.ask("shutdown", Value::Null);
    let late = editor.answer("textDocument/hover", at("file:///a.guard", 0, 0));
    assert_eq!(late["error"]["code"], -32600);
    assert_eq!(editor.exit(), Some(0));
}

/// The formulas that stalled the server, each with a hover that must not.
#[test]
fn hovers_and_hints_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let letters = |of: fn(usize) -> String, n, sign: &str| {
        let all: Vec<String> = (0..n).map(of).collect();
        all.join(sign)
    };
    let tower = (0..14).fold("a0".to_owned(), |f, n| format!("({f} U a{n})"));
    let fields: Vec<String> = (0..20).map(|n| format!("a{n}: bool b{n}: bool")).collect();
    let mut editor = Editor::open(&folder);
    for formula in [
        letters(|n| format!("(F a{n})"), 14, " and "),
        letters(|n| format!("G(a{n} -> F b{n})"), 20, " and "),
        tower,
    ] {
        let uri = address(&folder.join(format!("{}.guard", formula.len())));
        let text = format!(
            "event {{ {} }}\nproperty p = {formula}\n",
            fields.join("  ")
        );
        editor.opened(&uri, &text);
        editor.findings(&uri);
        let begun = std::time::Instant::now();
        let hover = editor.ask("textDocument/hover", at(&uri, 1, 9));
        assert!(
            hover["contents"]["value"]
                .as_str()
                .unwrap()
                .contains("property p")
        );
        let whole =
            json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        editor.ask(
            "textDocument/inlayHint",
            json!({"textDocument": {"uri": uri}, "range": whole}),
        );
        // Without limits each took from 3 to 17 seconds on an idle machine when optimised: here nothing is.
        let took = begun.elapsed();
        assert!(took.as_secs() < 30, "{took:?} for {formula}");
        let begun = std::time::Instant::now();
        editor.ask("textDocument/hover", at(&uri, 1, 9));
        let again = begun.elapsed();
        assert!(again.as_secs() < 5, "{again:?} again for {formula}");
    }
    editor.close();
}

#[test]
fn cancelled_requests_are_not_computed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);
    let mut ids = Vec::new();
    for version in 1..60 {
        let text = format!("event {{ tool: string }}\nproperty p{version} = never tool == \"x\"\n");
        if version == 1 {
            editor.opened(&uri, &text);
        } else {
            editor.changed(&uri, version, &text);
        }
        let id = editor.request("textDocument/completion", at(&uri, 1, 21));
        editor.tell("$/cancelRequest", json!({"id": id}));
        ids.push(id);
    }
    let answers: Vec<Value> = ids.into_iter().map(|id| editor.answer_to(id)).collect();
    let cancelled = answers
        .iter()
        .filter(|answer| answer["error"]["code"] == -32800)
        .count();
    assert!(cancelled > 20, "{cancelled} of 59 were cancelled");
    // A cancellation of what was answered already is of no consequence.
    editor.tell("$/cancelRequest", json!({"id": 1_000}));
    assert!(!editor.ask("textDocument/hover", at(&uri, 1, 22)).is_null());
    editor.close();
}

#[test]
fn changes_come_in_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);
    editor.opened(
        &uri,
        "event { tool: string }\r\n// 😀é\r\nproperty p = never tool == \"x\"\r\n",
    );
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());
    let range = |a: (u32, u32), b: (u32, u32)| json!({"start": {"line": a.0, "character": a.1}, "end": {"line": b.0, "character": b.1}});
    // The first change moves what the second one is about; both are counted in UTF-16 units.
    editor.tell(
        "textDocument/didChange",
        json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
            {"range": range((1, 3), (1, 5)), "text": "\r\n\r\n// "},
            {"range": range((4, 9), (4, 10)), "text": "quiet"},
        ]}),
    );
    let symbols = editor.ask(
        "textDocument/documentSymbol",
        json!({"textDocument": {"uri": uri}}),
    );
    assert_eq!(symbols[1]["name"], "quiet", "{symbols}");
    assert_eq!(
        symbols[1]["selectionRange"]["start"],
        json!({"line": 4, "character": 9})
    );
    // A `\r` alone ends a line for editors.
    editor.changed(
        &uri,
        3,
        "// a\revent { tool: string }\nproperty p = never tol == \"x\"\n",
    );
    let found = loop {
        let found = editor.findings(&uri);
        if !found.is_empty() {
            break found;
        }
    };
    assert_eq!(found[0]["range"]["start"]["line"], 2, "{found:?}");
    editor.close();
}

#[test]
fn only_what_changed_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let mut editor = Editor::open(&folder);
    let uri = |n: usize| address(&folder.join(format!("s{n}.guard")));
    let text = "event { tool: string }\nproperty p = never tool == \"x\"\n";
    for n in 0..40 {
        editor.opened(&uri(n), text);
    }
    for n in 0..40 {
        editor.findings(&uri(n));
    }
    editor.told.clear();
    for version in 2..12 {
        editor.changed(
            &uri(7),
            version,
            &text.replace("\"x\"", &format!("\"{version}\"")),
        );
        editor.findings(&uri(7));
    }
    // A request after them: whatever else was published came before its answer.
    editor.ask("textDocument/hover", at(&uri(3), 1, 10));
    assert_eq!(editor.told, Vec::<Value>::new());
    editor.close();
}

#[test]
fn files_that_change_on_the_disk_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (base, spec) = (folder.join("base.guard"), folder.join("spec.guard"));
    std::fs::write(&base, "event { tool: string }\n").unwrap();
    let capabilities =
        json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    let mut editor = Editor::with(&folder, &capabilities);
    let uri = address(&spec);
    editor.opened(&uri, "use base\nproperty p = never tool == \"x\"\n");
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());
    let registered = editor
        .told
        .iter()
        .find(|told| told["method"] == "client/registerCapability");
    let watchers =
        &registered.unwrap()["params"]["registrations"][0]["registerOptions"]["watchers"];
    assert_eq!(watchers[0]["globPattern"], "**/*.guard");
    let mut changed = |text: Option<&str>, kind: u32| {
        match text {
            Some(text) => std::fs::write(&base, text).unwrap(),
            None => std::fs::remove_file(&base).unwrap(),
        }
        let change = json!({"uri": address(&base), "type": kind});
        editor.tell(
            "workspace/didChangeWatchedFiles",
            json!({"changes": [change]}),
        );
        let found = editor.findings(&uri);
        found
            .first()
            .map(|found| found["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        changed(Some("event { call: string }\n"), 2).as_deref(),
        Some("G0201")
    );
    assert_eq!(changed(Some("event { tool: string }\n"), 2), None);
    assert_eq!(changed(None, 3).as_deref(), Some("G0204"));
    assert_eq!(changed(Some("event { tool: string }\n"), 1), None);
    editor.close();
}

#[test]
fn findings_are_pulled_by_clients_that_ask_for_them() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let capabilities = json!({
        "textDocument": {"diagnostic": {}},
        "workspace": {"diagnostic": {"refreshSupport": true}},
    });
    let mut editor = Editor::with(&folder, &capabilities);
    let uri = address(&folder.join("a.guard"));
    editor.opened(
        &uri,
        "event { tool: string }\nproperty p = never tol == \"x\"\n",
    );
    let pull = |editor: &mut Editor, id: &Value| {
        editor.ask(
            "textDocument/diagnostic",
            json!({"textDocument": {"uri": uri}, "previousResultId": id}),
        )
    };
    let report = pull(&mut editor, &Value::Null);
    assert_eq!(report["kind"], "full");
    assert_eq!(report["items"][0]["code"], "G0201");
    let page = report["items"][0]["codeDescription"]["href"]
        .as_str()
        .unwrap();
    let page = std::fs::read_to_string(page.strip_prefix("file://").unwrap()).unwrap();
    assert!(page.contains("G0201") || page.contains("name"), "{page}");
    let again = pull(&mut editor, &report["resultId"]);
    assert_eq!(again["kind"], "unchanged");
    editor.changed(
        &uri,
        2,
        "event { tool: string }\nproperty p = never tool == \"x\"\n",
    );
    let mended = pull(&mut editor, &report["resultId"]);
    assert_eq!(mended["items"], json!([]));
    let published = |told: &Value| told["method"] == "textDocument/publishDiagnostics";
    assert!(
        !editor.told.iter().any(published),
        "they are not sent twice"
    );
    editor.close();
}

#[test]
fn fixes_belong_to_findings_and_safe_ones_are_made_together() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);
    let text = "use std.agent.{phi5, phi7}\nuse std.agent\nuse std.drift\nevent { tool: string }\n\
                /// Not used.\npredicate idle = tool == \"y\"\nproperty p = phi5(tool == \"x\")\n";
    editor.opened(&uri, text);
    let found = editor.findings(&uri);
    let codes: Vec<&Value> = found.iter().map(|found| &found["code"]).collect();
    assert_eq!(codes, ["G0902", "G0902", "G0902"], "{found:?}");
    assert!(
        found.iter().all(|found| found["tags"] == json!([1])),
        "they are shown as unnecessary"
    );
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let mut actions = |only: Value| {
        let context = json!({"diagnostics": [], "only": only});
        let params = json!({"textDocument": {"uri": uri}, "range": whole, "context": context});
        editor
            .ask("textDocument/codeAction", params)
            .as_array()
            .unwrap()
            .clone()
    };
    let single = actions(Value::Null);
    let titles: Vec<&Value> = single.iter().map(|action| &action["title"]).collect();
    assert_eq!(
        titles,
        ["remove `phi7`", "remove `std.drift`", "remove `idle`"]
    );
    for action in &single {
        assert_eq!(action["isPreferred"], true);
        assert_eq!(action["diagnostics"][0]["code"], "G0902");
    }
    let edits = |action: &Value| action["edit"]["changes"][&uri].as_array().unwrap().clone();
    assert_eq!(
        edited(text, &edits(&single[2])),
        text.replace("/// Not used.\npredicate idle = tool == \"y\"\n", "")
    );
    assert_eq!(actions(json!(["refactor"])), Vec::<Value>::new());
    let all = actions(json!(["source.fixAll"]));
    assert_eq!(all[0]["kind"], "source.fixAll.guard");
    // The imports mean nothing; the predicate might be about to be used.
    assert_eq!(
        edited(text, &edits(&all[0])),
        text.replace("{phi5, phi7}", "{phi5}")
            .replace("use std.drift\n", "")
    );
    editor.close();
}

#[test]
fn capabilities_answer_over_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("lib")).unwrap();
    std::fs::write(
        folder.join("lib/mail.guard"),
        "predicate mails = tool == \"mail\"\n",
    )
    .unwrap();
    let uri = address(&folder.join("a.guard"));
    let text = "use lib.mail\nevent { tool: string }\nproperty quiet = never mail.mails\n";
    let mut editor = Editor::open(&folder);
    editor.opened(&uri, text);
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());
    let document = json!({"textDocument": {"uri": uri}});
    let links = editor.ask("textDocument/documentLink", document.clone());
    assert_eq!(links[0]["target"], address(&folder.join("lib/mail.guard")));
    let symbols = editor.ask("workspace/symbol", json!({"query": "mls"}));
    assert_eq!(symbols[0]["name"], "mails");
    let full = editor.ask("textDocument/semanticTokens/full", document.clone());
    editor.changed(&uri, 2, &text.replace("quiet", "silent"));
    let mut previous = document.clone();
    previous["previousResultId"] = full["resultId"].clone();
    let delta = editor.ask("textDocument/semanticTokens/full/delta", previous);
    let edit = &delta["edits"][0];
    let (start, count) = (
        edit["start"].as_u64().unwrap(),
        edit["deleteCount"].as_u64().unwrap(),
    );
    assert!(count > 0 && count <= 10, "only what changed: {delta}");
    let mut numbers = full["data"].as_array().unwrap().clone();
    let range = usize::try_from(start).unwrap()..usize::try_from(start + count).unwrap();
    numbers.splice(range, edit["data"].as_array().unwrap().iter().cloned());
    let now = editor.ask("textDocument/semanticTokens/full", document);
    assert_eq!(now["data"], Value::Array(numbers));
    let mut place = at(&uri, 0, 4);
    place["context"] = json!({"triggerKind": 1});
    let found = editor.ask("textDocument/completion", place);
    let modules: Vec<&Value> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|found| &found["label"])
        .collect();
    assert_eq!(modules, ["lib", "std"]);
    let ranges = editor.ask(
        "textDocument/selectionRange",
        json!({"textDocument": {"uri": uri}, "positions": [{"line": 2, "character": 10}]}),
    );
    assert_eq!(
        ranges[0]["parent"]["range"]["start"],
        json!({"line": 2, "character": 0})
    );
    editor.close();
}

#[test]
fn line_ends_are_kept_and_a_range_is_laid_out_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let uri = address(&folder.join("a.guard"));
    let mut editor = Editor::open(&folder);
    let text = "event { tool:   string }\r\nproperty   p = never tool == \"x\"\r\n";
    editor.opened(&uri, text);
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let edits = editor.ask(
        "textDocument/formatting",
        json!({"textDocument": {"uri": uri}, "options": options}),
    );
    let formatted = edited(text, edits.as_array().unwrap());
    assert!(
        formatted.contains("property p =")
            && formatted.matches("\r\n").count() == formatted.matches('\n').count()
    );
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 40}});
    let edits = editor.ask(
        "textDocument/rangeFormatting",
        json!({"textDocument": {"uri": uri}, "range": range, "options": options}),
    );
    assert_eq!(
        edited(text, edits.as_array().unwrap()),
        "event { tool:   string }\r\nproperty p = never tool == \"x\"\r\n"
    );
    editor.close();
}

/// The files of the workspace are those of its folders: several, one that a client names without a list, and those that come later.
#[test]
fn the_workspace_is_what_the_client_says_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let (first, second) = (folder.join("first"), folder.join("second"));
    for root in [&first, &second] {
        std::fs::create_dir_all(root.join("deep/down")).unwrap();
    }
    std::fs::write(
        first.join("base.guard"),
        "event { tool: string }\npredicate pays = tool == \"pay\"\n",
    )
    .unwrap();
    std::fs::write(
        first.join("deep/down/user.guard"),
        "use base.{pays}\nuse base\nproperty p = never pays\n",
    )
    .unwrap();
    std::fs::write(
        second.join("other.guard"),
        "event { tool: string }\nproperty elsewhere = never tool == \"x\"\n",
    )
    .unwrap();
    let named = |editor: &mut Editor, query: &str| -> Vec<String> {
        let found = editor.ask("workspace/symbol", json!({"query": query}));
        let found = found.as_array().unwrap().iter();
        found
            .map(|found| found["name"].as_str().unwrap().to_owned())
            .collect()
    };
    // Only `rootUri`, as some clients send.
    let root = json!({"processId": null, "capabilities": {}, "rootUri": address(&first)});
    let mut editor = Editor::initialized(root);
    assert_eq!(named(&mut editor, "pays"), ["pays"]);
    let uri = address(&first.join("base.guard"));
    editor.opened(
        &uri,
        &std::fs::read_to_string(first.join("base.guard")).unwrap(),
    );
    let renamed = editor.ask(
        "textDocument/rename",
        json!({"textDocument": {"uri": uri}, "position": {"line": 1, "character": 11}, "newName": "sends"}),
    );
    let files = renamed["changes"].as_object().unwrap();
    assert_eq!(files.len(), 2, "{renamed}");
    assert_eq!(named(&mut editor, "elsewhere"), Vec::<String>::new());
    let list = |path: &std::path::Path| json!([{"uri": address(path), "name": "x"}]);
    let change = |editor: &mut Editor, added: Value, removed: Value| {
        editor.tell(
            "workspace/didChangeWorkspaceFolders",
            json!({"event": {"added": added, "removed": removed}}),
        );
    };
    change(&mut editor, list(&second), json!([]));
    assert_eq!(named(&mut editor, "elsewhere"), ["elsewhere"]);
    change(&mut editor, json!([]), list(&second));
    assert_eq!(named(&mut editor, "elsewhere"), Vec::<String>::new());
    editor.close();
}

#[test]
fn a_module_is_about_the_event_of_its_spec() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::create_dir(folder.join("lib")).unwrap();
    let spec = folder.join("spec.guard");
    std::fs::write(
        &spec,
        "use lib.mail\nevent { tool: string }\nproperty p = never mail.mails\n",
    )
    .unwrap();
    let uri = address(&folder.join("lib/mail.guard"));
    let mut editor = Editor::open(&folder);
    editor.opened(&uri, "predicate mails = tool == \"mail\"\n");
    assert_eq!(editor.findings(&uri), Vec::<Value>::new());
    editor.changed(&uri, 2, "predicate mails = tol == \"mail\"\n");
    assert_eq!(editor.findings(&uri)[0]["code"], "G0201");
    editor.close();
}
