//! The folder in which commands run.

/// The folder after the `cd` commands so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// The initial folder, or one below.
    Here,
    /// One of these folders: a command may fail or not run at all.
    Known(Vec<String>),
    Unknown,
}

/// The greatest number of alternative folders; with more the folder is unknown.
const FOLDERS: usize = 8;

impl Folder {
    /// Returns the folder if either may be the current one. A known folder also covers the initial one.
    pub(super) fn or(self, other: Folder) -> Folder {
        let (mut all, more) = match (self, other) {
            (Folder::Unknown, _) | (_, Folder::Unknown) => return Folder::Unknown,
            (Folder::Here, folder) | (folder, Folder::Here) => return folder,
            (Folder::Known(all), Folder::Known(more)) => (all, more),
        };
        for folder in more {
            if !all.contains(&folder) {
                all.push(folder);
            }
        }
        match all.len() > FOLDERS {
            true => Folder::Unknown,
            false => Folder::Known(all),
        }
    }
}
