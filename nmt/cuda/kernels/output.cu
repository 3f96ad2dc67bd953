// The k best logits of each row, and the sum of the exponentials of all its logits, in one pass over
// the logits (Hoang et al. 2018, section 2.2).
//
// A row is split into parts (output.cuh). For many rows, the kernel of the output layer's product
// computes the results of each part, and stores no logits (product.cu). For few rows, the first
// kernel here reads logits. The second kernel merges the results of the parts of a row.
#include "output.cuh"

#define THREADS 128

// A warp for each part; grid (blocks of parts, rows).
extern "C" __global__ void __launch_bounds__(THREADS) topk_of_parts(PART_RESULTS, const float* logits,
                                                                    unsigned columns) {
    const unsigned parts = (columns + PART_COLUMNS - 1) / PART_COLUMNS;
    const unsigned lane = threadIdx.x % 32, part = blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (part >= parts) return;
    const float* row = logits + static_cast<u64>(blockIdx.y) * columns;
    float mine[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const unsigned column = part * PART_COLUMNS + lane + 32 * i;
        mine[i] = column < columns ? __ldg(row + column) : -INFINITE;
    }
    summarize_part(largest, sums, logits_out, columns_out, each, mine, part * PART_COLUMNS,
                   static_cast<u64>(blockIdx.y) * parts + part);
}

// A block for each row merges its parts, whose `each` best logits are in order. It finds the
// largest logit, the sum relative to it, and the k best.
extern "C" __global__ void __launch_bounds__(THREADS) topk_of_rows(
    float* normalizers, float* logits_out, unsigned* columns_out, const float* largest,
    const float* sums, const float* logits, const unsigned* columns, unsigned parts, unsigned each,
    unsigned k) {
    __shared__ float numbers[THREADS / 32];
    __shared__ Candidate candidates[THREADS / 32];
    const u64 row = blockIdx.x, first = row * parts;
    // The order of the sum depends on the number of parts alone.
    float max = -INFINITE;
    for (unsigned part = threadIdx.x; part < parts; part += THREADS) {
        max = fmaxf(max, __ldg(largest + first + part));
    }
    max = block_reduce<THREADS, false>(max, numbers);
    float sum = 0.0f;
    for (unsigned part = threadIdx.x; part < parts; part += THREADS) {
        const float shift = __ldg(largest + first + part);
        const float factor = shift == -INFINITE ? 1.0f : expf(shift - max);
        sum = fmaf(__ldg(sums + first + part), factor, sum);
    }
    sum = block_reduce<THREADS, true>(sum, numbers);
    if (threadIdx.x == 0) {
        normalizers[2 * row] = max;
        normalizers[2 * row + 1] = sum;
    }
    Candidate last = {INFINITE, 0};
    bool is_first = true;
    for (unsigned rank = 0; rank < k; ++rank) {
        Candidate best = none();
        for (unsigned part = threadIdx.x; part < parts; part += THREADS) {
            const u64 list = (first + part) * each;
            // A part's list begins with its best; the first one that is not taken yet counts.
            for (unsigned at = 0; at < each; ++at) {
                const Candidate one = {__ldg(logits + list + at), __ldg(columns + list + at)};
                if (one.column == NONE) break;
                if (is_first || better(last, one)) {
                    if (better(one, best)) best = one;
                    break;
                }
            }
        }
        best = best_of_warp(best);
        __syncthreads();
        if (threadIdx.x % 32 == 0) candidates[threadIdx.x / 32] = best;
        __syncthreads();
        last = candidates[0];
#pragma unroll
        for (int warp = 1; warp < THREADS / 32; ++warp) {
            if (better(candidates[warp], last)) last = candidates[warp];
        }
        is_first = false;
        if (threadIdx.x == 0) {
            logits_out[row * k + rank] = last.logit;
            columns_out[row * k + rank] = last.column;
        }
    }
}
