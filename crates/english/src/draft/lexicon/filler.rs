//! Phrases that add nothing to the form of a requirement.

use super::Tag::{self, *};

pub(super) const PHRASES: &[(&str, Tag)] = &[
    ("ever", Filler),
    ("please", Filler),
    (
        "strictly|absolutely|expressly|explicitly|definitely|obviously|simply|really|actually|indeed",
        Filler,
    ),
    ("in any way|form", Filler),
    ("whatsoever", Filler),
    (
        "no matter what|whether|how|who|which|when|where|if?",
        Irrelevant,
    ),
    (
        "irrespective|regardless|independent|independently of",
        Irrelevant,
    ),
    ("irrespective|regardless", Irrelevant),
    ("even if|when|though", Irrelevant),
    ("whether or not", Irrelevant),
    ("notwithstanding", Irrelevant),
    ("in spite of", Irrelevant),
    ("despite", Irrelevant),
    ("however trivial|small|urgent|large|minor", Irrelevant),
    ("whatever the", Irrelevant),
    ("at all", Filler),
    ("for|in the? rest of the run", Filler),
    (
        "in|within|during|over|for|throughout|per|in the|a|any|one|each|every|this|same|single|given|course-of? run|session|task|episode|trace|conversation|workflow",
        Filler,
    ),
    ("during the course of a|the|any run|session|task", Filler),
    ("per run|session|task|episode|trace|conversation", Filler),
    ("if it ever does|happens", Filler),
    ("that night|day|time", Filler),
    ("more than that", Filler),
    ("as a rule", Filler),
    ("in particular", Filler),
    ("of course", Filler),
    ("by policy", Filler),
    ("per|according-to policy", Filler),
    ("in turn", Filler),
    ("the said", Filler),
    ("any further", Filler),
    (
        "also|too|therefore|hence|thus|otherwise|however|moreover|furthermore|additionally",
        Filler,
    ),
    ("in|addition to? that", Filler),
    ("in addition", Filler),
];
