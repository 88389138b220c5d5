//! `guard view`: the page of an audit over any number of traces, served to a browser on this machine, with a text of the spec
//! that may be changed.
//!
//! The address contains a token, without which every request is rejected. Requests from other pages and for other host names
//! are rejected too. Without `--write` nothing is written: a changed spec is checked and judged, then dropped. With it, the file
//! of the spec is the only one that is replaced.

mod audited;
mod file;
mod list;
mod server;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::failure::{Failure, Outcome};
use super::http::{ConnectionLimits, Listener};
use super::limits::LimitArgs;
use super::sources::Reading;
use super::{jobs, plot, spec};
use audited::{Audited, Input};
use file::SpecFile;
use server::View;

/// The greatest length of the text of a spec.
const TEXT: usize = 1 << 20;

const AFTER_HELP: &str = "\
Prints the address of the page; open it in a browser on this machine. The token in it is new each time. Nothing is written
without `--write`.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct ViewArgs {
    /// Spec
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Recorded traces
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Learned model, whose pictures are shown below the traces; chains that the spec loads or imports are drawn without it
    #[arg(long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    /// Let the page save the changed text of SPEC to its file
    #[arg(long)]
    write: bool,
    /// Port on 127.0.0.1; by default the system chooses one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(args: ViewArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || serve(args))
}

fn serve(args: ViewArgs) -> Result<Outcome, Failure> {
    if args.traces.iter().any(|trace| trace == "-") || args.spec.as_os_str() == "-" {
        return Err(Failure::Usage(
            "the standard input cannot be read again: give files".to_owned(),
        ));
    }
    let (spec, loaded) = spec::usable(&args.spec)?;
    let file = match args.write {
        true => Some(SpecFile::new(&args.spec, &spec, &loaded)?),
        false => None,
    };
    let (sources, missing) = args.reading.find(&args.traces)?;
    let pictures = plot::of_spec(&args.spec, args.model.as_deref())?;
    let input = Input {
        from: args.reading.format()?,
        path: args.spec,
        limits: args.limits,
        sources,
        missing,
        pictures: pictures.into_iter().map(|(_, picture)| picture).collect(),
        writes: args.write,
    };
    let audited = Audited::new(&input, spec, &loaded).map_err(Failure::Usage)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .map_err(|error| Failure::Usage(format!("cannot listen on port {}: {error}", args.port)))?;
    let listener = Listener::Tcp(listener);
    let port = listener
        .address()
        .map_or(args.port, |address| address.port());
    let token = token().map_err(|error| Failure::Usage(format!("cannot make a token: {error}")))?;
    let view = Arc::new(View::new(input, audited, &token, port, file));
    let mut out = io::stdout();
    writeln!(out, "http://127.0.0.1:{port}/{token}/")?;
    out.flush()?;
    view.prepare();
    let limits = ConnectionLimits {
        // A text as JSON may take six bytes for one.
        body: 6 * TEXT,
        clients: 32,
        patience: Duration::from_secs(30),
    };
    listener
        .serve(&view, limits)
        .map_err(|error| Failure::Usage(format!("cannot continue listening: {error}")))?;
    Ok(Outcome::Holds)
}

/// Returns a new unguessable token.
fn token() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(blake3::hash(&bytes).to_hex().as_str()[..32].to_owned())
}
