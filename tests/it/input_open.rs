//! What arguments name.
use std::io::Read;

use guard_lang::input::open::{OpenError, sources};

fn names(argument: &str, glob: Option<&str>) -> Vec<String> {
    let found = sources(argument, glob).unwrap();
    found
        .iter()
        .map(|source| source.name.below.to_string())
        .collect()
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
    let found = sources(root, Some("x/z.cast")).unwrap();
    assert_eq!((found[0].name.dir(), found[0].name.stem()), ("x", "z"));
    assert!(found[0].name.path.ends_with("x/z.cast"));
    // A file that is named is read, whatever it is called.
    let hidden = format!("{root}/.hidden.json");
    assert_eq!(names(&hidden, None), [".hidden.json"]);
    let mut text = String::new();
    sources(&hidden, None).unwrap()[0]
        .open()
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "{}");
    assert!(matches!(
        sources("no/such/file", None),
        Err(OpenError::Unreadable { .. })
    ));
    assert!(matches!(
        sources(root, Some("[")),
        Err(OpenError::Glob { .. })
    ));
}
