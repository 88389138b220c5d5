//! Compiles the generated parser and the scanner.

fn main() {
    let folder = std::path::Path::new("src");
    let mut build = cc::Build::new();
    build.std("c11").include(folder);
    // The generated parser has parameters that it does not use.
    build.flag_if_supported("-Wno-unused-parameter");
    for file in ["parser.c", "scanner.c"] {
        build.file(folder.join(file));
        println!("cargo:rerun-if-changed=src/{file}");
    }
    build.compile("tree-sitter-guard");
}
