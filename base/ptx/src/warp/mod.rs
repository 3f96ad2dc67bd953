//! Warps: 32 lanes, each with a place of its own in the kernel.
//!
//! In a step the lanes that are at one place run its instruction together, mostly those that are
//! furthest behind, so that lanes meet again after a branch; the seed now and then chooses others.
//! Where lanes exchange values, each waits until all lanes of its mask are at the same instruction,
//! as on devices since compute capability 7.0.

mod registers;

use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Instruction, LaneMask, Operand, Operation, Shuffle, Special, Vote};
use crate::parse::Kernel;
use crate::random::Random;

/// The number of lanes.
const LANES: usize = 32;

/// One step in this many begins with a lane that the seed chooses.
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
    places: [usize; LANES],
    lanes: [LaneState; LANES],
    /// The lanes that run, as bits.
    running: u32,
    registers: Vec<[u64; LANES]>,
}

impl Warp {
    pub fn new(num_registers: usize) -> Self {
        Warp {
            first_thread: 0,
            places: [0; LANES],
            lanes: [LaneState::Missing; LANES],
            running: 0,
            registers: vec![[0; LANES]; num_registers],
        }
    }

    /// Begins a block of `num_threads` threads with those from `first_thread` on.
    pub fn begin(&mut self, first_thread: u32, num_threads: u32) {
        self.first_thread = first_thread;
        self.places = [0; LANES];
        for (lane, state) in self.lanes.iter_mut().enumerate() {
            let exists = first_thread + (lane as u32) < num_threads;
            *state = if exists { LaneState::Running } else { LaneState::Missing };
        }
        self.running = lanes_of(|lane| self.lanes[lane] == LaneState::Running);
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

    fn set_state(&mut self, lane: usize, state: LaneState) {
        self.lanes[lane] = state;
        let bit = 1 << lane;
        self.running =
            if state == LaneState::Running { self.running | bit } else { self.running & !bit };
    }

    pub fn first_thread(&self) -> u32 {
        self.first_thread
    }

    /// The line that the first lane is at.
    pub fn line(&self, kernel: &Kernel) -> u32 {
        kernel.body[self.places[0].min(kernel.body.len() - 1)].line
    }

    /// The threads that wait at a barrier of the block, with their places and its number.
    pub fn waiting_at_barrier(&self) -> impl Iterator<Item = (u32, usize, u64)> {
        self.lanes.iter().enumerate().filter_map(|(lane, state)| match state {
            LaneState::AtBarrier(number) => {
                Some((self.first_thread + lane as u32, self.places[lane], *number))
            }
            _ => None,
        })
    }

    /// The first thread that has ended.
    pub fn first_ended(&self) -> Option<u32> {
        let lane = self.lanes.iter().position(|state| *state == LaneState::Ended)?;
        Some(self.first_thread + lane as u32)
    }

    pub fn pass_barrier(&mut self) {
        for lane in 0..LANES {
            if matches!(self.lanes[lane], LaneState::AtBarrier(_)) {
                self.set_state(lane, LaneState::Running);
                self.places[lane] += 1;
            }
        }
    }

    /// Runs an instruction for the lanes that are at one place.
    pub fn step(
        &mut self,
        around: &mut Surroundings<'_>,
        random: &mut Random,
    ) -> Result<(), Fault> {
        let running = self.running;
        if running == 0 {
            let lane = self.lanes.iter().position(|state| *state == LaneState::Meeting);
            let lane = lane.expect("a warp that runs has lanes that run or meet");
            let others = "lanes of its mask, which wait at other instructions or a barrier";
            return Err(self.fault(around, lane, format!("an exchange that waits for {others}")));
        }
        let place = if random.below(RANDOM_STEPS) == 0 {
            let chosen = random.below(running.count_ones() as usize);
            self.places[lanes(running).nth(chosen).expect("it is below their number")]
        } else {
            let lowest = lanes(running).map(|lane| self.places[lane]).min();
            lowest.expect("a lane runs")
        };
        let group = running & lanes_of(|lane| self.places[lane] == place);
        let Instruction { guard, operation, .. } = &around.kernel.body[place];
        let active = match guard {
            Some((register, wanted)) => {
                let values = &self.registers[*register as usize];
                group & lanes_of(|lane| (values[lane] != 0) == *wanted)
            }
            None => group,
        };
        // Lanes whose guard is false go on.
        lanes(group & !active).for_each(|lane| self.places[lane] += 1);
        if active != 0 {
            self.run(operation, place, active, around, random)?;
        }
        Ok(())
    }

    fn run(
        &mut self,
        operation: &Operation,
        place: usize,
        active: u32,
        around: &mut Surroundings<'_>,
        random: &mut Random,
    ) -> Result<(), Fault> {
        match operation {
            Operation::Branch { target } => {
                lanes(active).for_each(|lane| self.places[lane] = *target);
                return Ok(());
            }
            Operation::Return => {
                lanes(active).for_each(|lane| self.set_state(lane, LaneState::Ended));
                return Ok(());
            }
            Operation::Barrier { number } => {
                for lane in lanes(active) {
                    let number = self.value(*number, lane, around);
                    self.set_state(lane, LaneState::AtBarrier(number));
                }
                return Ok(());
            }
            Operation::Shuffle { members, .. }
            | Operation::Vote { members, .. }
            | Operation::WarpBarrier { members } => {
                lanes(active).for_each(|lane| self.set_state(lane, LaneState::Meeting));
                return self.meet(operation, *members, place, around);
            }
            Operation::Load { space, ty, to, address } => {
                for lane in in_random_order(active, random) {
                    self.load(lane, (*space, *ty), to, *address, around)?;
                }
            }
            Operation::Store { space, ty, from, address } => {
                for lane in in_random_order(active, random) {
                    self.store(lane, (*space, *ty), from, *address, around)?;
                }
            }
            _ => {
                if !self.compute_together(operation, active, around) {
                    for lane in lanes(active) {
                        self.compute(operation, lane, around)?;
                    }
                }
            }
        }
        lanes(active).for_each(|lane| self.places[lane] += 1);
        Ok(())
    }

    /// Exchanges values between the lanes that wait at `place`, where all lanes of a mask do.
    fn meet(
        &mut self,
        operation: &Operation,
        members: Operand,
        place: usize,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let here =
            lanes_of(|lane| self.lanes[lane] == LaneState::Meeting && self.places[lane] == place);
        let mut left = here;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let mask = self.value(members, first, around) as u32;
            let existing = mask & lanes_of(|lane| self.lanes[lane] != LaneState::Missing);
            if existing >> first & 1 == 0 {
                let reason =
                    format!("an exchange with the mask {mask:#x}, without the lane itself");
                return Err(self.fault(around, first, reason));
            }
            if let Some(ended) = lanes(existing).find(|&lane| self.lanes[lane] == LaneState::Ended)
            {
                let reason = format!("an exchange with lane {ended}, which has ended");
                return Err(self.fault(around, first, reason));
            }
            if existing & !here != 0 {
                // Others of the mask are still on their way.
                left &= !(1 << first);
                continue;
            }
            if let Some(other) =
                lanes(existing).find(|&lane| self.value(members, lane, around) as u32 != mask)
            {
                let found = self.value(members, other, around);
                let reason = format!(
                    "an exchange with the mask {mask:#x}, which is {found:#x} in lane {other}"
                );
                return Err(self.fault(around, first, reason));
            }
            self.exchange(operation, existing, around)?;
            for lane in lanes(existing) {
                self.set_state(lane, LaneState::Running);
                self.places[lane] += 1;
            }
            left &= !existing;
        }
        Ok(())
    }

    fn exchange(
        &mut self,
        operation: &Operation,
        members: u32,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        match operation {
            Operation::Shuffle { kind, to, is_valid, value, lane: by, clamp, .. } => {
                let mut values = [0; LANES];
                for lane in lanes(members) {
                    values[lane] = self.value(*value, lane, around);
                }
                for lane in lanes(members) {
                    let by = self.value(*by, lane, around) as u32;
                    let clamp = self.value(*clamp, lane, around) as u32;
                    let (from, valid) = shuffle_source(*kind, lane as u32, by, clamp);
                    if members >> from & 1 == 0 {
                        let reason =
                            format!("a shuffle from lane {from}, which does not take part");
                        return Err(self.fault(around, lane, reason));
                    }
                    self.registers[*to as usize][lane] =
                        values[from as usize] & u64::from(u32::MAX);
                    if let Some(register) = is_valid {
                        self.registers[*register as usize][lane] = u64::from(valid);
                    }
                }
            }
            Operation::Vote { kind, to, predicate, negated, .. } => {
                let ballot = members
                    & lanes_of(|lane| (self.value(*predicate, lane, around) != 0) != *negated);
                let result = match kind {
                    Vote::Ballot => u64::from(ballot),
                    Vote::Any => u64::from(ballot != 0),
                    Vote::All => u64::from(ballot == members),
                    Vote::Uniform => u64::from(ballot == 0 || ballot == members),
                };
                for lane in lanes(members) {
                    self.registers[*to as usize][lane] = result;
                }
            }
            // Its lanes have met.
            _ => {}
        }
        Ok(())
    }

    fn value(&self, operand: Operand, lane: usize, around: &Surroundings<'_>) -> u64 {
        match operand {
            Operand::Register(register) => self.registers[register as usize][lane],
            Operand::Constant(value) => value,
            Operand::Special(special) => u64::from(self.special(special, lane, around)),
        }
    }

    fn special(&self, special: Special, lane: usize, around: &Surroundings<'_>) -> u32 {
        let [width, height, _] = around.grid.threads;
        let thread = self.first_thread + lane as u32;
        match special {
            Special::Thread(0) => thread % width,
            Special::Thread(1) => thread / width % height,
            Special::Thread(_) => thread / width / height,
            Special::NumThreads(axis) => around.grid.threads[axis],
            Special::Block(axis) => around.block[axis],
            Special::NumBlocks(axis) => around.grid.blocks[axis],
            Special::Lane => lane as u32,
            Special::LaneMask(mask) => {
                let (own, below) = (1u32 << lane, (1u32 << lane) - 1);
                match mask {
                    LaneMask::Equal => own,
                    LaneMask::Less => below,
                    LaneMask::LessEqual => below | own,
                    LaneMask::Greater => !(below | own),
                    LaneMask::GreaterEqual => !below,
                }
            }
        }
    }

    /// A fault of `lane` at its place.
    fn fault(&self, around: &Surroundings<'_>, lane: usize, reason: String) -> Fault {
        let line = around.kernel.body[self.places[lane]].line;
        around.fault(self.first_thread + lane as u32, line, reason)
    }
}

/// The lane that a shuffle of `lane` reads, and whether it is within the segment; if not, `lane`
/// itself. The formulas are those of the PTX manual, section "shfl.sync".
fn shuffle_source(kind: Shuffle, lane: u32, by: u32, clamp: u32) -> (u32, bool) {
    let (by, bound, segment) = (by & 31, clamp & 31, clamp >> 8 & 31);
    let least = lane & segment;
    let most = least | bound & !segment;
    let (source, valid) = match kind {
        Shuffle::Up => {
            let source = i64::from(lane) - i64::from(by);
            (source.max(0) as u32, source >= i64::from(most))
        }
        Shuffle::Down => (lane + by, lane + by <= most),
        Shuffle::Butterfly => (lane ^ by, lane ^ by <= most),
        Shuffle::Index => {
            let source = least | by & !segment;
            (source, source <= most)
        }
    };
    if valid { (source, true) } else { (lane, false) }
}

/// The lanes for which `is` holds, as bits.
fn lanes_of(is: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |mask, lane| mask | u32::from(is(lane)) << lane)
}

/// The lanes of a mask, in ascending order.
fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The lanes of a mask from a random one on.
fn in_random_order(mask: u32, random: &mut Random) -> impl Iterator<Item = usize> + use<> {
    let first = random.below(LANES) as u32;
    lanes(mask.rotate_right(first)).map(move |lane| (lane + first as usize) % LANES)
}
