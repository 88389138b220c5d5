//! Light morphology: what the inflected forms of an English word have in common.
//!
//! A stem is no word but a key: `approve`, `approved`, `approving`, `approval` and `approvals` share one. Irregular forms
//! are listed, regular endings are cut by rule. Stems serve to recognise a phrase that is said again in another form and
//! to look words up in the lexicon; they are never shown.

use smol_str::SmolStr;

/// Forms that no rule finds, and the base form each belongs to.
const IRREGULAR: &[(&str, &str)] = &[
    ("was", "be"),
    ("were", "be"),
    ("is", "be"),
    ("are", "be"),
    ("been", "be"),
    ("being", "be"),
    ("am", "be"),
    ("has", "have"),
    ("had", "have"),
    ("having", "have"),
    ("does", "do"),
    ("did", "do"),
    ("done", "do"),
    ("went", "go"),
    ("gone", "go"),
    ("goes", "go"),
    ("wrote", "write"),
    ("written", "write"),
    ("rewritten", "rewrite"),
    ("overwritten", "overwrite"),
    ("sent", "send"),
    ("resent", "resend"),
    ("paid", "pay"),
    ("said", "say"),
    ("told", "tell"),
    ("took", "take"),
    ("taken", "take"),
    ("gave", "give"),
    ("given", "give"),
    ("got", "get"),
    ("gotten", "get"),
    ("held", "hold"),
    ("kept", "keep"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("met", "meet"),
    ("ran", "run"),
    ("saw", "see"),
    ("seen", "see"),
    ("shown", "show"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("spent", "spend"),
    ("stood", "stand"),
    ("thought", "think"),
    ("understood", "understand"),
    ("came", "come"),
    ("became", "become"),
    ("began", "begin"),
    ("begun", "begin"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("rebuilt", "rebuild"),
    ("bought", "buy"),
    ("caught", "catch"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("drew", "draw"),
    ("drawn", "draw"),
    ("withdrawn", "withdraw"),
    ("withdrew", "withdraw"),
    ("withdrawal", "withdraw"),
    ("drove", "drive"),
    ("driven", "drive"),
    ("driver", "driver"),
    ("ate", "eat"),
    ("fell", "fall"),
    ("fallen", "fall"),
    ("felt", "feel"),
    ("found", "find"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("hidden", "hide"),
    ("hid", "hide"),
    ("knew", "know"),
    ("known", "know"),
    ("lent", "lend"),
    ("lit", "light"),
    ("meant", "mean"),
    ("rode", "ride"),
    ("rang", "ring"),
    ("rung", "ring"),
    ("rose", "rise"),
    ("risen", "rise"),
    ("sold", "sell"),
    ("shut", "shut"),
    ("sank", "sink"),
    ("slept", "sleep"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stuck", "stick"),
    ("taught", "teach"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("woke", "wake"),
    ("woken", "wake"),
    ("won", "win"),
    ("sought", "seek"),
    ("bound", "bind"),
    ("undone", "undo"),
    ("overridden", "override"),
    ("overrode", "override"),
    ("forbidden", "forbid"),
    ("people", "person"),
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("indices", "index"),
    ("data", "data"),
    ("bus", "bus"),
    ("gas", "gas"),
    ("news", "news"),
    ("ready", "prepare"),
    ("always", "always"),
    ("status", "status"),
    ("this", "this"),
    ("his", "his"),
    ("its", "its"),
    ("pass", "pass"),
    ("address", "address"),
    ("access", "access"),
    ("process", "process"),
    ("class", "class"),
    ("red", "red"),
    ("bed", "bed"),
    ("need", "need"),
    ("feed", "feed"),
    ("speed", "speed"),
    ("seed", "seed"),
    ("thing", "thing"),
    ("nothing", "nothing"),
    ("something", "something"),
    ("anything", "anything"),
    ("everything", "everything"),
    ("during", "during"),
    ("ring", "ring"),
    ("king", "king"),
    ("string", "string"),
    ("evening", "evening"),
    ("morning", "morning"),
    ("building", "building"),
    ("bring", "bring"),
    ("spring", "spring"),
    ("ping", "ping"),
    ("embed", "embed"),
    ("shed", "shed"),
    ("exceed", "exceed"),
    ("proceed", "proceed"),
    ("succeed", "succeed"),
    ("invocation", "invoke"),
    ("revocation", "revoke"),
    ("reply", "reply"),
    ("replies", "reply"),
    ("replied", "reply"),
    ("response", "respond"),
    ("notification", "notify"),
    ("notified", "notify"),
    ("verification", "verify"),
    ("authentication", "authenticate"),
    ("ack", "acknowledge"),
    ("acks", "acknowledge"),
    ("acked", "acknowledge"),
    ("permission", "permit"),
    ("acquisition", "acquire"),
    ("resolution", "resolve"),
    ("signature", "sign"),
    ("receipt", "receive"),
    ("departure", "depart"),
    ("arrival", "arrive"),
    ("failure", "fail"),
    ("analysis", "analyse"),
    ("closure", "close"),
    ("disclosure", "disclose"),
    ("erasure", "erase"),
    ("exposure", "expose"),
    ("decision", "decide"),
    ("login", "log"),
    ("logins", "log"),
    ("logon", "log"),
    ("logout", "logout"),
    ("authorisation", "authorize"),
    ("authorization", "authorize"),
];

/// Endings that make nouns of verbs, with what is left of the verb at least.
const NOMINAL: &[(&str, usize)] = &[
    ("ification", 2),
    ("isation", 3),
    ("ization", 3),
    ("ation", 4),
    ("ition", 4),
    ("ement", 4),
    ("ment", 4),
    ("ion", 4),
    ("al", 4),
];

/// The stem of a word in lower case.
///
/// # Limits
/// Linear in the word and the list of irregular forms of its first letter.
pub(super) fn stem(word: &str) -> SmolStr {
    let word = word.strip_suffix("'s").unwrap_or(word);
    let word = word.trim_end_matches('\'');
    if let Some((_, base)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return SmolStr::new(bare(base));
    }
    if !word.is_ascii() || word.len() <= 3 {
        return SmolStr::new(word);
    }
    let single = singular(word);
    if let Some((_, base)) = IRREGULAR.iter().find(|(form, _)| *form == single) {
        return SmolStr::new(bare(base));
    }
    SmolStr::new(bare(uninflected(&single)))
}

fn singular(word: &str) -> String {
    if let Some(base) = word.strip_suffix("ies").filter(|base| base.len() > 1) {
        return format!("{base}y");
    }
    let sibilant = ["sses", "xes", "zes", "ches", "shes"];
    if sibilant.iter().any(|ending| word.ends_with(ending)) {
        return word[..word.len() - 2].to_owned();
    }
    let kept = ["ss", "us", "is"];
    if word.ends_with('s') && !kept.iter().any(|ending| word.ends_with(ending)) {
        return word[..word.len() - 1].to_owned();
    }
    word.to_owned()
}

/// Without `-ed`, `-ing`; doubled consonants are made single.
fn uninflected(word: &str) -> &str {
    if let Some(base) = word.strip_suffix("ied").filter(|base| base.len() > 2) {
        return base;
    }
    let cut = ["ing", "ed"]
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|base| base.len() >= 2 && base.contains(['a', 'e', 'i', 'o', 'u', 'y']));
    match cut {
        Some(base) => undoubled(base),
        None => word,
    }
}

fn undoubled(base: &str) -> &str {
    let mut last = base.bytes().rev();
    match (last.next(), last.next()) {
        (Some(a), Some(b)) if a == b && !matches!(a, b'l' | b's' | b'z' | b'e' | b'o') => {
            &base[..base.len() - 1]
        }
        _ => base,
    }
}

/// Without what makes a noun of a verb, and without a final `e` or `y`.
fn bare(word: &str) -> &str {
    let mut base = word;
    if word.is_ascii() {
        for (ending, least) in NOMINAL {
            if let Some(cut) = word.strip_suffix(ending).filter(|cut| cut.len() >= *least) {
                base = undoubled(cut);
                break;
            }
        }
        for ending in [
            "ify", "ise", "ize", "ate", "ee", "is", "iz", "if", "at", "e", "y", "i",
        ] {
            if let Some(cut) = base
                .strip_suffix(ending)
                .filter(|cut| cut.len() >= 3 && (ending.len() == 1 || cut.len() >= 4))
            {
                base = cut;
                break;
            }
        }
    }
    base
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn the_forms_of_a_word_share_a_stem() {
        for forms in [
            &[
                "approve",
                "approves",
                "approved",
                "approving",
                "approval",
                "approvals",
            ][..],
            &["delete", "deleted", "deleting", "deletion", "deletions"],
            &["confirm", "confirmed", "confirmation", "confirms"],
            &["validate", "validated", "validation", "validating"],
            &["write", "writes", "written", "writing", "wrote"],
            &["stop", "stops", "stopped", "stopping"],
            &["notify", "notified", "notification", "notifies"],
            &["invoke", "invoked", "invocation", "invoking"],
            &[
                "acknowledge",
                "acknowledged",
                "acknowledgement",
                "ack",
                "acks",
            ],
            &["query", "queries", "queried"],
            &["close", "closed", "closing", "closes"],
        ] {
            let expected = stem(forms[0]);
            for form in forms {
                assert_eq!(stem(form), expected, "{form}");
            }
        }
        assert_ne!(stem("read"), stem("ready"));
        assert_ne!(stem("need"), stem("nee"));
    }
}
