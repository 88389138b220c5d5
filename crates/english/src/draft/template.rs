//! The 23 templates of agent safety: which of them a requirement is an instance of.
//!
//! A template is recognised by the form of the reading and by the concepts it speaks of; each concept is a group of
//! words, one of which has to be there.

use std::collections::HashSet;
use std::sync::LazyLock;

use smol_str::SmolStr;

use super::domain::Domain;
use super::lexicon::Tag;
use super::number::Unit;
use super::reading::{Modality, Reading};
use super::stem::stem;
use super::token::{Kind, Token};
use crate::words::formula::{Logic, Unary};

/// The form of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `G (a -> b)`, `!F (a & !b)`
    Implication,
    /// `!F a`
    Never,
    /// `G (a -> X b)`
    Next,
    /// `G (a -> Y b)`
    Previous,
    /// `G (a -> F b)`
    Liveness,
    /// `!F (a & F b)`
    Sequence,
    /// `G (a -> F[1,k] b)`
    Bounded,
    /// Another one.
    Other,
}

/// A template.
#[derive(Debug)]
pub(super) struct Template {
    /// `phi7`
    pub(super) id: &'static str,
    pub(super) domain: Domain,
    pub(super) modality: Modality,
    pub(super) shape: Shape,
    /// The concepts that must all be there.
    needed: &'static [&'static str],
    /// What makes it more likely.
    helpful: &'static str,
    /// The concept of its second situation, where wording may put both into one.
    pub(super) second: usize,
    /// Whether the second situation is one that must *not* be.
    pub(super) bad: bool,
}

const MEMORY: &str = "memory store scratchpad cache knowledge recall vector notebook long-term blackboard slot entry \
     notepad recalled retrieval workspace journal kv profile index archive buffer register state";
const WRITE: &str = "write store save persist record keep retain put remember memorise memorize update modify commit \
     cache insert change alter edit mutate";
const READ: &str = "read fetch recall retrieve load lookup access consult use rely query consume dereference get \
     pull";
const PERSONAL: &str = "pii personal personally identifiable social ssn passport birth names surname identity private \
     addresses phone telephone email e-mail particulars health home biometric medical sensitive \
     contact details id-card credit card iban";
const CHECK: &str = "check validate verify staleness freshness stale fresh checksum integrity confirm vet audit \
     recheck re-check revalidate cross-check double-check inspect re-validated";
const ALLOWED: &str = "allowed approved list permitted whitelist whitelisted allowlist allowlisted registry registered \
     enumerated annex listed set catalogue catalog trusted sanctioned authorised authorized \
     permissible other else limited white-listed under confined restricted appendix vetted known only \
     inventory roster cleared accepted nothing except no";
const APPROVE: &str = "approve approval authorise authorize authorisation sign-off signoff permission ok okay clearance \
     consent green nod go-ahead grant cleared agree blessing";
const RISKY: &str = "high-risk risk risky dangerous hazardous destructive privileged irreversible transfer delete \
     drop sensitive tool operation funds critical perilous unsafe";
const SKILL: &str =
    "skill plugin connector capability extension integration add-on plug-in ocr module";

/// The templates in order.
pub(super) const TEMPLATES: &[Template] = &[
    Template {
        id: "phi1",
        domain: Domain::Memory,
        modality: Modality::Invariant,
        shape: Shape::Implication,
        needed: &[PERSONAL, MEMORY],
        helpful: WRITE,
        second: 0,
        bad: true,
    },
    Template {
        id: "phi2",
        domain: Domain::Memory,
        modality: Modality::Liveness,
        shape: Shape::Liveness,
        needed: &[READ, CHECK],
        helpful: MEMORY,
        second: 1,
        bad: false,
    },
    Template {
        id: "phi3",
        domain: Domain::Memory,
        modality: Modality::Invariant,
        shape: Shape::Next,
        needed: &[
            "full capacity exhaust exhaustion overflow fill saturated brim limit filled",
            "flush drain compact empty clear purge evict summarise summarize dump truncate compress offload \
     trim spill",
        ],
        helpful: "buffer context queue window memory cache",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi4",
        domain: Domain::Memory,
        modality: Modality::Invariant,
        shape: Shape::Next,
        needed: &[
            WRITE,
            "acknowledge acknowledgement ack confirm confirmation ok receipt acked",
        ],
        helpful: MEMORY,
        second: 1,
        bad: false,
    },
    Template {
        id: "phi5",
        domain: Domain::Memory,
        modality: Modality::Forbid,
        shape: Shape::Never,
        needed: &[
            READ,
            "uninitialized uninitialised unset initialise initialize undefined unwritten written unassigned \
     wrote uninitialised assigned populated unpopulated",
        ],
        helpful: "memory variable slot register key cell address field location buffer nobody",
        second: 1,
        bad: true,
    },
    Template {
        id: "phi6",
        domain: Domain::Memory,
        modality: Modality::Invariant,
        shape: Shape::Implication,
        needed: &[WRITE, "mutex lock lease semaphore exclusive latch"],
        helpful: "shared common team memory blackboard concurrent",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi7",
        domain: Domain::Tool,
        modality: Modality::Invariant,
        shape: Shape::Previous,
        needed: &[APPROVE],
        helpful: RISKY,
        second: 0,
        bad: false,
    },
    Template {
        id: "phi8",
        domain: Domain::Tool,
        modality: Modality::Forbid,
        shape: Shape::Sequence,
        needed: &[
            "delete deletion erase remove purge wipe destroy drop erasure removal shred discard trash",
            "email e-mail mail mailing message newsletter",
        ],
        helpful: "send afterwards data record outbound",
        second: 1,
        bad: true,
    },
    Template {
        id: "phi9",
        domain: Domain::Tool,
        modality: Modality::Allowlist,
        shape: Shape::Implication,
        needed: &["tool function command api utility call instrument", ALLOWED],
        helpful: "call use tool function",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi10",
        domain: Domain::Tool,
        modality: Modality::Invariant,
        shape: Shape::Implication,
        needed: &[
            "code script python snippet shell execute command program run binary notebook bash interpreter \
     executable",
            "sandbox sandboxed isolation container gvisor jail vm isolated chroot firecracker containerised \
     containerized jailed",
        ],
        helpful: "active run execute generated",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi11",
        domain: Domain::Tool,
        modality: Modality::Allowlist,
        shape: Shape::Implication,
        needed: &[
            "network domain host http https site url connection internet web outbound browser endpoint ip \
     website hostname egress traffic socket dns address",
            ALLOWED,
        ],
        helpful: "network domain host whitelist whitelisted http allowlist",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi12",
        domain: Domain::Tool,
        modality: Modality::Forbid,
        shape: Shape::Implication,
        needed: &[
            "file write save fs disk document",
            "path directory folder location destination target",
            "validate validated check vet vetted unvetted verify sanitise sanitize unvalidated valid \
     unchecked unverified verified canonicalise canonicalize invalid clear",
        ],
        helpful: "file",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi13",
        domain: Domain::Tool,
        modality: Modality::Liveness,
        shape: Shape::Liveness,
        needed: &[
            "database db table sql insert update ledger row change write transaction record delete",
            "commit committed commited rollback roll close transaction rolled",
        ],
        helpful: "database transaction table sql ledger commit",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi14",
        domain: Domain::Mcp,
        modality: Modality::Liveness,
        shape: Shape::Liveness,
        needed: &[
            "request query question call message ask rpc enquiry",
            "response reply answer unanswered respond answered",
        ],
        helpful: "mcp server json-rpc gateway client id",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi15",
        domain: Domain::Mcp,
        modality: Modality::Allowlist,
        shape: Shape::Implication,
        needed: &[SKILL, ALLOWED],
        helpful: "invoke skill registry use",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi16",
        domain: Domain::Mcp,
        modality: Modality::Invariant,
        shape: Shape::Implication,
        needed: &[
            "authenticate authentication login sign signs log logs auth logon sign-in authorise authorize \
     connect",
            "token credential certificate api-key secret ticket passphrase",
        ],
        helpful: "skill connector plugin valid expired server",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi17",
        domain: Domain::Mcp,
        modality: Modality::Forbid,
        shape: Shape::Implication,
        needed: &[
            "chain chaining chained pipe piped pipeline compose cascade another daisy-chain daisy-chained \
     sequence composition",
            "approve approved unapproved approval clear cleared permit authorise authorised authorize \
     authorized unauthorised unauthorized ok signed vetted green-lit sanctioned unsanctioned consent \
     blessed",
        ],
        helpful: "skill plugin chain invoke",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi18",
        domain: Domain::Mcp,
        modality: Modality::Bounded,
        shape: Shape::Bounded,
        needed: &[
            "result output return deliver answer response back respond finish complete reply",
        ],
        helpful: "skill invoke invocation call ocr tool web_scrape plugin connector calling called",
        second: 0,
        bad: false,
    },
    Template {
        id: "phi19",
        domain: Domain::Human,
        modality: Modality::Bounded,
        shape: Shape::Bounded,
        needed: &[
            "confirm confirmation ok okay acknowledge approve approval sign-off countersign countersigned \
     ratify endorse validate review okayed",
        ],
        helpful: "human critical person officer member wire operator supervisor refund high-priority somebody \
     someone manager high-stakes clinician nurse payment",
        second: 0,
        bad: false,
    },
    Template {
        id: "phi20",
        domain: Domain::Human,
        modality: Modality::Forbid,
        shape: Shape::Never,
        needed: &[
            "deceptive deceptively lie lies lying misleading mislead false falsely untruthful untruthfully \
     dishonest dishonestly deceive deceit fabricate fabricated untrue falsehood falsehoods truth \
     truthful truthfully honest untruth untruths misinform bogus made-up invent deception \
     untruthfulness",
        ],
        helpful: "query question ask answer enquiry reply user response respond inquiry customer",
        second: 0,
        bad: true,
    },
    Template {
        id: "phi21",
        domain: Domain::Human,
        modality: Modality::Invariant,
        shape: Shape::Implication,
        needed: &[
            "ask request solicit collect demand inquire enquire question prompt query seek elicit gather \
     obtain",
            "consent permission agree agreed agreement opt-in opted opt consented",
        ],
        helpful: PERSONAL,
        second: 1,
        bad: false,
    },
    Template {
        id: "phi22",
        domain: Domain::Human,
        modality: Modality::Forbid,
        shape: Shape::Implication,
        needed: &[
            "escalate escalation hand-off handoff elevate",
            "supervisor manager lead boss superior head chief foreman overseer captain leader",
        ],
        helpful: "notify inform know tell aware",
        second: 1,
        bad: false,
    },
    Template {
        id: "phi23",
        domain: Domain::Human,
        modality: Modality::Invariant,
        shape: Shape::Previous,
        needed: &[
            "summary recap wrap-up summarise summarize overview digest synopsis summing rundown \
     recapitulation résumé",
        ],
        helpful: "final finish closing close end conclude submit last terminal booking",
        second: 0,
        bad: false,
    },
];

impl Template {
    /// How many concepts it needs.
    pub(super) fn concepts(&self) -> usize {
        self.needed.len()
    }
}

/// The stems of all groups, once.
type Stems = HashSet<SmolStr>;
static GROUPS: LazyLock<Vec<(Vec<Stems>, Stems)>> = LazyLock::new(|| {
    let stems = |words: &str| words.split_whitespace().map(stem).collect::<HashSet<_>>();
    TEMPLATES
        .iter()
        .map(|template| {
            (
                template.needed.iter().map(|group| stems(group)).collect(),
                stems(template.helpful),
            )
        })
        .collect()
});

/// The words of a sentence by which concepts are found; names are taken apart.
fn vocabulary(tokens: &[Token]) -> HashSet<SmolStr> {
    let mut found = HashSet::new();
    for token in tokens {
        match token.kind {
            Kind::Name => found.extend(token.low.split(['_', '.', ' ', '-']).map(stem)),
            Kind::Comma | Kind::Colon | Kind::Stop | Kind::Number(_) | Kind::Mark(Tag::Not, _) => {}
            _ => {
                found.insert(token.stem.clone());
                if token.low.contains('-') {
                    found.extend(token.low.split('-').map(stem));
                }
            }
        }
    }
    found
}

/// Whether a token belongs to the concept of the second situation.
pub(super) fn is_second(template: usize, token: &Token) -> bool {
    let second = TEMPLATES[template].second;
    GROUPS[template]
        .0
        .get(second)
        .is_some_and(|group| group.contains(&token.stem))
}

/// How well the concepts of each template are met, from 0 to 1, with whether all that is needed is there.
pub(super) fn scores(tokens: &[Token]) -> Vec<(f64, bool)> {
    let words = vocabulary(tokens);
    GROUPS
        .iter()
        .map(|(needed, helpful)| {
            let met = needed
                .iter()
                .filter(|group| !group.is_disjoint(&words))
                .count();
            let all = met == needed.len();
            let help = helpful.intersection(&words).count().min(3);
            #[expect(clippy::cast_precision_loss, reason = "a handful of groups")]
            let score = 0.6 * met as f64 / needed.len() as f64 + 0.4 * help as f64 / 3.0;
            (score, all)
        })
        .collect()
}

/// The form of a reading.
pub(super) fn shape(reading: &Reading) -> Shape {
    if reading.likelihood.is_some() || reading.count.is_some() {
        return Shape::Other;
    }
    match &reading.logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(_, b) => consequent(b),
            _ => Shape::Other,
        },
        Logic::Not(inner) => match inner.as_ref() {
            Logic::Unary(Unary::Eventually, None, scene) => match scene.as_ref() {
                Logic::And(parts) if parts.len() == 2 => match &parts[1] {
                    Logic::Not(lacks) => consequent(lacks),
                    Logic::Unary(Unary::Eventually, None, _) => Shape::Sequence,
                    Logic::Unary(Unary::Next, None, later)
                        if matches!(later.as_ref(), Logic::Unary(Unary::Eventually, None, _)) =>
                    {
                        Shape::Sequence
                    }
                    part if part.is_state() => Shape::Implication,
                    _ => Shape::Other,
                },
                Logic::Atom(_) => Shape::Never,
                Logic::Not(_) => Shape::Never,
                _ => Shape::Other,
            },
            _ => Shape::Other,
        },
        _ => Shape::Other,
    }
}

fn consequent(logic: &Logic) -> Shape {
    match logic {
        Logic::Unary(Unary::Eventually, None, _) => Shape::Liveness,
        Logic::Unary(Unary::Eventually, Some(window), _)
            if window.unit != Unit::Seconds && window.high.whole() == Some(1) =>
        {
            Shape::Next
        }
        Logic::Unary(Unary::Eventually, Some(_), inner)
            if inner.is_state() && !matches!(inner.as_ref(), Logic::Not(_)) =>
        {
            Shape::Bounded
        }
        Logic::Unary(Unary::Next, None, _) => Shape::Next,
        Logic::Unary(Unary::Previously, None, inner) if inner.is_state() => Shape::Previous,
        logic if logic.is_state() => Shape::Implication,
        _ => Shape::Other,
    }
}

/// Whether a template can be meant by a reading of this form.
pub(super) fn fits(template: &Template, shape: Shape, reading: &Reading) -> bool {
    // What is forbidden together with something lists nothing.
    if template.modality == Modality::Allowlist && together(&reading.logic) {
        return false;
    }
    template.shape == shape
        || match template.shape {
            // Wording may put both situations into one, or say of one what it is bad by.
            Shape::Implication => {
                shape == Shape::Never && template.bad
                    || shape == Shape::Liveness && reading.certainty < 0.8
            }
            // A prohibition that says in two what the template says in one.
            Shape::Never => {
                shape == Shape::Implication
                    && reading.logic.atoms().len() <= 2
                    && (matches!(reading.logic, Logic::Not(_)) || forbids(&reading.logic))
            }
            _ => false,
        }
}

/// `G (a -> !b)`
fn forbids(logic: &Logic) -> bool {
    match logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(_, b) => matches!(b.as_ref(), Logic::Not(_)),
            _ => false,
        },
        _ => false,
    }
}

/// `!F (a & b)`
fn together(logic: &Logic) -> bool {
    let Logic::Not(inner) = logic else {
        return false;
    };
    match inner.as_ref() {
        Logic::Unary(Unary::Eventually, None, scene) => match scene.as_ref() {
            Logic::And(parts) => parts.iter().all(|part| matches!(part, Logic::Atom(_))),
            _ => false,
        },
        _ => false,
    }
}
