//! The structure of all infinite words over some letters: a formula that holds in it holds in every system.

use std::convert::Infallible;

use super::Structure;
use crate::Atom;

/// The structure whose runs are all infinite words over these letters.
#[derive(Clone, Debug)]
pub struct Words {
    letters: Vec<u64>,
    all: Vec<u32>,
}

impl Words {
    /// Returns the words over these letters; bit `n` of a letter is the value of atom `n`.
    pub fn new(mut letters: Vec<u64>) -> Words {
        letters.sort_unstable();
        letters.dedup();
        Words {
            all: (0..letters.len() as u32).collect(),
            letters,
        }
    }
}

impl Structure for Words {
    type Error = Infallible;

    fn initial(&mut self) -> Result<Vec<u32>, Infallible> {
        Ok(self.all.clone())
    }

    fn successors(&mut self, _: u32) -> Result<&[u32], Infallible> {
        Ok(&self.all)
    }

    fn holds(&self, state: u32, atom: Atom) -> bool {
        let letter = self.letters.get(state as usize).copied().unwrap_or(0);
        atom.0 < 64 && letter >> atom.0 & 1 == 1
    }
}
