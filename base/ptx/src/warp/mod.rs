//! Warps: 32 lanes, each with a place of its own in the kernel.
//!
//! In a step, the lanes that are at the same place run its instruction together. Usually these are
//! the lanes furthest behind, so that lanes meet again after a branch; now and then the seed
//! chooses others. Where lanes exchange values, each waits until all lanes of its mask are at the
//! same instruction, as on devices since compute capability 7.0.

mod accesses;
mod copies;
mod exchange;
mod matrices;
mod registers;
mod special;

use crate::arithmetic::Lanes;
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Count, Instruction, Operation};
use crate::parse::Kernel;
use crate::random::Random;
use crate::tracked::TrackedBytes;
use copies::Copies;

/// The number of lanes.
pub(crate) const LANES: usize = 32;

/// On average, one in this many choices of a group is random.
const RANDOM_STEPS: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WarpState {
    Running,
    /// All lanes that have not ended wait at a barrier of the block.
    AtBarrier,
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaneState {
    Running,
    /// Waits for the other lanes of its mask.
    Meeting,
    /// Waits for the threads of the block, at the barrier of this number.
    AtBarrier(u64),
    Ended,
    /// There is no such thread in the block.
    Missing,
}

#[derive(Clone, Debug)]
pub(crate) struct Warp {
    first_thread: u32,
    lanes: [LaneState; LANES],
    /// The lanes that run, as bits.
    running: u32,
    /// The running lanes that were together in the last step, as bits.
    group: u32,
    /// The place of the group in the code.
    group_place: usize,
    /// The places of the other lanes.
    places: [usize; LANES],
    registers: Vec<Lanes>,
    /// The local memory of each lane.
    local: Vec<TrackedBytes>,
    copies: Vec<Copies>,
    /// The lanes that wait at a barrier with a true predicate.
    barrier_votes: u32,
}

impl Warp {
    pub fn new(kernel: &Kernel) -> Self {
        let mut warp = Warp {
            first_thread: 0,
            lanes: [LaneState::Missing; LANES],
            running: 0,
            group: 0,
            group_place: 0,
            places: [0; LANES],
            registers: vec![[0; LANES]; kernel.code.num_registers],
            local: Vec::new(),
            copies: vec![Copies::default(); LANES],
            barrier_votes: 0,
        };
        warp.set_constants(kernel);
        warp
    }

    /// Begins a block of `num_threads` threads; the warp runs up to 32 of them, from `first_thread`
    /// on.
    pub fn begin(&mut self, first_thread: u32, num_threads: u32, around: &Surroundings<'_>) {
        self.first_thread = first_thread;
        for (lane, state) in self.lanes.iter_mut().enumerate() {
            let exists = first_thread + (lane as u32) < num_threads;
            *state = if exists { LaneState::Running } else { LaneState::Missing };
        }
        self.running = lanes_of(|lane| self.lanes[lane] == LaneState::Running);
        (self.group, self.group_place, self.barrier_votes) = (self.running, 0, 0);
        self.local = vec![TrackedBytes::new(around.kernel.code.local_bytes); LANES];
        self.copies.iter_mut().for_each(Copies::clear);
        self.set_specials(around);
    }

    pub fn state(&self) -> WarpState {
        if self.running != 0 || self.lanes.contains(&LaneState::Meeting) {
            WarpState::Running
        } else if self.lanes.iter().any(|state| matches!(state, LaneState::AtBarrier(_))) {
            WarpState::AtBarrier
        } else {
            WarpState::Ended
        }
    }

    /// Returns the lowest thread that has not ended, with its place in the code.
    pub fn first_unfinished(&self) -> Option<(u32, usize)> {
        let ended = [LaneState::Ended, LaneState::Missing];
        let lane = self.lanes.iter().position(|state| !ended.contains(state))?;
        Some((self.first_thread + lane as u32, self.place(lane)))
    }

    fn place(&self, lane: usize) -> usize {
        if self.group >> lane & 1 == 1 { self.group_place } else { self.places[lane] }
    }

    /// Takes `active` lanes out of the group; the other lanes of the group continue.
    fn leave_group(&mut self, active: u32, state: LaneState) {
        for lane in lanes(active) {
            self.places[lane] = self.group_place;
            self.lanes[lane] = state;
        }
        self.running &= !active;
        self.group &= !active;
        self.group_place += 1;
    }

    /// Lets the `waiting` lanes run again, from their next instruction on.
    fn resume(&mut self, waiting: u32) {
        for lane in lanes(waiting) {
            self.lanes[lane] = LaneState::Running;
            self.places[lane] += 1;
        }
        self.running |= waiting;
    }

    /// Returns the threads that wait at a barrier of the block, each with its place in the code and
    /// the number of the barrier.
    pub fn waiting_at_barrier(&self) -> impl Iterator<Item = (u32, usize, u64)> {
        self.lanes.iter().enumerate().filter_map(|(lane, state)| match state {
            LaneState::AtBarrier(number) => {
                Some((self.first_thread + lane as u32, self.places[lane], *number))
            }
            _ => None,
        })
    }

    /// Returns the number of the lowest thread that has ended.
    pub fn first_ended(&self) -> Option<u32> {
        let lane = self.lanes.iter().position(|state| *state == LaneState::Ended)?;
        Some(self.first_thread + lane as u32)
    }

    /// Returns the number of threads that wait at a barrier with a true predicate.
    pub fn num_barrier_votes(&self) -> u32 {
        self.barrier_votes.count_ones()
    }

    /// Lets all threads continue from a barrier at which `votes` of `threads` had a true predicate.
    pub fn pass_barrier(&mut self, kernel: &Kernel, votes: u32, threads: u32) {
        let waiting = lanes_of(|lane| matches!(self.lanes[lane], LaneState::AtBarrier(_)));
        for lane in lanes(waiting) {
            let operation = &kernel.code.body[self.places[lane]].operation;
            if let Operation::Barrier { count: Some((count, to, ..)), .. } = operation {
                self.registers[*to as usize][lane] = match count {
                    Count::Number => u64::from(votes),
                    Count::All => u64::from(votes == threads),
                    Count::Any => u64::from(votes > 0),
                };
            }
        }
        self.barrier_votes = 0;
        self.resume(waiting);
    }

    /// Runs an instruction for the lanes that are at one place.
    pub fn step(
        &mut self,
        around: &mut Surroundings<'_>,
        random: &mut Random,
    ) -> Result<(), Fault> {
        if self.group != self.running || self.running == 0 {
            self.choose_group(around, random)?;
        }
        let Instruction { guard, operation, .. } = &around.kernel.code.body[self.group_place];
        let active = match guard {
            Some((register, wanted)) => {
                let values = &self.registers[*register as usize];
                self.group & lanes_of(|lane| (values[lane] != 0) == *wanted)
            }
            None => self.group,
        };
        if active == 0 {
            // The guard is false in all lanes of the group, so they skip the instruction.
            self.group_place += 1;
            return Ok(());
        }
        self.run(operation, active, around, random)
    }

    /// Chooses the place of the next instruction, and the lanes that are at it.
    fn choose_group(
        &mut self,
        around: &Surroundings<'_>,
        random: &mut Random,
    ) -> Result<(), Fault> {
        let running = self.running;
        if running == 0 {
            let lane = self.lanes.iter().position(|state| *state == LaneState::Meeting);
            let lane = lane.expect("a warp that runs has lanes that run or meet");
            let others = "lanes of its mask, which wait at other instructions or a barrier";
            return Err(self.fault(around, lane, format!("an exchange that waits for {others}")));
        }
        lanes(self.group).for_each(|lane| self.places[lane] = self.group_place);
        self.group_place = if random.below(RANDOM_STEPS) == 0 {
            let chosen = random.below(running.count_ones() as usize);
            self.places[lanes(running).nth(chosen).expect("it is below their number")]
        } else {
            let lowest = lanes(running).map(|lane| self.places[lane]).min();
            lowest.expect("a lane runs")
        };
        self.group = running & lanes_of(|lane| self.places[lane] == self.group_place);
        Ok(())
    }

    fn run(
        &mut self,
        operation: &Operation,
        active: u32,
        around: &mut Surroundings<'_>,
        random: &mut Random,
    ) -> Result<(), Fault> {
        match operation {
            Operation::Branch { target } => {
                self.branch(active, |_| *target);
                return Ok(());
            }
            Operation::BranchIndexed { targets, index } => {
                let indices = self.registers[*index as usize];
                let past = |lane: &usize| indices[*lane] as usize >= targets.len();
                if let Some(lane) = lanes(active).find(past) {
                    let reason = format!("a branch to {} of {}", indices[lane], targets.len());
                    return Err(self.fault(around, lane, reason));
                }
                self.branch(active, |lane| targets[indices[lane] as usize]);
                return Ok(());
            }
            Operation::Return => {
                self.leave_group(active, LaneState::Ended);
                return Ok(());
            }
            Operation::Trap => {
                let lane = active.trailing_zeros() as usize;
                return Err(self.fault(around, lane, "a trap".to_owned()));
            }
            Operation::Barrier { number, count } => {
                let numbers = self.registers[*number as usize];
                if let Some((_, _, negated, predicate)) = count {
                    let values = &self.registers[*predicate as usize];
                    self.barrier_votes |= active & lanes_of(|lane| (values[lane] != 0) != *negated);
                }
                self.leave_group(active, LaneState::Ended);
                for lane in lanes(active) {
                    self.lanes[lane] = LaneState::AtBarrier(numbers[lane]);
                }
                return Ok(());
            }
            Operation::Exchange { exchange, members } => {
                return self.meet(exchange, *members, active, around);
            }
            Operation::Load { space, ty, to, address } => {
                self.load(active, (*space, *ty), to, *address, around)?;
            }
            Operation::Store { space, ty, from, address } => {
                let lanes = in_random_order(active, random);
                self.store(lanes, (*space, *ty), from, *address, around)?;
            }
            Operation::Atomic { kind, space, ty, to, address, from } => {
                for lane in in_random_order(active, random) {
                    self.atomic(lane, *kind, (*space, *ty), *to, *address, *from, around)?;
                }
            }
            Operation::CopyLater { to, from, size, read } => {
                for lane in in_random_order(active, random) {
                    self.copy_later(lane, *to, *from, (*size, *read), around)?;
                }
            }
            Operation::EndCopyGroup => {
                lanes(active).for_each(|lane| self.copies[lane].end_group());
            }
            Operation::AwaitCopies { groups_left } => {
                for lane in in_random_order(active, random) {
                    self.await_copies(lane, *groups_left, around)?;
                }
            }
            // The emulator performs accesses in order, so a fence has no effect.
            Operation::Fence => {}
            _ => self.compute(operation, active, around)?,
        }
        self.group_place += 1;
        Ok(())
    }

    /// Moves each `active` lane of the group to its `target`; the others continue.
    fn branch(&mut self, active: u32, target: impl Fn(usize) -> usize) {
        let first = target(active.trailing_zeros() as usize);
        if active == self.group && lanes(active).all(|lane| target(lane) == first) {
            self.group_place = first;
            return;
        }
        for lane in lanes(self.group) {
            self.places[lane] =
                if active >> lane & 1 == 1 { target(lane) } else { self.group_place + 1 };
        }
        self.group = 0;
    }

    /// Returns a fault of `lane` at its place.
    fn fault(&self, around: &Surroundings<'_>, lane: usize, reason: String) -> Fault {
        let line = around.kernel.code.body[self.place(lane)].line;
        around.fault(self.first_thread + lane as u32, line, reason)
    }
}

/// Returns the lanes for which `is` holds, as bits.
fn lanes_of(is: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |mask, lane| mask | u32::from(is(lane)) << lane)
}

/// Returns the lanes of a mask, in ascending order.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// Returns the lanes of a mask in cyclic order, from a random lane on.
fn in_random_order(mask: u32, random: &mut Random) -> impl Iterator<Item = usize> + use<> {
    let first = random.below(LANES) as u32;
    lanes(mask.rotate_right(first)).map(move |lane| (lane + first as usize) % LANES)
}
