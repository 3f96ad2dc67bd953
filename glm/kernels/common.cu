// Kernels that read no model: sums over sentences, and the latency of memory.
#include "model.cuh"

#define THREADS 128

struct SentenceSum {
    float log10;
    unsigned unknown;
};

// One sentence per thread: adds its scores in the order of words and counts its unknown
// words. With `skip` 1 its first token, <s>, is left out.
extern "C" __global__ void __launch_bounds__(THREADS) sum_sentences(
    const unsigned* tokens, const float* log10, const unsigned* ends, u64 sentences,
    unsigned skip, unsigned words, SentenceSum* sums) {
    const u64 at = static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x;
    if (at >= sentences) return;
    SentenceSum sum = {0.0f, 0};
    const unsigned end = __ldg(ends + at);
    for (unsigned i = (at > 0 ? __ldg(ends + at - 1) : 0) + skip; i < end; ++i) {
        const unsigned word = __ldg(tokens + i) & ~SENTENCE_START;
        sum.log10 += __ldg(log10 + i);
        sum.unknown += word == 0 || word >= words;
    }
    sums[at] = sum;
}

// Each of `readers` reads `rounds` times eight sectors of UNITS * 16 bytes at random
// places. The result is not used, but the compiler cannot know that.
template <int UNITS>
__device__ __forceinline__ void read_sectors(const uint4* memory, u64 sectors, u64 readers, unsigned rounds,
                                             u64 seed, unsigned* sink) {
    const u64 reader = (static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x) / UNITS;
    if (reader >= readers) return;
    const unsigned lane = threadIdx.x % UNITS;
    u64 state = (reader + 1) * 0x9E3779B97F4A7C15ull + seed;
    unsigned seen = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        uint4 units[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            state += 0x9E3779B97F4A7C15ull;
            const u64 mixed = (state ^ (state >> 29)) * 0xBF58476D1CE4E5B9ull;
            units[i] = __ldg(memory + __umul64hi(mixed ^ (mixed >> 32), sectors) * UNITS + lane);
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) seen ^= units[i].x ^ units[i].y ^ units[i].z ^ units[i].w;
    }
    if (seen == 0x12345678u) *sink = seen;
}

extern "C" __global__ void __launch_bounds__(THREADS) read_sectors_32(
    const uint4* memory, u64 sectors, u64 readers, unsigned rounds, u64 seed, unsigned* sink) {
    read_sectors<2>(memory, sectors, readers, rounds, seed, sink);
}
extern "C" __global__ void __launch_bounds__(THREADS) read_sectors_64(
    const uint4* memory, u64 sectors, u64 readers, unsigned rounds, u64 seed, unsigned* sink) {
    read_sectors<4>(memory, sectors, readers, rounds, seed, sink);
}
extern "C" __global__ void __launch_bounds__(THREADS) read_sectors_128(
    const uint4* memory, u64 sectors, u64 readers, unsigned rounds, u64 seed, unsigned* sink) {
    read_sectors<8>(memory, sectors, readers, rounds, seed, sink);
}
