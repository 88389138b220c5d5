//! Live traces written down, and read by another process.
//!
//! What is as it was before the first event is left out, and shared again when it is read.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::clock::Clock;
use super::joint::Place;
use super::live::{Kept, Live};
use super::monitor::Configs;
use super::program::Program;
use super::register::Register;
use super::run::Run;
use super::track::Tracks;
use super::world::{Watch, World};
use crate::value::Cell;
use crate::verdict::Verdict;

/// The state of a live trace as it is written down.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    worlds: Vec<SavedWorld>,
    last: Option<u32>,
    n_steps: u64,
    overflow: bool,
    decided: Box<[Option<(Verdict, u32)>]>,
    kept: Vec<Kept>,
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
    /// What is to be written down.
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

    /// What was written down; none where it cannot be the state of a trace of this program.
    pub fn restore(program: &Program, saved: Saved) -> Option<Live> {
        let first = program.first_world();
        let configs: Vec<Configs> = program
            .properties
            .iter()
            .map(|property| Configs::new(&property.automaton))
            .collect();
        let n_properties = program.properties.len();
        let kept = |kept: &Kept| {
            configs
                .get(kept.property)
                .is_some_and(|configs| configs.fits(&kept.content))
        };
        let sound = saved.kept.iter().all(kept)
            && saved.decided.len() == n_properties
            && saved.meta.len() == program.spec.signature.meta.len()
            && (saved.overflow || !saved.worlds.is_empty());
        if !sound {
            return None;
        }
        let mut worlds = Vec::with_capacity(saved.worlds.len());
        for world in saved.worlds {
            worlds.push(restore_world(
                program,
                &first,
                &configs,
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
    program: &Program,
    first: &World,
    configs: &[Configs],
    kept: &[Kept],
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
        let known = |config: u32| {
            configs[id].is_state(config)
                || kept
                    .iter()
                    .any(|kept| (kept.property, kept.number) == (id, config))
        };
        let sound = match (&mut watch, &property.quantified) {
            (Watch::Plain { config, .. }, None) => known(*config),
            (Watch::Sliced(slices), Some(quantified)) => {
                Arc::make_mut(slices).restore(property, quantified) && slices.numbers().all(known)
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
        place: Place::NONE,
    })
}

impl Watch {
    /// Whether two are the same by their looks, without looking into instances.
    fn is(&self, other: &Watch) -> bool {
        match (self, other) {
            (
                Watch::Plain { config, triggered },
                Watch::Plain {
                    config: other,
                    triggered: held,
                },
            ) => (config, triggered) == (other, held),
            (Watch::Sliced(slices), Watch::Sliced(other)) => Arc::ptr_eq(slices, other),
            _ => false,
        }
    }
}
