//! Claims about models and systems, compared as texts.
//!
//! Whether two claims are equivalent depends on the chains or systems that they are about. A claim is known to be the same
//! if its own text is, and all of the spec that it could refer to.

use smol_str::{SmolStr, format_smolstr};

use super::{ClaimChange, Relation};
use crate::hir::{Enforce, Spec, Watched};
use crate::source::{SourceMap, Span};

/// Returns the claims that are not known to be the same.
pub(super) fn compare(old: (&Spec, &SourceMap), new: (&Spec, &SourceMap)) -> Vec<ClaimChange> {
    let text = |(_, sources): (&Spec, &SourceMap), span: Span| plain(sources.slice(span));
    let definitions = old.0.claims.is_empty() || definitions(old) == self::definitions(new);
    let mut changes = Vec::new();
    for claim in &new.0.claims {
        let before = old.0.find_claim(&claim.name).map(|id| old.0.claim(id));
        let (relation, reason) = match before {
            None => (Relation::Added, None),
            Some(before) if text(old, before.span) != text(new, claim.span) => (
                Relation::Undecided,
                Some("its text changed, and claims about models and systems are compared as texts"),
            ),
            Some(_) if !definitions => (
                Relation::Undecided,
                Some("definitions that it may refer to changed"),
            ),
            Some(_) => continue,
        };
        changes.push(ClaimChange {
            name: claim.name.clone(),
            relation,
            reason,
        });
    }
    for claim in &old.0.claims {
        if new.0.find_claim(&claim.name).is_none() {
            changes.push(ClaimChange {
                name: claim.name.clone(),
                relation: Relation::Removed,
                reason: None,
            });
        }
    }
    for (side, relation) in [(0, Relation::Removed), (1, Relation::Added)] {
        let (this, other) = if side == 0 { (old, new) } else { (new, old) };
        let known = clauses(other);
        let unknown = clauses(this)
            .into_iter()
            .filter(|clause| !known.contains(clause));
        changes.extend(unknown.map(|(name, _)| ClaimChange {
            name: format_smolstr!("enforce on {name}"),
            relation,
            reason: None,
        }));
    }
    changes
}

/// Returns the clauses that watch claims: the name of the claim, and the text of the clause.
fn clauses((spec, sources): (&Spec, &SourceMap)) -> Vec<(SmolStr, String)> {
    let of = |clause: &Enforce| match clause.watched {
        Watched::Query(claim) => {
            let name = spec.claim(claim).name.clone();
            Some((name, plain(sources.slice(clause.span))))
        }
        _ => None,
    };
    spec.enforces.iter().filter_map(of).collect()
}

/// Returns the text of a spec without what no claim refers to: claims themselves, tests and clauses.
fn definitions((spec, sources): (&Spec, &SourceMap)) -> Vec<String> {
    let claims = spec.claims.iter().map(|claim| claim.span);
    let tests = spec.tests.iter().map(|test| test.span);
    let clauses = spec.enforces.iter().map(|clause| clause.span);
    let mut spans: Vec<Span> = claims.chain(tests).chain(clauses).collect();
    spans.sort_by_key(|span| (span.file, span.start));
    let rest = |file: &crate::source::SourceFile| {
        let mut text = String::new();
        let mut at = 0;
        for span in spans.iter().filter(|span| span.file == file.id()) {
            text.push_str(file.text().get(at..span.range().start).unwrap_or(""));
            at = at.max(span.range().end);
        }
        text.push_str(file.text().get(at..).unwrap_or(""));
        plain(&text)
    };
    sources.iter().map(rest).collect()
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
