//! Controlled English: every form of the table, both ways, with many vocabularies, and formulas at random.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use guard_english::controlled::{COUNT, Vocabulary, forms, normal, read};
use guard_english::draft::{draft, equivalent};
use guard_english::words::{Binary, Logic, Ratio, Unary, Unit, Window, formula, sentence};

/// Numbers that look random and are always the same.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        // xorshift64*: G. Marsaglia, 2003; S. Vigna, 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }

    fn of<'t, T: ?Sized>(&mut self, items: &[&'t T]) -> &'t T {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

/// The formula with one way of writing what can be written in several, and with numbers by first appearance.
fn canonical(logic: &Logic) -> Logic {
    fn rebuilt(logic: &Logic) -> Logic {
        let of = |inner: &Logic| Box::new(rebuilt(inner));
        match logic {
            Logic::Not(inner) => formula::not(rebuilt(inner)),
            Logic::And(parts) => formula::and(parts.iter().map(rebuilt)),
            Logic::Or(parts) => formula::or(parts.iter().map(rebuilt)),
            Logic::Implies(a, b) => formula::implies(rebuilt(a), rebuilt(b)),
            Logic::Iff(a, b) => Logic::Iff(of(a), of(b)),
            Logic::Unary(op, window, a) => Logic::Unary(*op, *window, of(a)),
            Logic::Binary(op, window, a, b) => Logic::Binary(*op, *window, of(a), of(b)),
            Logic::AtMost(count, window, a) => Logic::AtMost(*count, *window, of(a)),
            other => other.clone(),
        }
    }
    let logic = match rebuilt(logic) {
        Logic::And(parts) => formula::and(parts.into_iter().map(normal)),
        whole => normal(whole),
    };
    let order = logic.atoms();
    logic.renamed(&|atom| order.iter().position(|known| *known == atom).unwrap())
}

/// What the words of a formula say, when they are read again.
fn again(logic: &Logic, names: &[String]) -> Result<Logic, String> {
    let words = sentence(logic, &|atom| format!("`{}`", names[atom]));
    match read(&words, &Vocabulary::default()) {
        Ok(found) => Ok(canonical(&found.logic)),
        Err(fault) => Err(format!("{words}\n{fault}")),
    }
}

fn check(logic: &Logic, names: &[String]) {
    let logic = &canonical(logic);
    let words = || sentence(logic, &|atom| format!("`{}`", names[atom]));
    let found = again(logic, names).unwrap_or_else(|error| panic!("{logic:?}\n{error}"));
    let once_more = again(&found, names).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        found == *logic || guard_english::draft::equivalent(&found, logic) == Some(true),
        "{}\nread as {found:?}\nof {logic:?}",
        words()
    );
    assert_eq!(found, once_more, "{}", words());
}

/// Three words at random, joined as names or phrases.
fn vocabulary(draw: &mut Draw, count: usize) -> Vec<String> {
    const WORDS: [&str; 24] = [
        "pay",
        "invoice",
        "user",
        "ok",
        "before",
        "never",
        "lock",
        "t1",
        "holds",
        "until",
        "within",
        "secret",
        "Mail",
        "and",
        "send_email",
        "5",
        "not",
        "step",
        "x",
        "every",
        "the",
        "agent",
        "delete",
        "approval",
    ];
    let mut out: Vec<String> = Vec::new();
    while out.len() < count {
        let many = draw.below(4) + 1;
        let words: Vec<&str> = (0..many).map(|_| draw.of(&WORDS)).collect();
        let name = words.join(draw.of(&["_", " ", " "]));
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

#[test]
fn every_row_is_a_sentence() {
    let rows = include_str!("../src/controlled/forms.txt");
    let rows = rows
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut forms = forms().into_iter();
    for row in rows {
        let read = forms.next();
        let words = read.map(|form| form.words).unwrap_or_default();
        let begin = row.split('{').next().unwrap();
        assert!(words.starts_with(begin), "{row}: {words}");
    }
}

fn every_form_is_read_back(seed: u64) {
    let mut draw = Draw(seed);
    for form in forms() {
        for _ in 0..200 {
            let names = vocabulary(&mut draw, form.names.len());
            // The sentence with other names says the same.
            let mut words = form.words.clone();
            for (at, name) in form.names.iter().enumerate() {
                words = words.replace(&format!("`{name}`"), &format!("\u{1}{at}\u{2}"));
                let _ = name;
            }
            for (at, name) in names.iter().enumerate() {
                words = words.replace(&format!("\u{1}{at}\u{2}"), &format!("\"{name}\""));
            }
            let found = read(&words, &Vocabulary::default());
            let found = found.unwrap_or_else(|fault| panic!("{words}\n{fault}"));
            assert_eq!(found.logic, form.logic, "{words}");
            check(&form.logic, &names);
        }
    }
}

#[test]
fn every_form_is_read_back_with_any_vocabulary() {
    every_form_is_read_back(7);
}

/// `GUARD_SEEDS=3,11 cargo test -p guard-english --test controlled -- --ignored` draws other vocabularies and formulas.
#[test]
#[ignore = "a search with other seeds"]
fn other_seeds_are_read_back() {
    let seeds = std::env::var("GUARD_SEEDS").unwrap();
    for seed in seeds.split(',').map(|seed| seed.parse().unwrap()) {
        every_form_is_read_back(seed);
        random_formulas(seed, 20_000);
    }
}

/// A formula at random, of so many operators.
fn random(draw: &mut Draw, size: u64, atoms: u64) -> Logic {
    let window = |draw: &mut Draw| {
        let unit = if draw.below(2) == 0 {
            Unit::Steps
        } else {
            Unit::Seconds
        };
        let low = draw.below(4);
        let high = low + draw.below(90);
        let scale = if unit == Unit::Seconds && draw.below(4) == 0 {
            1000
        } else {
            1
        };
        let ratio = |value: u64| Ratio::new(i128::from(value), scale);
        Window {
            low: ratio(low),
            high: ratio(high),
            unit,
        }
    };
    if size == 0 {
        return match draw.below(20) {
            0 => Logic::True,
            1 => Logic::Last,
            2 => Logic::First,
            _ => Logic::Atom(usize::try_from(draw.below(atoms)).unwrap()),
        };
    }
    let left = draw.below(size);
    let right = size - 1 - left;
    let bounded = draw.below(3) == 0;
    match draw.below(9) {
        0 => formula::not(random(draw, size - 1, atoms)),
        1 => formula::and([random(draw, left, atoms), random(draw, right, atoms)]),
        2 => formula::or([random(draw, left, atoms), random(draw, right, atoms)]),
        3 => formula::implies(random(draw, left, atoms), random(draw, right, atoms)),
        4 => Logic::Iff(
            Box::new(random(draw, left, atoms)),
            Box::new(random(draw, right, atoms)),
        ),
        5 if bounded => {
            let inner = Box::new(random(draw, size - 1, atoms));
            Logic::AtMost(
                u32::try_from(draw.below(5) + 1).unwrap(),
                window(draw),
                inner,
            )
        }
        5 | 6 => {
            let op = Unary::ALL[usize::try_from(draw.below(Unary::ALL.len() as u64)).unwrap()];
            let window = (bounded && op.takes_bound()).then(|| window(draw));
            Logic::Unary(op, window, Box::new(random(draw, size - 1, atoms)))
        }
        7 => {
            let op = Binary::ALL[usize::try_from(draw.below(Binary::ALL.len() as u64)).unwrap()];
            let window = (bounded && op.takes_bound()).then(|| window(draw));
            let (a, b) = (random(draw, left, atoms), random(draw, right, atoms));
            Logic::Binary(op, window, Box::new(a), Box::new(b))
        }
        _ => formula::always(formula::implies(
            random(draw, left, atoms),
            random(draw, right, atoms),
        )),
    }
}

fn random_formulas(seed: u64, count: u64) {
    let mut draw = Draw(seed);
    for _ in 0..count {
        let size = draw.below(12);
        let logic = random(&mut draw, size, 4);
        if logic.atoms().is_empty() {
            continue;
        }
        let names = vocabulary(&mut draw, 4);
        check(&logic, &names);
    }
}

#[test]
fn random_formulas_are_read_back() {
    random_formulas(2, 20_000);
}

/// Deep nesting is read, or declined; it never exhausts the stack.
#[test]
fn nesting_is_limited() {
    let nested = |depth: usize| {
        format!(
            "At the first step, {}`a`{}.",
            "(".repeat(depth),
            ")".repeat(depth)
        )
    };
    assert!(read(&nested(50), &Vocabulary::default()).is_ok());
    let fault = read(&nested(5_000), &Vocabulary::default()).unwrap_err();
    assert!(fault.to_string().contains("parentheses"), "{fault}");
}

/// So is a number of times, whose formula is nested as deep.
#[test]
fn numbers_of_times_are_limited() {
    for form in [
        "`a` may happen at most N times.",
        "`a` may happen at most N times in any 5 steps.",
        "After `a` has happened N times, `b` must never hold.",
        "At most N `a` may happen.",
    ] {
        let read = |count: u32| {
            let sentence = form.replace('N', &count.to_string());
            read(&sentence, &Vocabulary::default())
        };
        let words = form.replace('N', &COUNT.to_string());
        assert!(draft(&words).reading.is_some(), "{words}");
        let fault = read(COUNT + 1).unwrap_err();
        assert!(fault.to_string().contains("up to 200"), "{fault}");
    }
}

#[test]
fn faults_are_placed_and_reworded() {
    for (text, place, expected, reworded) in [
        (
            "Whenever `a` happens, `b` must hapen within 5 steps.",
            "hapen",
            "`happen`",
            "Whenever `a` happens, `b` must happen within 5 steps.",
        ),
        (
            "Whenever the buffer is full, `flush` must happen.",
            "the",
            "a situation in backquotes or quotation marks",
            "Whenever \"the buffer is full\", `flush` must happen.",
        ),
        (
            "`a` or `b` and `c` must never hold.",
            "`c`",
            "parentheses around",
            "",
        ),
        (
            "After `a`, `b` must have happened.",
            "`b`",
            "a duty that looks ahead",
            "",
        ),
        (
            "Whenever `a` happens, `b` must not happen.",
            ".",
            "a time",
            "",
        ),
        ("`a` must never hold", "", "", ""),
    ] {
        let vocabulary = Vocabulary::default();
        match read(text, &vocabulary) {
            Ok(_) => assert_eq!(expected, "", "{text}"),
            Err(fault) => {
                assert_eq!(&text[fault.span.clone()], place, "{text}: {fault}");
                assert!(
                    fault.to_string().contains(expected) && !expected.is_empty(),
                    "{text}: {fault}"
                );
                assert!(
                    reworded.is_empty() || fault.rewordings.iter().any(|text| text == reworded),
                    "{text}: {:?}",
                    fault.rewordings
                );
                for text in &fault.rewordings {
                    assert!(read(text, &vocabulary).is_ok(), "{text}");
                }
            }
        }
    }
}

/// What has no reading, or two, is rejected; so is a permission that asks for something.
#[test]
fn what_has_no_one_reading_is_rejected() {
    for text in [
        "`a` must happen more than twice.",
        "`a` must not happen at most twice.",
        "`a` must not happen only once.",
        "`a` must always hold within 5 steps.",
        "`a` must always hold at some point.",
        "`a` must not hold eventually.",
        "`a` must happen again.",
        "`a` must hold together.",
        "`a` and `b` must hold together.",
        "`a` may happen.",
        "`a` may happen at least twice.",
        "`a` may happen exactly twice.",
        "`a` may be `b`.",
        "`a` and then `b` may happen at most twice.",
        "`a` and then `b` may happen only before `c`.",
        "`a` must not hold exactly when `b` holds.",
        "Whenever `a` has not happened twice, `b` must happen.",
        "At least 2 `a` may happen.",
        "No `a` must be `b`.",
        "No `a` may happen only after `b`.",
        "`a` or `b` and `c` must never hold.",
        "Whenever `a` happens, `b` must not happen.",
        "Whenever `a` happens, `b` must not happen unless `c` has happened.",
        "Whenever `a` happens, `b` must never happen.",
        "Whenever `a` holds.",
        "After `a`, `b` must have happened.",
        "While `a` holds, `b` must happen at most twice in any 5 steps.",
        "Before `a`, after `b`, `c` must happen.",
        "With probability at most 150 %, `a` must happen.",
        "Within 5 steps, `a` must happen.",
        "`a` must happen within 2.5 steps.",
        "`a` must happen 5 to 2 steps later.",
        "`a` must happen within 5.",
        "`a` must happen soon.",
        "must happen.",
        "\"\" must happen.",
        "",
    ] {
        let found = read(text, &Vocabulary::default());
        assert!(found.is_err(), "{text}: {found:?}");
    }
}

/// Predicates are called by their names, by the words of their names, and by their comments.
#[test]
fn predicates_need_no_quotation_marks() {
    let mut vocabulary = Vocabulary::default();
    vocabulary.add(
        "wire_transfer",
        "Money leaves the account. Always dangerous.",
    );
    vocabulary.add("approval", "A person has approved.");
    for text in [
        "Whenever `wire_transfer` happens, `approval` must have happened.",
        "Whenever wire transfer happens, approval must have happened.",
        "Whenever money leaves the account, approval must have happened.",
        "A wire transfer requires an approval.",
    ] {
        let found = read(text, &vocabulary).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        let names: Vec<&str> = found
            .situations
            .iter()
            .map(|situation| situation.name.as_str())
            .collect();
        assert_eq!(names, ["wire_transfer", "approval"], "{text}");
        assert_eq!(
            sentence(&found.logic, &|atom| format!("`{}`", names[atom])),
            "Whenever `wire_transfer` holds, `approval` must have held at that step or an earlier one."
        );
    }
}

/// Verbs of calling are said of calls: a name, however the sentence speaks of its call, is one situation, and what is said of several is
/// said of each, as two calls are two steps.
#[test]
fn names_are_called() {
    for (sentence, same) in [
        (
            "`a` may be called at most once.",
            "`a` may hold at most once.",
        ),
        ("`a` must never be invoked.", "`a` must never happen."),
        (
            "`a` must not be called unless `u` was called before.",
            "`a` must not happen unless `u` has happened.",
        ),
        (
            "`a` must not be used unless `u` has been run.",
            "`a` may happen only after `u`.",
        ),
        (
            "`a` may only be called after `u` was called.",
            "`a` may happen only after `u`.",
        ),
        (
            "`a` may be executed only if `u` has been called.",
            "`a` may happen only after `u`.",
        ),
        (
            "The agent may call `a` only after `u`.",
            "`a` may happen only after `u`.",
        ),
        (
            "The agent may only call the tool `a` if the agent has called `u`.",
            "`a` may happen only after `u`.",
        ),
        (
            "Whenever `a` is called, `b` must be called.",
            "Whenever `a` happens, `b` must happen.",
        ),
        (
            "Whenever the agent calls `a`, it must call `b`.",
            "Whenever `a` happens, `b` must happen.",
        ),
        (
            "Whenever `a` is called, `u` must have been called.",
            "`a` may happen only after `u`.",
        ),
        (
            "After `a` is called, `b` must never be called.",
            "After `a`, `b` must never happen.",
        ),
        (
            "After calling `a`, the agent must never call `b`.",
            "After `a`, `b` must never happen.",
        ),
        (
            "Before a call of `a`, `u` must be called.",
            "Before `a`, `u` must happen.",
        ),
        (
            "The `a` tool must never be called.",
            "`a` must never happen.",
        ),
        // Lists
        (
            "`a`, `b` or `c` may happen only after `u`.",
            "(`a` or `b` or `c`) may happen only after `u`.",
        ),
        (
            "Before `a`, `b` or `c`, `u` must happen.",
            "Before (`a` or `b` or `c`), `u` must happen.",
        ),
        (
            "Before `a`, `b`, or `c` is called, `u` must be called.",
            "Before (`a` or `b` or `c`), `u` must happen.",
        ),
        // The first of a list is no scope, and a scope is not the first of a list.
        (
            "Before `a`, `b` or `c` must happen.",
            "Before `a`, (`b` or `c`) must happen.",
        ),
        (
            "Before `a`, `b`, `c` or `d` must happen.",
            "Before `a`, (`b` or `c` or `d`) must happen.",
        ),
        (
            "After `a`, `b` and `c` must never hold.",
            "After `a`, (`b` and `c`) must never hold.",
        ),
        (
            "Whenever `a` is followed by `b`, `c` or `d` must happen.",
            "Whenever `a` is followed by `b`, (`c` or `d`) must happen.",
        ),
        (
            "`p` must not hold until `a`, `b` or `c` holds.",
            "`p` must not hold until (`a` or `b` or `c`) holds.",
        ),
        // Each of several calls
        (
            "`a` and `b` must never be called.",
            "`a` must never happen. `b` must never happen.",
        ),
        (
            "`a`, `b` and `c` may be called at most once.",
            "`a` may hold at most once. `b` may hold at most once. `c` may hold at most once.",
        ),
        (
            "`a` and `b` may be called only after `u` and `v`.",
            "`a` may happen only after `u`. `a` may happen only after `v`. `b` may happen only after `u`. `b` may happen only after `v`.",
        ),
        (
            "`a` must not be called unless `u` and `v` have been called.",
            "`a` may happen only after `u`. `a` may happen only after `v`.",
        ),
        (
            "Whenever `a` happens, `u` and `v` must have been called.",
            "`a` may happen only after `u`. `a` may happen only after `v`.",
        ),
        (
            "The agent must never call `a` and `b`.",
            "`a` must never happen. `b` must never happen.",
        ),
        (
            "`a` and `b` must never be called together.",
            "(`a` and `b`) must never hold.",
        ),
        // In order
        (
            "`a` and then `b` must be called.",
            "`a` and then `b` must happen.",
        ),
        (
            "`a` must be called only if `u` has been called.",
            "`a` may happen only after `u`.",
        ),
        // So many times
        (
            "`b` may happen only if `a` has happened twice.",
            "`b` may happen only after `a` and then `a`.",
        ),
        (
            "`b` must not happen unless `a` has happened twice.",
            "`b` may happen only after `a` and then `a`.",
        ),
        (
            "`a` must hold if and only if `b` holds.",
            "Whenever `a` holds, `b` must hold at that step. Whenever `b` holds, `a` must hold at that step.",
        ),
        // What has not happened
        (
            "`a` may be called only if `b` has not been called.",
            "`b` must never be followed by `a`, at the same step or later.",
        ),
        (
            "`a` must not happen unless `b` has not happened.",
            "`b` must never be followed by `a`, at the same step or later.",
        ),
    ] {
        let one = read(sentence, &Vocabulary::default())
            .unwrap_or_else(|fault| panic!("{sentence}: {fault}"));
        let two =
            read(same, &Vocabulary::default()).unwrap_or_else(|fault| panic!("{same}: {fault}"));
        let number = |phrase: &str| {
            one.situations
                .iter()
                .position(|known| known.phrase == phrase)
                .unwrap()
        };
        let renamed = two
            .logic
            .renamed(&|atom| number(&two.situations[atom].phrase));
        assert_eq!(
            equivalent(&one.logic, &renamed),
            Some(true),
            "{sentence}: {:?}",
            one.logic
        );
    }
    for sentence in [
        "Whenever `a` and `b` are called, `c` must happen.",
        "After `a` and `b` have been called, `c` must never happen.",
        "`a` may happen only if `b` does not happen.",
        "`a` must not happen unless `b` does not happen.",
    ] {
        assert!(
            read(sentence, &Vocabulary::default()).is_err(),
            "{sentence}"
        );
    }
}
