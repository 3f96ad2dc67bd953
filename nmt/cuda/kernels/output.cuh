// The k best logits of a part of a row, and the sum of the exponentials of all its logits.
//
// Whichever kernel computes the logits, a part has the same columns and its sum has the same order.
// So a row has the same bits in every kernel. Of equal logits the lower column comes first; logits
// of -infinity and NaN are never among the best.
#pragma once
#include "common.cuh"

// Columns of a part: two of each lane.
constexpr unsigned PART_COLUMNS = 64;

struct Candidate {
    float logit;
    unsigned column;
};

// Whether a comes before b.
__device__ __forceinline__ bool better(const Candidate& a, const Candidate& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.column < b.column);
}

__device__ __forceinline__ Candidate none() { return {-INFINITE, NONE}; }

// The best candidate of all lanes.
__device__ __forceinline__ Candidate best_of_warp(Candidate mine) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const Candidate other = {__shfl_xor_sync(ALL, mine.logit, distance),
                                 __shfl_xor_sync(ALL, mine.column, distance)};
        if (better(other, mine)) mine = other;
    }
    return mine;
}

// The results of parts of rows. For each part: the largest logit, the sum relative to it, and the
// `each` best.
#define PART_RESULTS                                                                 \
    float *__restrict__ largest, float *__restrict__ sums, float *__restrict__ logits_out, \
        unsigned *__restrict__ columns_out, unsigned each

// Writes the results of a part. This lane has its logits of the columns `first + lane` and
// `first + lane + 32`; -infinity if a column does not exist.
__device__ __forceinline__ void summarize_part(PART_RESULTS, const float (&mine)[2], unsigned first,
                                               u64 part) {
    const unsigned lane = threadIdx.x % 32;
    const float max = warp_max(fmaxf(mine[0], mine[1]));
    // All of -infinity: the sum is 0. NaN stays NaN.
    const float shift = max == -INFINITE ? 0.0f : max;
    const float sum = warp_sum(expf(mine[0] - shift) + expf(mine[1] - shift));
    if (lane == 0) {
        largest[part] = max;
        sums[part] = sum;
    }
    Candidate last = {INFINITE, 0};
    bool is_first = true;
    for (unsigned rank = 0; rank < each; ++rank) {
        Candidate best = none();
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const Candidate one = {mine[i], first + lane + 32 * i};
            if (one.logit > -INFINITE && (is_first || better(last, one)) && better(one, best)) best = one;
        }
        last = best_of_warp(best);
        is_first = false;
        if (lane == 0) {
            logits_out[part * each + rank] = last.logit;
            columns_out[part * each + rank] = last.column;
        }
        if (last.column == NONE) {
            // Nothing is left: the rest of the list is empty.
            for (unsigned rest = rank + 1 + lane; rest < each; rest += 32) {
                logits_out[part * each + rest] = -INFINITE;
                columns_out[part * each + rest] = NONE;
            }
            break;
        }
    }
}

// Writes the results of a tile of sums, `ROWS` by `PART_COLUMNS`. The sums are logits without the
// bias.
template <unsigned ROWS, unsigned WARPS>
__device__ __forceinline__ void summarize_tile(PART_RESULTS, const float* tile, const float* bias,
                                               unsigned rows, unsigned columns) {
    const unsigned lane = threadIdx.x % 32, first_column = blockIdx.x * PART_COLUMNS;
#pragma unroll 1
    for (unsigned at = threadIdx.x / 32; at < ROWS; at += WARPS) {
        const unsigned row = blockIdx.y * ROWS + at;
        if (row >= rows) break;
        float mine[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const unsigned column = first_column + lane + 32 * i;
            mine[i] = -INFINITE;
            if (column < columns) {
                mine[i] = tile[at * PART_COLUMNS + lane + 32 * i];
                if (bias) mine[i] += __ldg(bias + column);
            }
        }
        summarize_part(largest, sums, logits_out, columns_out, each, mine, first_column,
                       static_cast<u64>(row) * gridDim.x + blockIdx.x);
    }
}
