//! Tile units without hardware, for tests: the state of tiles with the effects and the faults of
//! each instruction as in Intel's manual (SDM, volume 2), and two users of this state.
//!
//! [`EmulatedTiles`] is a [`TileUnit`] over that state, so that the GEMM with tiles runs
//! everywhere. [`install`] catches the faults that tile instructions raise on a CPU without them,
//! decodes each instruction and carries it out on the memory and the registers of the program. So
//! the compiled assembly runs too, with its operands, encodings and counters.

use std::cell::RefCell;
use std::sync::OnceLock;

use nix::libc;

use zerocopy::IntoBytes;

use super::super::*;

/// The largest number of bytes of a row of a tile.
const ROW_BYTES: usize = 64;
const TILES: usize = 8;

type TileData = [[u8; ROW_BYTES]; TILE_ROWS];

/// The tiles of a thread. The methods are instructions, and panic where the CPU would fault.
pub(super) struct TileState {
    is_configured: bool,
    rows: [usize; TILES],
    row_bytes: [usize; TILES],
    data: [TileData; TILES],
}

impl TileState {
    pub(super) const RELEASED: TileState = TileState {
        is_configured: false,
        rows: [0; TILES],
        row_bytes: [0; TILES],
        data: [[[0; ROW_BYTES]; TILE_ROWS]; TILES],
    };

    /// `LDTILECFG`
    pub(super) fn configure(&mut self, bytes: &[u8; 64]) {
        *self = Self::RELEASED;
        if bytes[0] == 0 {
            return;
        }
        assert_eq!(bytes[0], 1, "#GP: unknown palette");
        assert!(bytes[1..16].iter().all(|&byte| byte == 0), "#GP: start row or reserved bytes");
        for tile in 0..16 {
            let row_bytes =
                usize::from(u16::from_le_bytes([bytes[16 + 2 * tile], bytes[17 + 2 * tile]]));
            let rows = usize::from(bytes[48 + tile]);
            if tile >= TILES {
                assert_eq!((rows, row_bytes), (0, 0), "#GP: palette 1 has eight tiles");
                continue;
            }
            assert!(row_bytes <= ROW_BYTES && rows <= TILE_ROWS, "#GP: the tile is too large");
            assert_eq!(row_bytes == 0, rows == 0, "#GP: only one of rows and columns is zero");
            (self.rows[tile], self.row_bytes[tile]) = (rows, row_bytes);
        }
        self.is_configured = true;
    }

    /// `TILERELEASE`
    fn release(&mut self) {
        *self = Self::RELEASED;
    }

    /// Returns the shape of a tile that an instruction names: the number of rows, and the bytes of
    /// each.
    fn shape(&self, tile: usize) -> (usize, usize) {
        assert!(self.is_configured, "#UD: tiles are not configured");
        assert!(tile < TILES && self.rows[tile] > 0, "#UD: tile {tile} is not configured");
        (self.rows[tile], self.row_bytes[tile])
    }

    /// `TILEZERO`
    pub(super) fn zero(&mut self, tile: usize) {
        self.shape(tile);
        self.data[tile] = [[0; ROW_BYTES]; TILE_ROWS];
    }

    /// `TILELOADD`: `read` copies a row of memory.
    pub(super) fn load(&mut self, tile: usize, read: impl Fn(usize, &mut [u8])) {
        let (rows, row_bytes) = self.shape(tile);
        self.data[tile] = [[0; ROW_BYTES]; TILE_ROWS];
        for row in 0..rows {
            read(row, &mut self.data[tile][row][..row_bytes]);
        }
    }

    /// `TILESTORED`: `write` copies a row to memory.
    pub(super) fn store(&self, tile: usize, mut write: impl FnMut(usize, &[u8])) {
        let (rows, row_bytes) = self.shape(tile);
        for row in 0..rows {
            write(row, &self.data[tile][row][..row_bytes]);
        }
    }

    /// `TDPBSSD`
    pub(super) fn multiply(&mut self, sums: usize, left: usize, right: usize) {
        self.add_products([sums, left, right], |sum, left, right| {
            let mut sum = i32::from_le_bytes(sum);
            for (left, right) in left.iter().zip(right).flat_map(|(a, b)| a.iter().zip(b)) {
                sum = sum.wrapping_add(i32::from(*left as i8) * i32::from(*right as i8));
            }
            sum.to_le_bytes()
        });
    }

    /// `TDPBF16PS`: the products of the first numbers of pairs and of the second numbers are summed
    /// separately, and then both sums are added. Denormal numbers count as zero.
    pub(super) fn multiply_bf16(&mut self, sums: usize, left: usize, right: usize) {
        self.add_products([sums, left, right], |sum, left, right| {
            let mut halves = [0f32; 2];
            for (left, right) in left.iter().zip(right) {
                for (at, half) in halves.iter_mut().enumerate() {
                    let [a, b] = [left, right].map(|cell| {
                        let bytes = [0, 0, cell[2 * at], cell[2 * at + 1]];
                        flush_denormal(f32::from_le_bytes(bytes))
                    });
                    *half = flush_denormal(a.mul_add(b, *half));
                }
            }
            let sum = flush_denormal(f32::from_le_bytes(sum));
            flush_denormal(sum + flush_denormal(halves[0] + halves[1])).to_le_bytes()
        });
    }

    /// Replaces each sum by the result of `add`, called with the sum, the cells of its row of the
    /// left operand and the cells of its column of the right operand.
    fn add_products(
        &mut self,
        [sums, left, right]: [usize; 3],
        add: impl Fn([u8; 4], &[[u8; 4]], &[[u8; 4]]) -> [u8; 4],
    ) {
        let [(rows, row_bytes), (left_rows, left_bytes), (right_rows, right_bytes)] =
            [sums, left, right].map(|tile| self.shape(tile));
        assert!(sums != left && sums != right && left != right, "#UD: a tile is named twice");
        assert!((row_bytes | left_bytes | right_bytes).is_multiple_of(4), "#UD: parts of columns");
        assert_eq!(rows, left_rows, "#UD: rows of sums and of the left operand");
        assert_eq!(row_bytes, right_bytes, "#UD: columns of sums and of the right operand");
        assert_eq!(left_bytes / 4, right_rows, "#UD: the depth of the operands");
        for m in 0..rows {
            let row = self.data[left][m];
            let cells = row[..left_bytes].as_chunks::<4>().0;
            for n in 0..row_bytes / 4 {
                let column: Vec<[u8; 4]> =
                    self.data[right][..right_rows].iter().map(|row| row.as_chunks().0[n]).collect();
                let sum = self.data[sums][m].as_chunks::<4>().0[n];
                let sum = add(sum, cells, &column);
                self.data[sums][m].as_chunks_mut::<4>().0[n] = sum;
            }
        }
        for row in &mut self.data[sums] {
            row[row_bytes..].fill(0);
        }
        self.data[sums][rows..].fill([0; ROW_BYTES]);
    }
}

fn flush_denormal(number: f32) -> f32 {
    if number.is_subnormal() { 0f32.copysign(number) } else { number }
}

/// Tiles without instructions, on any CPU.
pub(crate) struct EmulatedTiles {
    rows: usize,
    state: RefCell<TileState>,
}

impl EmulatedTiles {
    /// Works like [`Avx512Amx::configure`].
    pub(crate) fn configure(rows: usize) -> Self {
        let mut state = TileState::RELEASED;
        let configuration = TileConfiguration::new(rows);
        state.configure(configuration.as_bytes().first_chunk().expect("64 bytes"));
        EmulatedTiles { rows, state: RefCell::new(state) }
    }
}

impl TileUnit for EmulatedTiles {
    fn multiply<const BF16: bool, const TILES: usize, const PANELS: usize>(
        &self,
        rows: [&[Line]; TILES],
        panels: [&[Line]; PANELS],
        steps: usize,
        keep: bool,
        to: &mut Sums,
    ) {
        assert!(steps > 0, "steps along the depth");
        let mut state = self.state.borrow_mut();
        for sums in 0..TILES * PANELS {
            if !keep {
                state.zero(sums);
                continue;
            }
            state.load(sums, |row, bytes| {
                for (bytes, sum) in
                    bytes.as_chunks_mut::<4>().0.iter_mut().zip(&to.0[sums][row * LANES..])
                {
                    *bytes = sum.to_le_bytes();
                }
            });
        }
        for step in 0..steps {
            for (r, lines) in rows.iter().enumerate() {
                let lines = &lines[step * self.rows..][..self.rows];
                state.load(4, |row, bytes| bytes.copy_from_slice(&lines[row].0));
                for (p, panel) in panels.iter().enumerate() {
                    let panel = &panel[step * TILE_ROWS..][..TILE_ROWS];
                    state.load(6, |row, bytes| bytes.copy_from_slice(&panel[row].0));
                    if BF16 {
                        state.multiply_bf16(r * PANELS + p, 4, 6);
                    } else {
                        state.multiply(r * PANELS + p, 4, 6);
                    }
                }
            }
        }
        for sums in 0..TILES * PANELS {
            state.store(sums, |row, bytes| {
                for (bytes, sum) in
                    bytes.as_chunks::<4>().0.iter().zip(&mut to.0[sums][row * LANES..])
                {
                    *sum = i32::from_le_bytes(*bytes);
                }
            });
        }
    }
}

/// A memory operand: registers by their numbers in instructions.
#[derive(Debug, PartialEq)]
pub(super) struct Address {
    pub base: usize,
    /// A register and the power of two that it is multiplied by.
    pub index: Option<(usize, u8)>,
    pub displacement: i64,
}

#[derive(Debug, PartialEq)]
pub(super) enum Instruction {
    Configure(Address),
    Release,
    Zero(usize),
    Load(usize, Address),
    Store(Address, usize),
    Multiply { sums: usize, left: usize, right: usize },
    MultiplyBf16 { sums: usize, left: usize, right: usize },
}

/// Decodes the tile instruction whose byte `at` is `code(at)`, and returns it with its length.
pub(super) fn decode(code: impl Fn(usize) -> u8) -> Option<(Instruction, usize)> {
    // A VEX prefix of three bytes, map 0F38, 128 bits, W 0.
    let [escape, first, second, opcode, modes] = [0, 1, 2, 3, 4].map(&code);
    if escape != 0xc4 || first & 0x1f != 2 || second & 0x84 != 0 {
        return None;
    }
    let [reg_high, index_high, base_high] =
        [7, 6, 5].map(|bit| usize::from(first >> bit & 1 ^ 1) * 8);
    let other = usize::from(!second >> 3 & 0xf);
    let (mode, reg, low) = (modes >> 6, usize::from(modes >> 3 & 7), usize::from(modes & 7));
    if mode == 3 {
        let is_other_unused = other == 0;
        let instruction = match (second & 3, opcode, reg, low) {
            (0, 0x49, 0, 0) if is_other_unused => Instruction::Release,
            (3, 0x49, _, 0) if is_other_unused => Instruction::Zero(reg_high + reg),
            (3, 0x5e, ..) => {
                Instruction::Multiply { sums: reg_high + reg, left: base_high + low, right: other }
            }
            (2, 0x5c, ..) => Instruction::MultiplyBf16 {
                sums: reg_high + reg,
                left: base_high + low,
                right: other,
            },
            _ => return None,
        };
        return Some((instruction, 5));
    }
    let mut at = 5;
    let (mut base, mut index) = (low, None);
    if low == 4 {
        let scaled = code(at);
        at += 1;
        base = usize::from(scaled & 7);
        index = Some((index_high + usize::from(scaled >> 3 & 7), scaled >> 6));
        index = index.filter(|&(register, _)| register != 4);
    }
    if mode == 0 && base == 5 {
        return None;
    }
    let displacement = match mode {
        0 => 0,
        1 => i64::from(code(at) as i8),
        _ => i64::from(i32::from_le_bytes([0, 1, 2, 3].map(|byte| code(at + byte)))),
    };
    at += [0, 1, 4][usize::from(mode)];
    let address = Address { base: base_high + base, index, displacement };
    let tile = reg_high + reg;
    let instruction = match (second & 3, opcode) {
        (0, 0x49) if reg == 0 && other == 0 => Instruction::Configure(address),
        (3, 0x4b) if low == 4 && other == 0 => Instruction::Load(tile, address),
        (2, 0x4b) if low == 4 && other == 0 => Instruction::Store(address, tile),
        _ => return None,
    };
    Some((instruction, at))
}

thread_local! {
    static STATE: RefCell<TileState> = const { RefCell::new(TileState::RELEASED) };
}

/// Emulates the tile instructions of this process from now on. Returns `false` if the CPU has them,
/// because then they would not fault.
pub(in super::super) fn install() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        if has_tiles_of_bytes() && is_tile_state_enabled() {
            return false;
        }
        // SAFETY: a structure of integers and pointers, valid as zeros: no flags, no signals
        // masked.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handle_illegal_instruction as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the handler has the signature of `SA_SIGINFO` and runs only for faults of
        // instructions of this program. It uses only what the kernel passes to it and this thread's
        // tiles, which no faulting instruction is in the midst of changing.
        unsafe { libc::sigaction(libc::SIGILL, &action, std::ptr::null_mut()) == 0 }
    })
}

extern "C" fn handle_illegal_instruction(
    signal: libc::c_int,
    _: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes the context of the fault, which is ours to change.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let rip = registers[libc::REG_RIP as usize];
    let code = rip as *const u8;
    // SAFETY: the bytes of an instruction that the CPU has just read. `decode` reads five bytes,
    // the length of the shortest tile instruction, and more only if these say that there are more.
    let Some((instruction, length)) = decode(|at| unsafe { *code.add(at) }) else {
        // Not ours: the instruction faults again, and the program ends as without a handler.
        // SAFETY: it installs no function.
        let _ = unsafe { libc::signal(signal, libc::SIG_DFL) };
        return;
    };
    STATE.with_borrow_mut(|state| execute(&instruction, state, registers));
    registers[libc::REG_RIP as usize] = rip + length as i64;
}

/// Carries out an instruction with the registers of the program.
fn execute(instruction: &Instruction, state: &mut TileState, registers: &[i64; 23]) {
    const NAMES: [libc::c_int; 16] = [
        libc::REG_RAX,
        libc::REG_RCX,
        libc::REG_RDX,
        libc::REG_RBX,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RSI,
        libc::REG_RDI,
        libc::REG_R8,
        libc::REG_R9,
        libc::REG_R10,
        libc::REG_R11,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    let register = |number: usize| registers[NAMES[number] as usize];
    let start = |address: &Address| register(address.base) + address.displacement;
    let stride =
        |address: &Address| address.index.map_or(0, |(index, scale)| register(index) << scale);
    match instruction {
        Instruction::Configure(address) => {
            assert_eq!(address.index, None, "not emitted by this crate");
            // SAFETY: as the instruction would read.
            state.configure(unsafe { &*(start(address) as *const [u8; 64]) });
        }
        Instruction::Release => state.release(),
        Instruction::Zero(tile) => state.zero(*tile),
        Instruction::Load(tile, address) => {
            let (start, stride) = (start(address), stride(address));
            state.load(*tile, |row, bytes| {
                let from = (start + row as i64 * stride) as *const u8;
                // SAFETY: as the instruction would read; tiles are registers, which nothing else
                // refers to.
                unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), bytes.len()) }
            });
        }
        Instruction::Store(address, tile) => {
            let (start, stride) = (start(address), stride(address));
            state.store(*tile, |row, bytes| {
                let to = (start + row as i64 * stride) as *mut u8;
                // SAFETY: as the instruction would write.
                unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) }
            });
        }
        Instruction::Multiply { sums, left, right } => state.multiply(*sums, *left, *right),
        Instruction::MultiplyBf16 { sums, left, right } => {
            state.multiply_bf16(*sums, *left, *right);
        }
    }
}
