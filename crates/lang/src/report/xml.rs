//! The document of JUnit XML: suites of cases.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;

/// A document, for example of `guard audit`.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) name: &'static str,
    pub(super) suites: Vec<Suite>,
}

/// A suite of cases with properties as pairs of name and value.
#[derive(Debug, Default)]
pub(super) struct Suite {
    pub(super) name: String,
    pub(super) properties: Vec<(&'static str, String)>,
    pub(super) cases: Vec<Case>,
}

/// A test case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) status: Status,
    pub(super) took: Option<Duration>,
    pub(super) output: Option<String>,
}

/// The outcome of a case.
#[derive(Debug)]
pub(super) enum Status {
    Success,
    Skipped(String),
    Failure(Details),
    Error(Details),
}

/// The text of a failure or error.
#[derive(Debug, Default)]
pub(super) struct Details {
    pub(super) message: String,
    pub(super) class: Option<&'static str>,
    pub(super) text: String,
}

/// The number of cases, of skipped ones, of errors and of failures.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    tests: usize,
    skipped: usize,
    errors: usize,
    failures: usize,
}

impl Document {
    /// Writes the document.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut all = Counts::default();
        for counts in self.suites.iter().map(Suite::counts) {
            all.tests += counts.tests;
            all.skipped += counts.skipped;
            all.errors += counts.errors;
            all.failures += counts.failures;
        }
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"{}\" tests=\"{}\" skipped=\"{}\" failures=\"{}\" errors=\"{}\">",
            escaped(self.name),
            all.tests,
            all.skipped,
            all.failures,
            all.errors
        )?;
        for suite in &self.suites {
            suite.write(out)?;
        }
        writeln!(out, "</testsuites>")
    }
}

impl Suite {
    fn counts(&self) -> Counts {
        let count = |of: fn(&Status) -> bool| {
            let cases = self.cases.iter();
            cases.filter(|case| of(&case.status)).count()
        };
        Counts {
            tests: self.cases.len(),
            skipped: count(|status| matches!(status, Status::Skipped(_))),
            errors: count(|status| matches!(status, Status::Error(_))),
            failures: count(|status| matches!(status, Status::Failure(_))),
        }
    }

    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let counts = self.counts();
        writeln!(
            out,
            "    <testsuite name=\"{}\" tests=\"{}\" skipped=\"{}\" errors=\"{}\" failures=\"{}\">",
            escaped(&self.name),
            counts.tests,
            counts.skipped,
            counts.errors,
            counts.failures
        )?;
        if !self.properties.is_empty() {
            writeln!(out, "        <properties>")?;
            for (name, value) in &self.properties {
                let value = escaped(value);
                writeln!(
                    out,
                    "            <property name=\"{name}\" value=\"{value}\"/>"
                )?;
            }
            writeln!(out, "        </properties>")?;
        }
        for case in &self.cases {
            case.write(out)?;
        }
        writeln!(out, "    </testsuite>")
    }
}

impl Case {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let (name, class) = (escaped(&self.name), escaped(&self.class));
        write!(
            out,
            "        <testcase name=\"{name}\" classname=\"{class}\""
        )?;
        if let Some(took) = self.took {
            write!(out, " time=\"{:.3}\"", took.as_secs_f64())?;
        }
        let mut inner = String::new();
        match &self.status {
            Status::Success => {}
            Status::Skipped(message) => {
                let _ = writeln!(
                    inner,
                    "            <skipped message=\"{}\"/>",
                    escaped(message)
                );
            }
            Status::Failure(details) => details.write("failure", &mut inner),
            Status::Error(details) => details.write("error", &mut inner),
        }
        if let Some(output) = &self.output {
            let _ = writeln!(
                inner,
                "            <system-out>{}</system-out>",
                escaped(output)
            );
        }
        match inner.as_str() {
            "" => writeln!(out, "/>"),
            inner => write!(out, ">\n{inner}        </testcase>\n"),
        }
    }
}

impl Details {
    fn write(&self, tag: &str, out: &mut String) {
        let _ = write!(
            out,
            "            <{tag} message=\"{}\"",
            escaped(&self.message)
        );
        if let Some(class) = self.class {
            let _ = write!(out, " type=\"{class}\"");
        }
        let _ = writeln!(out, ">{}</{tag}>", escaped(&self.text));
    }
}

/// Escapes a text for attributes and content. Characters that XML 1.0 does not allow become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
