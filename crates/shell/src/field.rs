//! One word of a command after expansion, and what the text determines of it.

use super::components::{Climb, Components};

/// The reason why a word is not determined by the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hole {
    None,
    /// After its beginning.
    Within,
    /// From its first character on.
    Start,
}

/// The extent to which the text determines whether a word is an option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Leading {
    /// Its beginning is determined, or comes from the environment.
    #[default]
    Determined,
    /// It begins with the name of a file.
    Named,
    /// It begins with what a program prints.
    Printed,
    Open,
    /// It begins with parts that may be empty, and goes on as an option: `$x-exec`.
    Hidden,
}

/// The known part of a variable whose value is not determined.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Partial {
    /// Its value as it is written.
    pub(super) written: String,
    /// Its value without the parts that are not determined. An expansion that may be a text of the line stays.
    pub(super) determined: String,
    /// Its value if the parts that are not determined are empty.
    pub(super) rest: String,
    /// The same, with the texts for which expansions may stand: `ete` of `${x:+ete}`.
    pub(super) filled: String,
    pub(super) leading: Leading,
    /// Whether it may be empty.
    pub(super) empty: bool,
    /// Whether a part that may be empty touches a letter, or hides an option.
    pub(super) glued: bool,
    /// Whether it may lead out of the folder before it, as a part of a path.
    pub(super) climb: Climb,
    /// Whether it is the value of one parameter that the text never assigns, or a plain word in its place.
    pub(super) environment: bool,
    /// Whether the statement that assigns it always runs.
    pub(super) always: bool,
}

/// Stands between the texts for which one part of a word may stand: the words of a loop.
pub(super) const BETWEEN: char = '\0';

/// One word of a command after expansion. Undetermined parts are in `text` as written.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) text: String,
    pub(super) hole: Hole,
    /// The text without its undetermined parts, if it has any.
    pub(super) determined: String,
    /// The text if its undetermined parts are empty.
    pub(super) rest: String,
    /// The same, with the texts for which expansions may stand.
    pub(super) filled: String,
    /// The text without the parameters that may be empty and [join](Field::joins) what stands around them.
    pub(super) closed: String,
    /// The number of parameters that may be empty, and without which a shell that reads the text takes the characters around them
    /// together: `\$x;`, `$$x(y)`, `<$x<`.
    pub(super) joins: usize,
    /// Whether the closed text lacks parameters within single quotes, which a shell that reads the text takes for words as they are
    /// written: `'$x'rm`.
    pub(super) quotes: bool,
    /// Whether all parts so far may be empty.
    pub(super) empty: bool,
    /// Whether a part that may be empty touches a letter or digit, or hides an option: `c$x`, `${x}p`, `$x-r`.
    pub(super) glued: bool,
    /// Whether the field may become several words, or none.
    pub(super) splits: bool,
    /// Whether all undetermined parts are, or were, parameters that the text never assigns.
    pub(super) environment: bool,
    /// Whether the text after the last slash is determined.
    pub(super) tail: bool,
    /// Whether the field is a pattern of file names.
    pub(super) pattern: bool,
    /// Whether it is a pattern that is no word at all if no file matches it: with `nullglob`.
    pub(super) nullable: bool,
    pub(super) tilde: bool,
    /// Set if the field is the file of a process substitution: the text that can be read from it, if known.
    pub(super) process: Option<Option<String>>,
    /// Whether the words are not listed, because they come from an unknown standard input.
    pub(super) silent: bool,
    /// Whether it may be an option. A pattern may be one as well.
    pub(super) leading: Leading,
    /// Whether it may lead out of the folder that its beginning names.
    pub(super) climb: Climb,
}

impl Field {
    pub(super) fn known(text: impl Into<String>) -> Field {
        Field {
            text: text.into(),
            hole: Hole::None,
            determined: String::new(),
            rest: String::new(),
            filled: String::new(),
            closed: String::new(),
            joins: 0,
            quotes: false,
            empty: true,
            glued: false,
            splits: false,
            environment: true,
            tail: true,
            pattern: false,
            nullable: false,
            tilde: false,
            process: None,
            silent: false,
            leading: Leading::Determined,
            climb: Climb::No,
        }
    }

    /// Returns a field for words about which nothing is known.
    pub(super) fn unseen() -> Field {
        Field {
            hole: Hole::Start,
            splits: true,
            environment: false,
            tail: false,
            silent: true,
            leading: Leading::Open,
            climb: Climb::Open,
            ..Field::known("")
        }
    }

    /// The work of a copy of the word, in bytes of text.
    pub(super) fn size(&self) -> usize {
        self.text.len() + self.rest.len() + self.filled.len() + self.closed.len() + 1
    }

    /// Returns the text without its undetermined parts. A variable counts as what the line determines of its value.
    pub(super) fn determined(&self) -> &str {
        match self.hole {
            Hole::None => &self.text,
            Hole::Within | Hole::Start => &self.determined,
        }
    }

    /// Returns the text if its undetermined parts are empty.
    pub(super) fn rest(&self) -> &str {
        match self.hole {
            Hole::None => &self.text,
            Hole::Within | Hole::Start => &self.rest,
        }
    }

    /// Returns the text if its undetermined parts are the texts for which they may stand, or else empty.
    pub(super) fn filled(&self) -> &str {
        match self.hole {
            Hole::None => &self.text,
            Hole::Within | Hole::Start => &self.filled,
        }
    }

    /// Returns the text without the parameters that join what stands around them.
    pub(super) fn closed(&self) -> &str {
        match self.hole {
            Hole::None => &self.text,
            Hole::Within | Hole::Start => &self.closed,
        }
    }

    /// Returns the text as it is written, and, if parts that may be empty touch a letter, without them and with the texts for
    /// which they may stand.
    pub(super) fn readings(&self) -> Vec<String> {
        let mut all = vec![self.text.clone()];
        for text in [self.rest(), self.filled()]
            .iter()
            .flat_map(|one| one.split(BETWEEN))
        {
            if self.glued && !all.iter().any(|one| one == text) {
                all.push(text.to_owned());
            }
        }
        all
    }

    /// Whether the text determines the whole field.
    pub(super) fn is_known(&self) -> bool {
        self.hole == Hole::None
            && self.environment
            && !self.pattern
            && !self.tilde
            && self.process.is_none()
    }

    /// Whether it may be an option, and whose text that would be.
    pub(super) fn leading(&self) -> Leading {
        let first = self.text.chars().next();
        match first {
            Some('-') if self.pattern => Leading::Open,
            Some('*' | '?' | '[') if self.pattern => self.leading.max(Leading::Named),
            _ => self.leading,
        }
    }

    /// Whether an option stands behind parts that may be empty.
    pub(super) fn hides_option(&self) -> bool {
        self.leading == Leading::Hidden
    }

    /// Whether the field may be no word at all: its undetermined parts are empty, or no file matches it.
    pub(super) fn may_vanish(&self) -> bool {
        let is_empty = self.splits && self.empty && self.hole != Hole::None && self.rest.is_empty();
        !self.silent && (self.nullable || is_empty)
    }

    /// Returns the words that the field is if it is this text, its own without its undetermined parts; of an assignment (`assigns`),
    /// those of the name are left out. The words of a loop count as several. What a word is that a variable of the line
    /// decides stays open: it is no environment.
    pub(super) fn as_text(&self, text: &str, assigns: bool) -> Vec<Field> {
        let is_blank = |c: char| c.is_ascii_whitespace();
        if let (Some((name, _)), Some((_, value))) =
            (text.split_once('='), self.text.split_once('='))
            && assigns
            && value.contains(['$', '`'])
            && !(self.splits && text.contains(is_blank))
        {
            return vec![Field {
                text: format!("{name}={value}"),
                hole: Hole::Within,
                leading: Leading::Determined,
                glued: false,
                ..self.clone()
            }];
        }
        let is_end = |c: char| c == BETWEEN || self.splits && is_blank(c);
        let words = text.split(is_end).filter(|word| !word.is_empty());
        let words = words.map(|word| Field {
            pattern: self.pattern,
            nullable: self.nullable,
            tilde: self.tilde,
            climb: self.climb,
            environment: self.environment,
            ..Field::known(word)
        });
        words.collect()
    }

    /// Whether the field may become other words than the written one.
    pub(super) fn may_split(&self) -> bool {
        self.splits && !self.environment
    }

    /// Returns the word in which another one stands for a mark. Behind parts that may be empty the mark is its beginning as well.
    pub(super) fn replaced(&self, mark: &str, by: &Field) -> Field {
        if !self.text.contains(mark) {
            return self.clone();
        }
        let whole = self.text == mark;
        let begins = self.text.starts_with(mark) || self.rest().starts_with(mark);
        let ends = self
            .text
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .contains(mark);
        let is_option = |text: &str| text.starts_with(['-', '+']);
        let behind = self.rest().trim_start_matches(mark);
        let hides = self.hole != Hole::None && is_option(by.rest())
            || by.hole != Hole::None && (is_option(by.rest()) || is_option(behind));
        let hole = match by.hole {
            Hole::None => Hole::None,
            _ if self.text.starts_with(mark) => Hole::Start,
            _ => Hole::Within,
        };
        let text = self.text.replace(mark, &by.text);
        let climb = match by.hole {
            Hole::None => Components::of(&text, self.pattern),
            _ => Climb::Open,
        };
        Field {
            hole: hole.max(self.hole),
            determined: self.determined().replace(mark, by.determined()),
            rest: self.rest().replace(mark, by.rest()),
            filled: self.filled().replace(mark, by.filled()),
            closed: self.closed().replace(mark, by.closed()),
            joins: self.joins + by.joins,
            quotes: self.quotes || by.quotes,
            empty: self.empty && by.empty,
            glued: self.glued || by.glued || begins && hides,
            splits: self.splits || whole && by.splits,
            environment: self.environment && by.environment,
            tail: self.tail && (by.tail || !ends),
            pattern: self.pattern || by.pattern,
            nullable: self.nullable || by.nullable,
            tilde: self.tilde || begins && by.tilde,
            process: self
                .process
                .clone()
                .or_else(|| by.process.clone().filter(|_| whole)),
            silent: self.silent,
            leading: match begins {
                true if hides => Leading::Hidden,
                true => self.leading.max(by.leading()),
                false => self.leading,
            },
            climb: self.climb.max(climb),
            text,
        }
    }
}
