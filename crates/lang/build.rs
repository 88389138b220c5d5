//! Sets `GUARD_BUILD`, a hash of everything that decides what a spec compiles to: compiled specs keep their checked form for the
//! build that made it.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What takes part, from the folder of this crate. A packaged crate has only the first: its version stands for the others.
const PARTS: [&str; 7] = [
    "src",
    "../automata/src",
    "../english/src",
    "../markov/src",
    "../syntax/src",
    "../../stdlib",
    "../../Cargo.lock",
];

/// Adds the files at or below a path.
fn files(path: &Path, into: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            files(&entry?.path(), into)?;
        }
    } else if path.is_file() {
        into.insert(path.to_owned());
    }
    Ok(())
}

fn main() -> io::Result<()> {
    let mut all = BTreeSet::new();
    for part in PARTS.map(Path::new).iter().filter(|part| part.exists()) {
        println!("cargo:rerun-if-changed={}", part.display());
        files(part, &mut all)?;
    }
    let mut hasher = DefaultHasher::new();
    std::env::var_os("CARGO_PKG_VERSION").hash(&mut hasher);
    for path in all {
        path.hash(&mut hasher);
        fs::read(&path)?.hash(&mut hasher);
    }
    println!("cargo:rustc-env=GUARD_BUILD={:016x}", hasher.finish());
    Ok(())
}
