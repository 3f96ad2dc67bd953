//! Tile units (AMX): registers of sixteen rows of 64 bytes, multiplied by one instruction.
//!
//! A tile of weights is sixteen lines of a panel, packed as they are for every instruction set, so
//! weights have a single layout. The intrinsics are not stable in Rust, so each loop over the
//! depth is one block of assembly that zeroes or loads its sums and stores them: between blocks
//! only the configuration of the tiles is kept, and the compiler need not know of tiles.
//!
//! A configuration belongs to a thread. It is loaded for each GEMM and released after it, also in a
//! panic. So context switches and signals save tiles only while they are in use.
//!
//! Linux grants tiles to a process that asks for them, for all of its threads and permanently. From
//! then on the alternate signal stack of every thread needs room for the state of tiles (some 11
//! KB). Linux refuses the grant while a smaller stack is installed, and refuses smaller stacks
//! after the grant. Rust's threads install stacks that are large enough. If other libraries of
//! a process install smaller ones, set `MIRIAM_MAX_ISA` to `avx512-vnni`: then tiles are not
//! requested.

use std::arch::asm;
use std::arch::x86_64::{__cpuid_count, _xgetbv};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::OnceLock;

use zerocopy::{Immutable, IntoBytes};

use super::LANES;
use super::avx512::Avx512Vnni;
use crate::pack::Line;

/// The rows of a tile, and the lines of a panel in a tile of weights.
pub(crate) const TILE_ROWS: usize = 16;

/// The sums of one tile, `[rows, 16]`: integers, or the bits of f32.
pub(crate) type TileSums = [i32; TILE_ROWS * LANES];

/// The sums of four tiles.
#[repr(C, align(64))]
pub(crate) struct Sums(pub [TileSums; 4]);

impl Sums {
    pub(crate) const ZERO: Sums = Sums([[0; TILE_ROWS * LANES]; 4]);
}

/// A unit that multiplies tiles of rows with tiles of weights in a loop over the depth.
pub(crate) trait TileUnit {
    /// Multiplies each tile `r` of rows, `[steps, rows, 64]` bytes, with each panel `p`,
    /// `[steps, 16]` lines. Sets `to[r * PANELS + p]` to the sums, or adds them there if `keep` is
    /// set. The sums are exact for bytes; with `BF16` they are f32 sums of products of bf16 pairs.
    /// The shapes are 2 x 2, 2 x 1, 1 x 4 and 1 x 1 tiles.
    ///
    /// # Panics
    /// If there are no steps, or the slices are shorter than these shapes.
    fn multiply<const BF16: bool, const TILES: usize, const PANELS: usize>(
        &self,
        rows: [&[Line]; TILES],
        panels: [&[Line]; PANELS],
        steps: usize,
        keep: bool,
        to: &mut Sums,
    );
}

/// Whether this process may use tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileAccess {
    /// The CPU has them and the system has granted them.
    Granted,
    /// The CPU has none, or none of the sizes used here.
    Absent,
    /// The CPU has them, but the system or the virtual machine does not enable them.
    Disabled,
    /// The system denies them to this process, with an error number of Linux.
    Refused(i64),
}

impl TileAccess {
    /// Asks the system for tiles where the CPU has them, at the first call.
    pub(crate) fn request() -> Self {
        static ACCESS: OnceLock<TileAccess> = OnceLock::new();
        *ACCESS.get_or_init(|| {
            if !has_tiles_of_bytes() {
                return TileAccess::Absent;
            }
            if !is_tile_state_enabled() {
                return TileAccess::Disabled;
            }
            match request_tile_state() {
                0 => TileAccess::Granted,
                error => TileAccess::Refused(-error),
            }
        })
    }
}

/// The features of [`Avx512Vnni`], and AMX with tiles of bytes. Exists only where the CPU has them
/// and the system lets this process use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Avx512Amx(Avx512Vnni);

impl Avx512Amx {
    /// Returns the token, if the CPU has the features and the system lets this process use tiles.
    pub(crate) fn new() -> Option<Self> {
        let vnni = Avx512Vnni::new()?;
        (TileAccess::request() == TileAccess::Granted).then_some(Self(vnni))
    }

    /// Returns a token for a CPU without AMX, whose tile instructions are emulated.
    #[cfg(test)]
    pub(crate) fn emulated() -> Option<Self> {
        let vnni = Avx512Vnni::new()?;
        tests::emulator::install().then_some(Self(vnni))
    }

    /// Whether there are tiles of bf16, and instructions to round to bf16.
    pub(crate) fn has_bf16(self) -> bool {
        /// The CPU is asked once: in virtual machines `cpuid` takes longer than a small product.
        static HAS_TILES: OnceLock<bool> = OnceLock::new();
        const AMX_BF16: u32 = 1 << 22;
        let has_tiles = *HAS_TILES.get_or_init(|| {
            // Emulated tiles have them too.
            let is_emulated = cfg!(test) && !has_tiles_of_bytes();
            is_emulated || __cpuid_count(7, 0).edx & AMX_BF16 == AMX_BF16
        });
        has_tiles && self.0.with_bf16().is_some()
    }

    /// Returns the token of the same features without AMX.
    pub(crate) fn without_amx(self) -> Avx512Vnni {
        self.0
    }

    /// Configures the tiles of this thread. Tiles of sums and of operands on the left have `rows`
    /// rows, 1 to 16.
    ///
    /// # Panics
    /// If `rows` is out of range, or this thread's tiles are in use.
    pub(crate) fn configure(self, rows: usize) -> Tiles {
        let configuration = TileConfiguration::new(rows);
        assert!(!IN_USE.replace(true), "one configuration of tiles at a time");
        // SAFETY: the token exists only where there is AMX and the system allows it. The
        // configuration is 64 bytes, and valid: palette 1, tiles of at most 16 rows of 64 bytes.
        unsafe {
            asm!(
                "ldtilecfg [{0}]",
                in(reg) &raw const configuration,
                options(nostack, readonly, preserves_flags),
            );
        }
        Tiles { rows, thread: PhantomData }
    }
}

thread_local! {
    /// Whether there is a [`Tiles`] of this thread.
    static IN_USE: Cell<bool> = const { Cell::new(false) };
}

/// The operand of `ldtilecfg`.
#[derive(IntoBytes, Immutable)]
#[repr(C, align(64))]
pub(super) struct TileConfiguration {
    palette: u8,
    start_row: u8,
    reserved: [u8; 14],
    row_bytes: [u16; 16],
    rows: [u8; 16],
}

impl TileConfiguration {
    /// Returns a configuration in which tiles 0 to 5 (sums and operands on the left) have `rows`
    /// rows, and tiles 6 and 7 (weights) have sixteen lines.
    pub(super) fn new(rows: usize) -> Self {
        assert!((1..=TILE_ROWS).contains(&rows), "a tile of {rows} rows");
        let mut configuration = TileConfiguration {
            palette: 1,
            start_row: 0,
            reserved: [0; 14],
            row_bytes: [0; 16],
            rows: [0; 16],
        };
        configuration.row_bytes[..8].fill(size_of::<Line>() as u16);
        configuration.rows[..6].fill(rows as u8);
        configuration.rows[6..8].fill(TILE_ROWS as u8);
        configuration
    }
}

/// Whether the CPU has tiles of AMX and products of bytes, of the sizes used here.
fn has_tiles_of_bytes() -> bool {
    const AMX_TILE_AND_INT8: u32 = 0b11 << 24;
    if __cpuid_count(0, 0).eax < 0x1d {
        return false;
    }
    // Palette 1 gives the bytes of a row, the number of tiles and the number of rows.
    let palette = __cpuid_count(0x1d, 1);
    __cpuid_count(7, 0).edx & AMX_TILE_AND_INT8 == AMX_TILE_AND_INT8
        && palette.ebx & 0xffff == size_of::<Line>() as u32
        && palette.ebx >> 16 >= 8
        && palette.ecx & 0xffff >= TILE_ROWS as u32
}

/// Whether the system saves the configuration and the data of tiles.
fn is_tile_state_enabled() -> bool {
    const OSXSAVE: u32 = 1 << 27;
    const TILE_STATE: u64 = 0b11 << 17;
    #[target_feature(enable = "xsave")]
    fn read_xcr0() -> u64 {
        // SAFETY: the caller has checked that the system uses XSAVE.
        unsafe { _xgetbv(0) }
    }
    // SAFETY: with OSXSAVE the CPU has the instruction, and programs may use it.
    __cpuid_count(1, 0).ecx & OSXSAVE != 0 && unsafe { read_xcr0() } & TILE_STATE == TILE_STATE
}

/// Asks the system for permission to use tiles, and returns its answer: 0, or a negative error
/// number.
#[cfg(target_os = "linux")]
fn request_tile_state() -> i64 {
    const ARCH_PRCTL: i64 = 158;
    const ARCH_REQ_XCOMP_PERM: u64 = 0x1023;
    const XFEATURE_XTILEDATA: u64 = 18;
    let mut answer = ARCH_PRCTL;
    // SAFETY: a system call by the convention of Linux; it touches no memory of the process.
    unsafe {
        asm!(
            "syscall",
            inout("rax") answer,
            in("rdi") ARCH_REQ_XCOMP_PERM,
            in("rsi") XFEATURE_XTILEDATA,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    answer
}

/// Refuses tiles on other systems, because this crate can ask only Linux for them.
#[cfg(not(target_os = "linux"))]
fn request_tile_state() -> i64 {
    const ENOSYS: i64 = 38;
    -ENOSYS
}

/// The configured tiles of this thread: 0 to 3 for sums, 4 and 5 for rows on the left, 6 and 7 for
/// weights. Released on drop.
pub(crate) struct Tiles {
    rows: usize,
    /// A configuration belongs to a thread, so this is neither `Send` nor `Sync`.
    thread: PhantomData<*const ()>,
}

impl Drop for Tiles {
    fn drop(&mut self) {
        // SAFETY: there is AMX where this exists, and only code of this file uses tiles.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) }
        IN_USE.set(false);
    }
}

/// A loop over the depth, made of the loads of sums, the instructions of a step and the stores of
/// sums. Operands are `{to}` (sums, four tiles of 1,024 bytes), `{line}` (64, the bytes between
/// rows of a tile), `{row_step}` (the bytes of a tile on the left) and the pointers of the caller.
macro_rules! product {
    ($tiles:ident, $steps:ident, $keep:ident, $to:ident, [$($name:ident = $pointer:expr),*];
     $($load:literal),*; $($step:expr),*; $($store:literal),*) => {
        // SAFETY: the token that `configure` took exists only where there is AMX. The tiles of this
        // thread have the configuration of `$tiles`, for there is one at a time and no other code
        // changes it. The caller has checked that each pointer has the bytes of `$steps` tiles of
        // that configuration; sums have four tiles.
        unsafe {
            asm!(
                "test {keep}, {keep}",
                "jnz 3f",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "jmp 2f",
                "3:",
                $($load,)*
                "2:",
                $($step,)*
                "dec {steps}",
                "jnz 2b",
                $($store,)*
                $($name = inout(reg) $pointer.as_ptr() => _,)*
                row_step = in(reg) size_of::<Line>() * $tiles.rows,
                line = in(reg) size_of::<Line>(),
                steps = inout(reg) $steps => _,
                keep = in(reg) usize::from($keep),
                to = in(reg) $to.0.as_mut_ptr(),
                options(nostack),
            )
        }
    };
}

/// The loops over the depth for all shapes. `$dot` is the instruction for products.
macro_rules! products {
    ($dot:literal, $tiles:ident, $rows:expr, $panels:expr, $steps:ident, $keep:ident, $to:ident) => {
        match ($rows, $panels) {
            (&[a0, a1], &[b0, b1]) => product!(
                $tiles, $steps, $keep, $to, [a0 = a0, a1 = a1, b0 = b0, b1 = b1];
                "tileloadd tmm0, [{to} + {line}]",
                "tileloadd tmm1, [{to} + {line} + 1024]",
                "tileloadd tmm2, [{to} + {line} + 2048]",
                "tileloadd tmm3, [{to} + {line} + 3072]";
                "tileloadd tmm4, [{a0} + {line}]",
                "tileloadd tmm6, [{b0} + {line}]",
                concat!($dot, " tmm0, tmm4, tmm6"),
                "tileloadd tmm7, [{b1} + {line}]",
                concat!($dot, " tmm1, tmm4, tmm7"),
                "tileloadd tmm5, [{a1} + {line}]",
                concat!($dot, " tmm2, tmm5, tmm6"),
                concat!($dot, " tmm3, tmm5, tmm7"),
                "add {a0}, {row_step}",
                "add {a1}, {row_step}",
                "add {b0}, 1024",
                "add {b1}, 1024";
                "tilestored [{to} + {line}], tmm0",
                "tilestored [{to} + {line} + 1024], tmm1",
                "tilestored [{to} + {line} + 2048], tmm2",
                "tilestored [{to} + {line} + 3072], tmm3"
            ),
            (&[a0, a1], &[b0]) => product!(
                $tiles, $steps, $keep, $to, [a0 = a0, a1 = a1, b0 = b0];
                "tileloadd tmm0, [{to} + {line}]",
                "tileloadd tmm1, [{to} + {line} + 1024]";
                "tileloadd tmm4, [{a0} + {line}]",
                "tileloadd tmm6, [{b0} + {line}]",
                concat!($dot, " tmm0, tmm4, tmm6"),
                "tileloadd tmm5, [{a1} + {line}]",
                concat!($dot, " tmm1, tmm5, tmm6"),
                "add {a0}, {row_step}",
                "add {a1}, {row_step}",
                "add {b0}, 1024";
                "tilestored [{to} + {line}], tmm0",
                "tilestored [{to} + {line} + 1024], tmm1"
            ),
            (&[a0], &[b0, b1, b2, b3]) => product!(
                $tiles, $steps, $keep, $to, [a0 = a0, b0 = b0, b1 = b1, b2 = b2, b3 = b3];
                "tileloadd tmm0, [{to} + {line}]",
                "tileloadd tmm1, [{to} + {line} + 1024]",
                "tileloadd tmm2, [{to} + {line} + 2048]",
                "tileloadd tmm3, [{to} + {line} + 3072]";
                "tileloadd tmm4, [{a0} + {line}]",
                "tileloadd tmm6, [{b0} + {line}]",
                concat!($dot, " tmm0, tmm4, tmm6"),
                "tileloadd tmm7, [{b1} + {line}]",
                concat!($dot, " tmm1, tmm4, tmm7"),
                "tileloadd tmm6, [{b2} + {line}]",
                concat!($dot, " tmm2, tmm4, tmm6"),
                "tileloadd tmm7, [{b3} + {line}]",
                concat!($dot, " tmm3, tmm4, tmm7"),
                "add {a0}, {row_step}",
                "add {b0}, 1024",
                "add {b1}, 1024",
                "add {b2}, 1024",
                "add {b3}, 1024";
                "tilestored [{to} + {line}], tmm0",
                "tilestored [{to} + {line} + 1024], tmm1",
                "tilestored [{to} + {line} + 2048], tmm2",
                "tilestored [{to} + {line} + 3072], tmm3"
            ),
            (&[a0], &[b0]) => product!(
                $tiles, $steps, $keep, $to, [a0 = a0, b0 = b0];
                "tileloadd tmm0, [{to} + {line}]";
                "tileloadd tmm4, [{a0} + {line}]",
                "tileloadd tmm6, [{b0} + {line}]",
                concat!($dot, " tmm0, tmm4, tmm6"),
                "add {a0}, {row_step}",
                "add {b0}, 1024";
                "tilestored [{to} + {line}], tmm0"
            ),
            _ => unreachable!("no product has these tiles of rows and panels"),
        }
    };
}

impl TileUnit for Tiles {
    #[inline(always)]
    fn multiply<const BF16: bool, const TILES: usize, const PANELS: usize>(
        &self,
        rows: [&[Line]; TILES],
        panels: [&[Line]; PANELS],
        steps: usize,
        keep: bool,
        to: &mut Sums,
    ) {
        assert!(steps > 0, "steps along the depth");
        for rows in rows {
            assert!(rows.len() >= steps * self.rows, "a tile of rows for each step");
        }
        for panel in panels {
            assert!(panel.len() >= steps * TILE_ROWS, "a tile of weights for each step");
        }
        let (rows, panels) = (&rows[..], &panels[..]);
        if BF16 {
            products!("tdpbf16ps", self, rows, panels, steps, keep, to);
        } else {
            products!("tdpbssd", self, rows, panels, steps, keep, to);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
