//! Races in shared memory, which are found in every order of the warps.

mod common;

use common::{block, run_body};
use miriam_ptx::Grid;

const SEEDS: std::ops::Range<u64> = 0..20;

/// Returns the messages of the faults under all seeds; all runs must fail.
fn faults(body: &str) -> Vec<String> {
    let run = |seed| run_body("", body, Grid { seed, ..block(64) }, &[0], 64);
    SEEDS.map(|seed| run(seed).expect_err("a fault").to_string()).collect()
}

fn passes(body: &str) {
    for seed in SEEDS {
        run_body("", body, Grid { seed, ..block(64) }, &[0], 0).unwrap();
    }
}

/// Twice, each thread writes a word and reads the word of the same lane in the other warp.
const TWICE: &str = ".shared .align 4 .b8 tile[256]; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, 4, %r2;\n\
    xor.b32 %r4, %r3, 128; mov.u32 %r5, 0; mov.u32 %r6, %r1;\n\
    $LOOP: st.shared.u32 [%r3], %r6; bar.sync 0; ld.shared.u32 %r6, [%r4];\n\
    add.u32 %r6, %r6, 1; bar.sync 1; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2;\n\
    @%p1 bra $LOOP; st.global.u32 [%rd2], %r6;";

#[test]
fn barriers_keep_warps_apart() {
    for seed in SEEDS {
        let found = run_body("", TWICE, Grid { seed, ..block(64) }, &[0], 64).unwrap();
        assert_eq!(found, (0..64).map(|i| i + 2).collect::<Vec<_>>());
    }
}

#[test]
fn a_write_before_others_have_read_is_found() {
    // Only the barrier at the end of the loop is missing.
    for found in faults(&TWICE.replace("bar.sync 1;", "")) {
        let [early, late] = ["has written without a barrier", "has read without a barrier"];
        assert!(found.contains(early) || found.contains(late), "{found}");
    }
}

#[test]
fn a_read_before_others_have_written_is_found() {
    for found in faults(&TWICE.replace("bar.sync 0;", "")) {
        let [unwritten, raced] = ["which was not written", "without a barrier"];
        assert!(found.contains(unwritten) || found.contains(raced), "{found}");
    }
}

#[test]
fn two_writers_race_unless_they_agree() {
    let write = |value: &str| {
        format!(".shared .align 4 .u32 word; shr.u32 %r2, %r1, 5; st.shared.u32 [word], {value};")
    };
    passes(&write("7"));
    let found = faults(&write("%r2"));
    assert!(found.iter().all(|fault| fault.contains("a write at 0 of shared memory, which warp")));
}

#[test]
fn atomic_accesses_race_only_with_plain_accesses() {
    let body = ".shared .align 4 .u32 word; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [word], 0;\n\
                bar.sync 0; red.shared.add.u32 [word], 1; bar.sync 0; ld.shared.u32 %r2, [word];";
    passes(body);
    let found = faults(&body.replace("1; bar.sync 0;", "1;"));
    assert!(found.iter().all(|fault| fault.contains("without a barrier")), "{found:?}");
}

#[test]
fn halves_of_a_word_are_apart() {
    // Threads with the same lane in the two warps share a word, but write different bytes of it.
    let body = ".shared .align 4 .b8 tile[128]; shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31;\n\
                mov.u32 %r4, tile; mad.lo.u32 %r5, %r3, 4, %r4; mad.lo.u32 %r5, %r2, 2, %r5;\n\
                cvt.u16.u32 %h1, %r1; st.shared.u16 [%r5], %h1; ld.shared.u16 %h2, [%r5];";
    passes(body);
    let whole =
        body.replace("ld.shared.u16 %h2, [%r5]", "and.b32 %r5, %r5, -4; ld.shared.u32 %r6, [%r5]");
    assert!(faults(&whole).iter().all(|fault| fault.contains("of shared memory, which")));
}
