//! The files that `guard lsp` writes so that editors can open them: modules of the standard library, in the folder for temporary
//! files, where other users may have planted links.
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::support::editor::{Editor, address, at};

const SPEC: &str =
    "use std.agent.{phi5}\nuse std.drift.{Reach}\nproperty p = phi5(tool == \"x\")\n";

/// A session whose folder for temporary files holds links to a folder of the user.
struct Session {
    project: TempDir,
    temporary: TempDir,
    own: TempDir,
    editor: Editor,
}

impl Session {
    fn new(links: &[&str]) -> Session {
        let folder = || TempDir::new().unwrap();
        let (project, temporary, own) = (folder(), folder(), folder());
        for name in ["agent.guard", "drift.guard"] {
            fs::write(own.path().join(name), "mine\n").unwrap();
        }
        for name in links {
            symlink(own.path(), temporary.path().join(name)).unwrap();
        }
        let mut editor = Editor::with_temporary(project.path(), temporary.path());
        editor.opened(&address(&project.path().join("a.guard")), SPEC);
        Session {
            project,
            temporary,
            own,
            editor,
        }
    }

    /// Goes to the library module that a line of the spec imports. Returns the path and the line that the editor opens.
    fn definition(&mut self, line: u32, character: u32) -> (PathBuf, String) {
        let uri = address(&self.project.path().join("a.guard"));
        let found = self
            .editor
            .ask("textDocument/definition", at(&uri, line, character));
        let found = found.get(0).unwrap_or(&found);
        let path = found["uri"].as_str().unwrap().strip_prefix("file://");
        let path = PathBuf::from(path.unwrap());
        let at = found["range"]["start"]["line"].as_u64().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let line = text.lines().nth(usize::try_from(at).unwrap()).unwrap();
        (path, line.to_owned())
    }

    /// Whether the files of the user are as they were.
    fn own_files_are_untouched(&self) -> bool {
        let texts: BTreeMap<String, String> = fs::read_dir(self.own.path())
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                (name, fs::read_to_string(&path).unwrap())
            })
            .collect();
        texts.len() == 2 && texts.values().all(|text| text == "mine\n")
    }
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_library_is_shown_as_files_of_a_private_folder() {
    // The name that the folder had once, and what else might be guessed.
    let version = env!("CARGO_PKG_VERSION");
    let guessed = [
        &format!("guard-{version}-std"),
        "guard-std",
        "guard-lsp",
        "agent.guard",
    ];
    let folders: Vec<PathBuf> = (0..2)
        .map(|_| {
            let mut session = Session::new(&guessed);
            let (path, line) = session.definition(0, 17);
            assert!(line.contains("template phi5"), "{line}");
            assert!(path.is_file() && !path.is_symlink());
            assert_eq!(mode(&path), 0o444);
            let folder = path.parent().unwrap().to_owned();
            assert_eq!(folder.parent(), Some(session.temporary.path()));
            assert!(folder.is_dir() && !folder.is_symlink());
            assert_eq!(mode(&folder), 0o700);
            assert!(session.own_files_are_untouched());
            session.editor.close();
            assert!(!folder.exists(), "removed at the end");
            folder
        })
        .collect();
    // The names differ in all their 128 random bits.
    let random = |folder: &Path| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        u128::from_str_radix(name.rsplit('-').next().unwrap(), 16).unwrap()
    };
    let [one, other] = [random(&folders[0]), random(&folders[1])];
    for shift in (0..128).step_by(32) {
        assert_ne!((one >> shift) as u32, (other >> shift) as u32);
    }
}

/// A cleaner of old files removes the folder, and somebody who saw its name puts a link there.
#[test]
fn a_link_in_place_of_the_folder_is_not_followed() {
    let mut session = Session::new(&[]);
    let (path, _) = session.definition(0, 17);
    let folder = path.parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    symlink(session.own.path(), &folder).unwrap();
    // A file that was written before, and another one.
    for (line, text) in [(0, "template phi5"), (1, "enum Reach")] {
        let (path, found) = session.definition(line, 17);
        assert!(found.contains(text), "{found}");
        assert!(!path.starts_with(&folder), "{}", path.display());
    }
    assert!(session.own_files_are_untouched());
    let own = session.own;
    session.editor.close();
    assert_eq!(fs::read_dir(own.path()).unwrap().count(), 2);
}
