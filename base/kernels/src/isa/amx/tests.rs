//! Tests of tile instructions: their decoding and their faults in the emulator, and the results of
//! the compiled instructions.

pub(crate) mod emulator;

use emulator::{Address, Instruction, TileState, decode};

use super::*;
use crate::testing::{TestRng, report_skip};

/// The bytes are an assembler's output for the instructions in the comments.
#[test]
fn encodings_are_decoded() {
    let at = |base, index, displacement| Address { base, index, displacement };
    let cases: [(&[u8], Instruction); 11] = [
        // ldtilecfg [rsp + 64] and [r9]
        (b"\xc4\xe2\x78\x49\x44\x24\x40", Instruction::Configure(at(4, None, 64))),
        (b"\xc4\xc2\x78\x49\x01", Instruction::Configure(at(9, None, 0))),
        (b"\xc4\xe2\x78\x49\xc0", Instruction::Release),
        (b"\xc4\xe2\x7b\x49\xc0", Instruction::Zero(0)),
        (b"\xc4\xe2\x7b\x49\xd8", Instruction::Zero(3)),
        // tileloadd tmm5, [r10 + rcx]; tmm2, [rax + 2 * r15 + 2048]
        (b"\xc4\xc2\x7b\x4b\x2c\x0a", Instruction::Load(5, at(10, Some((1, 0)), 0))),
        (
            b"\xc4\xa2\x7b\x4b\x94\x78\x00\x08\x00\x00",
            Instruction::Load(2, at(0, Some((15, 1)), 2048)),
        ),
        // tilestored [rbx + rdx - 64], tmm7
        (b"\xc4\xe2\x7a\x4b\x7c\x13\xc0", Instruction::Store(at(3, Some((2, 0)), -64), 7)),
        // tdpbssd tmm0, tmm4, tmm6 and tmm3, tmm5, tmm7
        (b"\xc4\xe2\x4b\x5e\xc4", Instruction::Multiply { sums: 0, left: 4, right: 6 }),
        (b"\xc4\xe2\x43\x5e\xdd", Instruction::Multiply { sums: 3, left: 5, right: 7 }),
        // tdpbf16ps tmm1, tmm4, tmm7
        (b"\xc4\xe2\x42\x5c\xcc", Instruction::MultiplyBf16 { sums: 1, left: 4, right: 7 }),
    ];
    for (code, expected) in cases {
        assert_eq!(decode(|at| code[at]), Some((expected, code.len())));
    }
    // tdpbuud, a vector instruction, and a jump.
    for code in [b"\xc4\xe2\x48\x5e\xc4", b"\xc4\xe2\x75\xb8\xc2", b"\xe9\x00\x00\x00\x00"] {
        assert_eq!(decode(|at| code[at]), None);
    }
}

/// Runs `change` on tiles of three rows, and returns whether the CPU would fault.
fn faults(change: impl FnOnce(&mut TileState)) -> bool {
    let mut state = TileState::RELEASED;
    state.configure(TileConfiguration::new(3).as_bytes().first_chunk().unwrap());
    let change = std::panic::AssertUnwindSafe(|| change(&mut state));
    std::panic::catch_unwind(change).is_err()
}

#[test]
fn invalid_uses_fault() {
    assert!(!faults(|state| state.multiply(0, 4, 6)));
    assert!(faults(|state| state.multiply(0, 0, 6)), "one tile for two operands");
    assert!(faults(|state| state.multiply(6, 4, 7)), "sums of sixteen rows from three");
    assert!(faults(|state| state.multiply(0, 4, 5)), "weights of three lines");
    assert!(faults(|state| state.zero(8)), "a ninth tile");
    assert!(faults(|state| {
        state.configure(&[0; 64]);
        state.zero(0);
    }));
    let valid: [u8; 64] = *TileConfiguration::new(16).as_bytes().first_chunk().unwrap();
    for (byte, value) in [(0, 2), (1, 1), (9, 1), (16, 65), (48, 17), (48, 0), (56, 1)] {
        let mut bytes = valid;
        bytes[byte] = value;
        assert!(faults(|state| state.configure(&bytes)), "byte {byte} is {value}");
    }
}

/// Returns the token of this CPU, or of emulated instructions.
fn amx() -> Option<Avx512Amx> {
    let amx = Avx512Amx::new().or_else(Avx512Amx::emulated);
    if amx.is_none() {
        report_skip("tile instructions (they need Linux and AVX-512 VNNI)");
    }
    amx
}

/// Compares each product with sums that are computed in loops.
fn check_product<const TILES: usize, const PANELS: usize>(amx: Avx512Amx) {
    let mut numbers = TestRng::new(77);
    for (rows, steps, keep) in [(1, 1, false), (16, 3, false), (5, 2, true), (16, 1, true)] {
        let mut lines = |count: usize| -> Vec<Line> {
            (0..count).map(|_| Line(std::array::from_fn(|_| numbers.next() as u8))).collect()
        };
        let left: [Vec<Line>; TILES] = std::array::from_fn(|_| lines(rows * steps));
        let panels: [Vec<Line>; PANELS] = std::array::from_fn(|_| lines(TILE_ROWS * steps));
        let before = -12_345;
        let mut sums = Sums([[before; TILE_ROWS * LANES]; 4]);
        let tiles = amx.configure(rows);
        tiles.multiply::<false, TILES, PANELS>(
            left.each_ref().map(|lines| &lines[..]),
            panels.each_ref().map(|lines| &lines[..]),
            steps,
            keep,
            &mut sums,
        );
        drop(tiles);
        for (at, &found) in sums.0.as_flattened().iter().enumerate() {
            let (tile, row, column) = (at / 256, at / 16 % 16, at % 16);
            if tile >= TILES * PANELS || row >= rows {
                assert_eq!(found, before, "tile {tile}, row {row} is not part of the product");
                continue;
            }
            let (left, panel) = (&left[tile / PANELS], &panels[tile % PANELS]);
            let products = (0..64 * steps).map(|depth| {
                let a = left[depth / 64 * rows + row].0[depth % 64] as i8;
                let b = panel[depth / 4].0[4 * column + depth % 4] as i8;
                i32::from(a) * i32::from(b)
            });
            let expected = products.sum::<i32>() + if keep { before } else { 0 };
            assert_eq!(found, expected, "tile {tile}, row {row}, column {column}");
        }
    }
}

/// Compares each product of bf16 with sums that are computed in loops. The sums of these numbers
/// are exact.
fn check_bf16_product<const TILES: usize, const PANELS: usize>(amx: Avx512Amx) {
    if !amx.has_bf16() {
        return report_skip("tiles of bf16");
    }
    let mut numbers = TestRng::new(78);
    for (rows, steps, keep) in [(1, 1, false), (16, 3, false), (5, 2, true), (16, 1, true)] {
        let mut lines = |count: usize| -> Vec<Line> {
            let mut pair = || {
                let number = numbers.integer(-9, 9) as f32 / 4.0;
                (number.to_bits() >> 16) as u16
            };
            let mut line = || std::array::from_fn::<[u8; 2], 32, _>(|_| pair().to_le_bytes());
            let bytes = |line: [[u8; 2]; 32]| Line(*line.as_flattened().first_chunk().unwrap());
            (0..count).map(|_| bytes(line())).collect()
        };
        let left: [Vec<Line>; TILES] = std::array::from_fn(|_| lines(rows * steps));
        let panels: [Vec<Line>; PANELS] = std::array::from_fn(|_| lines(TILE_ROWS * steps));
        let before = -12.5f32;
        let mut sums = Sums([[before.to_bits() as i32; TILE_ROWS * LANES]; 4]);
        let tiles = amx.configure(rows);
        tiles.multiply::<true, TILES, PANELS>(
            left.each_ref().map(|lines| &lines[..]),
            panels.each_ref().map(|lines| &lines[..]),
            steps,
            keep,
            &mut sums,
        );
        drop(tiles);
        let number = |line: &Line, at: usize| {
            f32::from_bits(u32::from(line.0[2 * at]) << 16 | u32::from(line.0[2 * at + 1]) << 24)
        };
        for (at, &bits) in sums.0.as_flattened().iter().enumerate() {
            let (found, tile, row, column) =
                (f32::from_bits(bits as u32), at / 256, at / 16 % 16, at % 16);
            if tile >= TILES * PANELS || row >= rows {
                assert_eq!(found, before, "tile {tile}, row {row} is not part of the product");
                continue;
            }
            let (left, panel) = (&left[tile / PANELS], &panels[tile % PANELS]);
            let products = (0..32 * steps).map(|depth| {
                let a = number(&left[depth / 32 * rows + row], depth % 32);
                a * number(&panel[depth / 2], 2 * column + depth % 2)
            });
            let expected = products.sum::<f32>() + if keep { before } else { 0.0 };
            assert_eq!(found, expected, "tile {tile}, row {row}, column {column}");
        }
    }
}

#[test]
fn products_of_bf16_match_sums_in_loops() {
    let Some(amx) = amx() else { return };
    check_bf16_product::<2, 2>(amx);
    check_bf16_product::<2, 1>(amx);
    check_bf16_product::<1, 4>(amx);
    check_bf16_product::<1, 1>(amx);
}

#[test]
fn products_of_bytes_match_sums_in_loops() {
    let Some(amx) = amx() else { return };
    check_product::<2, 2>(amx);
    check_product::<2, 1>(amx);
    check_product::<1, 4>(amx);
    check_product::<1, 1>(amx);
}

#[test]
fn tiles_are_released_in_panics() {
    let Some(amx) = amx() else { return };
    let nested = std::panic::catch_unwind(|| {
        let _tiles = amx.configure(2);
        amx.configure(3)
    });
    assert!(nested.is_err(), "a second configuration");
    drop(amx.configure(3));
    assert!(std::panic::catch_unwind(|| amx.configure(17)).is_err());
    drop(amx.configure(16));
}

#[test]
fn every_thread_has_tiles_of_its_own() {
    let Some(amx) = amx() else { return };
    let _tiles = amx.configure(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| check_product::<2, 2>(amx));
        }
    });
}
