//! Files, folders and patterns given as arguments.
use std::io::Read;

use guard_lang::input::open::{Selection, sources};

fn selection(globs: &[&str], excludes: &[&str]) -> Selection {
    let owned = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    Selection::new(&owned(globs), &owned(excludes)).unwrap()
}

fn names(argument: &str, glob: Option<&str>) -> Vec<String> {
    let globs: Vec<&str> = glob.into_iter().collect();
    chosen(argument, &globs, &[]).0
}

fn chosen(argument: &str, globs: &[&str], excludes: &[&str]) -> (Vec<String>, usize) {
    let found = sources(argument, &selection(globs, excludes)).unwrap();
    let names = found
        .sources
        .iter()
        .map(|source| source.name.below.to_string())
        .collect();
    (names, found.unmatched)
}

#[test]
fn folders_are_searched_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "b.jsonl",
        "a.json",
        "c.JSON.gz",
        "notes.md",
        ".hidden.json",
        "x/z.cast",
        "x/y.traj.zst",
        "x/.git/a.json",
        "x/deep/er/log.log",
        "answers.txt",
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    let root = folder.path().to_str().unwrap();
    assert_eq!(
        names(root, None),
        [
            "a.json",
            "b.jsonl",
            "c.JSON.gz",
            "x/deep/er/log.log",
            "x/y.traj.zst",
            "x/z.cast"
        ]
    );
    assert_eq!(names(root, Some("*.json*")), ["a.json", "b.jsonl"]);
    assert_eq!(names(root, Some("x/*")), ["x/y.traj.zst", "x/z.cast"]);
    assert_eq!(
        names(root, Some("**/*.{log,md}")),
        ["notes.md", "x/deep/er/log.log"]
    );
    // Nine files are not hidden.
    let (several, unmatched) = chosen(root, &["*.json", "x/**/*.{log,cast}"], &[]);
    assert_eq!(several, ["a.json", "x/deep/er/log.log", "x/z.cast"]);
    assert_eq!(unmatched, 5);
    let (fewer, unmatched) = chosen(root, &["*.json", "x/**"], &["*.log", "x/y*"]);
    assert_eq!(
        (fewer, unmatched),
        (vec!["a.json".to_owned(), "x/z.cast".to_owned()], 4)
    );
    let (plain, _) = chosen(root, &[], &["x/**", "c*"]);
    assert_eq!(plain, ["a.json", "b.jsonl"]);
    let found = sources(root, &selection(&["x/z.cast"], &[]))
        .unwrap()
        .sources;
    assert_eq!((found[0].name.dir(), found[0].name.stem()), ("x", "z"));
    assert!(found[0].name.path.ends_with("x/z.cast"));
    // A file that is named is read, whatever it is called.
    let hidden = format!("{root}/.hidden.json");
    assert_eq!(names(&hidden, None), [".hidden.json"]);
    let mut text = String::new();
    sources(&hidden, &selection(&["*.csv"], &["*"]))
        .unwrap()
        .sources[0]
        .open(&guard_lang::input::limits::InputLimits::default())
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "{}");
    let missing = sources("no/such/file", &Selection::default()).unwrap_err();
    assert_eq!(missing.path, "no/such/file");
    let wrong = Selection::new(&["[".to_owned()], &[]).unwrap_err();
    assert_eq!(wrong.pattern, "[");
}

#[cfg(unix)]
#[test]
fn links_of_a_folder_lead_nowhere_else() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(folder.path().join("a.jsonl"), "{}").unwrap();
    std::fs::write(outside.path().join("secret.jsonl"), "{}").unwrap();
    let link = |target: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
    };
    link(&folder.path().join("a.jsonl"), "b.jsonl");
    link(&outside.path().join("secret.jsonl"), "c.jsonl");
    let root = folder.path().to_str().unwrap();
    assert_eq!(names(root, None), ["a.jsonl", "b.jsonl"]);
    let (_, problems) = selection(&[], &[]).find([root]);
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].message.contains("1 link to a file outside"),
        "{problems:?}"
    );
}

/// A table that this build does not read names the build that does; one that is damaged, its damage.
#[test]
fn tables_are_recognised() {
    let folder = tempfile::tempdir().unwrap();
    let said = match cfg!(feature = "tables") {
        true => "damaged",
        false => "`cargo install --path . --features tables`",
    };
    for (name, content) in [
        ("a.parquet", &b"PAR1 and no metadata"[..]),
        ("a.txt", b"PAR1 and no metadata"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let found = sources(path.to_str().unwrap(), &Selection::default()).unwrap();
        let opened = found.sources[0].open(&guard_lang::input::limits::InputLimits::default());
        let error = opened.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// Files that are passed over are counted by their endings, once a folder; specs and hidden files are not meant.
#[test]
fn files_that_are_passed_over_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "a.json",
        "b.txt",
        "c.JSONL.bak",
        "d/e.txt",
        "d/f",
        "g.jsonl.bz2",
        "p.guard",
        ".h.txt",
    ] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "{}").unwrap();
    }
    let root = folder.path().to_str().unwrap();
    let messages = |selection: &Selection| -> Vec<String> {
        let (_, problems) = selection.find([root]);
        problems
            .into_iter()
            .map(|problem| problem.message.to_string())
            .collect()
    };
    assert_eq!(
        messages(&selection(&[], &[])),
        [
            "5 files of this folder were not read (1 .bak, 1 .bz2, 2 .txt, 1 without an ending): name them, or select with `--glob`"
        ]
    );
    assert_eq!(
        messages(&selection(&[], &["*.bak", "*.bz2", "d/*"])),
        ["1 file of this folder was not read (1 .txt): name them, or select with `--glob`"]
    );
    assert!(messages(&selection(&["*"], &[])).is_empty());
}

/// What stands behind the data of a gzip file is no truncation of it; UTF-16 is named.
#[test]
fn damage_is_named() {
    let gzip = |text: &str| {
        let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut member, text.as_bytes()).unwrap();
        member.finish().unwrap()
    };
    let read = |bytes: Vec<u8>| -> (String, Option<String>) {
        let limits = guard_lang::input::limits::InputLimits::default();
        let mut text = Vec::new();
        let from = std::io::Cursor::new(bytes);
        let read = guard_lang::input::open::decompressed(from, &limits)
            .and_then(|mut from| from.read_to_end(&mut text));
        let error = read.err().map(|error| error.to_string());
        (String::from_utf8(text).unwrap(), error)
    };
    let two = [gzip("one\n"), gzip("two\n")].concat();
    assert_eq!(read(two.clone()), ("one\ntwo\n".to_owned(), None));
    let (text, error) = read([two.as_slice(), b"garbage"].concat());
    assert_eq!(text, "one\ntwo\n");
    assert!(error.unwrap().contains("behind the end of the gzip data"));
    let (text, error) = read(two[..two.len() - 3].to_vec());
    assert_eq!(text, "one\ntwo\n");
    assert!(error.is_some_and(|error| !error.contains("behind")));
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        for mark in ["", "\u{feff}"] {
            let text = format!("{mark}{{\"a\": 1}}");
            let bytes = text.encode_utf16().flat_map(order).collect();
            let (_, error) = read(bytes);
            assert!(
                error.is_some_and(|error| error.contains("UTF-16")),
                "{text:?}"
            );
        }
    }
}
