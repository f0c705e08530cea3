//! The order of drivers: whoever reads runs after all who write.
//!
//! What a driver reads and writes is counted in channels, the translation, rotation or scale of one joint. Where a joint
//! is in model space depends on its own channels and those of all joints above it. Drivers that write the same channel
//! keep the order they were given in; all others are sorted, and a cycle is found rather than cut.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{JointId, Skeleton};

/// A part of a local transform that one driver writes and another may read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Translation,
    Rotation,
    Scale,
}

const PARTS: [Part; 3] = [Part::Translation, Part::Rotation, Part::Scale];

fn channel(joint: JointId, part: Part) -> usize {
    joint.index() * PARTS.len() + part as usize
}

/// The channels one driver reads and writes. What it reads only to change it in place counts as written alone.
#[derive(Debug)]
pub(super) struct Touched<'a> {
    skeleton: &'a Skeleton,
    reads: Vec<usize>,
    writes: Vec<usize>,
}

impl<'a> Touched<'a> {
    pub(super) fn new(skeleton: &'a Skeleton) -> Self {
        Self {
            skeleton,
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    pub(super) fn write(&mut self, joint: JointId, part: Part) {
        self.writes.push(channel(joint, part));
    }

    pub(super) fn read(&mut self, joint: JointId, part: Part) {
        self.reads.push(channel(joint, part));
    }

    /// `model_from_joint`.
    pub(super) fn read_global(&mut self, joint: JointId) {
        self.reads.extend(PARTS.map(|part| channel(joint, part)));
        self.read_parent(joint);
    }

    /// The origin of `joint` in model space, which its own rotation and scale do not move.
    pub(super) fn read_position(&mut self, joint: JointId) {
        self.read(joint, Part::Translation);
        self.read_parent(joint);
    }

    /// The joints above `joint` up to but not including `top`.
    pub(super) fn read_between(&mut self, top: JointId, joint: JointId) {
        for between in self.skeleton.ancestors(joint).take_while(|a| *a != top) {
            self.reads.extend(PARTS.map(|part| channel(between, part)));
        }
    }

    /// The space `joint` is posed in.
    pub(super) fn read_parent(&mut self, joint: JointId) {
        if let Some(parent) = self.skeleton.parent(joint) {
            self.read_global(parent);
        }
    }
}

/// Places of the given drivers in an order in which they can run, or the places along a cycle, its first one again at
/// the end: each needs what the next one writes.
///
/// Among drivers that could run at once the first given is first.
pub(super) fn sort(skeleton: &Skeleton, touched: &[Touched<'_>]) -> Result<Vec<usize>, Vec<usize>> {
    let needs = needs(skeleton, touched);
    let mut waiting: Vec<_> = needs.iter().map(Vec::len).collect();
    let mut needed_by = vec![Vec::new(); needs.len()];
    for (driver, needs) in needs.iter().enumerate() {
        needs
            .iter()
            .for_each(|writer| needed_by[*writer].push(driver));
    }
    let ready = (0..needs.len()).filter(|driver| waiting[*driver] == 0);
    let mut ready: BinaryHeap<_> = ready.map(Reverse).collect();
    let mut order = Vec::with_capacity(needs.len());
    while let Some(Reverse(driver)) = ready.pop() {
        order.push(driver);
        for reader in &needed_by[driver] {
            waiting[*reader] -= 1;
            if waiting[*reader] == 0 {
                ready.push(Reverse(*reader));
            }
        }
    }
    match waiting.iter().position(|count| *count > 0) {
        Some(stuck) => Err(cycle(&needs, &waiting, stuck)),
        None => Ok(order),
    }
}

/// For each driver, sorted and once each, those that must run before it.
fn needs(skeleton: &Skeleton, touched: &[Touched<'_>]) -> Vec<Vec<usize>> {
    let mut writers = vec![Vec::new(); skeleton.len() * PARTS.len()];
    let mut needs = vec![Vec::new(); touched.len()];
    for (driver, touched) in touched.iter().enumerate() {
        for written in &touched.writes {
            let earlier: &mut Vec<usize> = &mut writers[*written];
            if earlier.last() != Some(&driver) {
                needs[driver].extend(earlier.last());
                earlier.push(driver);
            }
        }
    }
    for (needs, touched) in needs.iter_mut().zip(touched) {
        for read in &touched.reads {
            needs.extend_from_slice(&writers[*read]);
        }
        needs.sort_unstable();
        needs.dedup();
    }
    needs
}

/// Follows what stuck drivers wait for until one comes up again.
fn cycle(needs: &[Vec<usize>], waiting: &[usize], stuck: usize) -> Vec<usize> {
    let mut path = vec![stuck];
    let mut at = stuck;
    loop {
        // A stuck driver needs a stuck one, or it would have run.
        let Some(next) = needs[at].iter().find(|need| waiting[**need] > 0) else {
            return path;
        };
        at = *next;
        let met = path.iter().position(|driver| *driver == at);
        path.push(at);
        if let Some(start) = met {
            path.drain(..start);
            return path;
        }
    }
}
