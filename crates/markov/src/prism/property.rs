//! Properties and files of properties, by PRISM's and Storm's grammar.

use super::super::text::{TextError, TextPosition};
use super::expr::Expr;
use super::model::Constant;
use super::parser::{Parsed, Parser};
use super::token::Token;

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its formula.
    pub formula: Expr,
    /// The words it was given in.
    pub text: String,
}

/// A file of properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    /// Constants that it declares.
    pub constants: Vec<Constant>,
    /// Labels that it declares.
    pub labels: Vec<(String, Expr)>,
    /// Formulas that it declares.
    pub formulas: Vec<(String, Expr)>,
    /// The properties, in order.
    pub properties: Vec<Property>,
}

/// Reads a file of properties; a single property is one too.
///
/// # Errors
/// The first thing that is not as the grammar wants it, with its place.
pub fn parse_properties(text: &str) -> Result<Properties, TextError> {
    let mut parser = Parser::new(text, true)?;
    let mut found = Properties::default();
    while *parser.peek() != Token::End {
        if parser.take(";") {
            continue;
        }
        declaration(&mut parser, text, &mut found)?;
    }
    Ok(found)
}

fn declaration(parser: &mut Parser, text: &str, found: &mut Properties) -> Parsed<()> {
    if parser.is_word("const") {
        found.constants.push(Constant::parse(parser)?);
        return Ok(());
    }
    if parser.is_word("label") {
        parser.next();
        let name = parser.text("the name of a label in quotes")?;
        parser.expect("=")?;
        found.labels.push((name, parser.expr()?));
        return parser.expect(";");
    }
    if parser.is_word("formula") {
        parser.next();
        let name = parser.name("the name of a formula")?;
        parser.expect("=")?;
        found.formulas.push((name, parser.expr()?));
        return parser.expect(";");
    }
    let mut name = None;
    if let (Token::Text(given), Token::Mark(":")) = (parser.peek(), parser.ahead(1)) {
        name = Some(given.clone());
        parser.next();
        parser.next();
    }
    let start = parser.start();
    let formula = parser.expr()?;
    let given = &text[start..parser.end_of_last()];
    if *parser.peek() != Token::End && !parser.is(";") && !begins_line(parser) {
        return Err(parser.wrong("`;` or the end of the property"));
    }
    found.properties.push(Property {
        name,
        formula,
        text: given.split_whitespace().collect::<Vec<_>>().join(" "),
    });
    Ok(())
}

/// Whether the token at hand is the first of its line: PRISM lets the semicolon be absent between lines.
fn begins_line(parser: &Parser) -> bool {
    let TextPosition { line, .. } = parser.place();
    line > parser.line_of_last()
}
