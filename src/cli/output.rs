//! The output of reports: the terminal, a pipe, or a file that is replaced atomically.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use super::durable::files::Replacement;
use super::durable::state::Sync;
use super::failure::Failure;
use super::progress::Clearing;
use crate::inert::{self, Colours};
use crate::report::Paint;

/// An open output.
pub(super) struct Output {
    target: Target,
    /// The use of colours.
    pub(super) paint: Paint,
}

/// The place to which an output goes.
enum Target {
    Stream(Box<dyn Write + Send>),
    File(BufWriter<Replacement>),
}

/// Rejects an output path that names an input.
///
/// # Errors
/// It names one of the inputs.
pub(super) fn spares<P: AsRef<Path>>(
    output: Option<&Path>,
    inputs: impl IntoIterator<Item = P>,
) -> Result<(), Failure> {
    let Some(output) = output.and_then(|path| std::fs::canonicalize(path).ok()) else {
        return Ok(());
    };
    let is_read = |input: P| {
        let input = std::fs::canonicalize(input).ok();
        input.is_some_and(|input| input == output && input.is_file())
    };
    if inputs.into_iter().any(is_read) {
        let path = output.display();
        return Err(Failure::Usage(format!(
            "`{path}` is an input file: choose another output file"
        )));
    }
    Ok(())
}

impl Output {
    /// Returns the file `path`, or standard output without one (or for `-`).
    pub(super) fn open(path: Option<&Path>) -> Result<Output, Failure> {
        match path {
            Some(path) if path != Path::new("-") => {
                let failed = |error: io::Error| {
                    Failure::Usage(format!("cannot write `{}`: {error}", path.display()))
                };
                // A device or a pipe is written directly; a link is kept and its target is replaced.
                let path = match std::fs::metadata(path) {
                    Ok(found) if !found.is_file() => {
                        let file = File::create(path).map_err(failed)?;
                        let stream = Target::Stream(Box::new(BufWriter::new(file)));
                        return Ok(Output::new(stream, Paint::PLAIN));
                    }
                    Ok(_) => std::fs::canonicalize(path).map_err(failed)?,
                    Err(_) => path.to_owned(),
                };
                let made = Replacement::of_named(path).map_err(failed)?;
                let file = Target::File(BufWriter::new(made));
                Ok(Output::new(file, Paint::PLAIN))
            }
            _ => {
                let paint = Paint {
                    colour: colour(io::stdout().is_terminal()),
                };
                let stream = Target::Stream(Box::new(Inert::new(io::stdout(), paint)));
                Ok(Output::new(stream, paint))
            }
        }
    }

    fn new(target: Target, paint: Paint) -> Output {
        Output { target, paint }
    }

    /// Returns the standard output for exact file contents; they are still not written raw to a terminal.
    pub(super) fn exact() -> Result<Output, Failure> {
        let mut output = Output::open(None)?;
        if !io::stdout().is_terminal() {
            output.target = Target::Stream(Box::new(BufWriter::new(io::stdout())));
        }
        Ok(output)
    }

    /// Flushes the output, and puts a file in its place.
    pub(super) fn close(self) -> Result<(), Failure> {
        match self.target {
            Target::Stream(mut stream) => stream.flush()?,
            Target::File(file) => {
                let file = file.into_inner().map_err(|error| error.into_error())?;
                let path = file.path().display().to_string();
                file.finish(Sync::System)
                    .map_err(|error| Failure::Usage(format!("cannot write `{path}`: {error}")))?;
            }
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Stream(stream) => stream.write(bytes),
            Target::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Stream(stream) => stream.flush(),
            Target::File(file) => file.flush(),
        }
    }
}

/// Writes lines for a terminal or a log with text from data and specs made inert.
struct Inert<W: Write> {
    writer: BufWriter<Clearing<W>>,
    colours: Colours,
    /// The beginning of a character that the next bytes complete.
    cut: Vec<u8>,
}

impl<W: Write> Inert<W> {
    fn new(writer: W, paint: Paint) -> Inert<W> {
        Inert {
            writer: BufWriter::new(Clearing(writer)),
            colours: match paint.colour {
                true => Colours::Kept,
                false => Colours::None,
            },
            cut: Vec::new(),
        }
    }
}

impl<W: Write> Write for Inert<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let joined = match self.cut.is_empty() {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned([&self.cut, bytes].concat()),
        };
        let (whole, cut) = match std::str::from_utf8(&joined) {
            Ok(text) => (Cow::Borrowed(text), [].as_slice()),
            Err(error) => {
                let end = match error.error_len() {
                    None => error.valid_up_to(),
                    Some(_) => joined.len(),
                };
                let (whole, cut) = joined.split_at(end);
                (String::from_utf8_lossy(whole), cut)
            }
        };
        self.cut = cut.to_vec();
        let lines = inert::lines(&whole, self.colours);
        self.writer.write_all(lines.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Writes lines to standard error. Errors of writing are ignored.
pub(super) fn tell(lines: &str) {
    let mut writer = Inert::new(io::stderr(), stderr_paint());
    let _ = writer
        .write_all(lines.as_bytes())
        .and_then(|()| writer.flush());
}

/// Returns the colours for standard error.
pub(super) fn stderr_paint() -> Paint {
    Paint {
        colour: colour(io::stderr().is_terminal()),
    }
}

/// Whether colours are used: `NO_COLOR` (set and not empty) and `TERM=dumb` turn them off.
fn colour(terminal: bool) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    terminal && !unwanted && !dumb
}
