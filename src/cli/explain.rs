//! `guard explain`: one page on a diagnostic code.

use std::io::Write;

use super::failure::{Failure, Outcome};
use super::output::Output;
use crate::diagnostic::{Code, did_you_mean};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A diagnostic code such as G0301
    code: String,
}

pub(super) fn run(args: Args) -> Result<Outcome, Failure> {
    let mut output = Output::open(None)?;
    page(&mut output, &args.code)?;
    output.close()?;
    Ok(Outcome::Holds)
}

/// The page of a diagnostic code, found by its number or its name.
fn page(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    let Some(code) = Code::parse(text).or_else(|| Code::by_name(text)) else {
        let known = Code::ALL
            .iter()
            .flat_map(|code| [code.as_str(), code.name()]);
        let near = did_you_mean(text, known)
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::Usage(format!(
            "there is no diagnostic code `{text}`{near}"
        )));
    };
    writeln!(
        out,
        "{} {} ({})\n",
        code.as_str(),
        code.name(),
        code.severity().as_str()
    )?;
    writeln!(out, "{}", code.page().trim_end())?;
    Ok(())
}
