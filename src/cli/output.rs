//! The destination of reports: the terminal, a pipe, or a file that appears whole.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::progress::Clearing;
use crate::report::Paint;

/// An open output.
pub(super) struct Output {
    writer: Box<dyn Write + Send>,
    /// For a file: its temporary name, and its final name.
    rename: Option<(PathBuf, PathBuf)>,
    /// Whether it takes colours.
    pub(super) paint: Paint,
}

/// Refuses an output that would take the place of what is read.
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
                // A device or a pipe is written as it is; a link keeps pointing where it does.
                let path = match std::fs::metadata(path) {
                    Ok(found) if !found.is_file() => {
                        let writer = Box::new(BufWriter::new(File::create(path).map_err(failed)?));
                        return Ok(Output {
                            writer,
                            rename: None,
                            paint: Paint::PLAIN,
                        });
                    }
                    Ok(_) => std::fs::canonicalize(path).map_err(failed)?,
                    Err(_) => path.to_owned(),
                };
                let mut name = path.as_os_str().to_owned();
                name.push(format!(".{}.part", std::process::id()));
                let part = PathBuf::from(name);
                let file = File::create(&part).map_err(failed)?;
                Ok(Output {
                    writer: Box::new(BufWriter::new(file)),
                    rename: Some((part, path)),
                    paint: Paint::PLAIN,
                })
            }
            _ => Ok(Output {
                writer: Box::new(BufWriter::new(Clearing(io::stdout()))),
                rename: None,
                paint: Paint {
                    colour: colour(io::stdout().is_terminal()),
                },
            }),
        }
    }

    /// Writes what is left, and gives a file its name.
    pub(super) fn close(mut self) -> Result<(), Failure> {
        self.writer.flush()?;
        if let Some((part, path)) = self.rename.take() {
            std::fs::rename(&part, &path).map_err(|error| {
                Failure::Usage(format!("cannot write `{}`: {error}", path.display()))
            })?;
        }
        Ok(())
    }
}

impl Drop for Output {
    /// Removes the temporary file of a report that was not finished.
    fn drop(&mut self) {
        if let Some((part, _)) = &self.rename {
            let _ = std::fs::remove_file(part);
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Colours for the error output.
pub(super) fn stderr_paint() -> Paint {
    Paint {
        colour: colour(io::stderr().is_terminal()),
    }
}

/// `NO_COLOR` (set and not empty) and `TERM=dumb` say no.
fn colour(terminal: bool) -> bool {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    terminal && !unwanted && !dumb
}
