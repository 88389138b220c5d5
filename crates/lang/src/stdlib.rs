//! The standard library, written in Guard and embedded in the binary.

/// Returns the text of a library module by its path without `std` (`agent`, `drift`), and its file name in diagnostics.
pub fn module(path: &[&str]) -> Option<(&'static str, &'static str)> {
    let name = path.join("/");
    MODULES
        .iter()
        .find(|(module, _, _)| *module == name)
        .map(|(_, file, text)| (*file, *text))
}

/// Returns the paths of all modules, without `std`.
pub fn modules() -> impl Iterator<Item = &'static str> {
    MODULES.iter().map(|(module, _, _)| *module)
}

/// Returns the path of the module, without `std`, that declares a template, predicate, definition or track of this name.
pub fn module_of(name: &str) -> Option<&'static str> {
    let declares = |line: &str| {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        matches!(
            words.next(),
            Some("template" | "predicate" | "let" | "track")
        ) && words.next() == Some(name)
    };
    let declaring = MODULES
        .iter()
        .find(|(_, _, text)| text.lines().any(declares));
    declaring.map(|(module, _, _)| *module)
}

macro_rules! modules {
    ($($name:literal)*) => {
        /// Name, file name, text.
        const MODULES: &[(&str, &str, &str)] = &[$((
            $name,
            concat!("std/", $name, ".guard"),
            include_str!(concat!("../../../stdlib/", $name, ".guard")),
        )),*];
    };
}

modules! {
    "agent"
    "consent"
    "drift"
    "driving"
    "household"
    "patterns"
    "privacy"
    "tools"
}
