//! Plots of models: `--plot` of `guard query` and `guard calibrate`, and plots in pages.

use crate::support::cli::Folder;
use crate::support::root;

fn drift() -> Folder {
    let live = root().join("examples/live");
    let file = |name: &str| std::fs::read_to_string(live.join(name)).unwrap();
    let (spec, model) = (file("drift.guard"), file("drift.model.json"));
    Folder::new(&[
        ("drift.guard", &spec),
        ("m.json", &model),
        ("drift.jsonl", &file("drift.jsonl")),
    ])
}

/// A chain of so many states, and a query about reaching the last one: from each state on to the next, back, and aside.
fn chain(states: u32) -> Folder {
    let mut transitions = Vec::new();
    for from in 0..states {
        if from + 1 == states {
            transitions.push(format!("{from} {from} 1"));
            continue;
        }
        // The last transition gets the rest.
        let mut row = vec![
            (from + 1, 0.5),
            (from / 2, 0.25),
            ((from * 7 + 3) % states, 0.125),
        ];
        row.push((from, 0.125));
        row.sort_by_key(|one| one.0);
        let mut merged: Vec<(u32, f64)> = Vec::new();
        for (to, p) in row {
            match merged.last_mut() {
                Some((last, sum)) if *last == to => *sum += p,
                _ => merged.push((to, p)),
            }
        }
        for (to, p) in merged {
            transitions.push(format!("{from} {to} {p}"));
        }
    }
    let head = format!("{states} {}\n", transitions.len());
    let labels = format!("0=\"init\" 1=\"bad\"\n0: 0\n{}: 1\n", states - 1);
    Folder::new(&[
        (
            "c.guard",
            "event { kind: string }\nmodel m = import \"c.tra\"\nquery soon = P=? [ F<=20 bad ] on m\n",
        ),
        ("c.tra", &(head + &transitions.join("\n"))),
        ("c.lab", &labels),
    ])
}

/// Returns the numbers of an attribute of an element.
fn number(element: &str, name: &str) -> f64 {
    let value = element.split_once(&format!(" {name}=\"")).unwrap().1;
    value.split_once('"').unwrap().0.parse().unwrap()
}

/// Returns the boxes of states and of labels of transitions: left, top, right, bottom.
fn boxes(picture: &str) -> Vec<(f64, f64, f64, f64)> {
    // What is moved is the graph; legend and title are above it.
    let graph = picture.split_once("<g transform=").unwrap().1;
    let mut found = Vec::new();
    for part in graph.split('<') {
        if part.starts_with("rect class=\"node") {
            let [x, y] = ["x", "y"].map(|name| number(part, name));
            found.push((x, y, x + number(part, "width"), y + number(part, "height")));
        } else if let Some((head, text)) = part.split_once('>')
            && head.contains("class=\"quiet on\"")
        {
            let half = 3.3 * text.chars().count() as f64;
            let [x, y] = ["x", "y"].map(|name| number(head, name));
            found.push((x - half, y - 10.0, x + half, y + 2.0));
        }
    }
    found
}

#[test]
fn a_query_draws_its_chain_and_its_curve() {
    let folder = drift();
    let args = ["query", "drift.guard", "--model", "m.json"];
    let plain = folder.guard(&args);
    let drawn = folder.guard(&[&args[..], &["--plot", "p.svg"]].concat());
    assert_eq!(
        (plain.code, plain.out.len()),
        (drawn.code, drawn.out.len()),
        "{}",
        drawn.err
    );
    let picture = folder.read("p.svg");
    assert!(picture.starts_with("<svg "), "{picture}");
    // A chain and a curve for each category.
    assert_eq!(picture.matches("role=\"img\"").count(), 4);
    assert!(picture.contains("◆") && picture.contains("⊘"), "{picture}");
    folder.guard(&[&args[..], &["--plot", "q.svg"]].concat());
    assert!(
        picture == folder.read("q.svg"),
        "the same numbers give the same bytes"
    );
    folder.guard(&[&args[..], &["--plot", "p.html"]].concat());
    let page = folder.read("p.html");
    assert!(
        page.starts_with("<!DOCTYPE html>") && !page.contains("<script") && !page.contains("src=")
    );
    assert_eq!(
        page.matches("<figcaption>").count(),
        2,
        "a chain contains its own text"
    );
    let wrong = folder.guard(&[&args[..], &["--plot", "p.png"]].concat());
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains(".svg or .html"), "{}", wrong.err);
}

#[test]
fn a_small_chain_as_svg() {
    let folder = chain(4);
    let run = folder.guard(&["query", "c.guard", "--plot", "p.svg"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let picture = folder.read("p.svg");
    let (_, elements) = picture.split_once("</style>").unwrap();
    // Nothing of title, description and legend is cut off.
    let chain = picture.split("<svg ").nth(2).unwrap();
    let width = number(&format!(" {chain}"), "width");
    let head = chain.split_once("<g transform=").unwrap().0;
    for part in head.split("<text").skip(1) {
        let (attributes, rest) = part.split_once('>').unwrap();
        let shown = rest.split('<').next().unwrap();
        let end = number(attributes, "x") + 6.2 * shown.chars().count() as f64;
        assert!(end <= width, "{shown} ends at {end} of {width}");
    }
    insta::assert_snapshot!(elements.replace('>', ">\n"));
}

#[test]
fn sixty_states_are_readable() {
    let folder = chain(60);
    let run = folder.guard(&["query", "c.guard", "--plot", "p.svg"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let picture = folder.read("p.svg");
    let picture = picture.split("<svg ").nth(2).unwrap();
    let found = boxes(picture);
    assert_eq!(
        picture.matches("<rect class=\"node").count(),
        60 + 9,
        "all states, and the legend"
    );
    assert_eq!(
        found.len(),
        60 + 98,
        "states, and labels of as many transitions as are drawn"
    );
    for (place, a) in found.iter().enumerate() {
        for b in &found[place + 1..] {
            let apart = a.2 <= b.0 || b.2 <= a.0 || a.3 <= b.1 || b.3 <= a.1;
            assert!(apart, "{a:?} overlaps {b:?}");
        }
    }
    assert!(picture.len() < 100_000, "{}", picture.len());
}

#[test]
fn a_large_chain_shows_its_riskiest_part_and_says_so() {
    let folder = chain(5_000);
    let run = folder.guard(&["query", "c.guard", "--plot", "p.svg"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let picture = folder.read("p.svg");
    assert!(
        picture.contains("60 of 5,000 states"),
        "{}",
        &picture[..3000]
    );
    let picture = picture.split("<svg ").nth(2).unwrap();
    assert_eq!(picture.matches("<rect class=\"node").count(), 60 + 9);
    assert!(picture.len() < 100_000, "{}", picture.len());
}

/// Runs in which the cautious end well and the bold read what is confidential and send it.
fn runs() -> (String, String) {
    let (mut runs, mut labels) = (String::new(), "trace,label\n".to_owned());
    for n in 0..40 {
        let is_bad = n % 4 == 0;
        let call = |tool: &str, query: &str| {
            format!(r#"{{"kind":"call","tool":"{tool}","args":{{"query":"{query}"}}}}"#)
        };
        let mut events = vec![
            call("list_files", "src/"),
            call("search_crm", "customer record"),
        ];
        if n % 3 == 0 {
            events.push(call("execute_code", "print(1)"));
        }
        if is_bad {
            events.push(call("read_file", "passport and salary"));
            events.push(call("send_email", "to a stranger"));
        }
        let category = if n % 2 == 0 { "sales" } else { "research" };
        let events = events.join(",");
        runs.push_str(&format!(
            "{{\"id\":\"r{n}\",\"category\":\"{category}\",\"complete\":true,\"events\":[{events}]}}\n"
        ));
        labels.push_str(&format!("r{n},{is_bad}\n"));
    }
    (runs, labels)
}

#[test]
fn a_calibration_draws_reliability_roc_and_drift() {
    let folder = drift();
    let (runs, labels) = runs();
    folder.write("runs.jsonl", &runs);
    folder.write("labels.csv", &labels);
    let args = [
        "calibrate",
        "drift.guard",
        "runs.jsonl",
        "--model",
        "m.json",
        "--labels",
        "labels.csv",
    ];
    let plain = folder.guard(&args);
    let drawn = folder.guard(&[&args[..], &["--plot", "p.html", "--against", "m.json"]].concat());
    assert_eq!(plain.code, drawn.code, "{}", drawn.err);
    let page = folder.read("p.html");
    for title in [
        "soon: reliability",
        "soon: ROC",
        "Drift: the traces",
        "Drift: the model",
    ] {
        assert!(page.contains(title), "{title}: {}{}", drawn.out, drawn.err);
    }
    assert!(page.contains("Area under the curve ") && page.contains("class=\"num\""));
    assert!(!page.contains("NaN") && !page.contains(">inf"), "{page}");
}

#[test]
fn documentation_has_the_pictures_of_models() {
    let folder = drift();
    let run = folder.guard(&["doc", "drift.guard", "--model", "m.json", "-o", "out"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let page = folder.read("out/drift.html");
    assert!(page.contains("soon (research) on run: chain"), "{page}");
    let run = folder.guard(&[
        "doc",
        "drift.guard",
        "--model",
        "m.json",
        "-o",
        "-",
        "--format",
        "markdown",
    ]);
    assert!(run.out.contains("| state | risk |"), "{}", run.out);
}

/// The numbers of the curves of a page, by title.
fn curves(page: &str) -> Vec<(String, Vec<(u32, f64)>)> {
    let figures = page.split("<figure").skip(1);
    let told = figures.filter_map(|figure| {
        let title = figure.split_once("<title>")?.1.split_once("</title>")?.0;
        let rows = figure.split_once("<tbody>")?.1.split_once("</tbody>")?.0;
        let number = |cell: &str| cell.split('<').next()?.parse().ok();
        let row = |row: &str| {
            let mut cells = row.split("<td>").skip(1);
            Some((number(cells.next()?)? as u32, number(cells.next()?)?))
        };
        let rows: Vec<(u32, f64)> = rows.split("<tr>").filter_map(row).collect();
        title
            .contains("so many steps")
            .then(|| (title.to_owned(), rows))
    });
    told.collect()
}

#[test]
fn bounded_path_formulas_have_curves() {
    let folder = chain(4);
    let bad = "bad";
    let spec = format!(
        "event {{ kind: string }}\nmodel m = import \"c.tra\"\n\
         query reach = P=? [ F {bad} ] on m\n\
         query window = P=? [ F[3,9] {bad} ] on m\n\
         query before = P=? [ (not {bad}) U {bad} ] on m\n\
         query few = P=? [ init U[0,6] {bad} ] on m\n\
         query keep = P=? [ G (not {bad}) ] on m\n\
         query weak = P=? [ init W {bad} ] on m\n\
         query frees = P=? [ init R (not {bad}) ] on m\n\
         query avoid = P=? [ !(F[0,12] {bad}) ] on m\n\
         query strong = P=? [ (not init) M (not {bad}) ] on m\n"
    );
    folder.write("c.guard", &spec);
    let run = folder.guard(&["query", "c.guard", "--plot", "p.html"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let found = curves(&folder.read("p.html"));
    let names: Vec<&str> = found.iter().map(|(title, _)| title.as_str()).collect();
    assert_eq!(
        names,
        [
            "reach on m, within so many steps",
            "window on m, within so many steps",
            "before on m, within so many steps",
            "few on m, within so many steps",
            "keep on m, for so many steps",
            "weak on m, for so many steps",
            "frees on m, for so many steps",
            "avoid on m, for so many steps",
            "strong on m, within so many steps",
        ]
    );
    let of = |place: usize| &found[place].1;
    // Every point is the answer to the query with that bound.
    for (place, text) in [
        (0, "F[0,N] bad"),
        (1, "F[3,N] bad"),
        (2, "(not bad) U[0,N] bad"),
        (3, "init U[0,N] bad"),
        (4, "G[0,N] (not bad)"),
        (5, "(init U[0,N] bad) or (G[0,N] init)"),
        (6, "not ((not init) U[0,N] bad)"),
        (7, "!(F[0,N] bad)"),
        // Strong release: the first operand holds at some step, and the second one until then.
        (8, "(not bad) U[0,N] ((not init) and (not bad))"),
    ] {
        for (steps, y) in [of(place)[1], of(place)[of(place).len() - 1]] {
            let asked = format!("P=? [ {} ]", text.replace('N', &steps.to_string()));
            let run = folder.guard(&["query", "c.guard", &asked, "--format", "json"]);
            let json: serde_json::Value = serde_json::from_str(&run.out).unwrap();
            let value = json["value"].as_f64().unwrap();
            assert!((value - y).abs() < 1e-3, "{asked}: {value}, drawn {y}");
        }
    }
    // Globally is the complement, and so is a negation.
    for (kept, reached) in of(4).iter().zip(of(0)) {
        assert_eq!(kept.0, reached.0);
        assert!((kept.1 + reached.1 - 1.0).abs() < 2e-3);
    }
    let falls = |curve: &[(u32, f64)]| curve.windows(2).all(|pair| pair[0].1 >= pair[1].1);
    assert!(falls(of(4)) && falls(of(7)) && !falls(of(0)));
    let strong = of(8);
    assert!(strong[0].1 < strong[strong.len() - 1].1, "{strong:?}");
    assert_eq!(of(1).first().map(|point| point.0), Some(3));
    assert_eq!(of(1).last().map(|point| point.0), Some(9));
}

#[test]
fn what_has_no_curve_is_named() {
    let folder = chain(4);
    folder.write(
        "c.guard",
        "event { kind: string }\nmodel m = import \"c.tra\"\n\
         query soon = P=? [ F bad ] on m\n\
         query one = P=? [ X bad ] on m\n\
         query both = P=? [ (F bad) & (G !init) ] on m\n\
         query now = P=? [ bad ] on m\n\
         query cost = S=? [ bad ] on m\n",
    );
    let run = folder.guard(&["query", "c.guard", "--plot", "p.html"]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(run.err);
    assert_eq!(curves(&folder.read("p.html")).len(), 1);
}
