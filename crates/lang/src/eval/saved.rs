//! Serialisation of live traces.
//!
//! Parts that are the same as before the first event are left out, and shared again when the state is restored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::compiled::Compiled;
use super::lazy_product::ProductState;
use super::live::{ExternalState, Live};
use super::monitor::StateSetInterner;
use super::program::Program;
use super::register::Register;
use super::run::Run;
use super::track::Tracks;
use super::watch::Watch;
use super::world::World;
use crate::value::Cell;
use crate::verdict::Verdict;

/// The serialised state of a live trace.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    worlds: Vec<SavedWorld>,
    last: Option<u32>,
    n_steps: u64,
    overflow: bool,
    decided: Box<[Option<(Verdict, u32)>]>,
    kept: Vec<ExternalState>,
    meta: Box<[Cell]>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedWorld {
    tracks: Option<Arc<Tracks>>,
    registers: Vec<Register>,
    clock: Clock,
    watches: Vec<Option<Watch>>,
    live: Vec<u32>,
}

impl Live {
    /// Returns the state to be written.
    pub fn save(&self, program: &Program) -> Saved {
        let first = program.first_world();
        let world = |world: &World| SavedWorld {
            tracks: (!Arc::ptr_eq(&world.tracks, &first.tracks)).then(|| world.tracks.clone()),
            registers: world.registers.clone(),
            clock: world.clock,
            watches: world
                .watches
                .iter()
                .zip(&first.watches)
                .map(|(watch, first)| (!watch.is(first)).then(|| watch.clone()))
                .collect(),
            live: world.unsettled(),
        };
        Saved {
            worlds: self.run.worlds.iter().map(world).collect(),
            last: self.run.last,
            n_steps: self.run.n_steps,
            overflow: self.run.overflow,
            decided: self.run.decided.clone(),
            kept: self.kept.clone(),
            meta: self.meta.clone(),
        }
    }

    /// Restores a serialised state. Returns `None` if it cannot be the state of a trace of this program.
    pub fn restore(program: &Program, saved: Saved) -> Option<Live> {
        let (first, program) = (program.first_world(), &program.compiled);
        let state_sets: Vec<StateSetInterner> = program
            .properties
            .iter()
            .map(|property| StateSetInterner::new(&property.automaton))
            .collect();
        let n_properties = program.properties.len();
        let kept = |kept: &ExternalState| {
            state_sets
                .get(kept.property)
                .is_some_and(|state_sets| state_sets.fits(&kept.content))
        };
        let sound = saved.kept.iter().all(kept)
            && saved.decided.len() == n_properties
            && saved.meta.len() == program.spec.schema.meta.len()
            && (saved.overflow || !saved.worlds.is_empty());
        if !sound {
            return None;
        }
        let mut worlds = Vec::with_capacity(saved.worlds.len());
        for world in saved.worlds {
            worlds.push(restore_world(
                program,
                &first,
                &state_sets,
                &saved.kept,
                world,
            )?);
        }
        Some(Live {
            run: Run {
                worlds,
                last: saved.last,
                n_steps: saved.n_steps,
                overflow: saved.overflow,
                decided: saved.decided,
            },
            kept: saved.kept,
            meta: saved.meta,
        })
    }
}

fn restore_world(
    program: &Compiled,
    first: &World,
    state_sets: &[StateSetInterner],
    kept: &[ExternalState],
    saved: SavedWorld,
) -> Option<World> {
    let tracks = saved.tracks.unwrap_or_else(|| first.tracks.clone());
    let sound = tracks.fit(&program.code)
        && saved.registers.len() == first.registers.len()
        && saved.watches.len() == first.watches.len()
        && saved
            .live
            .iter()
            .all(|id| (*id as usize) < first.watches.len());
    if !sound {
        return None;
    }
    let mut watches = Vec::with_capacity(saved.watches.len());
    for (id, (watch, first)) in saved.watches.into_iter().zip(&first.watches).enumerate() {
        let Some(mut watch) = watch else {
            watches.push(first.clone());
            continue;
        };
        let property = &program.properties[id];
        let known = |state_set: u32| {
            state_sets[id].is_state(state_set)
                || kept
                    .iter()
                    .any(|kept| (kept.property, kept.number) == (id, state_set))
        };
        let sound = match (&mut watch, &property.quantified) {
            (Watch::Plain { state_set, .. }, None) => known(*state_set),
            (Watch::Parametric(instances), Some(quantified)) => {
                Arc::make_mut(instances).restore(property, quantified)
                    && instances.numbers().all(known)
            }
            _ => false,
        };
        if !sound {
            return None;
        }
        watches.push(watch);
    }
    let mut ids = saved.live.clone();
    ids.sort_unstable();
    ids.dedup();
    let live: Vec<u32> = program.stepped_alone(ids.iter().copied()).collect();
    ids.retain(|id| live.binary_search(id).is_err());
    Some(World {
        tracks,
        registers: saved.registers,
        clock: saved.clock,
        watches,
        live,
        open: ids,
        product_state: ProductState::NONE,
    })
}

impl Watch {
    /// Whether two watches are identical. Instances are compared by address, not by value.
    fn is(&self, other: &Watch) -> bool {
        match (self, other) {
            (
                Watch::Plain {
                    state_set,
                    triggered,
                },
                Watch::Plain {
                    state_set: other,
                    triggered: held,
                },
            ) => (state_set, triggered) == (other, held),
            (Watch::Parametric(instances), Watch::Parametric(other)) => {
                Arc::ptr_eq(instances, other)
            }
            _ => false,
        }
    }
}
