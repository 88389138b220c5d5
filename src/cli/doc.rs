//! `guard doc`: generates pages for specs and the standard library.

use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome};
use super::output::Output;
use super::{plot, spec};
use crate::doc::{self, Page};
use crate::load;
use crate::modules::NoFiles;
use crate::source::SourceFile;
use crate::stdlib;

#[derive(Debug, clap::Args)]
pub(super) struct DocArgs {
    /// Specs to document (default: the standard library)
    #[arg(value_name = "SPEC")]
    specs: Vec<PathBuf>,
    /// Learned model, for pictures of queries; chains that a spec loads or imports are drawn without it
    #[arg(long, value_name = "MODEL.json", requires = "specs")]
    model: Option<PathBuf>,
    /// Output folder, created if missing; `-` writes a single page to the standard output
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Format of the pages
    #[arg(long, value_enum, default_value_t = DocFormat::Html)]
    format: DocFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DocFormat {
    /// HTML
    Html,
    /// Markdown, with automata as Mermaid charts
    Markdown,
}

pub(super) fn run(args: DocArgs) -> Result<Outcome, Failure> {
    let pages = if args.specs.is_empty() {
        library()
    } else {
        args.specs
            .iter()
            .map(|path| of_spec(path, args.model.as_deref()))
            .collect::<Result<_, _>>()?
    };
    let write = |page: &Page| match args.format {
        DocFormat::Html => doc::html(page),
        DocFormat::Markdown => doc::markdown(page),
    };
    if args.output == Path::new("-") {
        let [(_, page)] = pages.as_slice() else {
            return Err(Failure::Usage(
                "`-o -` takes a single spec; for several specs, give a folder".to_owned(),
            ));
        };
        let mut output = Output::open(None)?;
        std::io::Write::write_all(&mut output, write(page).as_bytes())?;
        output.close()?;
        return Ok(Outcome::Holds);
    }
    let (ending, index) = match args.format {
        DocFormat::Html => ("html", "index.html"),
        DocFormat::Markdown => ("md", "README.md"),
    };
    let named: Vec<(String, &Page)> = pages
        .iter()
        .map(|(stem, page)| (format!("{stem}.{ending}"), page))
        .collect();
    for (at, (file, _)) in named.iter().enumerate() {
        if file == index || named.iter().take(at).any(|(other, _)| other == file) {
            return Err(Failure::Usage(format!(
                "two pages would be named `{file}`; document one of the specs separately"
            )));
        }
    }
    let contents = match args.format {
        DocFormat::Html => doc::html_index(&named),
        DocFormat::Markdown => doc::markdown_index(&named),
    };
    let failed = |path: &Path, error: std::io::Error| {
        Failure::Usage(format!("cannot write `{}`: {error}", path.display()))
    };
    std::fs::create_dir_all(&args.output).map_err(|error| failed(&args.output, error))?;
    let texts = named
        .iter()
        .map(|(file, page)| (file.as_str(), write(page)));
    for (file, text) in texts.chain([(index, contents)]) {
        let path = args.output.join(file);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(Outcome::Holds)
}

fn library() -> Vec<(String, Page)> {
    let modules = stdlib::modules().filter_map(|name| Some((name, stdlib::module(&[name])?)));
    let page = |(name, (file, text)): (&str, (&str, &str))| {
        let page = doc::page(
            &format!("std.{name}"),
            &SourceFile::new(file, text),
            None,
            &NoFiles,
        );
        (name.to_owned(), page)
    };
    modules.map(page).collect()
}

fn of_spec(path: &Path, model: Option<&Path>) -> Result<(String, Page), Failure> {
    let (spec, checked) = spec::usable(path)?;
    let stem = path.file_stem().map_or_else(
        || "spec".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let file = SourceFile::new(path.display().to_string(), load::text_of(path)?);
    let mut page = doc::page(
        &stem,
        &file,
        Some((&spec, &checked.sources)),
        &load::folder_of(path),
    );
    for (name, picture) in plot::of_spec(path, model)? {
        let of = page
            .entries
            .iter_mut()
            .find(|entry| entry.name == name.as_str());
        if let Some(entry) = of {
            entry.pictures.push(picture);
        }
    }
    Ok((stem, page))
}
