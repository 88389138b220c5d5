//! The closed part of English that carries the form of a requirement: function words, modal verbs, connectives and fixed
//! phrases, each with its [`Tag`]. Nothing here knows of a domain.

mod deontic;
mod filler;
mod relation;
mod timing;
pub(super) mod vague;
pub(super) mod verbs;
pub(super) mod words;

/// What a function word or a fixed phrase does in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tag {
    // What is asked for.
    /// `must`, `shall`, `has to`
    Must,
    /// `must not`, `may not`
    MustNot,
    /// `may`, `can`, `is allowed to`
    May,
    /// `never`, `under no circumstances`
    Never,
    /// `always`, `at all times`
    Always,
    /// After what is forbidden: `is prohibited`, `must not happen`
    Forbidden,
    /// After what is allowed or only allowed: `is permitted`
    Allowed,
    /// Before what is forbidden: `it is not OK to`, `avoid`
    Forbid,
    /// Before what is required: `make sure that`
    Ensure,
    /// After the description of a breach: `that's a violation`
    Breach,
    /// `only`, `solely`, `exclusively`
    Only,
    /// `is limited to`, `is confined to`
    Confined,
    /// `nothing else`, `and no others`
    NothingElse,
    /// `not`
    Not,
    /// `no`, `none of the`
    No,
    /// `nobody`, `nothing`
    Nobody,
    /// `each`, `every`, `all`
    Every,
    /// `any`
    Any,

    // What a subordinate clause does.
    /// `if`, `in case`, `where`
    If,
    /// `when`, `whenever`, `upon`, `every time`
    When,
    /// `once`, `as soon as`
    Once,
    /// `after`, `following`
    After,
    /// `from the moment`, `between`
    From,
    /// `before`, `prior to`
    Before,
    /// `until`, `till`
    Until,
    /// `unless`, `except when`
    Unless,
    /// `while`, `as long as`
    While,
    /// `without`
    Without,
    /// `outside`, `behind the back of`: not within, where a place stands for a condition
    Outside,
    /// `except`, `other than`, before what is let through
    Except,
    /// `since`
    Since,
    /// `with`, where it follows `only`
    With,
    /// `right before`, `directly before`
    RightBefore,
    /// `right after`
    RightAfter,
    /// `the step before`, in front of what it is before
    StepBefore,
    /// `the step after`
    StepAfter,

    // How two events lie to one another.
    /// `is followed by`
    Followed,
    /// `is preceded by`
    Preceded,
    /// `is immediately followed by`
    DirectlyFollowed,
    /// `is immediately preceded by`
    DirectlyPreceded,
    /// `and afterwards`, `and then`
    AndThen,
    /// `requires`, `needs`
    Requires,
    /// `that`, `which`, `who`
    Relative,
    /// `and`
    And,
    /// `or`
    Or,
    /// `then`, after a condition
    Then,
    /// `but`
    But,

    // When.
    /// `within 5 steps`, with the measure
    Within,
    /// `for longer than 5 steps`
    Longer,
    /// `for at least 5 steps`
    Lasting,
    /// `after 5 steps`, said of what did not come
    AfterDelay,
    /// `at most 10 minutes old`
    Fresh,
    /// `at least 5 steps after`: not sooner
    NotSooner,
    /// `in the next step`
    Next,
    /// `in the step before`
    Previous,
    /// `eventually`, `sooner or later`
    Eventually,
    /// `at some point`
    SomePoint,
    /// `must end with`
    EndWith,
    /// `must begin with`
    BeginWith,
    /// `beforehand`, `earlier`
    Earlier,
    /// `first`
    First,
    /// `already`
    Already,
    /// `again`
    Again,
    /// `from then on`, `for the rest of the run`
    Onwards,
    /// `at the same time`
    Same,
    /// `own`, `separate`: not shared with another event
    Own,

    // How often.
    /// `at most 3 times`
    AtMost,
    /// `at most 3`, before what is counted
    AtMostOf,
    /// `more than twice`
    MoreThan,
    /// `at least twice`
    AtLeast,
    /// `twice`, without a comparison
    Times,

    // How likely.
    /// `the probability of`
    Probability,

    /// `no matter how`, `irrespective of`: what follows changes nothing
    Irrelevant,
    /// Says nothing about form: `ever`, `in any way`
    Filler,
}

/// All phrases with their tags. Of several that fit, the longest counts, and of those the first.
pub(super) fn phrases() -> impl Iterator<Item = &'static (&'static str, Tag)> {
    [
        deontic::PHRASES,
        relation::PHRASES,
        timing::PHRASES,
        filler::PHRASES,
    ]
    .into_iter()
    .flatten()
}
