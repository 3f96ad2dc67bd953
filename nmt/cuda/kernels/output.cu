// The k best logits of each row and the sum of their exponentials, in one pass over the logits
// (Hoang et al. 2018, section 2.2).
//
// A row is split over blocks, each of which keeps its logits in registers: the largest, the sum of
// exponentials relative to it, and its k best, one after the other. A second kernel merges the parts
// of a row. Of equal logits the lower column comes first; logits of -infinity and NaN are never
// among the best.
#include "common.cuh"

#define THREADS 128
constexpr int EACH = 8;  // logits of a thread
constexpr unsigned SPLIT = THREADS * EACH;

struct Candidate {
    float logit;
    unsigned column;
};

// Whether a comes before b.
__device__ __forceinline__ bool better(const Candidate& a, const Candidate& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.column < b.column);
}

__device__ __forceinline__ Candidate none() { return {-INFINITE, NONE}; }

// The best candidate of all threads.
__device__ __forceinline__ Candidate best_of_block(Candidate mine, Candidate* parts) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const Candidate other = {__shfl_xor_sync(ALL, mine.logit, distance),
                                 __shfl_xor_sync(ALL, mine.column, distance)};
        if (better(other, mine)) mine = other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
    __syncthreads();
    Candidate best = parts[0];
#pragma unroll
    for (int warp = 1; warp < THREADS / 32; ++warp) {
        if (better(parts[warp], best)) best = parts[warp];
    }
    return best;
}

// Grid (splits, rows). Of each part of a row the largest logit, the sum and the k best; the sum is
// left out unless `sums`.
extern "C" __global__ void __launch_bounds__(THREADS) topk_of_parts(
    float* largest, float* sums, float* logits_out, unsigned* columns_out, const float* logits,
    unsigned columns, unsigned k) {
    __shared__ float numbers[THREADS / 32];
    __shared__ Candidate candidates[THREADS / 32];
    const u64 part = static_cast<u64>(blockIdx.y) * gridDim.x + blockIdx.x;
    const float* row = logits + static_cast<u64>(blockIdx.y) * columns;
    float mine[EACH];
    float max = -INFINITE;
#pragma unroll
    for (int i = 0; i < EACH; ++i) {
        const unsigned column = blockIdx.x * SPLIT + i * THREADS + threadIdx.x;
        mine[i] = column < columns ? __ldg(row + column) : -INFINITE;
        max = fmaxf(max, mine[i]);
    }
    if (sums) {
        max = block_reduce<THREADS, false>(max, numbers);
        float sum = 0.0f;
        // All of -infinity: the sum is 0. NaN stays NaN.
        const float shift = max == -INFINITE ? 0.0f : max;
#pragma unroll
        for (int i = 0; i < EACH; ++i) sum += expf(mine[i] - shift);
        sum = block_reduce<THREADS, true>(sum, numbers);
        if (threadIdx.x == 0) {
            largest[part] = max;
            sums[part] = sum;
        }
    }
    Candidate last = {INFINITE, 0};
    bool is_first = true;
    for (unsigned rank = 0; rank < k; ++rank) {
        Candidate best = none();
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            const Candidate one = {mine[i], blockIdx.x * SPLIT + i * THREADS + threadIdx.x};
            if (one.logit > -INFINITE && (is_first || better(last, one)) && better(one, best)) best = one;
        }
        last = best_of_block(best, candidates);
        is_first = false;
        if (threadIdx.x == 0) {
            logits_out[part * k + rank] = last.logit;
            columns_out[part * k + rank] = last.column;
        }
        if (last.column == NONE) {
            // Nothing is left: the rest of the list is empty.
            for (unsigned rest = rank + 1 + threadIdx.x; rest < k; rest += THREADS) {
                logits_out[part * k + rest] = -INFINITE;
                columns_out[part * k + rest] = NONE;
            }
            break;
        }
    }
}

// A block for each row merges its parts: the largest logit, the sum relative to it, and the k best.
extern "C" __global__ void __launch_bounds__(THREADS) topk_of_rows(
    float* normalizers, float* logits_out, unsigned* columns_out, const float* largest,
    const float* sums, const float* logits, const unsigned* columns, unsigned parts, unsigned k) {
    __shared__ Candidate candidates[THREADS / 32];
    const u64 row = blockIdx.x;
    if (normalizers && threadIdx.x == 0) {
        // In the order of columns, so that the sum is the same in every launch.
        float max = -INFINITE;
        for (unsigned part = 0; part < parts; ++part) max = fmaxf(max, __ldg(largest + row * parts + part));
        float sum = 0.0f;
        for (unsigned part = 0; part < parts; ++part) {
            const float shift = __ldg(largest + row * parts + part);
            const float factor = shift == -INFINITE ? 1.0f : expf(shift - max);
            sum = fmaf(__ldg(sums + row * parts + part), factor, sum);
        }
        normalizers[2 * row] = max;
        normalizers[2 * row + 1] = sum;
    }
    Candidate last = {INFINITE, 0};
    bool is_first = true;
    const unsigned count = parts * k;
    for (unsigned rank = 0; rank < k; ++rank) {
        Candidate best = none();
        for (unsigned at = threadIdx.x; at < count; at += THREADS) {
            const Candidate one = {__ldg(logits + row * count + at), __ldg(columns + row * count + at)};
            if (one.column != NONE && (is_first || better(last, one)) && better(one, best)) best = one;
        }
        last = best_of_block(best, candidates);
        is_first = false;
        if (threadIdx.x == 0) {
            logits_out[row * k + rank] = last.logit;
            columns_out[row * k + rank] = last.column;
        }
    }
}
