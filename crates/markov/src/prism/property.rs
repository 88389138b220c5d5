//! Properties and properties files, in the grammar of PRISM and Storm.

use super::super::text::{TextError, TextPosition};
use super::expr::Expr;
use super::model::Constant;
use super::parser::{Parsed, Parser};
use super::token::Token;

/// A property.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The name, if it has one.
    pub name: Option<String>,
    /// The formula.
    pub formula: Expr,
    /// The source text of the formula, with whitespace normalised.
    pub text: String,
}

/// The contents of a properties file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    /// The declared constants.
    pub constants: Vec<Constant>,
    /// The declared labels.
    pub labels: Vec<(String, Expr)>,
    /// The declared formulas.
    pub formulas: Vec<(String, Expr)>,
    /// The properties, in the order of the text.
    pub properties: Vec<Property>,
}

/// Parses a properties file; a single property is valid too.
///
/// # Errors
/// The first syntax error with its position.
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

/// Returns whether the current token is the first of its line: PRISM allows omitting the semicolon at the end of a
/// line.
fn begins_line(parser: &Parser) -> bool {
    let TextPosition { line, .. } = parser.place();
    line > parser.line_of_last()
}
