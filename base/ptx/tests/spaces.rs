//! State spaces: local, constant and dynamic shared memory, generic addresses, functions, atomics.

mod common;

use common::{block, run_body};
use miriam_ptx::Grid;

#[test]
fn local_arrays_belong_to_a_thread() {
    // Each thread writes its number at an index that is its number modulo 4, and reads it again.
    let body = "{ .local .align 16 .b8 depot[16]; .reg .b64 %SP; .reg .b64 %SPL;\n\
                mov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; and.b32 %r2, %r1, 3;\n\
                mul.wide.u32 %rd5, %r2, 4; add.s64 %rd6, %SPL, %rd5; add.s64 %rd7, %SP, %rd5;\n\
                st.local.u32 [%rd6], %r1; ld.u32 %r3, [%rd7]; st.global.u32 [%rd2], %r3; }";
    let expected: Vec<u32> = (0..64).collect();
    assert_eq!(run_body("", body, block(64), &[0], 64).unwrap(), expected);
    let unwritten = body.replace("st.local.u32 [%rd6], %r1;", "");
    let fault = run_body("", &unwritten, block(64), &[0], 64).unwrap_err().to_string();
    assert!(fault.contains("local memory, which was not written"), "{fault}");
    let outside = body.replace("[%rd6], %r1", "[%rd6+16], %r1");
    let fault = run_body("", &outside, block(64), &[0], 64).unwrap_err().to_string();
    assert!(fault.contains("of local memory of 16 bytes"), "{fault}");
}

#[test]
fn generic_addresses_reach_all_spaces() {
    let body = ".shared .align 4 .b8 tile[128];\n\
                mov.u64 %rd5, tile; cvta.shared.u64 %rd6, %rd5; mad.wide.u32 %rd7, %r1, 4, %rd6;\n\
                st.u32 [%rd7], %r1; cvta.to.shared.u64 %rd8, %rd7; ld.shared.u32 %r2, [%rd8];\n\
                ld.u32 %r3, [%rd1]; add.u32 %r4, %r2, %r3; st.u32 [%rd2], %r4;";
    let input: Vec<u32> = (0..32).map(|i| 100 * i).collect();
    let expected: Vec<u32> = (0..32).map(|i| 101 * i).collect();
    assert_eq!(run_body("", body, block(32), &input, 32).unwrap(), expected);
}

#[test]
fn tables_of_the_module_are_read_only() {
    let outside = ".const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 255, 1};\n\
                   .global .align 4 .f32 numbers[2] = {0f3F800000, 0f40000000};";
    let body = "mov.u64 %rd5, table; and.b32 %r2, %r1, 3; mad.wide.u32 %rd6, %r2, 4, %rd5;\n\
                ld.const.u32 %r3, [%rd6]; cvta.const.u64 %rd7, %rd6; ld.u32 %r4, [%rd7];\n\
                ld.global.nc.u32 %r5, [numbers+4]; add.u32 %r6, %r3, %r4; add.u32 %r6, %r6, %r5;\n\
                st.global.u32 [%rd2], %r6;";
    let two = 2f32.to_bits();
    let found = run_body(outside, body, block(4), &[0], 4).unwrap();
    assert_eq!(found, [two + 2, two + 4, two + 2 * 0x1FF, two]);
    let write = "st.global.u32 [numbers], %r1;";
    let fault = run_body(outside, write, block(1), &[0], 1).unwrap_err().to_string();
    assert!(fault.contains("a write to an array of the module"), "{fault}");
    let past = "ld.const.u32 %r3, [table+16];";
    assert!(run_body(outside, past, block(1), &[0], 1).is_err());
}

const DYNAMIC: &str = ".extern .shared .align 16 .b8 dynamic[];";

#[test]
fn dynamic_shared_memory_has_the_size_of_the_launch() {
    let body = ".shared .align 4 .u32 flag; st.shared.u32 [flag], 7;\n\
                mov.u32 %r2, dynamic; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1;\n\
                bar.sync 0; xor.b32 %r4, %r1, 63; mad.lo.u32 %r5, %r4, 4, %r2;\n\
                ld.shared.u32 %r6, [%r5]; mov.u32 %r7, %dynamic_smem_size; add.u32 %r6, %r6, %r7;\n\
                st.global.u32 [%rd2], %r6;";
    let grid = Grid { shared_bytes: 256, ..block(64) };
    let expected: Vec<u32> = (0..64).map(|i| 256 + (i ^ 63)).collect();
    assert_eq!(run_body(DYNAMIC, body, grid, &[0], 64).unwrap(), expected);
    // One word too few: the last thread writes past the end.
    let grid = Grid { shared_bytes: 252, ..grid };
    let fault = run_body(DYNAMIC, body, grid, &[0], 64).unwrap_err().to_string();
    let end = "block (0, 0, 0), warp 1, lane 31: a write of 4 bytes at 252 of dynamic shared memory \
               of 252 bytes";
    assert!(fault.starts_with("kernel k, line 10") && fault.ends_with(end), "{fault}");
}

#[test]
fn uninitialised_dynamic_shared_memory_is_found() {
    let body = "mov.u32 %r2, dynamic; ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r2+16];";
    let grid = Grid { shared_bytes: 64, ..block(1) };
    let fault = run_body(DYNAMIC, body, grid, &[0], 1).unwrap_err().to_string();
    assert!(
        fault.contains("a read at 16 of dynamic shared memory, which was not written"),
        "{fault}"
    );
}

#[test]
fn arrays_in_shared_memory_have_gaps() {
    let body = ".shared .align 4 .b8 one[16]; .shared .align 4 .b8 two[16];\n\
                st.shared.u32 [one+16], %r1;";
    let fault = run_body("", body, block(1), &[0], 1).unwrap_err().to_string();
    assert!(fault.contains("a write at 16 of shared memory, between two arrays"), "{fault}");
}

/// A function that sums `count` words from an address on, and one that returns twice that sum.
const FUNCTIONS: &str = "
.func (.param .b32 result) twice(.param .b64 from, .param .b32 count);
.func (.param .b32 result) sum(.param .b64 from, .param .b32 count) {
    .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from]; ld.param.u32 %r1, [count]; mov.u32 %r2, 0;
    setp.ne.u32 %p1, %r1, 0; @%p1 bra $LOOP;
    st.param.b32 [result+0], %r2; ret;
$LOOP: ld.u32 %r3, [%rd1]; add.u32 %r2, %r2, %r3; add.s64 %rd1, %rd1, 4; sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p2, %r1, 0; @%p2 bra $LOOP;
    st.param.b32 [result+0], %r2;
    ret;
}
.func (.param .b32 result) twice(.param .b64 from, .param .b32 count) {
    .reg .b32 %r<5>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from]; ld.param.u32 %r1, [count];
    { .param .b64 p0; st.param.b64 [p0+0], %rd1; .param .b32 p1; st.param.b32 [p1+0], %r1;
      .param .b32 r0; call.uni (r0), sum, (p0, p1); ld.param.b32 %r2, [r0+0]; }
    shl.b32 %r2, %r2, 1; st.param.b32 [result+0], %r2; ret;
}";

#[test]
fn functions_run_where_they_are_called() {
    // Each even lane `i` calls `twice` for `i % 4` words; odd lanes do not call.
    let body = "and.b32 %r2, %r1, 3; and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; mov.u32 %r4, 99;\n\
                { .param .b64 p0; st.param.b64 [p0+0], %rd3; .param .b32 p1; st.param.b32 [p1+0], %r2;\n\
                .param .b32 r0; st.param.b32 [r0+0], %r4; @%p1 call.uni (r0), twice, (p0, p1);\n\
                ld.param.b32 %r4, [r0+0]; } st.global.u32 [%rd2], %r4;";
    let found = run_body(FUNCTIONS, body, block(32), &[5, 6, 7], 32).unwrap();
    assert_eq!(found[..4], [0, 99, 22, 99]);
    let recursive = ".func again() { call.uni again; ret; }";
    let fault = run_body(recursive, "call.uni again;", block(1), &[0], 1).unwrap_err();
    assert!(fault.to_string().contains("call themselves"), "{fault}");
    let missing = run_body("", "call.uni vprintf;", block(1), &[0], 1).unwrap_err();
    assert!(missing.to_string().contains("vprintf is not in the module"), "{missing}");
}

#[test]
fn branch_tables_choose_a_label() {
    let body = "and.b32 %r2, %r1, 3;\n\
                $TABLE: .branchtargets $A, $B, $C, $A;\n\
                brx.idx %r2, $TABLE;\n\
                $A: mov.u32 %r3, 10; bra $END;\n$B: mov.u32 %r3, 20; bra $END;\n\
                $C: mov.u32 %r3, 30;\n$END: st.global.u32 [%rd2], %r3;";
    assert_eq!(run_body("", body, block(4), &[0], 4).unwrap(), [10, 20, 30, 10]);
    let outside = body.replace("and.b32 %r2, %r1, 3;", "add.u32 %r2, %r1, 1;");
    let fault = run_body("", &outside, block(4), &[0], 4).unwrap_err().to_string();
    assert!(fault.contains("a branch to 4 of 4"), "{fault}");
}

#[test]
fn atomic_accesses_lose_nothing() {
    // All threads add to words in global and in shared memory.
    let body = ".shared .align 4 .f32 sum; setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.f32 [sum], 0f00000000;\n\
                @%p1 st.global.u32 [%rd4], 0; @%p1 st.global.u32 [%rd4+4], 0;\n\
                @%p1 st.global.u32 [%rd4+12], 5; @%p1 st.global.u32 [%rd4+16], 0; bar.sync 0;\n\
                red.shared.add.f32 [sum], 0f3F000000; atom.global.add.u32 %r2, [%rd4], %r1;\n\
                red.global.max.u32 [%rd4+4], %r1; atom.global.cas.b32 %r3, [%rd4+12], 5, %r1;\n\
                atom.global.inc.u32 %r4, [%rd4+16], 9;\n\
                bar.sync 0; ld.shared.f32 %f1, [sum]; @%p1 st.global.f32 [%rd4+8], %f1;";
    for seed in 0..10 {
        let found = run_body("", body, Grid { seed, ..block(96) }, &[0], 5).unwrap();
        assert_eq!(found[..3], [95 * 96 / 2, 95, 48f32.to_bits()]);
        assert!(found[3] < 96 && found[3] != 5, "{}", found[3]);
        assert_eq!(found[4], 96 % 10);
    }
}

#[test]
fn barriers_count_threads() {
    let body = "setp.lt.u32 %p1, %r1, 40; bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p2, 0, %p1;\n\
                bar.red.or.pred %p3, 0, !%p1; selp.u32 %r3, 100, 0, %p2; selp.u32 %r4, 1000, 0, %p3;\n\
                add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4; st.global.u32 [%rd2], %r2;";
    assert_eq!(run_body("", body, block(64), &[0], 64).unwrap(), [1040; 64]);
}

#[test]
fn lanes_reduce_and_match() {
    let body = "redux.sync.add.u32 %r2, %r1, -1; shr.u32 %r3, %r1, 2; match.any.sync.b32 %r4, %r3, -1;\n\
                activemask.b32 %r5; add.u32 %r5, %r5, 1; add.u32 %r2, %r2, %r5; xor.b32 %r2, %r2, %r4;\n\
                st.global.u32 [%rd2], %r2;";
    let expected: Vec<u32> = (0..32).map(|i| 496 ^ (0xF << (i / 4 * 4))).collect();
    assert_eq!(run_body("", body, block(32), &[0], 32).unwrap(), expected);
}

#[test]
fn vectors_are_loaded_and_stored() {
    let body = "mad.wide.u32 %rd5, %r1, 16, %rd3; mad.wide.u32 %rd6, %r1, 16, %rd4;\n\
                ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%f1, %f2, %f3, %f4}, [%rd5];\n\
                st.global.v2.f32 [%rd6], {%f4, %f3}; st.global.v2.f32 [%rd6+8], {%f2, %f1};";
    let input: Vec<u32> = (0..8).collect();
    assert_eq!(run_body("", body, block(2), &input, 8).unwrap(), [3, 2, 1, 0, 7, 6, 5, 4]);
    let fault = run_body("", &body.replace("[%rd5]", "[%rd5+4]"), block(1), &input, 8).unwrap_err();
    assert!(fault.to_string().contains("16 bytes") && fault.to_string().contains("not aligned"));
}
