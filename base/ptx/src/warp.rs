//! Warps: 32 lanes, each with a place of its own in the kernel.
//!
//! In a step the lanes that are at one place run its instruction together, mostly those that are
//! furthest behind, so that lanes meet again after a branch; the seed now and then chooses others.
//! Where lanes exchange values, each waits until all lanes of its mask are at the same instruction,
//! as on devices since compute capability 7.0.

use crate::arithmetic::{
    Binary, Comparison, binary, compare, convert, insert_bits, ternary, unary,
};
use crate::fault::Fault;
use crate::grid::{Grid, SharedMemory};
use crate::instruction::{
    Address, Combination, Instruction, LaneMask, Operand, Operation, Register, Shuffle, Space,
    Special, Vote,
};
use crate::memory::Memory;
use crate::parse::Kernel;
use crate::random::Random;
use crate::types::Type;

/// The number of lanes.
const LANES: usize = 32;

/// One step in this many begins with a lane that the seed chooses.
const RANDOM_STEPS: usize = 8;

/// What the threads of a block share.
pub(crate) struct Surroundings<'r> {
    pub kernel: &'r Kernel,
    pub grid: &'r Grid,
    /// The block's coordinates.
    pub block: [u32; 3],
    pub parameters: &'r [u8],
    pub memory: &'r mut Memory,
    pub shared: SharedMemory,
}

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

    /// Runs one of the most frequent instructions on registers for all lanes in one loop; returns
    /// whether it is one of them. [`Warp::compute`] runs any.
    fn compute_together(
        &mut self,
        operation: &Operation,
        active: u32,
        around: &Surroundings<'_>,
    ) -> bool {
        let mut results = [0; LANES];
        let mut constants = [[0; LANES]; 3];
        let [first_constants, second_constants, third_constants] = &mut constants;
        let to = match operation {
            Operation::Move { ty, to, from } => {
                let values = self.values(*from, around, first_constants);
                (0..LANES).for_each(|i| results[i] = ty.truncate(values[i]));
                to
            }
            Operation::Select { ty, to, from: [first, second], by } => {
                let first = self.values(*first, around, first_constants);
                let second = self.values(*second, around, second_constants);
                let by = self.values(*by, around, third_constants);
                for i in 0..LANES {
                    results[i] = ty.truncate(if by[i] != 0 { first[i] } else { second[i] });
                }
                to
            }
            Operation::Compare { comparison, ty, to, opposite: None, from, combined: None }
                if !ty.is_float() =>
            {
                let a = self.values(from[0], around, first_constants);
                let b = self.values(from[1], around, second_constants);
                // A type without a sign is compared as if its highest bit were one.
                let flip = if ty.is_signed() { 0 } else { i64::MIN };
                let number = |value: u64| ty.extend(value) ^ flip;
                match comparison {
                    Comparison::Equal => combine(a, b, &mut results, |a, b| number(a) == number(b)),
                    Comparison::NotEqual => {
                        combine(a, b, &mut results, |a, b| number(a) != number(b))
                    }
                    Comparison::Less => combine(a, b, &mut results, |a, b| number(a) < number(b)),
                    Comparison::LessEqual => {
                        combine(a, b, &mut results, |a, b| number(a) <= number(b))
                    }
                    Comparison::Greater => {
                        combine(a, b, &mut results, |a, b| number(a) > number(b))
                    }
                    Comparison::GreaterEqual => {
                        combine(a, b, &mut results, |a, b| number(a) >= number(b))
                    }
                    _ => return false,
                }
                to
            }
            Operation::Binary { kind, ty, to, from } if !ty.is_float() => {
                let a = self.values(from[0], around, first_constants);
                let b = self.values(from[1], around, second_constants);
                match kind {
                    Binary::Add => {
                        combine(a, b, &mut results, |a, b| ty.truncate(a.wrapping_add(b)))
                    }
                    Binary::Subtract => {
                        combine(a, b, &mut results, |a, b| ty.truncate(a.wrapping_sub(b)));
                    }
                    Binary::And => combine(a, b, &mut results, |a, b| ty.truncate(a & b)),
                    Binary::Or => combine(a, b, &mut results, |a, b| ty.truncate(a | b)),
                    Binary::Xor => combine(a, b, &mut results, |a, b| ty.truncate(a ^ b)),
                    _ => return false,
                }
                to
            }
            _ => return false,
        };
        let register = &mut self.registers[*to as usize];
        if active == u32::MAX {
            *register = results;
        } else {
            lanes(active).for_each(|lane| register[lane] = results[lane]);
        }
        true
    }

    /// An operand's values in all lanes; `constants` takes those that are in no register.
    fn values<'v>(
        &'v self,
        operand: Operand,
        around: &Surroundings<'_>,
        constants: &'v mut [u64; LANES],
    ) -> &'v [u64; LANES] {
        match operand {
            Operand::Register(register) => return &self.registers[register as usize],
            Operand::Constant(value) => constants.fill(value),
            Operand::Special(special) => {
                for (lane, constant) in constants.iter_mut().enumerate() {
                    *constant = u64::from(self.special(special, lane, around));
                }
            }
        }
        constants
    }

    /// Runs an instruction of one lane that only reads and writes registers.
    fn compute(
        &mut self,
        operation: &Operation,
        lane: usize,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let (to, result) = match operation {
            Operation::Move { ty, to, from } => (*to, ty.truncate(self.value(*from, lane, around))),
            Operation::Pack { part, to, from } => {
                let bits = 8 * part.size();
                let joined = from.iter().rev().fold(0, |joined, operand| {
                    joined << bits | part.truncate(self.value(*operand, lane, around))
                });
                (*to, joined)
            }
            Operation::Unpack { part, to, from } => {
                let value = self.value(*from, lane, around);
                for (number, register) in to.iter().enumerate() {
                    let bits = part.truncate(value >> (8 * part.size() * number));
                    self.registers[*register as usize][lane] = bits;
                }
                return Ok(());
            }
            Operation::Unary { kind, ty, to, from } => {
                (*to, unary(*kind, *ty, self.value(*from, lane, around)))
            }
            Operation::Binary { kind, ty, to, from } => {
                let [a, b] = from.map(|operand| self.value(operand, lane, around));
                match binary(*kind, *ty, a, b) {
                    Ok(result) => (*to, result),
                    Err(reason) => return Err(self.fault(around, lane, reason.to_owned())),
                }
            }
            Operation::Ternary { kind, ty, to, from } => {
                (*to, ternary(*kind, *ty, from.map(|operand| self.value(operand, lane, around))))
            }
            Operation::InsertBits { ty, to, from } => {
                (*to, insert_bits(*ty, from.map(|operand| self.value(operand, lane, around))))
            }
            Operation::Convert { conversion, to, from } => {
                (*to, convert(*conversion, self.value(*from, lane, around)))
            }
            Operation::Compare { comparison, ty, to, opposite, from, combined } => {
                let [a, b] = from.map(|operand| self.value(operand, lane, around));
                let is_true = compare(*comparison, *ty, a, b);
                let combine = |is_true: bool| match combined {
                    None => is_true,
                    Some((combination, is_negated, operand)) => {
                        let other = (self.value(*operand, lane, around) != 0) != *is_negated;
                        match combination {
                            Combination::And => is_true & other,
                            Combination::Or => is_true | other,
                            Combination::Xor => is_true ^ other,
                        }
                    }
                };
                let (result, negated) = (combine(is_true), combine(!is_true));
                if let Some(register) = opposite {
                    self.registers[*register as usize][lane] = u64::from(negated);
                }
                (*to, u64::from(result))
            }
            Operation::Select { ty, to, from: [first, second], by } => {
                let chosen = if self.value(*by, lane, around) != 0 { first } else { second };
                (*to, ty.truncate(self.value(*chosen, lane, around)))
            }
            // Accesses are in order here.
            Operation::Fence => return Ok(()),
            Operation::Load { .. }
            | Operation::Store { .. }
            | Operation::Branch { .. }
            | Operation::Return
            | Operation::Shuffle { .. }
            | Operation::Vote { .. }
            | Operation::Barrier { .. }
            | Operation::WarpBarrier { .. } => unreachable!("the warp runs it"),
        };
        self.registers[to as usize][lane] = result;
        Ok(())
    }

    fn load(
        &mut self,
        lane: usize,
        (space, ty): (Space, Type),
        to: &[Register],
        address: Address,
        around: &Surroundings<'_>,
    ) -> Result<(), Fault> {
        let length = ty.size() * to.len();
        let address = self.checked_address(lane, address, length, around)?;
        let bytes = match space {
            Space::Global => around.memory.load(address, length),
            Space::Shared => around.shared.load(address, length),
            Space::Parameters => {
                let bytes =
                    around.parameters.get(address as usize..).and_then(|all| all.get(..length));
                bytes.ok_or_else(|| format!("a read at {address} of the parameters"))
            }
        };
        let bytes = bytes.map_err(|reason| self.fault(around, lane, reason))?;
        for (register, part) in to.iter().zip(bytes.chunks_exact(ty.size())) {
            let mut whole = [0; 8];
            whole[..part.len()].copy_from_slice(part);
            // Registers may be wider than what is loaded.
            let value = ty.extend(u64::from_le_bytes(whole)) as u64;
            self.registers[*register as usize][lane] = value;
        }
        Ok(())
    }

    fn store(
        &mut self,
        lane: usize,
        (space, ty): (Space, Type),
        from: &[Operand],
        address: Address,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let address = self.checked_address(lane, address, ty.size() * from.len(), around)?;
        let mut bytes = [0; 32];
        for (place, operand) in from.iter().enumerate() {
            let value = self.value(*operand, lane, around).to_le_bytes();
            bytes[place * ty.size()..][..ty.size()].copy_from_slice(&value[..ty.size()]);
        }
        let bytes = &bytes[..ty.size() * from.len()];
        let stored = match space {
            Space::Global => around.memory.store(address, bytes),
            Space::Shared => around.shared.store(address, bytes),
            Space::Parameters => Err("a write to the parameters".to_owned()),
        };
        stored.map_err(|reason| self.fault(around, lane, reason))
    }

    /// The address of an access of `length` bytes, which must be a multiple of them.
    fn checked_address(
        &self,
        lane: usize,
        Address { base, offset }: Address,
        length: usize,
        around: &Surroundings<'_>,
    ) -> Result<u64, Fault> {
        let base = base.map_or(0, |register| self.registers[register as usize][lane]);
        let address = base.wrapping_add(offset as u64);
        if address.is_multiple_of(length as u64) {
            return Ok(address);
        }
        let reason = format!("an access of {length} bytes at {address:#x}, which is not aligned");
        Err(self.fault(around, lane, reason))
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

/// Writes the result of `operation` for each lane.
fn combine<T: Into<u64>>(
    a: &[u64; LANES],
    b: &[u64; LANES],
    results: &mut [u64; LANES],
    operation: impl Fn(u64, u64) -> T,
) {
    for lane in 0..LANES {
        results[lane] = operation(a[lane], b[lane]).into();
    }
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
