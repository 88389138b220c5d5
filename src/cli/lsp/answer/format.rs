//! Formatting, as changes of white space if the words stay the same.

use lsp_types::{DocumentFormattingParams, DocumentRangeFormattingParams, Range, TextEdit};

use super::super::convert;
use super::super::documents::Documents;
use crate::source::{FileId, SourceFile, Span};
use crate::syntax;

pub(in super::super) fn formatting(
    documents: &mut Documents,
    params: DocumentFormattingParams,
) -> Option<Vec<TextEdit>> {
    let file = documents.analysis(&params.text_document.uri)?.file();
    edits(file)
}

/// Returns the changes of formatting the whole text that lie within a range of lines.
pub(in super::super) fn range_formatting(
    documents: &mut Documents,
    params: DocumentRangeFormattingParams,
) -> Option<Vec<TextEdit>> {
    let file = documents.analysis(&params.text_document.uri)?.file();
    let Range { start, end } = params.range;
    // The white space before the first word may begin on the line before.
    let inside = |edit: &TextEdit| start <= edit.range.end && edit.range.end <= end;
    Some(edits(file)?.into_iter().filter(inside).collect())
}

/// Returns the changes that lay a text out; `None` if it does not parse. Its line ends are kept.
fn edits(file: &SourceFile) -> Option<Vec<TextEdit>> {
    let mut formatted = syntax::format_file(file).ok()?;
    if file.text().contains("\r\n") {
        formatted = formatted.replace('\n', "\r\n");
    }
    let changes = differences(file.text(), &formatted);
    let edit = |(start, end, text): (usize, usize, &str)| {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(FileId(0), offset(start), offset(end));
        TextEdit::new(convert::range(file, span), text.to_owned())
    };
    Some(changes.into_iter().map(edit).collect())
}

/// Returns the replacements that turn one text into the other. If both consist of the same words, they are runs of white space,
/// otherwise one range from the first difference to the last.
fn differences<'n>(old: &str, new: &'n str) -> Vec<(usize, usize, &'n str)> {
    let (was, is) = (words(old), words(new));
    let text = |of: &str, words: &[(usize, usize)], at: usize| -> String {
        words
            .get(at)
            .map_or(String::new(), |(start, end)| of[*start..*end].to_owned())
    };
    let same =
        was.len() == is.len() && (0..was.len()).all(|at| text(old, &was, at) == text(new, &is, at));
    if !same {
        return whole(old, new).into_iter().collect();
    }
    let gaps = |of: &str, words: &[(usize, usize)]| -> Vec<(usize, usize)> {
        let starts = std::iter::once(0).chain(words.iter().map(|(_, end)| *end));
        let ends = words.iter().map(|(start, _)| *start).chain([of.len()]);
        starts.zip(ends).collect()
    };
    let pairs = gaps(old, &was).into_iter().zip(gaps(new, &is));
    pairs
        .filter(|((a, b), (c, d))| old[*a..*b] != new[*c..*d])
        .map(|((a, b), (c, d))| (a, b, &new[c..d]))
        .collect()
}

/// Returns the ranges of the words of a text, which are separated by white space.
fn words(text: &str) -> Vec<(usize, usize)> {
    let start = text.as_ptr() as usize;
    let all = text.split_ascii_whitespace();
    all.map(|word| {
        let at = word.as_ptr() as usize - start;
        (at, at + word.len())
    })
    .collect()
}

/// Returns one change from the first difference to the last one.
fn whole<'n>(old: &str, new: &'n str) -> Option<(usize, usize, &'n str)> {
    if old == new {
        return None;
    }
    let same = |a: &[u8], b: &[u8]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let mut head = same(old.as_bytes(), new.as_bytes());
    while !old.is_char_boundary(head) || !new.is_char_boundary(head) {
        head -= 1;
    }
    let tails = old.bytes().rev().zip(new.bytes().rev());
    let mut tail = tails.take_while(|(a, b)| a == b).count();
    tail = tail.min(old.len() - head).min(new.len() - head);
    while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    Some((head, old.len() - tail, &new[head..new.len() - tail]))
}
