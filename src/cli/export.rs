//! `guard export` and `guard import`: convert Markov chains between formats.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::chain::{ChainArgs, LoadedChain};
use super::failure::{Failure, Outcome};
use super::output::Output;
use guard_markov::format::{write_dot, write_drn, write_explicit, write_json, write_prism};
use guard_markov::{Chain, Scalar};
use num_rational::BigRational;

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    #[command(flatten)]
    chain: ChainArgs,
    /// Format to write
    #[arg(long, value_enum)]
    to: Form,
    /// Output file (default: the standard output). PRISM's explicit format needs a name: X.tra also writes
    /// X.lab, X.srew and so on
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    #[command(flatten)]
    chain: ChainArgs,
    /// Output file (default: the standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// PRISM language, one module with one variable
    Prism,
    /// PRISM's explicit files
    Tra,
    /// Storm's DRN
    Drn,
    /// Graphviz
    Dot,
    /// JSON
    Json,
}

pub(super) fn run(args: ExportArgs) -> Result<Outcome, Failure> {
    export(&args.chain, args.to, args.output.as_deref())
}

pub(super) fn import(args: ImportArgs) -> Result<Outcome, Failure> {
    export(&args.chain, Form::Json, args.output.as_deref())
}

fn export(chain: &ChainArgs, form: Form, output: Option<&Path>) -> Result<Outcome, Failure> {
    let Some(path) = &chain.chain else {
        return Err(Failure::Usage(
            "no Markov chain given: use --chain FILE".to_owned(),
        ));
    };
    match chain.exact {
        true => write::<BigRational>(chain, path, form, output),
        false => write::<f64>(chain, path, form, output),
    }
}

fn write<V: Scalar>(
    args: &ChainArgs,
    path: &Path,
    form: Form,
    output: Option<&Path>,
) -> Result<Outcome, Failure> {
    let LoadedChain { chain, scope } = args.load::<V>(path)?;
    args.check_constants(&scope)?;
    let text = match form {
        Form::Prism => write_prism(&chain),
        Form::Drn => write_drn(&chain),
        Form::Dot => write_dot(&chain),
        Form::Json => {
            let text = write_json(&chain);
            text.map_err(|wrong| Failure::Usage(format!("cannot write the chain: {wrong}")))? + "\n"
        }
        Form::Tra => return write_files(&chain, output),
    };
    put(output, &text)
}

fn write_files<V: Scalar>(chain: &Chain<V>, output: Option<&Path>) -> Result<Outcome, Failure> {
    let Some(path) = output else {
        return Err(Failure::Usage(
            "PRISM's explicit format consists of several files: give a name with --output X.tra"
                .to_owned(),
        ));
    };
    let texts = write_explicit(chain);
    put(Some(path), &texts.transitions)?;
    put(Some(&path.with_extension("lab")), &texts.labels)?;
    let several = texts.rewards.len() > 1;
    for (at, (state, transition)) in texts.rewards.iter().enumerate() {
        let mut stem = path.with_extension("").into_os_string();
        if several {
            stem.push((at + 1).to_string());
        }
        for (ending, text) in [(".srew", state), (".trew", transition)] {
            let mut name = stem.clone();
            name.push(ending);
            put(Some(&PathBuf::from(name)), text)?;
        }
    }
    Ok(Outcome::Holds)
}

fn put(path: Option<&Path>, text: &str) -> Result<Outcome, Failure> {
    let mut output = Output::open(path)?;
    output.write_all(text.as_bytes())?;
    output.close()?;
    Ok(Outcome::Holds)
}
