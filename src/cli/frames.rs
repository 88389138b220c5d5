//! Messages prefixed by their length, as in the Language Server Protocol and the Debug Adapter Protocol.

use std::io::{self, BufRead, Read, Write};

/// The longest message, in bytes.
const MESSAGE: u64 = 64 << 20;

/// The longest line of a header, in bytes.
const HEADER: u64 = 8 << 10;

/// Reads the next message: its bytes, or the reason why it was skipped. Returns `None` at the end of the input.
///
/// # Errors
/// The input cannot be read.
pub(super) fn read(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, String>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            break;
        }
        let field = text.split_once(": ");
        let Some((name, value)) = field.filter(|_| line.ends_with(b"\n")) else {
            return Ok(Some(Err(format!("malformed header: {text:?}"))));
        };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.parse::<u64>());
        }
    }
    let length = match length {
        Some(Ok(length)) => length,
        Some(Err(error)) => return Ok(Some(Err(format!("malformed Content-Length: {error}")))),
        None => return Ok(Some(Err("a message without Content-Length".to_owned()))),
    };
    let mut body = input.take(length);
    if length > MESSAGE {
        io::copy(&mut body, &mut io::sink())?;
        let why = format!("a message of {length} bytes; the limit is {MESSAGE}");
        return Ok(Some(Err(why)));
    }
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    // The input ended within the message.
    let is_whole = bytes.len() as u64 == length;
    Ok(is_whole.then_some(Ok(bytes)))
}

/// Writes a message with its length before it.
///
/// # Errors
/// The output cannot be written.
pub(super) fn write(output: &mut impl Write, message: &[u8]) -> io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", message.len())?;
    output.write_all(message)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut input: &[u8]) -> Vec<Result<Vec<u8>, String>> {
        std::iter::from_fn(|| read(&mut input).expect("bytes can be read")).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut bytes = Vec::new();
        write(&mut bytes, b"{}").expect("bytes can be written");
        write(&mut bytes, b"").expect("bytes can be written");
        assert_eq!(all(&bytes), [Ok(b"{}".to_vec()), Ok(Vec::new())]);
    }

    #[test]
    fn what_cannot_be_read_is_skipped() {
        let bytes = b"hello\r\nContent-Length: x\r\n\r\nX: y\r\n\r\nContent-Length: 2\r\n\r\n{}Content-Length: 9\r\n\r\n{}";
        let found = all(bytes);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found[..3].iter().all(Result::is_err), "{found:?}");
        assert_eq!(found[3], Ok(b"{}".to_vec()));
    }

    #[test]
    fn a_message_beyond_the_limit_is_skipped_as_a_whole() {
        let head = format!("Content-Length: {}\r\n\r\n", MESSAGE + 1);
        let tail = b"Content-Length: 2\r\n\r\n{}";
        let body = io::repeat(b'x').take(MESSAGE + 1);
        let input = head.as_bytes().chain(body).chain(&tail[..]);
        let mut input = io::BufReader::new(input);
        assert!(matches!(read(&mut input), Ok(Some(Err(_)))));
        assert!(matches!(read(&mut input), Ok(Some(Ok(_)))));
        assert!(matches!(read(&mut input), Ok(None)));
    }
}
