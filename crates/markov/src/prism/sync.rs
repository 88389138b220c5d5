//! Composition of modules: which commands synchronise.

use indexmap::IndexMap;

use super::super::text::TextError;
use super::model::{Model, System};

/// A synchronisation: one enabled command of each part acts.
#[derive(Clone, Debug)]
pub(super) struct Sync {
    /// The action; empty for commands without one.
    pub(super) action: String,
    /// For each participating module, the indices of its commands among all commands.
    pub(super) parts: Vec<Vec<usize>>,
}

/// Synchronisations by action; those of the empty action are commands that act alone.
type Alternatives = IndexMap<String, Vec<Sync>>;

/// Returns the synchronisations of a model. `first` is the index of each module's first command.
pub(super) fn syncs(model: &Model, first: &[usize]) -> Result<Vec<Sync>, TextError> {
    let all = match &model.system {
        Some(system) => compose(model, first, system)?,
        None => {
            let mut all = Alternatives::new();
            for module in 0..model.modules.len() {
                all = parallel(all, of_module(model, first, module), None);
            }
            all
        }
    };
    Ok(all
        .into_iter()
        .flat_map(|(action, syncs)| {
            syncs.into_iter().map(move |sync| Sync {
                action: action.clone(),
                ..sync
            })
        })
        .filter(|sync| sync.parts.iter().all(|part| !part.is_empty()))
        .collect())
}

fn of_module(model: &Model, first: &[usize], module: usize) -> Alternatives {
    let mut found = Alternatives::new();
    for (at, command) in model.modules[module].commands.iter().enumerate() {
        let action = command.action.clone().unwrap_or_default();
        let syncs = found.entry(action.clone()).or_insert_with(|| {
            vec![Sync {
                action,
                parts: vec![Vec::new()],
            }]
        });
        syncs[0].parts[0].push(first[module] + at);
    }
    found
}

/// Composes two parts in parallel, synchronised on the given actions; on all common actions if `on` is `None`.
fn parallel(left: Alternatives, mut right: Alternatives, on: Option<&[String]>) -> Alternatives {
    let mut found = Alternatives::new();
    for (action, syncs) in left {
        let together = !action.is_empty() && on.is_none_or(|on| on.contains(&action));
        let others = right.shift_remove(&action);
        let joined = match others {
            None if on.is_some() && together => Vec::new(),
            None => syncs,
            Some(others) if together => syncs
                .iter()
                .flat_map(|one| {
                    others.iter().map(|other| Sync {
                        action: action.clone(),
                        parts: [one.parts.as_slice(), other.parts.as_slice()].concat(),
                    })
                })
                .collect(),
            Some(others) => [syncs, others].concat(),
        };
        found.insert(action, joined);
    }
    for (action, syncs) in right {
        let blocked = !action.is_empty() && on.is_some_and(|on| on.contains(&action));
        found.insert(action, if blocked { Vec::new() } else { syncs });
    }
    found
}

fn compose(model: &Model, first: &[usize], system: &System) -> Result<Alternatives, TextError> {
    Ok(match system {
        System::Module(name, place) => {
            let Some(module) = model.modules.iter().position(|module| module.name == *name) else {
                return Err(TextError::new(*place, format!("unknown module `{name}`")));
            };
            of_module(model, first, module)
        }
        System::Parallel(left, on, right) => parallel(
            compose(model, first, left)?,
            compose(model, first, right)?,
            on.as_deref(),
        ),
        System::Hide(of, actions) => renamed(compose(model, first, of)?, |action| {
            if actions.contains(&action) {
                String::new()
            } else {
                action
            }
        }),
        System::Rename(of, pairs) => renamed(compose(model, first, of)?, |action| {
            pairs
                .iter()
                .find(|pair| pair.0 == action)
                .map_or(action, |pair| pair.1.clone())
        }),
    })
}

fn renamed(all: Alternatives, name: impl Fn(String) -> String) -> Alternatives {
    let mut found = Alternatives::new();
    for (action, syncs) in all {
        found.entry(name(action)).or_default().extend(syncs);
    }
    found
}
