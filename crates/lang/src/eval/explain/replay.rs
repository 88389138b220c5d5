//! Reading a trace again, for its letters and for messages.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::counted::Counted;
use super::values::deciding;
use super::{Read, Request};
use crate::eval::compiled::Compiled;
use crate::eval::expr::{Eval, Frame};
use crate::eval::register::{Operands, Register};
use crate::eval::text;
use crate::eval::trace::TraceState;
use crate::eval::world::{Cache, World};
use crate::input::deferred::{Deferred, DeferredText};
use crate::value::Truth;
use crate::verdict::{PropertyVerdict, Verdict};

/// The part of a history that is read.
#[derive(Clone, Copy)]
struct Extent<'a> {
    /// Whether tracks and registers are followed; then every step is read.
    past: bool,
    /// The steps that are read otherwise, by their index in the history and in the record; of the others only the time is.
    wants: &'a dyn Fn(usize, u32) -> bool,
    /// The steps, if an earlier reading found them.
    known: Option<&'a [Read]>,
}

/// Reads the history from the start and calls the visitor with each step; the tracks already include the step.
fn read(
    state: &mut TraceState<'_>,
    texts: Deferred<'_>,
    extent: Extent<'_>,
    mut look: impl FnMut(&mut Eval<'_>, Read),
) {
    let past = extent.past;
    state.wake();
    let TraceState {
        program,
        cache,
        history,
        source,
        ..
    } = state;
    let (program, cache): (&Compiled, &mut Cache) = (program, cache);
    cache.eval_cache.reporting = false;
    let mut world = World::without_watches(program);
    let mut places = texts.places;
    let here_of = |places: &[DeferredText], step: usize| {
        places.iter().take_while(|text| text.step == step).count()
    };
    for (place, step) in history.steps.iter().enumerate() {
        let (cells, meta) = (&*step.cells, &*source.meta);
        let here;
        (here, places) = places.split_at(here_of(places, place));
        if !past && !(extent.wants)(place, step.index) {
            world.read_clock(program, cells, &mut cache.eval_cache);
            continue;
        }
        cache.eval_cache.begin_step(Some(step.index));
        let deferred = program.code.classes.longer(here);
        cache.eval_cache.classify(&program.code, cells, deferred);
        if let Some(filter) = program.filter.step
            && world
                .eval(&program.code, cells, meta, &mut cache.eval_cache)
                .letter(filter)
                == Truth::False
        {
            continue;
        }
        if past {
            world.enter(program, cells, meta, cache);
        } else {
            world.read_clock(program, cells, &mut cache.eval_cache);
        }
        let time = world.clock.now;
        let Cache { eval_cache, .. } = cache;
        look(
            &mut world.eval(&program.code, cells, meta, eval_cache),
            Read {
                index: step.index,
                place,
                time,
            },
        );
        if past {
            world.leave(program, cells, meta, cache);
        } else {
            world.clock.position += 1;
        }
    }
    cache.eval_cache.reporting = true;
}

/// Reads the history and calls the visitor with each step for each request, up to the step of its verdict, with the registers
/// of its instance.
fn read_for(
    state: &mut TraceState<'_>,
    requests: &[&Request],
    texts: Deferred<'_>,
    extent: Extent<'_>,
    mut look: impl FnMut(&mut Eval<'_>, usize, (usize, Read)),
) -> Vec<Read> {
    let program = state.program;
    let mut frames: Vec<Vec<Register>> = requests
        .iter()
        .map(|request| initial_frame(program, request))
        .collect();
    let mut steps = Vec::new();
    read(state, texts, extent, |eval, step| {
        let position = match extent.known {
            Some(known) => known.partition_point(|known| known.place < step.place),
            None => steps.len(),
        };
        steps.push(step);
        for (number, (request, registers)) in requests.iter().zip(&mut frames).enumerate() {
            if request.at.is_some_and(|at| step.index > at) {
                continue;
            }
            let property = &program.properties[request.property];
            let mut eval = eval.instance(
                &request.vars,
                Frame {
                    ids: &property.frame,
                    registers,
                },
            );
            look(&mut eval, number, (position, step));
            let clock = eval.clock;
            let operands = property.frame.iter().map(|id| eval.operands(*id, true));
            let operands: Vec<Operands> = operands.collect();
            for ((register, id), operands) in
                registers.iter_mut().zip(&property.frame).zip(operands)
            {
                let kind = &program.code.registers[*id as usize].kind;
                register.advance(kind, operands, &clock);
            }
        }
    });
    steps
}

/// Computes the letters of all requests; returns the steps, up to `last` if it is given.
pub(super) fn letters(
    state: &mut TraceState<'_>,
    requests: &mut [Request],
    texts: Deferred<'_>,
    past: bool,
    last: Option<u32>,
) -> Vec<Read> {
    let program = state.program;
    let mut rows: Vec<Vec<Truth>> = vec![Vec::new(); requests.len()];
    let all: Vec<&Request> = requests.iter().collect();
    let extent = Extent {
        past,
        wants: &|_, index| last.is_none_or(|last| index <= last),
        known: None,
    };
    let steps = read_for(state, &all, texts, extent, |eval, number, _| {
        for letter in &program.properties[all[number].property].letters {
            rows[number].push(eval.letter(letter.node));
        }
    });
    for (request, row) in requests.iter_mut().zip(rows) {
        request.letters = row;
    }
    steps
}

fn initial_frame(program: &Compiled, request: &Request) -> Vec<Register> {
    let code = &program.code;
    let frame = &program.properties[request.property].frame;
    frame
        .iter()
        .map(|id| Register::initial(&code.registers[*id as usize].kind))
        .collect()
}

/// Evaluates the messages of violations at their first step, and the deciding parts of the conditions that suffice.
pub(super) fn texts(
    state: &mut TraceState<'_>,
    requests: &[Request],
    verdicts: &mut [PropertyVerdict],
    texts: Deferred<'_>,
    past: bool,
    steps: &[Read],
) {
    let program = state.program;
    let wanted = |request: &&Request| {
        let verdict = &verdicts[request.place];
        let has_message = program.properties[request.property].message.is_some();
        verdict.verdict == Verdict::Violated && (has_message || !verdict.why.reasons.is_empty())
    };
    let wanted: Vec<&Request> = requests.iter().filter(wanted).collect();
    if wanted.is_empty() {
        return;
    }
    let mut places: BTreeSet<usize> = BTreeSet::new();
    for request in &wanted {
        let verdict = &verdicts[request.place];
        let single = verdict.why.reasons.iter();
        let single = single.filter(|reason| reason.is_one_step());
        let positions = single.filter_map(|reason| Some(reason.atom?.1));
        places.extend(positions.map(|position| steps[position].place));
        if let Some(told) = verdict.from.or(verdict.at) {
            let at_told = steps.iter().filter(|step| step.index == told);
            places.extend(at_told.map(|step| step.place));
        }
    }
    let extent = Extent {
        past,
        wants: &|place, _| places.contains(&place),
        known: Some(steps),
    };
    let mut counted: Vec<Counted> = wanted
        .iter()
        .map(|request| {
            let reasons = verdicts[request.place].why.reasons.iter();
            let atoms = reasons.filter_map(|reason| reason.atom.filter(|_| reason.is_one_step()));
            let letters = &program.properties[request.property].letters;
            let letter = |(atom, _)| letters.iter().find(|letter| letter.id == atom);
            Counted::of(
                &program.code,
                atoms.filter_map(letter).map(|letter| letter.node),
            )
        })
        .collect();
    read_for(
        state,
        &wanted,
        texts,
        extent,
        |eval, number, (position, step)| {
            counted[number].note(eval, step.index);
            let request = wanted[number];
            let verdict = &mut verdicts[request.place];
            let property = &program.properties[request.property];
            if verdict.from.or(verdict.at) == Some(step.index)
                && let Some(message) = &property.message
            {
                let mut eval = eval.instance(&request.vars, Frame::NONE);
                verdict.message = Some(text::fill(message, &mut eval));
            }
            for reason in verdict.why.reasons.iter_mut() {
                let Some((atom, _)) = reason
                    .atom
                    .filter(|(_, first)| *first == position && reason.is_one_step())
                else {
                    continue;
                };
                let spec = program.spec();
                let mut letters = property.letters.iter();
                let Some(letter) = letters.find(|letter| letter.id == atom) else {
                    continue;
                };
                let quantified = spec.properties[request.property].quantified.as_ref();
                let vars = quantified
                    .into_iter()
                    .flat_map(|quantified| &quantified.vars);
                let names: Vec<SmolStr> = vars.map(|var| var.name.clone()).collect();
                let counted = &counted[number];
                let found = deciding(
                    program,
                    eval,
                    letter.node,
                    &reason.condition,
                    &names,
                    counted,
                );
                (reason.parts, reason.values) = (found.parts, found.values);
            }
        },
    );
}
