//! Signature help: the parameters of the call at the cursor.

use super::declaration::params;
use super::{Analysis, vocabulary};
use crate::doc;
use crate::source::Span;
use crate::syntax::lexer::{self, Lexeme};
use crate::syntax::token::Token;

/// A call form with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The form: `slice(x, from, to)`.
    pub label: String,
    /// The parameters, as ranges of bytes of the label.
    pub params: Vec<std::ops::Range<usize>>,
    /// The parameter at the cursor; beyond the last one if there are more arguments.
    pub active: usize,
    /// The documentation, in Markdown.
    pub docs: String,
}

impl Analysis {
    /// Returns the form of the innermost call whose arguments contain an offset, if its callee is known.
    pub fn signature(&self, offset: u32) -> Option<Signature> {
        let text = self.file().text();
        let lexed = lexer::lex(text.get(..offset as usize)?, 0);
        let (callee, mut active) = open_call(&lexed.tokens)?;
        let name = text.get(callee.start as usize..callee.end as usize)?;
        let linked = self.definition(callee.start).map(|meant| meant.target);
        let (label, docs) = match linked.or_else(|| self.declared_as(name)) {
            Some(target) => {
                let declaration = self.declarations.get(target)?;
                let module = self.checked.project.modules.get(declaration.module)?;
                let item = module.tree.items.get(declaration.item)?;
                let (first, last) = (params(&item.kind).first()?, params(&item.kind).last()?);
                let end = |param: &crate::syntax::ast::Param| {
                    let default = param.default.as_ref().map(|default| *default.span);
                    let ty = param.ty.as_ref().map(|ty| *ty.span);
                    default.or(ty).unwrap_or(*param.name.span)
                };
                let list = self.sources().slice(first.name.span.to(end(last)));
                let list: Vec<&str> = list.split_whitespace().collect();
                let name = item.kind.name()?;
                (format!("{name}({})", list.join(" ")), doc::docs(&item.docs))
            }
            None => {
                let row = vocabulary::function(name)?;
                let form = vocabulary::call_form(name)?;
                // `words.slice(1, 2)` is `slice(words, 1, 2)`.
                let is_member = text[..callee.start as usize].trim_end().ends_with('.');
                active += usize::from(is_member && form.starts_with(name));
                (form.to_owned(), row.meaning.clone())
            }
        };
        Some(Signature {
            params: ranges(&label),
            label,
            active,
            docs,
        })
    }
}

impl Analysis {
    /// Returns the name in the declaration of an item of this name, searching the spec first. An item that is being typed has
    /// no links.
    fn declared_as(&self, name: &str) -> Option<Span> {
        let modules = self.checked.project.modules.iter();
        let mut names = modules
            .flat_map(|module| &module.tree.items)
            .filter_map(|item| item.kind.name());
        names
            .find(|declared| declared.as_str() == name)
            .map(|declared| *declared.span)
    }
}

/// Returns the name before the innermost open parenthesis, and the number of commas after that parenthesis.
fn open_call(tokens: &[Lexeme]) -> Option<(&Lexeme, usize)> {
    let (mut depth, mut commas) = (0_usize, 0);
    for (at, lexeme) in tokens.iter().enumerate().rev() {
        match lexeme.token {
            Token::RParen | Token::RBracket | Token::RBrace => depth += 1,
            Token::LBracket | Token::LBrace | Token::LParen if depth > 0 => depth -= 1,
            // Elements of a list or set: the call is outside of it.
            Token::LBracket | Token::LBrace => commas = 0,
            Token::LParen => {
                let callee = tokens.get(at.checked_sub(1)?)?;
                return callee.token.is_name().then_some((callee, commas));
            }
            Token::Comma if depth == 0 => commas += 1,
            _ if lexeme.column_zero && lexeme.token.begins_item() => return None,
            _ => {}
        }
    }
    None
}

/// Returns the ranges of the parameters in `name(a, b: T = 1)`.
fn ranges(label: &str) -> Vec<std::ops::Range<usize>> {
    let Some(open) = label.find('(') else {
        return Vec::new();
    };
    let (mut depth, mut start) = (0, open + 1);
    let mut all = Vec::new();
    for (at, c) in label.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => {
                all.push(start..at);
                break;
            }
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                all.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    let trimmed = all.into_iter().map(|range: std::ops::Range<usize>| {
        let part = &label[range.clone()];
        let start = range.start + (part.len() - part.trim_start().len());
        start..start + part.trim().len()
    });
    trimmed.filter(|range| !range.is_empty()).collect()
}
