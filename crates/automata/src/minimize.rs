//! The minimal automaton, by refinement of a partition of the states.
//!
//! Two states stay in one block as long as both accept or both reject, and their diagrams are equal when leaves are read as
//! blocks. When a block splits, its largest part keeps the name, and only states with a successor in a renamed part are
//! examined again. So each state is examined a logarithmic number of times per successor; rounds over all states would be
//! quadratic on the long chains that result from bounds in steps.
//!
//! # Source
//! J. Henriksen and others, "Mona: monadic second-order logic in practice", 1995, for diagrams under a partition;
//! J. Jacobs, T. Wißmann, "Fast coalgebraic bisimilarity minimization", 2023, for the order of work.

use rustc_hash::FxHashMap;

use super::backward::Backward;
use super::dfa::Dfa;
use super::diagram::{Branch, Diagrams, Ref};

impl Dfa {
    /// Returns the minimal complete automaton of the same traces, the empty one included.
    pub fn minimized(&self) -> Dfa {
        let accepting: Vec<bool> = self.rows.iter().map(|row| row.accepting).collect();
        let partition = Partition::refine(self, &accepting);
        let (mut diagrams, mut relabel) = (Diagrams::default(), FxHashMap::default());
        let mut roots = Vec::with_capacity(partition.blocks.len());
        let mut accepts = Vec::with_capacity(partition.blocks.len());
        for block in &partition.blocks {
            let member = block[0];
            roots.push(self.relabelled(
                self.rows[member as usize].root,
                &partition.block_of,
                &mut diagrams,
                &mut relabel,
            ));
            accepts.push(accepting[member as usize]);
        }
        Dfa::assemble(
            &diagrams,
            &roots,
            &accepts,
            partition.block_of[0] as usize,
            &self.atoms,
            super::formula::Atom,
        )
    }

    /// Returns the smallest complete automaton that agrees on all non-empty traces; the value of the empty trace may
    /// differ.
    ///
    /// Its initial state accepts as this one's does if that costs no state.
    pub fn minimized_nonempty(&self) -> Dfa {
        let apart = self.with_fresh_initial();
        let kept = apart.minimized();
        let flipped = apart.with_empty(!self.rows[0].accepting).minimized();
        if flipped.len() < kept.len() {
            flipped
        } else {
            kept
        }
    }

    /// Returns the same automaton with an initial state that is never entered again.
    pub(super) fn with_fresh_initial(&self) -> Dfa {
        let mut diagrams = Diagrams::default();
        let mut cache = FxHashMap::default();
        let next: Vec<u32> = (1..=self.rows.len() as u32).collect();
        let mut roots: Vec<Ref> = self
            .rows
            .iter()
            .map(|row| self.relabelled(row.root, &next, &mut diagrams, &mut cache))
            .collect();
        roots.insert(0, roots[0]);
        let mut accepting: Vec<bool> = self.rows.iter().map(|row| row.accepting).collect();
        accepting.insert(0, accepting[0]);
        Dfa::assemble(
            &diagrams,
            &roots,
            &accepting,
            0,
            &self.atoms,
            super::formula::Atom,
        )
    }

    /// Returns the automaton with this value of the empty trace. The initial state must be fresh.
    fn with_empty(&self, accepting: bool) -> Dfa {
        let mut dfa = self.clone();
        dfa.rows[0].accepting = accepting;
        dfa
    }

    /// Returns a diagram of this automaton with leaves renamed, in another table.
    fn relabelled(
        &self,
        root: Ref,
        names: &[u32],
        diagrams: &mut Diagrams,
        cache: &mut FxHashMap<Ref, Ref>,
    ) -> Ref {
        if let Some(leaf) = root.as_leaf() {
            return Ref::leaf(names[leaf as usize]);
        }
        if let Some(&known) = cache.get(&root) {
            return known;
        }
        let Branch { var, lo, hi } = self.branches[root.index()];
        let lo = self.relabelled(lo, names, diagrams, cache);
        let hi = self.relabelled(hi, names, diagrams, cache);
        let made = diagrams.branch(var, lo, hi);
        cache.insert(root, made);
        made
    }
}

struct Partition {
    block_of: Vec<u32>,
    /// Members of each block; never empty.
    blocks: Vec<Vec<u32>>,
}

impl Partition {
    fn refine(dfa: &Dfa, accepting: &[bool]) -> Partition {
        let n = dfa.len();
        let mut backward = Backward::new(dfa);
        let mut blocks: Vec<Vec<u32>> = Vec::new();
        for wanted in [true, false] {
            let block: Vec<u32> = (0..n as u32)
                .filter(|&s| accepting[s as usize] == wanted)
                .collect();
            if !block.is_empty() {
                blocks.push(block);
            }
        }
        let mut block_of = vec![0; n];
        for (name, block) in blocks.iter().enumerate() {
            for &state in block {
                block_of[state as usize] = name as u32;
            }
        }
        let mut partition = Partition { block_of, blocks };
        // The position of each state in its block, so that it can be removed in constant time.
        let mut place = vec![0; n];
        for block in &partition.blocks {
            for (index, &state) in block.iter().enumerate() {
                place[state as usize] = index;
            }
        }
        let mut diagrams = Diagrams::default();
        let mut signature: Vec<Option<Ref>> = vec![None; n];
        let mut dirty: Vec<u32> = (0..n as u32).collect();
        while !dirty.is_empty() {
            dirty.sort_unstable_by_key(|&s| (partition.block_of[s as usize], s));
            // All signatures are computed for the same partition, before any block changes, and share a cache.
            let mut cache = FxHashMap::default();
            for &state in &dirty {
                let root = dfa.rows[state as usize].root;
                let block_of = &partition.block_of;
                signature[state as usize] =
                    Some(dfa.relabelled(root, block_of, &mut diagrams, &mut cache));
            }
            let round = std::mem::take(&mut dirty);
            let mut renamed: Vec<u32> = Vec::new();
            for group in round
                .chunk_by(|&a, &b| partition.block_of[a as usize] == partition.block_of[b as usize])
                .map(<[u32]>::to_vec)
                .collect::<Vec<_>>()
            {
                partition.split(&group, &signature, &mut place, &mut renamed);
            }
            backward.new_round();
            backward.sources(&renamed, &mut dirty);
        }
        partition
    }

    /// Splits one block by the signatures of its dirty members; all other members have the same, old signature.
    fn split(
        &mut self,
        dirty: &[u32],
        signature: &[Option<Ref>],
        place: &mut [usize],
        renamed: &mut Vec<u32>,
    ) {
        let name = self.block_of[dirty[0] as usize];
        let block = &mut self.blocks[name as usize];
        // Dirty members go to the end of the block, so that the clean ones stay in front.
        let mut end = block.len();
        for &state in dirty {
            end -= 1;
            let (here, other) = (place[state as usize], block[end]);
            block.swap(here, end);
            place[other as usize] = here;
            place[state as usize] = end;
        }
        let n_clean = end;
        let clean = if n_clean > 0 {
            signature[block[0] as usize]
        } else {
            None
        };
        let mut groups: Vec<(Option<Ref>, Vec<u32>)> = Vec::new();
        let mut index: FxHashMap<Option<Ref>, usize> = FxHashMap::default();
        let mut stay: Vec<u32> = Vec::new();
        for &state in dirty {
            let key = signature[state as usize];
            if n_clean > 0 && key == clean {
                stay.push(state);
                continue;
            }
            let group = *index.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(state);
        }
        if groups.is_empty() || (n_clean == 0 && groups.len() == 1) {
            return;
        }
        let largest = groups
            .iter()
            .enumerate()
            .max_by_key(|(i, (_, g))| (g.len(), usize::MAX - i))
            .map(|(i, (_, g))| (i, g.len()));
        let mut parts: Vec<Vec<u32>> = groups.into_iter().map(|(_, group)| group).collect();
        let unmoved = match largest {
            Some((i, len)) if len > n_clean + stay.len() => {
                let keep = parts.swap_remove(i);
                let mut front: Vec<u32> = block[..n_clean].to_vec();
                front.extend(stay);
                *block = keep;
                if !front.is_empty() {
                    parts.push(front);
                }
                0
            }
            _ => {
                block.truncate(n_clean);
                block.extend(stay);
                n_clean
            }
        };
        for (i, &state) in block.iter().enumerate().skip(unmoved) {
            place[state as usize] = i;
        }
        for part in parts {
            let new = self.blocks.len() as u32;
            for (i, &state) in part.iter().enumerate() {
                place[state as usize] = i;
                self.block_of[state as usize] = new;
            }
            renamed.extend_from_slice(&part);
            self.blocks.push(part);
        }
    }
}
