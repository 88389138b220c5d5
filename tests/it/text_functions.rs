//! Functions on texts and lists: their values, on null and unknown, against encodings that hide a text from a rule; and the
//! evaluator against the reference semantics.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::support::core::SpecBuilder;
use guard_lang::eval::{Limits, Program};
use guard_lang::hir::{Builtin, Expr};
use guard_lang::ids::PropertyId;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::texts;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Value};
use proptest::prelude::*;

/// The verdicts on conditions, as both evaluators judge them on one step.
fn verdicts(conditions: &[&str]) -> Vec<&'static str> {
    let mut text = String::from(
        "event { s: string?  n: int?  u: string = unknown  xs: list<string>?  ys: set<string>  j: json }\n",
    );
    for (idx, condition) in conditions.iter().enumerate() {
        writeln!(text, "property p{idx} = always ({condition})").unwrap();
    }
    let checked = guard_lang::front(
        "f.guard",
        &text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    let errors: Vec<String> = checked
        .diagnostics
        .iter()
        .filter(|found| found.is_error())
        .map(|found| format!("{}: {}", checked.sources.slice(found.span()), found.message))
        .collect();
    let spec = checked.spec.unwrap_or_else(|| panic!("{errors:#?}"));
    let file: Arc<str> = "t".into();
    let json = |text: &str| guard_lang::value::Number::parse(text).map(Value::Number);
    let object = guard_lang::value::Object::new(vec![
        (
            "a".into(),
            Value::list(vec![Value::string("x"), json("1.5").unwrap()]),
        ),
        ("b".into(), Value::Null),
    ]);
    let record = Record {
        origin: Origin {
            file: file.clone(),
            below: file,
            line: 1,
            ordinal: 0,
        },
        id: None,
        complete: Some(true),
        meta: Box::default(),
        steps: vec![Step {
            index: 0,
            cells: vec![
                Cell::Known(Value::Null),
                Cell::Known(Value::Null),
                Cell::Unknown,
                Cell::Known(Value::Null),
                Cell::Known(Value::Set(
                    ["b", "a"].into_iter().map(Value::string).collect(),
                )),
                Cell::Known(Value::Object(object.unwrap())),
            ]
            .into(),
        }],
        problems: Vec::new(),
    };
    let program = Program::compile(&spec, &Limits::default()).unwrap();
    let report = program.judge(record.clone()).unwrap();
    let meant = guard_reference::judge(&spec, &record);
    let each = conditions.iter().enumerate().map(|(idx, condition)| {
        let of = |verdict: &&guard_lang::verdict::PropertyVerdict| {
            verdict.property == PropertyId::new(idx)
        };
        let found = report.verdicts.iter().find(of).unwrap().verdict;
        let meant = meant[idx].1.as_ref().unwrap().verdict;
        assert_eq!(found, meant, "{condition}");
        found.as_str()
    });
    each.collect()
}

fn all(verdict: &str, conditions: &[&str]) {
    for (found, condition) in verdicts(conditions).into_iter().zip(conditions) {
        assert_eq!(found, verdict, "{condition}");
    }
}

#[test]
fn lists_and_texts() {
    all(
        "satisfied",
        &[
            r#"replace("a1b22", /\d+/, "-") == "a-b-""#,
            r#""a1b22".replace(/(\d)/, "$1") == "a$1b$1$1""#,
            r#"replace("", /x*/, "-") == "-""#,
            r#"join(["a", "b", ""], ", ") == "a, b, ""#,
            r#"join([], ",") == """#,
            r#"ys.join("-") == "a-b""#,
            r#"{"a", "b"}.remove("a") == {"b"}"#,
            r#"{"a"}.remove("x") == {"a"}"#,
            "[1, 2, 3].drop(1) == [2, 3]",
            "[1, 2, 3].drop(-1) == [1, 2, 3]",
            "[1, 2, 3].drop(9) == []",
            "[1, 2, 3, 4].slice(1, 3) == [2, 3]",
            "[1, 2].slice(1, 0) == []",
            "[1, 2].slice(-5, 99) == [1, 2]",
            r#""päth".slice(1, 3) == "ät""#,
            "[3, 4, 4].index_of(4) == 1",
            "[3, 4].index_of(5) == null",
            r#""pöäa".index_of("ä") == 2"#,
            r#""abc".index_of("") == 0"#,
            r#""abc".index_of("x") == null"#,
            "range(3) == [0, 1, 2]",
            "range(0) == [] and range(-2) == []",
            "[y + 1 for y in [1, 2]] == [2, 3]",
            r#"[upper(y) for y in ys] == ["A", "B"]"#,
            r#"[len(y) for y in split("a,bb", ",")] == [1, 2]"#,
            "[[x * y for x in range(2)] for y in range(2)] == [[0, 0], [0, 1]]",
            r#"(any y in [lower(z) for z in ["A", "b"]]: y == "a")"#,
            r#"split("ab", "") == ["a", "b"]"#,
            r#"text(3) == "3" and text(1.5) == "1.5""#,
            r#"text(j) == "a\nx\n1.5\nb""#,
            r#"text(true) == "" and text(null) == """#,
            r#"text(["", "a"]) == "\na""#,
        ],
    );
}

#[test]
fn null_gives_null_and_unknown_is_unknown() {
    all(
        "satisfied",
        &[
            r#"replace(s, /x/, "y") == null and replace("x", /x/, s) == null"#,
            r#"join(xs, ",") == null and join(["a"], s) == null"#,
            "xs.drop(1) == null and xs.slice(0, 1) == null",
            r#"xs.index_of("a") == null and "abc".index_of(s) == null"#,
            r#"[s, "a"].index_of(null) == 0"#,
            "[y for y in xs] == null",
            "base64(s) == null and hex(s) == null and url_decode(s) == null and normalize(s) == null",
            "path(s) == null and host(s) == null",
            r#"not below(s, "/srv") and not below("/srv/x", s)"#,
        ],
    );
    all(
        "unknown",
        &[
            r#"replace(u, /x/, "y") == "a""#,
            r#"join([u, "a"], ",") == "a""#,
            "[lower(y) for y in [u]] == []",
            r#"base64(u) == "a""#,
            r#"below(u, "/srv")"#,
            r#"host(u) == "a""#,
            "[1, 2].index_of(len(u)) == 0",
            // beyond the limits
            "len(range(2000000)) == 0",
            r#"len(replace(join(["x" for a in range(5000)], ""), /x/, join(["0123456789" for b in range(1000)], ""))) == 0"#,
            // a list with something else than texts
            r#"join(j.a as json, ",") == "x""#,
        ],
    );
}

/// An agent chooses a text that its tool reads and we refuse; it counts as unknown, never as no action.
#[test]
fn json_that_only_some_readers_read_is_unknown() {
    let of = |text: &str| {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("json(\"{text}\").cmd == \"rm\"")
    };
    let deep = format!(
        "{{\"cmd\":\"rm\",\"x\":{}{}}}",
        "[".repeat(200),
        "]".repeat(200)
    );
    let texts = [
        r#"{"cmd":"rm","x":1e999}"#,
        r#"{"cmd":"rm","x":-1E+400}"#,
        r#"{"cmd":"rm","x":"\ud83d"}"#,
        r#"{"cmd":"rm","\ud83d":1}"#,
        r#"{"cmd":"rm","x":NaN}"#,
        r#"{"cmd":"rm","x":-Infinity}"#,
        "\u{feff}{\"cmd\":\"rm\"}",
        r#" {"cmd":"rm",}"#,
        "{cmd:'rm'}",
        r#"/**/{"cmd":"rm"}"#,
        r#"{"cmd":"rm"} x"#,
        r#"{"cmd":"rm","cmd":"ls"}"#,
        &deep,
        "[INFO] started",
        "0X1f",
        "-.5",
    ];
    let conditions: Vec<String> = texts.iter().map(|text| of(text)).collect();
    all(
        "unknown",
        &conditions.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    all("satisfied", &[&of(r#" {"x":0.1e-999,"cmd":"rm"}"#)]);
    all(
        "satisfied",
        &[
            r#"json("") == null and json("no JSON") == null and json("/etc/passwd") == null"#,
            r#"json("5 apples") == null and json("2026-01-01") == null and json("null") == null"#,
            r#"json(" 5 ") == 5 and json(s) == null"#,
        ],
    );
}

/// An agent may give a list instead of a text: what a condition about a text asks of it is then unknown, and not false.
#[test]
fn a_text_within_an_element_of_a_list_is_unknown() {
    all(
        "satisfied",
        &[
            r#"j.a contains "x" and not (j.a contains "y") and not (j.b contains "x")"#,
            r#"json("[\"secret\", \"my secret\"]") contains "secret""#,
            r#"not (json("[[\"a\"], {\"b\": 1.5}, true, null]") contains "c")"#,
            r#"not (json("[\"a\"]") contains s) and json("[null]") contains s"#,
            r#"json("[1, 2]") contains 2 and not (json("[12]") contains 2)"#,
            r#"json("\"my secret\"") contains "secret""#,
            r#""secret" not in json("[\"my secret\"]")"#,
            // A list that the spec takes for one.
            r#"not ((json("[\"my secret\"]") as list<string>) contains "secret")"#,
            r#"not (["my secret"] contains "secret")"#,
        ],
    );
    all(
        "unknown",
        &[
            r#"json("[\"secret.txt\"]") contains "secret""#,
            r#"json("[1, [{\"a\": [\"secret.txt\"]}]]") contains "secret""#,
            r#"json("[{\"secret.txt\": 1}]") contains "secret""#,
            r#"json("[4.1e3]") contains "4100""#,
            r#"json("{\"secret\": 1}") contains "secret""#,
            r#"j.a contains u"#,
        ],
    );
}

#[test]
fn numbers_are_text_in_all_notations() {
    all(
        "satisfied",
        &[
            r#"text(json("4.1e18")) == "4.1e18\n4100000000000000000\n4.1e+18""#,
            r#"text(json("[4.111111111111111e15]")) matches /^4111111111111111$/m"#,
            r#"text(json("9007199254740993")) == "9007199254740993\n9007199254740992""#,
            r#"text(2.0) == "2.0\n2""#,
        ],
    );
}

#[test]
fn types_are_asked_for() {
    for (condition, code) in [
        ("join([1], \",\") == \"\"", "G0301"),
        ("join(\"a\", \",\") == \"\"", "G0301"),
        ("[1].drop(1.5) == []", "G0303"),
        ("[1].slice(0, n) == []", "G0301"),
        ("[1].index_of(\"a\") == 0", "G0301"),
        ("range(1.5) == []", "G0301"),
        ("base64(3) == \"\"", "G0301"),
        ("below(\"a\") ", "G0304"),
        ("replace(\"a\", \"a\", \"b\") == \"\"", "G0315"),
        ("[y + 1 for y in [\"a\"]] == []", "G0303"),
        ("[y for y in 3] == []", "G0301"),
        ("[before(y) for y in [1]] == []", "G0310"),
        ("[1].remove(1) == []", "G0303"),
    ] {
        let text = format!("event {{ n: int? }}\nproperty p = always ({condition})\n");
        let checked = guard_lang::front(
            "f.guard",
            &text,
            &NoFiles,
            guard_lang::check::Limits::default(),
        );
        let codes: Vec<&str> = checked
            .diagnostics
            .iter()
            .filter(|found| found.is_error())
            .map(|found| found.code.as_str())
            .collect();
        assert_eq!(codes, [code], "{condition}");
    }
}

#[test]
fn encodings_are_read_as_lenient_decoders_read_them() {
    for (text, found) in [
        ("c2VjcmV0", Some("secret")),
        // padding: as it should be, missing, too much
        ("c2VjcmV0MQ==", Some("secret1")),
        ("c2VjcmV0MQ", Some("secret1")),
        ("c2VjcmV0MQ=", Some("secret1")),
        ("c2VjcmV0MQ====", Some("secret1")),
        // bits after the last byte, white space
        ("c2VjcmV0MR==", Some("secret1")),
        (" c2Vj\ncmV0\r\n", Some("secret")),
        ("Pz8/Pj4+", Some("???>>>")),
        // what Node and Python skip, wherever it stands
        ("RVZJTE1BUks=!", Some("EVILMARK")),
        ("RVZJ.TE1BUks=", Some("EVILMARK")),
        ("RVZJ\0TE1BUks=", Some("EVILMARK")),
        ("\u{e9}RVZJTE1BUks=", Some("EVILMARK")),
        ("c2Vjc!", Some("sec")),
        ("c2U=\n", Some("se")),
        ("/w==", Some("\u{FFFD}")),
        ("", Some("")),
        (" ", Some("")),
        ("=", None),
        ("A", None),
        ("?!", None),
        ("é", None),
    ] {
        assert_eq!(texts::base64(text).unwrap().as_deref(), found, "{text}");
    }
    for (text, found) in [
        ("736563726574", Some("secret")),
        ("0x7365", Some("se")),
        ("0X73 65\n", Some("se")),
        ("4A4a", Some("JJ")),
        // Node stops at what is no pair, and others skip it
        ("4556494c4d41524bZZ", Some("EVILMARK")),
        ("4556494c4d41524b4", Some("EVILMARK")),
        ("zz4556494c4d41524b", Some("EVILMARK")),
        ("ff", Some("\u{FFFD}")),
        ("", Some("")),
        ("7", None),
        ("7g", None),
        ("xyz", None),
        ("0x", Some("")),
    ] {
        assert_eq!(texts::hex(text).unwrap().as_deref(), found, "{text}");
    }
    for text in [
        // digits to Node and to decoders for addresses, and nothing to Python
        "Pz8_Pj4-",
        "R-VZJTE1BUks=",
        "-RVZJTE1BUks=",
        // Node, Perl and Python stop, coreutils and PHP go on
        "c2U=Y3JldA==",
        "c2U==Y3JldA==",
        "AAAA=BBBB",
        "YWI=!Y",
        // the low byte is a digit to Node
        "ｃ2Vj",
        "c2\u{143}VA",
    ] {
        assert_eq!(
            texts::base64(text),
            Err(texts::Unclear::TwoReadings),
            "{text}"
        );
    }
    for text in [
        r"\x45\x56",
        "a-4556494c",
        "45:56",
        "45-56",
        "73 65",
        "45\u{134}6",
        "45ZZ56",
        "4\u{135}56",
    ] {
        assert_eq!(texts::hex(text), Err(texts::Unclear::TwoReadings), "{text}");
    }
    for (text, found) in [
        ("%2e%2E/%2F", "..//"),
        // once: what is escaped twice is still escaped
        ("%252e", "%2e"),
        ("a+b%20c", "a+b c"),
        ("%", "%"),
        ("%4", "%4"),
        ("%zz%C3%A4", "%zzä"),
        ("%ff", "\u{FFFD}"),
    ] {
        assert_eq!(texts::url_decode(text), found, "{text}");
    }
    for (text, found) in [
        ("ｓｅｃｒｅｔ", "secret"),
        ("se\u{200B}c\u{AD}r\u{2060}et", "secret"),
        ("\u{202E}terces", "terces"),
        ("ﬁle", "file"),
        ("a\u{200D}\u{308}", "ä"),
        ("𝓼𝓮", "se"),
        ("x\u{E0041}\u{FE0F}", "x"),
    ] {
        assert_eq!(texts::normalize(text), found, "{text}");
    }
}

#[test]
fn paths_are_one_text_for_one_file() {
    for (text, found) in [
        ("/srv/./data//x/", "/srv/data/x"),
        ("/srv/../etc/passwd", "/etc/passwd"),
        ("/../../etc", "/etc"),
        ("/", "/"),
        ("//etc/passwd", "/etc/passwd"),
        ("a/b/../..", "."),
        ("", "."),
        ("../a/../..", "../.."),
        (r"srv\..\..\etc", "../etc"),
        (r"\srv/..\etc", "/etc"),
        (r"c:\Windows\..\x", "C:/x"),
        ("c:/", "C:/"),
        (r"\\?\c:\a\..\b", "C:/b"),
        (r"\\.\C:\b", "C:/b"),
        ("~/a/../..", "~/.."),
        ("~root/.ssh", "~root/.ssh"),
        ("./~/x", "./~/x"),
        ("x/../C:/y", "./C:/y"),
        ("a b/%20c", "a b/%20c"),
        ("/srv/..hidden/x", "/srv/..hidden/x"),
    ] {
        assert_eq!(texts::path(text).as_deref(), Ok(found), "{text}");
    }
    // Programs read these in more than one way.
    for text in [
        "/srv/%2e%2e/etc",
        "/srv/%2E./etc",
        "/srv%2f..%2fetc",
        "/srv/..%5cetc",
        "/srv/%252e%252e/etc",
        "/srv/x%00.txt",
        "/srv/x\0/../../etc",
        "c:x",
        "file:///etc/passwd",
        "FILE:/etc/passwd",
        "https://a/b",
        "/srv/.../x",
        "/srv/.. /x",
    ] {
        assert!(texts::path(text).is_err(), "{text}");
        assert!(texts::below(text, "/srv").is_err(), "{text}");
        assert!(texts::below("/srv", text).is_err(), "{text}");
    }
}

#[test]
fn below_a_folder_is_by_whole_names() {
    for (path, folder, found) in [
        ("/srv/data/x", "/srv/data", Some(true)),
        ("/srv/data", "/srv/data/", Some(true)),
        ("/srv/database", "/srv/data", Some(false)),
        ("/srv/data/../secret", "/srv/data", Some(false)),
        ("/srv/data/../data/x", "/srv/data", Some(true)),
        (r"/srv/data\..\..\etc", "/srv/data", Some(false)),
        ("//srv//data/./x", "/srv/data", Some(true)),
        ("/", "/", Some(true)),
        ("/x", "/", Some(true)),
        ("/SRV/data/x", "/srv/data", Some(false)),
        ("a/b", "a", Some(true)),
        ("a/b", ".", Some(true)),
        ("b", "a", Some(false)),
        (r"C:\a\b", "c:/a", Some(true)),
        ("D:/a", "C:/a", Some(false)),
        ("~/x", "~", Some(true)),
        // What the file system would have to say.
        ("a/../../b", ".", None),
        ("../x", "a", None),
        ("x", "../a", None),
        ("x", "/srv", None),
        ("/srv/x", "srv", None),
        ("~/x", "/home/me", None),
        ("~root/x", "~", None),
        ("C:/x", "/", None),
        ("~/../x", "~", None),
        ("../../x", "..", None),
        ("../x", "..", Some(true)),
    ] {
        assert_eq!(texts::below(path, folder).ok(), found, "{path} in {folder}");
    }
}

#[test]
fn hosts_are_those_that_an_address_leads_to() {
    for (text, found) in [
        ("https://Example.ORG/x", Some("example.org")),
        ("https://example.org.", Some("example.org")),
        ("https://example.org../", Some("example.org")),
        ("https://user:pass@example.org:8080/x", Some("example.org")),
        ("https://good.example@evil.example/", Some("evil.example")),
        ("https://a@b@evil.example", Some("evil.example")),
        ("https://evil.example#@good.example", Some("evil.example")),
        ("https://evil.example?@good.example", Some("evil.example")),
        ("https://evil.example/@good.example", Some("evil.example")),
        ("https://good.example%2F@evil.example", Some("evil.example")),
        ("  https://evil.example ", Some("evil.example")),
        ("ht\ntps://ev\til.example", Some("evil.example")),
        ("https:evil.example", Some("evil.example")),
        ("https:/\\/evil.example", Some("evil.example")),
        ("https:///evil.example", Some("evil.example")),
        (r"\\evil.example\share", Some("evil.example")),
        ("//evil.example/x", Some("evil.example")),
        // international names, in every notation
        ("https://BÜCHER.example", Some("xn--bcher-kva.example")),
        (
            "https://xn--bcher-kva.example",
            Some("xn--bcher-kva.example"),
        ),
        ("https://ｅｖｉｌ。example", Some("evil.example")),
        ("https://ev\u{AD}il.example", Some("evil.example")),
        ("https://ev%69l.example", Some("evil.example")),
        // addresses in numbers
        ("http://0x7f.1/", Some("127.0.0.1")),
        ("http://2130706433", Some("127.0.0.1")),
        ("http://017700000001:80", Some("127.0.0.1")),
        ("http://[::1]:80/", Some("[::1]")),
        ("http://[0:0::0:1]", Some("[::1]")),
        // without a scheme, and with others
        ("example.org", Some("example.org")),
        ("example.org:8080/x", Some("example.org")),
        ("user@example.org/x", Some("example.org")),
        ("localhost:3000", Some("localhost")),
        ("ssh://git@EXAMPLE.org:22/x", Some("example.org")),
        ("file://server/share", Some("server")),
        ("file:///etc/passwd", None),
        ("mailto:a@example.org", None),
        ("data:text/html,https://example.org", None),
        ("/x/y", None),
        ("./x", None),
        ("?q=https://example.org", None),
        ("", None),
        ("https://", None),
    ] {
        assert_eq!(texts::host(text), Ok(found.map(str::to_owned)), "{text}");
    }
    for text in [
        // Browsers go to the first, others to the second.
        r"https://good.example\@evil.example",
        r"https://good.example\.evil.example@x.example",
        "https://exa mple.org",
        "https://example.org:99999",
        "https://example.org:x",
        "https://:80",
        "https://user@",
        "https://a..b\u{7f}",
        "two words",
        "https://[::1",
        "https://999.999.999.999",
    ] {
        assert!(
            texts::host(text).is_err(),
            "{text}: {:?}",
            texts::host(text)
        );
    }
}

/// The value that the definition of the language gives.
fn meant(function: Builtin, args: &[&str]) -> Option<Value> {
    let mut builder = SpecBuilder::new();
    let args: Box<[_]> = args
        .iter()
        .map(|text| builder.constant(Value::string(*text)))
        .collect();
    let expr = builder.expr(Expr::Call(function, args), Type::Json);
    let record = builder.record(&[&[]]);
    match guard_reference::values(&builder.spec, &record, expr, &[]).remove(0) {
        Cell::Known(value) => Some(value),
        Cell::Unknown => None,
    }
}

fn text_of(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::string)
}

/// Texts of parts that mean something to one of the functions.
fn texts_of(parts: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(parts), 0..8).prop_map(|parts| parts.concat())
}

const PATH: &[&str] = &[
    "/", "/", "\\", "..", ".", "a", "b", " ", "%2e", "%2F", "%", "~", "C:", "c:", "?", "x:",
    "//?/", "%41", "é",
];
const ADDRESS: &[&str] = &[
    "https:",
    "http://",
    "//",
    "/",
    "\\",
    "@",
    ":",
    "?",
    "#",
    ".",
    "evil.example",
    "GOOD",
    "8080",
    "ü",
    "。",
    "%2f",
    "%41",
    "mailto:",
    "file:",
    "x-y:",
    "[::1]",
    "0x7f.1",
    " ",
    "\t",
    "xn--",
    "\u{AD}",
];
const ENCODED: &[&str] = &[
    "Y",
    "YQ",
    "YWI",
    "YWJj",
    "=",
    "==",
    "-_",
    "+/",
    " ",
    "\n",
    "0x",
    "4a",
    "F",
    "%",
    "%4",
    "%C3",
    "%A4",
    "ü",
    "\u{143}",
    "\u{1D435}",
    "!",
    "\u{FEFF}",
    "ﬁ",
    "e\u{301}",
    "\u{200D}",
    "\u{115F}",
    "\u{1100}",
    "\u{1161}",
];

crate::random::tests! {
    256 cases;

    #[test]
    fn paths_mean_what_the_definition_says(path in texts_of(PATH), folder in texts_of(PATH)) {
        prop_assert_eq!(texts::path(&path).ok().map(Value::string), meant(Builtin::Path, &[&path]));
        prop_assert_eq!(
            texts::below(&path, &folder).ok().map(Value::Bool),
            meant(Builtin::Below, &[&path, &folder])
        );
        // One text for one file: it is its own form, and lies below what it begins with.
        if let Ok(once) = texts::path(&path) {
            prop_assert_eq!(texts::path(&once), Ok(once.clone()));
            if !once.contains("..") {
                prop_assert_eq!(texts::below(&once, &path), Ok(true));
            }
        }
    }

    #[test]
    fn hosts_mean_what_the_definition_says(text in texts_of(ADDRESS)) {
        prop_assert_eq!(texts::host(&text).ok().map(text_of), meant(Builtin::Host, &[&text]));
    }

    #[test]
    fn encodings_mean_what_the_definition_says(text in texts_of(ENCODED)) {
        prop_assert_eq!(texts::base64(&text).ok().map(text_of), meant(Builtin::Base64, &[&text]));
        prop_assert_eq!(texts::hex(&text).ok().map(text_of), meant(Builtin::Hex, &[&text]));
        prop_assert_eq!(Some(Value::string(texts::url_decode(&text))), meant(Builtin::UrlDecode, &[&text]));
        prop_assert_eq!(Some(Value::string(texts::normalize(&text))), meant(Builtin::Normalize, &[&text]));
    }
}
