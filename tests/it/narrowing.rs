//! Narrowing by `x != null` from `T?` to `T`, and the places where it must not apply.

use guard_lang::modules::NoFiles;

const HEAD: &str = "event {
  kind: string
  n: int?
  m: int?
  s: string?
  ok: bool?
  j: json = unknown
  xs: list<int?>
  d: duration?
  at: time?
}
trace { meta limit: int? }
track t: int? = null then if kind == \"set\" then n else t
let same = n
let amount = j.amount as int?
predicate has = n != null
predicate over(x: int) = x > 3
predicate maybe(x: int?) = x == 3
";

/// The codes of what is wrong with a spec that ends in these items.
fn errors(items: &str) -> Vec<&'static str> {
    let text = format!("{HEAD}{items}\n");
    let checked = guard_lang::front(
        "n.guard",
        &text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    let errors = checked.diagnostics.iter().filter(|found| found.is_error());
    errors.map(|found| found.code.as_str()).collect()
}

#[test]
fn every_flow_position_narrows() {
    for items in [
        // `and`, from the left; as a condition and as a formula
        "property p = never (n != null and n + 1 > 3)",
        "property p = never ((n != null and n + 1 > 3) == true)",
        "property p = never (null != n and kind == \"x\" and n + 1 > 3)",
        "property p = never (n != null and m != null and n + m > 3)",
        "property p = never ((n != null and m != null) and n + m > 3)",
        "property p = never (not (n == null) and n + 1 > 3)",
        "property p = never (not (n == null or m == null) and n + m > 3)",
        // `->`
        "property p = always (n != null -> n + 1 > 3)",
        "property p = always (n != null and m != null -> n + m > 3)",
        "property p = always (n != null -> (m != null -> n + m > 3))",
        // `or`: the right side where the left does not hold
        "property p = always (n == null or n + 1 > 3)",
        "property p = always (not has or n + 1 > 3)",
        // `if` and `cases`
        "let x = if n != null then n + 1 else 0\nproperty p = never x > 3",
        "let x = if n == null then 0 else n + 1\nproperty p = never x > 3",
        "let x = cases { n == null => 0, n > 3 => n + 1, else => n - 1 }\nproperty p = never x > 3",
        "let x = cases { n != null and m != null => n + m, n != null => n + 1, else => 0 }\nproperty p = never x > 3",
        "property p = if n != null then n + 1 > 3 and always kind == \"x\" else always kind == \"x\"",
        "property p = always (if n == null then once kind == \"x\" else n + 1 > 3)",
        "property p = always cases { n == null => once kind == \"x\", else => n + 1 > 3 }",
        "track sum: int = 0 then if n != null then sum + n else sum\nproperty p = never sum > 3",
        // quantifiers over lists, counts, arguments, members
        "property p = never any y in xs: y != null and y + 1 > 3",
        "property p = always all y in xs: y == null or y + 1 > 3",
        "property p = never count(n != null and n + 1 > 3) > 2",
        "property p = never (n != null and over(n))",
        "property p = never (once[0,3] (n != null and n + 1 > 3))",
        // any expression that is the same value: a track, a cast, a definition, `before`, a condition with a name
        "property p = never (t != null and t + 1 > 3)",
        "property p = never (same != null and n + 1 > 3)",
        "property p = never (has and n + 1 > 3)",
        "property p = never (amount != null and amount + 1 > 3)",
        "property p = never (before(n) != null and n != null and before(n) + n > 3)",
        "property p = never (ok != null and ok)",
        "property p = never (s != null and s + \"x\" == \"yx\")",
        "property p = never (at != null and before(at) != null and at - before(at) > 3s)",
        "property p = never (d != null and 2 * d > 3s)",
        // what is false on null
        "property p = never (n > 3 and n + 1 < 6)",
        "property p = never (n == 3 and n + 1 < 6)",
        "property p = never (s starts_with \"x\" and s + \"x\" == \"xx\")",
        "property p = never (s matches /x/ and s + \"x\" == \"xx\")",
        "property p = never (n in [1, 2] and n + 1 < 6)",
        "property p = never (maybe(n) and n + 1 < 6)",
        // updates of tracks, clauses, rules, lists of values, parameters, ranges
        "track sum: int = 0 when n != null then sum + n\nproperty p = never sum > 3",
        "track sum: int = 0 when kind == \"x\" then 0 when n != null then sum + n\nproperty p = never sum > 3",
        "property p = never n == 3\nenforce when n != null and n + 1 > 3 => block \"x\"",
        "unsafe u = n != null and n + 1 > 3",
        "rule r: when n != null and n + 1 > 3 then n != null and n + 1 > 4 within 3 steps",
        "property p = (n != null and n + 1 > 3) leads to kind == \"x\"",
        "abstraction a { steps when n != null and n + 1 > 3  over ok }",
        "property p = never any y in [if y != null then y + 1 else 0 for y in xs]: y > 3",
        "property p = never (count y in xs: y != null and y + 1 > 3) > 2",
        "predicate f(x: int?) = x != null and x + 1 > 3\nproperty p = never f(n)",
        "let f(x: int?): int = if x == null then 0 else x + 1\nproperty p = never f(n) > 2",
        "template T(v: int?): ltl = always (v != null -> v + 1 > 3)\nproperty p = T(n)",
        "property p = forall x in n: always (kind == \"a\" -> x + 1 > 3)",
        "property p = never ((n ?? m) != null and (n ?? m) + 1 > 3)",
        // within an operand of a temporal operator
        "property p = weak_next (n != null -> n + 1 > 3)",
        "property p = always not (n != null -> n + 1 > 3)",
        "property p = (n != null and n + 1 > 3) until kind == \"x\"",
        "property p = kind == \"x\" back_to (n != null and n + 1 > 3)",
        // false on null
        "property p = never (n <= 3 and n + 1 < 6)",
        "property p = never (s contains \"x\" and s + \"x\" == \"xx\")",
        "property p = never (s ends_with \"x\" and s + \"x\" == \"xx\")",
        // all steps that a formula with `where` is about
        "property p = always n + 1 > 3 where n != null",
        "property p = always (n > 3 -> next n - 1 > 3) where n != null and kind == \"x\"",
        "property p = always (kind == \"x\" -> once n + 1 > 3) where n > 0",
        "rule r: when n + 1 > 3 then n + 1 > 4 within 3 steps where n != null",
        "requirement R1 \"x\" { formal always n + 1 > 3 where n != null }",
        // a field of the record is the same at every step
        "property p = meta.limit != null -> (always kind == \"x\") or always (n ?? 0) < meta.limit + 1",
    ] {
        assert_eq!(errors(items), Vec::<&str>::new(), "{items}");
    }
    let filter = HEAD.replace(
        "trace { meta limit: int? }",
        "trace { where n != null and n + 1 > 3\n  meta limit: int? }",
    );
    let checked = guard_lang::front(
        "n.guard",
        &format!("{filter}property p = never n > 3\n"),
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    assert!(checked.spec.is_some(), "{:?}", checked.diagnostics);
}

#[test]
fn what_may_still_be_null_does_not_narrow() {
    for items in [
        // the other branch, the other side, the other order
        "property p = never (n != null or n + 1 > 3)",
        "property p = never (n == null and n + 1 > 3)",
        "property p = never (n + 1 > 3 and n != null)",
        "property p = always (n == null -> n + 1 > 3)",
        "property p = always (n + 1 > 3 or n == null)",
        "property p = always (n != null <-> n + 1 > 3)",
        "let x = if n != null then 0 else n + 1\nproperty p = never x > 3",
        "let x = cases { n == null => n + 1, else => 0 }\nproperty p = never x > 3",
        "let x = cases { n != null => 0, else => n + 1 }\nproperty p = never x > 3",
        "property p = never ((n != null or kind == \"x\") and n + 1 > 3)",
        "property p = never (not (n == null and kind == \"x\") and n + 1 > 3)",
        "property p = never ((n != null -> kind == \"x\") and n + 1 > 3)",
        "property p = never (n == m and n + 1 > 3)",
        "property p = never (not (n > 3) and n + 1 > 3)",
        // another value
        "property p = never (n != null and m + 1 > 3)",
        "property p = never (any y in xs: y != null) and always n + 1 > 3",
        "property p = never ((any y in xs: y != null) and (any y in xs: y + 1 > 3))",
        // a field at another step
        "property p = always (n != null -> eventually n + 1 > 3)",
        "property p = always (n != null -> next n + 1 > 3)",
        "property p = always (n != null -> previously n + 1 > 3)",
        "property p = always (n != null -> (kind == \"x\" until n + 1 > 3))",
        "property p = always (n != null -> (n + 1 > 3 since kind == \"x\"))",
        "property p = always (n != null -> count(n + 1 > 3) < 2)",
        "property p = always (n != null -> count(kind == \"x\", since: n + 1 > 3) < 2)",
        "property p = always (n != null -> before(n + 1) == 3)",
        "property p = always (n != null -> before(n) + 1 == 3)",
        "property p = always ((n != null and once n + 1 > 3) == true)",
        "property p = always n != null and always n + 1 > 3",
        "property p = (always n != null) -> always n + 1 > 3",
        "property p = n != null precedes n + 1 > 3",
        // a track between two steps
        "property p = always (t != null -> eventually t + 1 > 3)",
        "property p = always (before(t) != null -> t + 1 > 3)",
        "property p = always (previously (t != null) -> t + 1 > 3)",
        // what is no test for null
        "property p = never (n != 3 and n + 1 > 3)",
        "property p = never (n not in [1] and n + 1 > 3)",
        "property p = never (n in [1, null] and n + 1 > 3)",
        "property p = never ((n != null) == (kind == \"x\") and n + 1 > 3)",
        "property p = never ((if kind == \"x\" then n != null else true) and n + 1 > 3)",
        "property p = never (count(n != null) > 2 and n + 1 > 3)",
        // every other operator, and the answer of a rule
        "property p = (always n != null) until n + 1 > 3",
        "property p = always (n != null unless n + 1 > 3)",
        "property p = always (n != null release n + 1 > 3)",
        "property p = always (n != null strong_release n + 1 > 3)",
        "property p = always (n != null back_to n + 1 > 3)",
        "property p = always (n != null -> weak_next n + 1 > 3)",
        "property p = always (n != null -> weak_previously n + 1 > 3)",
        "property p = always (n != null -> once n + 1 > 3)",
        "property p = always (n != null -> historically n + 1 > 3)",
        "property p = always (if n != null then always n + 1 > 3 else kind == \"x\")",
        "property p = n != null leads to n + 1 > 3",
        "property p = n != null leads to n + 1 > 3 within 3 steps",
        "rule r: when n != null then n + 1 > 3 within 3 steps",
        // an earlier update, another clause, an element of another list
        "track u: int = 0 when n != null then u when kind == \"x\" then n + u\nproperty p = never u > 3",
        "property p = never n == 3\nenforce when n != null or n + 1 > 3 => block \"x\"",
        "property p = never any y in [y + 1 for y in xs]: y > 3",
        // steps that `where` drops, and what sees them
        "property p = always n + 1 > 3 where n != null or kind == \"x\"",
        "property p = always before(n) + 1 > 3 where n != null",
        "property p = always (count(n + 1 > 3) < 2) where n != null",
        "property p = always (count(kind == \"x\", since: n + 1 > 3) < 2) where n != null",
        "property p = always ((once n + 1 > 3) == true) where n != null",
        "property p = always u > 3 where n != null\ntrack u: int = 0 then n + u",
        "property p = always n == 3 where n != null\nproperty q = always n + 1 > 3",
        // a definition means the same wherever it is used
        "let next_one = n + 1\nproperty p = never (n != null and next_one > 3)",
        "predicate more = n + 1 > 3\nproperty p = never (n != null and more)",
        "track u: int = 0 then n + u\nproperty p = never (n != null and u > 3)",
        "template T(p: pred): ltl = always (n != null -> p)\nproperty p = T(n + 1 > 3)",
        "let next_one = n + 1\nproperty p = always next_one > 3 where n != null",
    ] {
        assert!(!errors(items).is_empty(), "{items}");
    }
}

#[test]
fn least_and_greatest_of_what_may_be_null_is_null() {
    for items in [
        "let x: int? = max(n, 3)\nproperty p = never x == 3",
        "let x: int? = min(n, m)\nproperty p = never x == 3",
        "let x: int? = abs(n)\nproperty p = never x == 3",
        "let x: int? = mod(n, 3)\nproperty p = never x == 3",
        "let x: time? = max(at, before(at))\nproperty p = never x == at",
        "let x: int = max(n ?? 0, 3)\nproperty p = never x == 3",
    ] {
        assert_eq!(errors(items), Vec::<&str>::new(), "{items}");
    }
    for items in [
        "let x: int = max(n, 3)\nproperty p = never x == 3",
        "let x: int = abs(n)\nproperty p = never x == 3",
        "property p = never max(s, 3) == 3",
        "property p = never max(j, 3) == 3",
    ] {
        assert!(!errors(items).is_empty(), "{items}");
    }
}
