//! Launches: the blocks of a grid one after another, the warps of a block in turns.
//!
//! The seed chooses the order of blocks and, a few instructions at a time, which warp continues, so
//! that a missing barrier changes results under some seed.

use crate::fault::Fault;
use crate::grid::{Grid, Surroundings};
use crate::memory::Memory;
use crate::parse::Kernel;
use crate::random::Random;
use crate::shared::SharedMemory;
use crate::warp::{Warp, WarpState};

/// Limits on the number of instructions that a warp runs before another one may run. The seed
/// chooses one of these limits for each block. So in some blocks the warps stay close to each
/// other. In other blocks one warp is at a barrier before the rest begin.
const MAX_TURNS: [usize; 3] = [8, 64, 4096];

impl Kernel {
    /// Runs the kernel to its end, for all blocks of `grid`, and returns the number of instructions
    /// that its warps have run. `parameters` has the bytes of all parameters, each at its offset.
    ///
    /// # Errors
    /// [`Fault::Caller`] for an impossible grid or parameters of another size, and
    /// [`Fault::Kernel`] at the first fault of a thread; the writes before it stay.
    pub fn run(&self, grid: &Grid, parameters: &[u8], memory: &mut Memory) -> Result<u64, Fault> {
        let num_threads = grid.threads.iter().fold(1u32, |all, &count| all.saturating_mul(count));
        if num_threads == 0 || num_threads > self.max_threads || grid.blocks.contains(&0) {
            let reason = format!(
                "{}: a grid of {:?} blocks of {:?} threads; a block has at most {}",
                self.name, grid.blocks, grid.threads, self.max_threads
            );
            return Err(Fault::Caller(reason));
        }
        if parameters.len() != self.parameter_bytes {
            return Err(Fault::Caller(format!(
                "{}: expected {} bytes of parameters, found {}",
                self.name,
                self.parameter_bytes,
                parameters.len()
            )));
        }
        let [x, y, z] = grid.blocks;
        let mut blocks: Vec<[u32; 3]> =
            (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))).collect();
        let mut random = Random::new(grid.seed);
        random.shuffle(&mut blocks);
        let mut warps: Vec<Warp> = (0..num_threads).step_by(32).map(|_| Warp::new(self)).collect();
        let (mut num_steps, part_bits) = (0, self.code.shortest_access().ilog2());
        for block in blocks {
            let arrays = &self.code.shared_arrays;
            let shared = SharedMemory::new(arrays, grid.shared_bytes, warps.len(), part_bits);
            let mut around = Surroundings { kernel: self, grid, block, parameters, memory, shared };
            num_steps += run_block(&mut warps, num_threads, &mut around, &mut random)?;
        }
        Ok(num_steps)
    }
}

/// Runs a block's warps in turns until all of their threads have ended. Returns the number of
/// instructions that they have run.
fn run_block(
    warps: &mut [Warp],
    num_threads: u32,
    around: &mut Surroundings<'_>,
    random: &mut Random,
) -> Result<u64, Fault> {
    for (number, warp) in warps.iter_mut().enumerate() {
        warp.begin(32 * number as u32, num_threads, around);
    }
    let max_turn = MAX_TURNS[random.below(MAX_TURNS.len())];
    let mut steps = 0;
    let mut running = Vec::with_capacity(warps.len());
    loop {
        running.clear();
        running.extend((0..warps.len()).filter(|&at| warps[at].state() == WarpState::Running));
        if running.is_empty() {
            if warps.iter().all(|warp| warp.state() == WarpState::Ended) {
                return Ok(steps);
            }
            pass_barrier(warps, around)?;
            running.extend(0..warps.len());
        }
        let warp = &mut warps[running[random.below(running.len())]];
        for _ in 0..=random.below(max_turn) {
            if warp.state() != WarpState::Running {
                break;
            }
            warp.step(around, random)?;
            steps += 1;
        }
        if steps > around.grid.max_steps
            && let Some((thread, place)) = warps.iter().find_map(Warp::first_unfinished)
        {
            let reason = format!("the block still runs after {steps} instructions");
            return Err(around.fault(thread, around.kernel.code.body[place].line, reason));
        }
    }
}

/// Lets all threads of a block pass the barrier at which they wait.
fn pass_barrier(warps: &mut [Warp], around: &mut Surroundings<'_>) -> Result<(), Fault> {
    let waiting: Vec<(u32, usize, u64)> = warps.iter().flat_map(Warp::waiting_at_barrier).collect();
    let &(thread, place, number) = waiting.first().expect("a warp that has not ended waits");
    let line = |place: usize| around.kernel.code.body[place].line;
    if let Some(ended) = warps.iter().find_map(Warp::first_ended) {
        let reason = format!("a barrier that thread {ended}, which has ended, does not reach");
        return Err(around.fault(thread, line(place), reason));
    }
    for &(other, other_place, other_number) in &waiting {
        let same_warp = other / 32 == thread / 32;
        if other_number != number || same_warp && other_place != place {
            let reason = format!(
                "a barrier, while thread {other} waits at the barrier of line {}",
                line(other_place)
            );
            return Err(around.fault(thread, line(place), reason));
        }
    }
    around.shared.pass_barrier();
    let votes = warps.iter().map(Warp::num_barrier_votes).sum();
    for warp in warps {
        warp.pass_barrier(around.kernel, votes, waiting.len() as u32);
    }
    Ok(())
}
