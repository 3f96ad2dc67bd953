//! Asynchronous copies to shared memory, with injected faults.

mod common;

use common::{block, run_body};
use miriam_ptx::{Fault, Grid};

/// Each thread `t` copies 16 bytes to shared memory, and reads the bytes of thread `63 - t`.
const COPY: &str = ".shared .align 16 .b8 tile[1024]; mov.u32 %r2, tile; mul.lo.u32 %r3, %r1, 16;\n\
    add.u32 %r4, %r2, %r3; cvt.u64.u32 %rd5, %r3; add.u64 %rd6, %rd3, %rd5;\n\
    cp.async.cg.shared.global.L2::128B [%r4], [%rd6], 16;\n\
    cp.async.commit_group;\n\
    cp.async.wait_group 0;\n\
    bar.sync 0;\n\
    sub.u32 %r5, 63, %r1; mad.lo.u32 %r6, %r5, 16, %r2; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6];\n\
    add.u32 %r7, %r7, %r10; st.global.u32 [%rd2], %r7;";

fn run(body: &str, seed: u64) -> Result<Vec<u32>, Fault> {
    let input: Vec<u32> = (0..256).collect();
    run_body("", body, Grid { seed, ..block(64) }, &input, 64)
}

fn fault(body: &str) -> String {
    run(body, 1).expect_err("a fault").to_string()
}

#[test]
fn copies_are_done_after_the_wait() {
    let expected: Vec<u32> = (0..64).map(|i| 8 * (63 - i) + 3).collect();
    for seed in 0..10 {
        assert_eq!(run(COPY, seed).unwrap(), expected);
        let all = COPY.replace("wait_group 0", "wait_all");
        assert_eq!(run(&all, seed).unwrap(), expected);
    }
}

#[test]
fn a_missing_wait_is_found() {
    for (from, to) in [
        ("cp.async.wait_group 0;", ""),
        ("cp.async.wait_group 0;", "cp.async.wait_group 1;"),
        // Copies that belong to no group yet.
        ("cp.async.commit_group;", ""),
    ] {
        let found = fault(&COPY.replace(from, to));
        let reason = "of shared memory, which an asynchronous copy may still write";
        assert!(found.starts_with("kernel k, line 15") && found.ends_with(reason), "{found}");
    }
}

#[test]
fn a_missing_barrier_after_the_wait_is_found() {
    let body = COPY.replace("bar.sync 0;", "");
    assert!((0..20).all(|seed| run(&body, seed).is_err()));
}

#[test]
fn groups_end_in_their_order() {
    // The first of two groups is complete while the second is not.
    let body = ".shared .align 4 .b8 tile[8]; cp.async.ca.shared.global [tile], [%rd3], 4;\n\
                cp.async.commit_group; cp.async.ca.shared.global [tile+4], [%rd3+4], 4;\n\
                cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r2, [tile];\n\
                cp.async.wait_group 0; ld.shared.u32 %r3, [tile+4]; add.u32 %r2, %r2, %r3;\n\
                st.global.u32 [%rd2], %r2;";
    assert_eq!(run_body("", body, block(1), &[5, 6], 1).unwrap(), [11]);
    let early = body.replace(
        "wait_group 1; ld.shared.u32 %r2, [tile]",
        "wait_group 1; ld.shared.u32 %r2, [tile+4]",
    );
    assert!(run_body("", &early, block(1), &[5, 6], 1).is_err());
    let overwritten = body.replace("cp.async.wait_group 1;", "st.shared.u32 [tile], 3;");
    let found = run_body("", &overwritten, block(1), &[5, 6], 1).unwrap_err().to_string();
    assert!(found.contains("a write at 0 of shared memory, which an asynchronous copy"), "{found}");
}

#[test]
fn the_source_is_read_late() {
    // The source is overwritten before the wait, and the new value is copied.
    let body = ".shared .align 4 .u32 word; st.global.u32 [%rd4], 1;\n\
                cp.async.ca.shared.global [word], [%rd4], 4; st.global.u32 [%rd4], 2;\n\
                cp.async.wait_all; ld.shared.u32 %r2, [word]; st.global.u32 [%rd4], %r2;";
    assert_eq!(run_body("", body, block(1), &[0], 1).unwrap(), [2]);
}

#[test]
fn bytes_that_are_not_read_are_zero() {
    let body = ".shared .align 16 .b8 tile[16]; mov.u32 %r2, 8;\n\
                cp.async.cg.shared.global [tile], [%rd3], 16, %r2; cp.async.wait_all;\n\
                ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [tile]; st.global.v4.u32 [%rd4], {%r3, %r4, %r5, %r6};";
    // The source ends after the 8 bytes that are read.
    assert_eq!(run_body("", body, block(1), &[5, 6], 4).unwrap(), [5, 6, 0, 0]);
    let past = body.replace("mov.u32 %r2, 8", "mov.u32 %r2, 12");
    let found = run_body("", &past, block(1), &[5, 6], 4).unwrap_err().to_string();
    assert!(found.contains("a read of 12 bytes at offset 0 of a buffer of 8 bytes"), "{found}");
}

#[test]
fn copies_past_the_end_or_not_aligned_are_found() {
    let found = fault(&COPY.replace("tile[1024]", "tile[1000]"));
    let reason = "an asynchronous write of 16 bytes at 992 of shared memory of 1000 bytes";
    assert!(found.contains(reason), "{found}");
    let found = fault(&COPY.replace("[%r4], [%rd6]", "[%r4], [%rd6+4]"));
    assert!(found.contains("not aligned"), "{found}");
}
