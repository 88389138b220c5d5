//! Modal verbs, permission, prohibition, quantifiers.

use super::Tag::{self, *};

/// The notation is that of `phrase.rs`.
pub(super) const PHRASES: &[(&str, Tag)] = &[
    // Obligation.
    ("must|shall|should|will always?", Must),
    (
        "must|shall|should in any|every|each case|event|circumstance",
        Must,
    ),
    ("ought to", Must),
    ("~have|~need always? to", Must),
    ("~be always? to be", Must),
    (
        "~be always? required|obliged|expected|supposed|mandated|bound|obligated to",
        Must,
    ),
    ("~be under an? obligation to", Must),
    (
        "must|shall|has|have to? always? ~ensure|guarantee that?",
        Must,
    ),
    ("would have to", Must),
    ("'s got to", Must),
    ("~have got to", Must),
    (
        "it is|'s mandatory|required|necessary|essential|obligatory|imperative|compulsory|vital|crucial|important that|to",
        Ensure,
    ),
    (
        "it must|shall always? be ensured|guaranteed|assured that",
        Ensure,
    ),
    ("it must|shall always? be the case|true that", Ensure),
    ("it must|shall|has to always? hold|holds that", Ensure),
    ("please? make absolutely? sure|certain that?", Ensure),
    ("please? ensure|guarantee that?", Ensure),
    ("please? see to it that", Ensure),
    ("please? be sure|certain to|that", Ensure),
    ("please? take care to|that", Ensure),
    ("please? ~do not forget to", Ensure),
    ("please? remember to", Ensure),
    ("never forget|fail|omit|neglect to", Ensure),
    (
        "we|i|you|they require|demand|insist|expect|want that?",
        Ensure,
    ),
    ("we|i|you|they need|want to see", Ensure),
    ("our policy requires|demands that", Ensure),
    ("the policy|rule requires|demands|is|says that", Ensure),
    ("there must|shall|should|has to be", Ensure),
    ("there needs to be", Ensure),
    (
        "the agent|system|bot|assistant must|shall ensure|guarantee|make-sure that",
        Ensure,
    ),
    // Prohibition before the verb.
    (
        "must|shall|should|may|can|could|will|would not|never ever?",
        MustNot,
    ),
    (
        "must|shall|should|may|can|will under|in|on|at no circumstances|circumstance|case|event|account|time|condition|conditions|point",
        MustNot,
    ),
    ("must|shall|should|may|can at any time not|never", MustNot),
    ("must|shall|should|may|can no longer|more", MustNot),
    (
        "must|shall|should|may|can not under any circumstances|circumstance",
        MustNot,
    ),
    ("must|shall|should|may|can neither", MustNot),
    ("need never|not to?", MustNot),
    ("~have not|never to", MustNot),
    ("ought not|never to?", MustNot),
    ("~be not|never ever? to be", MustNot),
    (
        "~be not|never ever? allowed|permitted|supposed|authorised|authorized|entitled|expected|meant|licensed|cleared to",
        MustNot,
    ),
    (
        "~be no longer allowed|permitted|authorised|authorized|entitled to",
        MustNot,
    ),
    ("~be no longer allowed|permitted", Forbidden),
    ("it must|shall|should be impossible for|to|that", Forbid),
    (
        "must|shall|should never|not be possible|allowed|permitted|acceptable|tolerated",
        Forbidden,
    ),
    ("must|shall|should stay|remain|keep out of", MustNot),
    ("must|shall|should be kept out of", MustNot),
    ("must|shall|should stay|keep away from", MustNot),
    ("~stay|remain out of", MustNot),
    ("~be kept out of", MustNot),
    ("allowed|permitted|authorised|authorized to", May),
    (
        "~be strictly|expressly|absolutely? forbidden|prohibited|barred|banned|disallowed|precluded|prevented from|to",
        MustNot,
    ),
    (
        "~be strictly|expressly|absolutely? forbidden|prohibited|barred|banned|off-limits",
        Forbidden,
    ),
    (
        "~have no business|right|permission|authority|licence to?",
        MustNot,
    ),
    (
        "must|shall|should|~have to? always? refrain|abstain|desist from",
        MustNot,
    ),
    ("must|shall|should|~have to? avoid", MustNot),
    (
        "must|shall|should be stopped|kept|prevented|blocked|barred from",
        MustNot,
    ),
    ("never ever?", Never),
    ("not ever", Never),
    (
        "under|in|on|at no circumstances|circumstance|case|event|account|time|condition|conditions|point",
        Never,
    ),
    (
        "under|in no circumstances|circumstance|case|event may|must|shall|should|can|will|is|are",
        Never,
    ),
    ("on no account may|must|shall|should|can|is|are", Never),
    ("at no time|point may|must|shall|should|can|is|are", Never),
    ("never may|must|shall|should|can", Never),
    // Prohibition before what is described.
    ("please? ~do not ever?", MustNot),
    ("never let|allow|permit", Forbid),
    ("please? ~do not ever? let|allow|permit", Forbid),
    ("please? avoid|refrain from?", Forbid),
    ("refrain from", Forbid),
    (
        "we|i|you|they ~do not ever? want|like|allow|permit|tolerate|accept to?",
        Forbid,
    ),
    ("we|i never want|allow|permit|tolerate|accept to?", Forbid),
    ("we|i ~do not want to see", Forbid),
    (
        "it ~be not|never ever? ok|okay|permitted|allowed|acceptable|fine|admissible|permissible|alright|legitimate|lawful|right to|for|that",
        Forbid,
    ),
    (
        "it ~be strictly|expressly|absolutely? forbidden|prohibited|illegal|unacceptable|wrong|impermissible|inadmissible|unlawful to|for|that",
        Forbid,
    ),
    (
        "it ~be a|an violation|breach|error|bug|offence|offense to|if|for",
        Forbid,
    ),
    (
        "it must|shall|should|may|can not|never happen|occur that",
        Forbid,
    ),
    (
        "it must|shall|should|may|can|is not|never be? the case|possible that|to|for",
        Forbid,
    ),
    ("there must|shall|should|may|can be no", Forbid),
    (
        "there must|shall|should|may|can not|never be any|a|an?",
        Forbid,
    ),
    ("there ~be to be no", Forbid),
    // Prohibition after what is described.
    (
        "~be strictly|absolutely|expressly? not|never permitted|allowed|acceptable|ok|okay|fine|tolerated|admissible|permissible|tolerable|legal|lawful|accepted",
        Forbidden,
    ),
    (
        "~be unacceptable|impermissible|illegal|verboten|taboo|disallowed|intolerable|unlawful|inadmissible|excluded|outlawed|prohibited|forbidden|banned",
        Forbidden,
    ),
    ("~be off limits|off-limits", Forbidden),
    ("~be ruled out", Forbidden),
    ("~be out of bounds|the? question|order?", Forbidden),
    ("~be a no-go", Forbidden),
    (
        "~be a|an serious|clear|policy|security|severe|plain? violation|breach|bug|error|offence|offense|fault|incident|defect of|the|our|this? policy|rules|protocol?",
        Forbidden,
    ),
    (
        "~be considered|deemed|treated|regarded|seen|counted as? a|an? serious|clear|policy|security? violation|breach|bug|error|offence|offense|failure|incident|unacceptable|forbidden",
        Forbidden,
    ),
    (
        "~count as a|an violation|breach|bug|error|offence|failure|incident",
        Forbidden,
    ),
    (
        "~constitute a|an violation|breach|offence|offense|error of|the? policy?",
        Forbidden,
    ),
    (
        "~violate|breach|break|contravene the|our|this policy|rule|rules|protocol",
        Forbidden,
    ),
    (
        "must|shall|should|may|can not|never ever? happen|occur",
        Forbidden,
    ),
    ("must|shall|should|may|can not|never take place", Forbidden),
    (
        "must|shall|should|~have|~need to? be blocked|prevented|refused|rejected|denied|avoided|prohibited|forbidden|disallowed|stopped|intercepted|suppressed",
        Forbidden,
    ),
    (
        "~be to be blocked|prevented|refused|rejected|denied|avoided",
        Forbidden,
    ),
    (
        "will not|never be tolerated|accepted|allowed|permitted",
        Forbidden,
    ),
    (
        "must|shall|may|should|can not|never be tolerated|accepted|allowed|permitted",
        Forbidden,
    ),
    (
        "that|this|it ~be a|an serious|policy|security? violation|breach|bug|error|offence|offense|fault|failure|incident",
        Breach,
    ),
    (
        "that|this|it ~be not|never ok|okay|allowed|acceptable|permitted|fine",
        Breach,
    ),
    (
        "that|this|it ~count as a|an violation|breach|bug|error|failure",
        Breach,
    ),
    (
        "that|this|it ~be wrong|forbidden|prohibited|unacceptable",
        Breach,
    ),
    ("we|you ~have a|an violation|breach|incident", Breach),
    ("something ~have gone|went wrong", Breach),
    (
        "the run|trace|policy|rule has failed|fails|is violated",
        Breach,
    ),
    // Permission.
    ("may|can|might|could", May),
    ("may|can ever", May),
    (
        "~be allowed|permitted|authorised|authorized|entitled|free|licensed|cleared to",
        May,
    ),
    ("~be able to", May),
    (
        "~be allowed|permitted|acceptable|ok|okay|admissible|permissible|fine|possible|authorised|authorized|tolerated|lawful",
        Allowed,
    ),
    ("only|solely|exclusively|purely", Only),
    (
        "~be only|solely allowed|permitted|acceptable|authorised|authorized|admissible|ok",
        Only,
    ),
    ("nothing but", Only),
    ("no one|tool|skill|thing? but", Only),
    (
        "~be strictly|always? limited|confined|restricted to",
        Confined,
    ),
    (
        "must|shall|should|may|~have to? always? be strictly? limited|confined|restricted to",
        Confined,
    ),
    (
        "must|shall|should|may|~have to? stay|remain|keep within|inside|to",
        Confined,
    ),
    (
        "must|shall|should always? come|be drawn|be taken|be chosen|be selected from",
        Confined,
    ),
    (
        "must|shall|should limit|confine|restrict itself|themselves to",
        Confined,
    ),
    ("~comprise|consist of? only|exclusively?", Confined),
    ("and nothing else|more", NothingElse),
    ("and nowhere else", NothingElse),
    ("nowhere but|except", Only),
    ("nothing else|more", NothingElse),
    ("and no others|other|more", NothingElse),
    ("no others|other ones?", NothingElse),
    ("nothing besides|other", NothingElse),
    ("always", Always),
    ("at all times", Always),
    ("at any|every time|point|moment", Always),
    (
        "in|under all|any|every cases|case|circumstances|circumstance",
        Always,
    ),
    (
        "invariably|permanently|continuously|continually|constantly",
        Always,
    ),
    (
        "throughout the? run|session|task|episode|conversation|process|entire?",
        Always,
    ),
    (
        "for the whole|entire run|session|task|episode|trace",
        Always,
    ),
    ("not", Not),
    ("no longer", Not),
    ("neither", Not),
    ("nor", Not),
    ("no", No),
    ("none|not of the|its|these? any?", No),
    ("not a|one|any|even single? a?", No),
    ("zero", No),
    ("nobody|nothing|none", Nobody),
    ("no one|thing", Nobody),
    ("no-one|noone", Nobody),
    ("each|every|all", Every),
    ("each|every|all single? of the?", Every),
    ("each and every", Every),
    ("for each|every|all", Every),
    ("any", Any),
    ("for any", Every),
];
