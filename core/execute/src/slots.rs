//! Cores shared out to runs, so that no two runs share one.
//!
//! Two logical CPUs of one physical core (hyper-threads) share its caches and units, so a physical core
//! goes to one run only, and the cores of a run are on one memory node where they fit. Cores are claimed
//! for the whole machine: two runners cannot choose the same ones.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, PoisonError};

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, socket_with};

use crate::machine::{Core, Machine};

/// Places for runs, each with cores of its own.
#[derive(Debug)]
pub struct Slots {
    places: Vec<Vec<u32>>,
    free: Mutex<Vec<usize>>,
    freed: Condvar,
    oversubscribed: bool,
    _claims: Vec<OwnedFd>,
}

/// Why cores cannot be shared out.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SlotsError {
    /// There are too few.
    #[error(
        "{jobs} runs at a time with {cores} core(s) each need {jobs} × {cores} cores of their own, but {reason}; \
         run fewer at a time, or allow runs to share cores (measured times then depend on the neighbours)"
    )]
    TooFew {
        /// Runs at a time.
        jobs: usize,
        /// Cores for each.
        cores: usize,
        /// What there is.
        reason: String,
    },
    /// Zero of something.
    #[error("at least one run at a time and one core for each are needed")]
    None,
}

impl Slots {
    /// Shares the machine's cores out to `jobs` runs at a time, `cores` for each. With `oversubscribe`, runs
    /// may share cores if there are too few; [`Slots::oversubscribed`] tells.
    ///
    /// # Errors
    /// There are too few cores, or other runners have claimed them.
    pub fn new(machine: &Machine, jobs: usize, cores: usize, oversubscribe: bool) -> Result<Slots, SlotsError> {
        let mut taken = Vec::new();
        let mut claims = Vec::new();
        let mut usable = Vec::new();
        for (physical, group) in by_physical(&machine.cores) {
            match claim(physical) {
                Ok(claim) => {
                    claims.push((physical, claim));
                    usable.extend(group);
                }
                Err(()) => taken.push(physical),
            }
        }
        let (places, shared) = match share_out(&usable, jobs, cores) {
            Ok(places) => (places, false),
            Err(SlotsError::TooFew { .. }) if oversubscribe => (share_anyhow(&machine.cores, jobs, cores), true),
            Err(SlotsError::TooFew { jobs, cores, mut reason }) => {
                if !taken.is_empty() {
                    reason = format!(
                        "{reason} left: another runner on this machine uses physical core(s) {}",
                        taken.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
                    );
                }
                return Err(SlotsError::TooFew { jobs, cores, reason });
            }
            Err(other) => return Err(other),
        };
        // Cores nobody got are for other runners.
        claims.retain(|(physical, _)| {
            machine
                .cores
                .iter()
                .any(|core| core.physical == *physical && places.iter().any(|place| place.contains(&core.cpu)))
        });
        Ok(Slots {
            free: Mutex::new((0..places.len()).rev().collect()),
            places,
            freed: Condvar::new(),
            oversubscribed: shared,
            _claims: claims.into_iter().map(|(_, claim)| claim).collect(),
        })
    }

    /// Runs at a time.
    #[must_use]
    pub fn jobs(&self) -> usize {
        self.places.len()
    }

    /// Whether runs share cores.
    #[must_use]
    pub fn oversubscribed(&self) -> bool {
        self.oversubscribed
    }

    /// Waits for a place. It is free again when the guard is dropped.
    pub fn acquire(&self) -> SlotGuard<'_> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(index) = free.pop() {
                return SlotGuard { slots: self, index };
            }
            free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A place that is taken.
#[derive(Debug)]
pub struct SlotGuard<'a> {
    slots: &'a Slots,
    index: usize,
}

impl SlotGuard<'_> {
    /// The cores of this place.
    #[must_use]
    pub fn cpus(&self) -> &[u32] {
        &self.slots.places[self.index]
    }

    /// The place's number, from 0.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.slots.free.lock().unwrap_or_else(PoisonError::into_inner).push(self.index);
        self.slots.freed.notify_one();
    }
}

fn by_physical(cores: &[Core]) -> BTreeMap<u32, Vec<Core>> {
    let mut groups: BTreeMap<u32, Vec<Core>> = BTreeMap::new();
    for core in cores {
        groups.entry(core.physical).or_default().push(*core);
    }
    groups
}

/// Claims a physical core by a name that the kernel gives to one process at a time and takes back when that
/// one ends, however it ends.
fn claim(physical: u32) -> Result<OwnedFd, ()> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None).map_err(drop)?;
    let name = format!("agon/core/{physical}");
    let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).map_err(drop)?;
    bind(&socket, &address).map_err(drop)?;
    Ok(socket)
}

/// Gives each of `jobs` runs `cores` cores: whole physical cores, on one memory node where possible.
fn share_out(usable: &[Core], jobs: usize, cores: usize) -> Result<Vec<Vec<u32>>, SlotsError> {
    if jobs == 0 || cores == 0 {
        return Err(SlotsError::None);
    }
    let mut nodes: BTreeMap<u32, Vec<Vec<u32>>> = BTreeMap::new();
    for group in by_physical(usable).into_values() {
        let cpus = group.iter().map(|core| core.cpu).collect();
        nodes.entry(group[0].node).or_default().push(cpus);
    }
    let mut places = Vec::new();
    let mut rest = Vec::new();
    for physical in nodes.into_values() {
        let mut place = Vec::new();
        let mut whole = Vec::new();
        for group in physical {
            whole.push(group.clone());
            place.extend(group);
            if place.len() >= cores {
                place.truncate(cores);
                places.push(std::mem::take(&mut place));
                whole.clear();
            }
        }
        rest.extend(whole);
    }
    let mut place = Vec::new();
    for group in rest {
        place.extend(group);
        if place.len() >= cores {
            place.truncate(cores);
            places.push(std::mem::take(&mut place));
        }
    }
    if places.len() < jobs {
        let physical = by_physical(usable).len();
        return Err(SlotsError::TooFew {
            jobs,
            cores,
            reason: format!("there are {} in {physical} physical ones", usable.len()),
        });
    }
    places.truncate(jobs);
    Ok(places)
}

/// Gives cores in turn, sharing them.
fn share_anyhow(all: &[Core], jobs: usize, cores: usize) -> Vec<Vec<u32>> {
    (0..jobs)
        .map(|job| {
            let mut place: Vec<u32> =
                (0..cores.min(all.len())).map(|index| all[(job * cores + index) % all.len()].cpu).collect();
            place.sort_unstable();
            place
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `nodes` memory nodes of `physical` physical cores of `threads` logical CPUs.
    fn cores(nodes: u32, physical: u32, threads: u32) -> Vec<Core> {
        let total = nodes * physical;
        let mut cores = Vec::new();
        for core in 0..total {
            for thread in 0..threads {
                cores.push(Core { cpu: core + thread * total, physical: core, node: core / physical });
            }
        }
        cores
    }

    #[test]
    fn no_physical_core_is_in_two_places() {
        let all = cores(2, 4, 2);
        for per_run in 1..=8 {
            let places = share_out(&all, 2, per_run).unwrap();
            let physical = |cpu: u32| cpu % 8;
            for a in &places[0] {
                assert!(places[1].iter().all(|b| physical(*a) != physical(*b)));
            }
            assert!(places.iter().all(|place| place.len() == per_run));
        }
        assert_eq!(share_out(&all, 8, 1).unwrap().len(), 8);
        assert!(matches!(share_out(&all, 9, 1), Err(SlotsError::TooFew { .. })));
    }

    #[test]
    fn a_run_stays_on_one_node_where_it_fits() {
        let all = cores(2, 3, 1);
        let places = share_out(&all, 2, 2).unwrap();
        assert_eq!(places, [[0, 1], [3, 4]]);
        // The two cores left are on two nodes; a third run has to take them.
        assert_eq!(share_out(&all, 3, 2).unwrap()[2], [2, 5]);
    }

    #[test]
    fn sharing_is_only_on_demand() {
        let all = cores(1, 2, 1);
        assert!(share_out(&all, 3, 1).is_err());
        assert_eq!(share_anyhow(&all, 3, 1), [[0], [1], [0]]);
        assert_eq!(share_out(&all, 0, 1), Err(SlotsError::None));
    }

    #[test]
    fn a_claim_holds_until_dropped() {
        let first = claim(4_000_000).unwrap();
        assert!(claim(4_000_000).is_err());
        drop(first);
        assert!(claim(4_000_000).is_ok());
    }
}
