//! Names that must be written exactly, and texts that a reader, or a person, may take for one of them.

use std::collections::{HashMap, HashSet};

use smol_str::SmolStr;

use super::{folded, normalize};

/// Names of one kind.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: HashSet<SmolStr>,
    /// The first name with each spelling.
    spelt: HashMap<String, SmolStr>,
}

impl Names {
    /// Returns these names. Linear in their length.
    pub fn new(names: Vec<SmolStr>) -> Names {
        let mut spelt = HashMap::new();
        for name in &names {
            spelt.entry(spelling(name)).or_insert_with(|| name.clone());
        }
        Names {
            names: names.into_iter().collect(),
            spelt,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the name that a text differs from only in case, white space, `-` for `_`, invisible characters or the Unicode form of
    /// letters; `None` if the text is a name itself, or like none. Linear in the text.
    pub fn spelt_like(&self, text: &str) -> Option<&SmolStr> {
        match self.names.contains(text) {
            true => None,
            false => self.spelt.get(&spelling(text)),
        }
    }
}

fn spelling(text: &str) -> String {
    same_for_readers(text).replace('-', "_")
}

/// Returns a text without case, white space, invisible and control characters, in the compatibility form of Unicode.
pub fn same_for_readers(text: &str) -> String {
    let mut folded = folded(&normalize(text));
    folded.retain(|c| !c.is_whitespace() && !c.is_control());
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_like_others_in_spelling_alone() {
        let names = Names::new(["delete_file", "Bash", "bash"].map(SmolStr::from).to_vec());
        let like = |text| names.spelt_like(text).map(SmolStr::as_str);
        for text in [
            "Delete_File",
            "delete-file",
            " delete_file\n",
            "delete_\u{200B}file",
            "ｄelete_file",
            "DELETE_FILE",
        ] {
            assert_eq!(like(text), Some("delete_file"), "{text:?}");
        }
        for text in [
            "delete_file",
            "Bash",
            "bash",
            "delete_files",
            "deletefile",
            "",
        ] {
            assert_eq!(like(text), None, "{text:?}");
        }
        assert_eq!(like("BASH"), Some("Bash"));
    }
}
