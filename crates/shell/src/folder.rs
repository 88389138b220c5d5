//! The folder in which commands run.

/// The folder after the `cd` commands so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// The initial folder, or one below.
    Here,
    /// One of these folders: a command may fail or not run at all.
    Known {
        all: Vec<String>,
        /// Whether it may still be the initial folder, or one below. That matters to paths that begin with `..`.
        or_here: bool,
    },
    Unknown,
}

/// The greatest number of alternative folders; with more the folder is unknown.
const FOLDERS: usize = 8;

impl Folder {
    /// Returns one folder.
    pub(super) fn one(path: String) -> Folder {
        Folder::Known {
            all: vec![path],
            or_here: false,
        }
    }

    /// Returns the folder if either may be the current one.
    pub(super) fn or(self, other: Folder) -> Folder {
        let parts = |folder| match folder {
            Folder::Unknown => None,
            Folder::Here => Some((Vec::new(), true)),
            Folder::Known { all, or_here } => Some((all, or_here)),
        };
        let (Some((mut all, here)), Some((more, there))) = (parts(self), parts(other)) else {
            return Folder::Unknown;
        };
        for folder in more {
            if !all.contains(&folder) {
                all.push(folder);
            }
        }
        match all.len() {
            0 => Folder::Here,
            n if n > FOLDERS => Folder::Unknown,
            _ => Folder::Known {
                all,
                or_here: here || there,
            },
        }
    }
}
