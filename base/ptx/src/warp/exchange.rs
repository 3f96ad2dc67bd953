//! Exchanges of values between lanes that have reached the same instruction.

use super::{LANES, LaneState, Warp, lanes, lanes_of};
use crate::arithmetic::{Mode, binary};
use crate::fault::Fault;
use crate::grid::Surroundings;
use crate::instruction::{Exchange, Register, Shuffle, Vote};

impl Warp {
    /// Lets the `active` lanes of the group wait for the other lanes of their masks. Exchanges
    /// values between the lanes of each mask that is complete.
    pub(super) fn meet(
        &mut self,
        exchange: &Exchange,
        members: Register,
        active: u32,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let masks = &self.registers[members as usize];
        let existing = lanes_of(|lane| self.lanes[lane] != LaneState::Missing);
        if lanes(active).all(|lane| masks[lane] as u32 & existing == active) {
            // All lanes of the masks are here. If the masks are equal, nothing has to wait.
            if lanes(active).all(|lane| masks[lane] == masks[active.trailing_zeros() as usize]) {
                self.exchange(exchange, active, around)?;
                self.group_place += 1;
                return Ok(());
            }
        }
        let place = self.group_place;
        self.leave_group(active, LaneState::Meeting);
        let here =
            lanes_of(|lane| self.lanes[lane] == LaneState::Meeting && self.places[lane] == place);
        let mut left = here;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let masks = &self.registers[members as usize];
            let mask = masks[first] as u32;
            let existing = mask & existing;
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
                // Other lanes of the mask are still on their way.
                left &= !(1 << first);
                continue;
            }
            if let Some(other) = lanes(existing).find(|&lane| masks[lane] as u32 != mask) {
                let found = masks[other];
                let reason = format!(
                    "an exchange with the mask {mask:#x}, which is {found:#x} in lane {other}"
                );
                return Err(self.fault(around, first, reason));
            }
            self.exchange(exchange, existing, around)?;
            self.resume(existing);
            left &= !existing;
        }
        Ok(())
    }

    fn exchange(
        &mut self,
        exchange: &Exchange,
        members: u32,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let (to, result) = match exchange {
            Exchange::Shuffle { kind, to, is_valid, value, lane: by, clamp } => {
                let values = self.registers[*value as usize];
                let [by, clamps] = [self.registers[*by as usize], self.registers[*clamp as usize]];
                for lane in lanes(members) {
                    let (from, valid) =
                        shuffle_source(*kind, lane as u32, by[lane] as u32, clamps[lane] as u32);
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
                return Ok(());
            }
            Exchange::Vote { kind, to, predicate, negated } => {
                let values = &self.registers[*predicate as usize];
                let ballot = members & lanes_of(|lane| (values[lane] != 0) != *negated);
                let result = match kind {
                    Vote::Ballot => u64::from(ballot),
                    Vote::Any => u64::from(ballot != 0),
                    Vote::All => u64::from(ballot == members),
                    Vote::Uniform => u64::from(ballot == 0 || ballot == members),
                };
                (*to, result)
            }
            Exchange::Reduce { kind, ty, to, value } => {
                let values = &self.registers[*value as usize];
                let combined =
                    lanes(members).map(|lane| ty.truncate(values[lane])).reduce(|a, b| {
                        binary(*kind, *ty, Mode::default(), a, b).expect("none of these fails")
                    });
                (*to, combined.expect("a lane takes part"))
            }
            Exchange::Match { ty, to, is_all, value } => {
                let values = self.registers[*value as usize].map(|value| ty.truncate(value));
                for lane in lanes(members) {
                    let same = members & lanes_of(|other| values[other] == values[lane]);
                    let all = same == members;
                    let found = if is_all.is_some() && !all { 0 } else { same };
                    self.registers[*to as usize][lane] = u64::from(found);
                    if let Some(Some(register)) = is_all {
                        self.registers[*register as usize][lane] = u64::from(all);
                    }
                }
                return Ok(());
            }
            Exchange::Nothing => return Ok(()),
            Exchange::MultiplyMatrices { ty, to, left, right, added } => {
                self.require_all(members, around)?;
                self.multiply_matrices(*ty, *to, (left, right), *added);
                return Ok(());
            }
            Exchange::LoadMatrices { space, to, is_transposed, address } => {
                self.require_all(members, around)?;
                return self.load_matrices(*space, to, *is_transposed, *address, around);
            }
        };
        self.write(to, members, &[result; LANES]);
        Ok(())
    }

    /// Fails unless all 32 lanes of the warp take part.
    fn require_all(&self, members: u32, around: &Surroundings<'_>) -> Result<(), Fault> {
        if members == u32::MAX {
            return Ok(());
        }
        let reason = format!("a matrix in a warp with {} lanes", members.count_ones());
        Err(self.fault(around, members.trailing_zeros() as usize, reason))
    }
}

/// Returns the lane whose value `lane` gets in a shuffle, and whether the shuffle names a lane
/// within the segment. If it does not, `lane` keeps its value. The formulas are from the PTX
/// manual, section "shfl.sync".
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
