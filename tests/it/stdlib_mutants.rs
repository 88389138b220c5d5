//! The tests of the library detect every change of a library formula that alters its meaning.
use std::collections::BTreeSet;

use guard_cli::mutate;
use guard_lang::modules::NoFiles;
use guard_lang::stdlib;

/// Changes that no test notices, as `property: change`, each with the reason. There is none.
const UNNOTICED: &[&str] = &[];

/// Changes with bounds in time of which it is not decided whether they mean something else: on traces whose steps are a
/// second apart they do not.
const UNDECIDED: &[(&str, usize)] = &[
    ("clear_at_yellow", 1),
    ("give_way", 1),
    ("go_while_green", 6),
    ("keep_distance", 2),
    ("lights_on", 1),
    ("slow_in_weather", 1),
    ("speed_limit", 2),
    ("stop_at_red", 2),
    ("stop_at_yellow", 2),
];

fn report(module: &str) -> mutate::Report {
    let name = format!("stdlib/tests/{module}.guard");
    let text = std::fs::read_to_string(&name).unwrap();
    let checked = guard_lang::front(&name, &text, &NoFiles, guard_lang::check::Limits::default());
    let spec = checked.spec.unwrap();
    let report = mutate::run(
        &spec,
        &checked.sources,
        &[],
        &mutate::Limits::default(),
        &guard_lang::Progress::default(),
    );
    for (template, _) in templates(module) {
        let tested = report.subjects.iter().any(|subject| subject.tests > 0);
        assert!(tested, "{module}: {template} has no test");
    }
    report
}

/// The templates of a module, each with its number of parameters.
fn templates(module: &str) -> Vec<(String, usize)> {
    let (file, text) = stdlib::module(&[module]).unwrap();
    let (tree, _) = guard_lang::syntax::parse(&guard_lang::source::SourceFile::new(file, text));
    let template = |item: &guard_lang::syntax::ast::Item| match &item.kind {
        guard_lang::syntax::ast::ItemKind::Template(template) => {
            Some((template.name.text.to_string(), template.params.len()))
        }
        _ => None,
    };
    tree.items.iter().filter_map(template).collect()
}

#[test]
fn every_change_of_a_template_is_noticed() {
    let mut unnoticed = BTreeSet::new();
    let mut undecided = Vec::new();
    for module in stdlib::modules() {
        let report = report(module);
        for subject in &report.subjects {
            assert_eq!(subject.error, None, "{module}: {}", subject.name);
            if subject.left_out > 0 {
                undecided.push((subject.name.to_string(), subject.left_out));
            }
            for mutant in &subject.mutants {
                if mutant.killed_by.is_none() {
                    unnoticed.insert(format!("{}: {}", subject.name, mutant.change));
                }
            }
        }
    }
    let known: BTreeSet<String> = UNNOTICED.iter().map(|&one| one.to_owned()).collect();
    assert_eq!(unnoticed, known);
    undecided.sort();
    let known: Vec<(String, usize)> = UNDECIDED
        .iter()
        .map(|(name, n)| ((*name).to_owned(), *n))
        .collect();
    assert_eq!(undecided, known);
}
