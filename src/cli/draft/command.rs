//! A command as a language model: it reads the prompt from standard input and writes the answer to standard output.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use guard_english::language_model::{ANSWER_BYTES, Question};
use rustix::process::{Pid, Signal, kill_process_group};

/// The polling interval for a running command.
const POLL: Duration = Duration::from_millis(10);
/// The greatest number of bytes of the error output that a message repeats.
const ERROR_BYTES: usize = 400;
/// The time within which the output must be complete after the command has ended.
const LINGER: Duration = Duration::from_secs(1);

/// A command line for `sh -c`.
pub(super) struct Command {
    line: String,
}

/// A running command. Its whole process group is killed when it is dropped, so that no part of it outlives the answer.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let group = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.0.wait();
    }
}

impl Command {
    pub(super) fn new(line: &str) -> Command {
        Command {
            line: line.to_owned(),
        }
    }

    /// Returns the name of the model in the log.
    pub(super) fn name(&self) -> String {
        format!("command: {}", self.line)
    }

    /// Runs the command with a prompt.
    ///
    /// # Errors
    /// The command cannot be started, fails, exceeds the time limit, or prints too much.
    pub(super) fn answer(
        &self,
        question: &Question<'_>,
        patience: Duration,
    ) -> Result<String, String> {
        let begin = Instant::now();
        let spawned = std::process::Command::new("sh")
            .arg("-c")
            .arg(&self.line)
            .env("GUARD_SAMPLE", question.sample.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn();
        let child = spawned.map_err(|error| format!("the command cannot be started: {error}"))?;
        let mut running = Running(child);
        let prompt = format!("{}\n{}", question.instructions, question.text);
        if let Some(mut stdin) = running.0.stdin.take() {
            // A command may answer without reading all of its input, so write errors are ignored.
            thread::spawn(move || stdin.write_all(prompt.as_bytes()));
        }
        let output = read(running.0.stdout.take(), ANSWER_BYTES + 1);
        let errors = read(running.0.stderr.take(), ERROR_BYTES);
        let late = || format!("no answer within {} seconds", patience.as_secs());
        let left = || patience.saturating_sub(begin.elapsed());
        let answer = match output.recv_timeout(left()) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => return Err(late()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err("the answer cannot be read".to_owned());
            }
        };
        if answer.len() > ANSWER_BYTES {
            return Err(format!("the answer is longer than {ANSWER_BYTES} bytes"));
        }
        let status = loop {
            match running.0.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if left().is_zero() => return Err(late()),
                Ok(None) => thread::sleep(POLL),
                Err(error) => return Err(format!("the command was lost: {error}")),
            }
        };
        if !status.success() {
            let errors = errors.recv_timeout(LINGER).unwrap_or_default();
            return Err(failed(status, &String::from_utf8_lossy(&errors)));
        }
        String::from_utf8(answer).map_err(|_| "the answer is not UTF-8".to_owned())
    }
}

fn failed(status: ExitStatus, errors: &str) -> String {
    let how = match status.code() {
        Some(code) => format!("the command failed with exit code {code}"),
        None => "the command was ended by a signal".to_owned(),
    };
    let errors: Vec<&str> = errors.split_whitespace().collect();
    if errors.is_empty() {
        how
    } else {
        format!("{how}: {}", errors.join(" "))
    }
}

/// Reads an output to its end on a thread of its own. At most `limit` bytes are kept; the rest of the error output is read and dropped,
/// and an answer that is too long is returned at once.
fn read(source: Option<impl Read + Send + 'static>, limit: usize) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut source) = source {
            let mut block = [0; 8192];
            loop {
                match source.read(&mut block) {
                    Ok(0) => break,
                    Ok(count) => {
                        let room = limit.saturating_sub(kept.len()).min(count);
                        kept.extend_from_slice(&block[..room]);
                        if kept.len() == limit && limit > ANSWER_BYTES {
                            break;
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        let _ = sender.send(kept);
    });
    receiver
}
