//! Kernels written for the tests: exchanges, barriers, branches, and injected faults.

mod common;

use common::{block, run_module};
use miriam_ptx::{Fault, Grid, Memory, Module};

const SEEDS: std::ops::Range<u64> = 0..20;

/// Runs `body`, a kernel with the parameter `out`, in one block of `threads` threads over a buffer
/// of `words` words.
fn run(body: &str, threads: u32, words: usize, seed: u64) -> Result<Vec<u32>, Fault> {
    let text = format!(
        ".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
         .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .shared .align 4 .b8 tile[256];\n\
         ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mad.wide.u32 %rd2, %r1, 4, %rd1;\n{body}\n}}"
    );
    let module = Module::parse(&text)?;
    let mut memory = Memory::new(1 << 20);
    let out = memory.allocate(4 * words as u64)?;
    let grid = Grid { threads: [threads, 1, 1], seed, max_steps: 100_000, ..Grid::default() };
    module.kernel("k").unwrap().run(&grid, &out.to_le_bytes(), &mut memory)?;
    let bytes = memory.read(out, 4 * words)?;
    Ok(bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Returns the messages of the faults under all seeds; all runs must fail.
fn faults(body: &str, threads: u32, words: usize) -> Vec<String> {
    SEEDS.map(|seed| run(body, threads, words, seed).expect_err("a fault").to_string()).collect()
}

#[test]
fn branches_meet_again() {
    // Odd lanes take the other branch.
    let body = "and.b32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 0; @%p1 bra $EVEN;\n\
                mul.lo.s32 %r3, %r1, 10; bra.uni $END;\n$EVEN: neg.s32 %r3, %r1;\n$END:\n\
                shfl.sync.bfly.b32 %r4|%p2, %r3, 1, 31, -1; st.global.u32 [%rd2], %r4; ret;";
    let expected: Vec<u32> = (0u32..32)
        .map(|i| if i % 2 == 0 { (i + 1) * 10 } else { (i - 1).wrapping_neg() })
        .collect();
    for seed in SEEDS {
        assert_eq!(run(body, 32, 32, seed).unwrap(), expected);
    }
}

#[test]
fn loops_of_different_lengths_end() {
    let body = "mov.u32 %r2, 0; mov.u32 %r3, %r1;\n$L: setp.eq.s32 %p1, %r3, 0; @%p1 bra $D;\n\
                add.s32 %r2, %r2, %r3; sub.s32 %r3, %r3, 1; bra $L;\n$D: st.global.u32 [%rd2], %r2;";
    let expected: Vec<u32> = (0..70).map(|i| i * (i + 1) / 2).collect();
    for seed in SEEDS {
        assert_eq!(run(body, 70, 70, seed).unwrap(), expected);
    }
}

#[test]
fn shuffles_stay_within_their_segments() {
    // In tiles of eight lanes, each lane gets the value of lane 3, of the lane before, or of the
    // lane after.
    for (mode, by, clamp, expected) in [
        ("idx", 3, 0x1807, (0..32u32).map(|i| i / 8 * 8 + 3).collect::<Vec<_>>()),
        ("up", 1, 0x1800, (0..32).map(|i| if i % 8 == 0 { i } else { i - 1 }).collect()),
        ("down", 1, 0x1807, (0..32).map(|i| if i % 8 == 7 { i } else { i + 1 }).collect()),
    ] {
        let body = format!(
            "shfl.sync.{mode}.b32 %r2|%p1, %r1, {by}, {clamp}, -1; st.global.u32 [%rd2], %r2;"
        );
        assert_eq!(run(&body, 32, 32, 5).unwrap(), expected, "{mode}");
    }
}

#[test]
fn votes_are_over_the_mask() {
    let body = "setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r2, %p1, -1;\n\
                vote.sync.all.pred %p2, !%p1, -1; selp.b32 %r2, 1, %r2, %p2; st.global.u32 [%rd2], %r2;";
    assert_eq!(run(body, 32, 32, 3).unwrap(), [0b11111; 32]);
}

/// Each thread writes to shared memory and reads what another warp has written.
const EXCHANGE: &str = "shl.b32 %r2, %r1, 2; cvt.u64.u32 %rd3, %r2; st.shared.u32 [%rd3], %r1;\n\
                        bar.sync 0;\n\
                        sub.s32 %r4, 63, %r1; shl.b32 %r4, %r4, 2; cvt.u64.u32 %rd4, %r4;\n\
                        ld.shared.u32 %r5, [%rd4]; st.global.u32 [%rd2], %r5;";

#[test]
fn barriers_order_warps() {
    let expected: Vec<u32> = (0..64).rev().collect();
    for seed in SEEDS {
        assert_eq!(run(EXCHANGE, 64, 64, seed).unwrap(), expected);
    }
}

#[test]
fn a_missing_barrier_is_found() {
    let body = EXCHANGE.replace("bar.sync 0;", "");
    let found = faults(&body, 64, 64);
    let reasons = ["which was not written", "has written without a barrier"];
    let is_known = |fault: &String| reasons.iter().any(|reason| fault.contains(reason));
    assert!(found.iter().all(is_known), "{found:?}");
    assert!(found[0].contains("kernel k, line 10, block (0, 0, 0), warp "), "{}", found[0]);
}

#[test]
fn a_barrier_that_some_threads_do_not_reach_is_found() {
    let body = "setp.eq.s32 %p1, %r1, 40; @%p1 bra $E; bar.sync 0;\n$E: ret;";
    let found = faults(body, 64, 1);
    assert!(
        found.iter().all(|fault| fault.contains("which has ended, does not reach")),
        "{found:?}"
    );
    let two = "setp.eq.s32 %p1, %r1, 3; @%p1 bra $E; bar.sync 0; ret;\n$E: bar.sync 1;";
    assert!(faults(two, 64, 1)[0].contains("waits at the barrier of line"));
}

#[test]
fn accesses_outside_of_buffers_are_found() {
    let store = |offset: i32| format!("st.global.u32 [%rd2+{offset}], %r1;").replace("+-", "-");
    assert!(faults(&store(4), 32, 32)[0].contains("a write of 4 bytes at offset 128 of a buffer"));
    assert!(faults(&store(-4), 32, 32)[0].contains("before all buffers"));
    assert!(faults(&store(2), 32, 32)[0].contains("not aligned"));
    let load = "ld.global.nc.u32 %r2, [%rd2]; st.global.u32 [%rd2], %r2;";
    assert!(faults(load, 32, 32)[0].contains("which was not written"));
    let shared = "ld.shared.u32 %r2, [tile+256];";
    assert!(faults(shared, 32, 32)[0].contains("of shared memory of 256 bytes"));
}

#[test]
fn exchanges_that_lanes_miss_are_found() {
    let ended = "setp.eq.s32 %p1, %r1, 9; @%p1 ret; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;";
    assert!(faults(ended, 32, 1)[0].contains("an exchange with lane 9, which has ended"));
    let apart = "setp.lt.u32 %p1, %r1, 16; @%p1 bra $L; shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; ret;\n\
                 $L: shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;";
    assert!(faults(apart, 32, 1)[0].contains("wait at other instructions"));
    let outside = "shfl.sync.idx.b32 %r2, %r1, 20, 31, 65535;";
    assert!(faults(outside, 16, 1)[0].contains("a shuffle from lane 20"));
    let without = "shfl.sync.idx.b32 %r2, %r1, 0, 31, 1;";
    assert!(faults(without, 2, 1)[0].contains("without the lane itself"));
}

#[test]
fn an_endless_loop_is_found() {
    assert!(faults("$L: bra $L;", 32, 1)[0].contains("still runs after"));
    // The fault names a thread that still runs.
    let one = "setp.ne.u32 %p1, %r1, 40; @%p1 ret;\n$L: bra $L;";
    let found = faults(one, 64, 1);
    assert!(found.iter().all(|fault| fault.contains("line 8, block (0, 0, 0), warp 1, lane 8")));
}

#[test]
fn unknown_or_malformed_code_does_not_parse() {
    for (text, reason) in [
        ("frob.b32 %r1, %r2;", "frob"),
        ("bra $NOWHERE;", "no label"),
        ("add.s32 %r1, %r2;", "expected \",\""),
        ("add.s32 %q1, %r2, %r2;", "expected a register"),
        ("tex.1d.v4.f32.s32 %r1, [%rd1];", "not supported"),
        ("mov.u32 %r1, %clock;", "expected an operand"),
        ("add.cc.u32 %r1, %r1, %r2;", ".cc"),
    ] {
        let fault = run(text, 1, 1, 0).unwrap_err().to_string();
        assert!(fault.starts_with("line 7: ") && fault.contains(reason), "{text}: {fault}");
    }
    // The line of the words that are wrong, not of those after them.
    let reason = |text: &str| Module::parse(text).unwrap_err().to_string();
    assert!(reason(".frob\n\n.entry k() { ret; }").starts_with("line 1: "));
    assert!(reason(".entry k()\n{ call f;\nret; }").starts_with("line 2: the function f"));
    assert!(reason(".entry k()\n.frob\n{ ret; }").starts_with("line 2: \".frob\""));
    assert!(
        reason(".entry k() { .reg .f64 %d<2>; .reg .b64 %rd<2>;\ncvt.rz.f64.u64 %d0, %rd0; }")
            .starts_with("line 2: cvt.rz.f64.u64 is not supported")
    );
    assert!(reason(".entry k() { ret;").starts_with("line 1: "));
}

/// Runs a module with what `-lineinfo` adds.
#[test]
fn line_numbers_of_sources_are_skipped() {
    let text = ".version 8.4\n.target sm_80\n.address_size 64\n\
                .visible .entry k(.param .u64 x)\n{\n\
                .reg .b32 %r<2>; .reg .b64 %rd<2>;\n.loc 1 5 3\n\
                ld.param.u64 %rd1, [x]; mov.u32 %r1, 7;\n\
                .loc 2 9 1, function_name $L__info_string0+4, inlined_at 1 6 2\n\
                st.global.u32 [%rd1], %r1;\nret;\n}\n\
                .file 1 \"/a/b.cu\", 1700000000, 812\n.file 2 \"/a/c.cuh\"\n\
                .section .debug_str\n{\n$L__info_string0:\n.b8 95\n.b8 0\n}\n\
                .visible .entry after() { ret; }\n";
    let found = run_module(text, "k", block(1), &[vec![None]]).unwrap();
    assert_eq!(found, [[7]]);
    assert!(Module::parse(text).unwrap().kernel("after").is_some());
}

#[test]
fn blocks_are_as_large_as_the_kernel_allows() {
    let module = |limit: &str| format!(".visible .entry k() {limit} .minnctapersm 2 {{ ret; }}");
    for (limit, most) in [("", 1024), (".maxntid 128", 128), (".maxntid 64, 2, 1", 128)] {
        let module = Module::parse(&module(limit)).unwrap();
        let kernel = module.kernel("k").unwrap();
        assert_eq!(kernel.max_threads(), most);
        let mut memory = Memory::new(1 << 10);
        assert!(kernel.run(&block(most), &[], &mut memory).is_ok());
        let fault = kernel.run(&block(most + 1), &[], &mut memory).unwrap_err();
        assert!(fault.to_string().ends_with(&format!("a block has at most {most}")), "{fault}");
    }
}
