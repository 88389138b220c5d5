//! Files and streams of Arrow IPC, message by message.
//!
//! The decoder reserves the size that a compressed buffer states before it decompresses it. The sizes of a message are therefore
//! checked before the decoder sees it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{
    Block, MessageHeader, MetadataVersion, RecordBatch as Header, Schema as SchemaHeader,
    root_as_footer, root_as_message,
};
use arrow_schema::SchemaRef;

use super::{arrow, decoded};
use crate::input::limits::InputLimits;
use crate::input::open::ANY_RATIO;

/// The first bytes of a file; without them, it is a stream.
pub(super) const MAGIC: &[u8; 6] = b"ARROW1";

/// Bytes at the end of a file: the size of the footer, and the magic.
const TAIL: u64 = 10;

/// The size that a buffer states if it is not compressed although its message is.
const PLAIN: i64 = -1;

/// A file or stream, and its position.
pub(super) struct Ipc {
    from: BufReader<File>,
    len: u64,
    pub(super) schema: SchemaRef,
    decoder: FileDecoder,
    next: Next,
    limits: InputLimits,
    /// Bytes that further buffers may decompress to.
    left: u64,
}

/// The position of the next batch.
enum Next {
    /// The messages that the footer of a file lists.
    Listed(VecDeque<u64>),
    /// A stream's next message.
    At(u64),
}

/// A message with its body, and the offset after it.
struct Message {
    block: Block,
    bytes: Buffer,
    kind: MessageHeader,
    end: u64,
}

impl Ipc {
    /// Opens a file or a stream. `columns` chooses the numbers of the columns to decode (`None`: all) by the schema.
    ///
    /// # Errors
    /// It is damaged, or beyond a limit.
    pub(super) fn open(
        file: File,
        limits: &InputLimits,
        columns: impl FnOnce(&SchemaRef) -> Option<Vec<usize>>,
    ) -> io::Result<Ipc> {
        let len = file.metadata()?.len();
        let mut from = BufReader::new(file);
        let mut magic = [0; MAGIC.len()];
        from.read_exact(&mut magic)?;
        let (schema, version, dictionaries, next) = match magic == *MAGIC {
            true => footer(&mut from, len)?,
            false => {
                let (schema, end) = leading_schema(&mut from, len)?;
                // The messages of a stream may have any version.
                (schema, MetadataVersion::V1, Vec::new(), Next::At(end))
            }
        };
        let decoder = FileDecoder::new(Arc::clone(&schema), version);
        let decoder = match columns(&schema) {
            Some(columns) => decoder.with_projection(columns),
            None => decoder,
        };
        let mut ipc = Ipc {
            from,
            len,
            schema,
            decoder,
            next,
            limits: *limits,
            left: limits.decompressed_bytes,
        };
        for at in dictionaries {
            let message = ipc.message(at)?.ok_or_else(truncated)?;
            ipc.read_dictionary(&message)?;
        }
        Ok(ipc)
    }

    /// Returns the next batch, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<RecordBatch>> {
        loop {
            let message = match &mut self.next {
                Next::Listed(places) => match places.pop_front() {
                    Some(at) => Some(self.message(at)?.ok_or_else(truncated)?),
                    None => None,
                },
                Next::At(at) => {
                    let at = *at;
                    self.message(at)?
                }
            };
            let Some(message) = message else {
                return Ok(None);
            };
            if let Next::At(at) = &mut self.next {
                *at = message.end;
            }
            if message.kind == MessageHeader::DictionaryBatch {
                self.read_dictionary(&message)?;
                continue;
            }
            let batch = self
                .decoder
                .read_record_batch(&message.block, &message.bytes)
                .map_err(arrow)?;
            if batch.is_some() {
                return Ok(batch);
            }
        }
    }

    fn read_dictionary(&mut self, message: &Message) -> io::Result<()> {
        self.decoder
            .read_dictionary(&message.block, &message.bytes)
            .map_err(arrow)
    }

    /// Reads the message at an offset, or returns `None` at the end of a stream.
    ///
    /// # Errors
    /// It is truncated or damaged, or its buffers decompress to more than a limit allows.
    fn message(&mut self, at: u64) -> io::Result<Option<Message>> {
        let Some((start, metadata)) = metadata(&mut self.from, at, self.len)? else {
            return Ok(None);
        };
        let message = root_as_message(&metadata)
            .map_err(|error| io::Error::other(format!("a damaged message: {error}")))?;
        let body_at = start + metadata.len() as u64;
        let body = u64::try_from(message.bodyLength()).ok();
        let body = body.filter(|body| self.len.saturating_sub(body_at) >= *body);
        let end = body.ok_or_else(truncated)? + body_at;
        let damaged = |_| truncated();
        let bytes = read_at(&mut self.from, at, end - at)?;
        let before_body = usize::try_from(body_at - at).map_err(damaged)?;
        let header = message.header_as_record_batch().or_else(|| {
            let dictionary = message.header_as_dictionary_batch()?;
            dictionary.data()
        });
        if let Some(header) = header {
            let body = bytes.get(before_body..).unwrap_or_default();
            self.check_sizes(&header, body)?;
        }
        let block = Block::new(
            i64::try_from(at).unwrap_or(i64::MAX),
            i32::try_from(before_body).map_err(damaged)?,
            message.bodyLength(),
        );
        Ok(Some(Message {
            block,
            bytes: Buffer::from_vec(bytes),
            kind: message.header_type(),
            end,
        }))
    }

    /// Compares the sizes that the compressed buffers of a message state with the limits.
    fn check_sizes(&mut self, header: &Header<'_>, body: &[u8]) -> io::Result<()> {
        if header.compression().is_none() {
            return Ok(());
        }
        let mut stated = 0_u64;
        for buffer in header.buffers().into_iter().flatten() {
            let size = usize::try_from(buffer.offset())
                .ok()
                .filter(|_| buffer.length() > 0)
                .and_then(|at| body.get(at..)?.first_chunk())
                .map_or(0, |size| i64::from_le_bytes(*size));
            if size < PLAIN {
                return Err(io::Error::other(format!(
                    "a compressed buffer states a size of {size} bytes"
                )));
            }
            let size = match size {
                PLAIN => buffer.length(),
                size => size,
            };
            stated = stated.saturating_add(u64::try_from(size).unwrap_or(0));
        }
        let InputLimits {
            expansion,
            record_memory,
            decompressed_bytes,
            ..
        } = self.limits;
        let by_ratio = (body.len() as u64).saturating_mul(expansion);
        let beyond = |what: String| {
            Err(io::Error::other(format!(
                "the compressed buffers of a batch state {stated} bytes, more than {what}"
            )))
        };
        if stated > by_ratio.max(ANY_RATIO) {
            return beyond(format!("{expansion} times their size (limit `expansion`)"));
        }
        if stated > record_memory as u64 {
            return beyond(format!("{record_memory} (limit `record_memory`)"));
        }
        match self.left.checked_sub(stated) {
            Some(left) => self.left = left,
            None => {
                return beyond(format!(
                    "is left of {decompressed_bytes} (limit `decompressed_bytes`)"
                ));
            }
        }
        Ok(())
    }
}

fn truncated() -> io::Error {
    io::Error::other("a truncated or damaged Arrow file")
}

/// The schema of a file, its version, the offsets of its dictionaries, and its batches.
type Footer = (SchemaRef, MetadataVersion, Vec<u64>, Next);

fn footer(from: &mut BufReader<File>, len: u64) -> io::Result<Footer> {
    let at = len.checked_sub(TAIL).ok_or_else(truncated)?;
    let tail = read_at(from, at, TAIL)?;
    let size = tail.first_chunk().filter(|_| tail.ends_with(MAGIC));
    let size = u64::from(u32::from_le_bytes(*size.ok_or_else(truncated)?));
    let at = at.checked_sub(size).ok_or_else(truncated)?;
    let bytes = read_at(from, at, size)?;
    let footer = root_as_footer(&bytes)
        .map_err(|error| io::Error::other(format!("a damaged footer: {error}")))?;
    let schema = schema(footer.schema())?;
    let offset = |block: &Block| u64::try_from(block.offset()).unwrap_or(u64::MAX);
    let dictionaries = footer.dictionaries().into_iter().flatten();
    let batches = footer.recordBatches().into_iter().flatten();
    let next = Next::Listed(batches.map(offset).collect());
    let dictionaries = dictionaries.map(offset).collect();
    Ok((schema, footer.version(), dictionaries, next))
}

/// Returns the schema that a stream begins with, and the offset after it.
fn leading_schema(from: &mut BufReader<File>, len: u64) -> io::Result<(SchemaRef, u64)> {
    let (start, metadata) = metadata(from, 0, len)?.ok_or_else(truncated)?;
    let message = root_as_message(&metadata)
        .map_err(|error| io::Error::other(format!("a damaged message: {error}")))?;
    let schema = schema(message.header_as_schema())?;
    let body = u64::try_from(message.bodyLength()).map_err(|_| truncated())?;
    let end = start + metadata.len() as u64;
    Ok((schema, end.checked_add(body).ok_or_else(truncated)?))
}

fn schema(header: Option<SchemaHeader<'_>>) -> io::Result<SchemaRef> {
    let header = header.ok_or_else(|| io::Error::other("an Arrow file without a schema"))?;
    if !header.endianness().equals_to_target_endianness() {
        return Err(io::Error::other(
            "its numbers have the byte order of another kind of processor",
        ));
    }
    decoded(|| try_fb_to_schema(header).map(Arc::new).map_err(arrow))
}

/// Reads the metadata of the message at an offset: its own offset and bytes. Returns `None` at the end of a stream.
fn metadata(from: &mut BufReader<File>, at: u64, len: u64) -> io::Result<Option<(u64, Vec<u8>)>> {
    let (mut start, mut size) = (at, [0; 4]);
    // Four bytes that no size has come before the size; only old files omit them.
    for _ in 0..2 {
        if len.saturating_sub(start) < 4 {
            return Ok(None);
        }
        seek(from, start)?;
        from.read_exact(&mut size)?;
        start += 4;
        if size != [0xff; 4] {
            break;
        }
    }
    let size = u64::try_from(i32::from_le_bytes(size)).map_err(|_| truncated())?;
    match size {
        0 => Ok(None),
        size if size > len.saturating_sub(start) => Err(truncated()),
        size => Ok(Some((start, read_at(from, start, size)?))),
    }
}

/// Reads bytes that the file is known to have.
fn read_at(from: &mut BufReader<File>, at: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size).map_err(|_| truncated())?];
    seek(from, at)?;
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Moves to an offset. What was read ahead is kept, since the messages of a stream follow each other.
fn seek(from: &mut BufReader<File>, at: u64) -> io::Result<()> {
    let now = from.stream_position()?;
    match i64::try_from(i128::from(at) - i128::from(now)) {
        Ok(distance) => from.seek_relative(distance),
        Err(_) => Err(truncated()),
    }
}
