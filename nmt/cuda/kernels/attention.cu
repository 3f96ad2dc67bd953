// Attention of single queries to the keys and values of their sentences: to the source, to a
// history in the KV cache, with relative positions, and the additive attention of recurrent models.
//
// A block attends from one query with one head. Keys are taken THREADS at a time: each thread
// computes the score of a key, then each thread adds the values of its columns. When a larger score
// comes, the sums of the exponentials and of the values are corrected (online softmax), so scores
// are not stored.
#include "common.cuh"

// The keys that a query attends to. Mirrored in `nmt/cuda/src/queries.rs`.
struct Query {
    u64 base;           // the address of the tensor that has the rows; 0: the tensor of the launch
    unsigned first;     // the first row, or the place in `list` of the number of the first row
    unsigned visible;   // the number of rows
    unsigned position;  // the position of the query among the rows, for relative positions
    unsigned unused;
};

// Mirrored in `nmt/cuda/src/attention.rs`.
struct AttentionShape {
    unsigned query_stride;
    unsigned kv_stride;
    unsigned key_column;    // columns of keys and values in the rows of a tensor
    unsigned value_column;
    unsigned key_width;     // of a head
    unsigned value_width;
    unsigned heads;
    unsigned out_stride;
    unsigned weights_head;  // the head whose weights are written
    unsigned weights_stride;
    unsigned zero_distance;  // the place of distance 0 in `classes`
    float scale;
};

#define PARAMETERS                                                                              \
    float *out, const float *queries, const Query *records, const float *rows,                  \
        const unsigned *list, const float *additive, const unsigned *classes,                   \
        const float *relative_keys, const float *relative_values, const float *biases,          \
        float *weights, AttentionShape shape

// The kinds of scores.
constexpr int DOT = 0;
constexpr int RELATIVE = 1;
constexpr int ADDITIVE = 2;

template <int THREADS, int COLUMNS, int KIND>
__device__ __forceinline__ void attend(PARAMETERS) {
    __shared__ float probabilities[THREADS];
    __shared__ unsigned numbers[THREADS];
    __shared__ float parts[THREADS / 32];
    const unsigned row = blockIdx.x, head = blockIdx.y, thread = threadIdx.x;
    const Query query = records[row];
    const float* base = query.base ? reinterpret_cast<const float*>(query.base) : rows;
    const float* keys = base + shape.key_column + head * shape.key_width;
    const float* values = base + shape.value_column + head * shape.value_width;
    const float* q = queries + static_cast<u64>(row) * shape.query_stride + head * shape.key_width;
    const bool writes_weights = weights && head == shape.weights_head;
    float* row_weights = weights + static_cast<u64>(row) * shape.weights_stride;
    float sums[COLUMNS] = {};
    float largest = -INFINITE, total = 0.0f;
    for (unsigned first = 0; first < query.visible; first += THREADS) {
        const unsigned position = first + thread;
        const bool exists = position < query.visible;
        unsigned number = 0, distance_class = 0;
        float score = -INFINITE;
        if (exists) {
            number = list ? __ldg(list + query.first + position) : query.first + position;
            const float* key = keys + static_cast<u64>(number) * shape.kv_stride;
            score = 0.0f;
            if (KIND == ADDITIVE) {
                for (unsigned i = 0; i < shape.key_width; ++i) {
                    score = fmaf(__ldg(additive + i), tanhf(__ldg(key + i) + __ldg(q + i)), score);
                }
            } else {
                for (unsigned i = 0; i < shape.key_width; ++i) {
                    score = fmaf(__ldg(q + i), __ldg(key + i), score);
                }
            }
            if (KIND == RELATIVE) {
                distance_class = __ldg(classes + shape.zero_distance + position - query.position);
                if (relative_keys) {
                    const float* vector = relative_keys + static_cast<u64>(distance_class) * shape.key_width;
                    float more = 0.0f;
                    for (unsigned i = 0; i < shape.key_width; ++i) {
                        more = fmaf(__ldg(q + i), __ldg(vector + i), more);
                    }
                    score += more;
                }
            }
            score *= shape.scale;
            if (KIND == RELATIVE && biases) score += __ldg(biases + distance_class * shape.heads + head);
            if (writes_weights) row_weights[position] = score;
        }
        const float before = largest;
        largest = fmaxf(largest, block_reduce<THREADS, false>(score, parts));
        const float probability = exists ? expf(score - largest) : 0.0f;
        const float correction = expf(before - largest);
        total = total * correction + block_reduce<THREADS, true>(probability, parts);
        __syncthreads();
        probabilities[thread] = probability;
        numbers[thread] = number;
        __syncthreads();
        const unsigned count = min(static_cast<unsigned>(THREADS), query.visible - first);
#pragma unroll
        for (int i = 0; i < COLUMNS; ++i) sums[i] *= correction;
#pragma unroll(THREADS > 32 ? 1 : 4)
        for (unsigned key = 0; key < count; ++key) {
            const float p = probabilities[key];
            const float* value = values + static_cast<u64>(numbers[key]) * shape.kv_stride;
            const float* vector = nullptr;
            if (KIND == RELATIVE && relative_values) {
                const unsigned place = shape.zero_distance + first + key - query.position;
                vector = relative_values + static_cast<u64>(__ldg(classes + place)) * shape.value_width;
            }
#pragma unroll
            for (int i = 0; i < COLUMNS; ++i) {
                const unsigned column = thread + i * THREADS;
                if (column < shape.value_width) {
                    sums[i] = fmaf(p, __ldg(value + column), sums[i]);
                    if (KIND == RELATIVE && vector) sums[i] = fmaf(p, __ldg(vector + column), sums[i]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
        const unsigned column = thread + i * THREADS;
        if (column < shape.value_width) {
            out[static_cast<u64>(row) * shape.out_stride + head * shape.value_width + column] =
                query.visible ? sums[i] / total : 0.0f;
        }
    }
    if (writes_weights) {
        // Each thread reads the scores that it has written.
#pragma unroll 1
        for (unsigned position = thread; position < shape.weights_stride; position += THREADS) {
            row_weights[position] =
                position < query.visible ? expf(row_weights[position] - largest) / total : 0.0f;
        }
    }
}

#define ATTENTION(name, kind, threads, columns)                                                 \
    extern "C" __global__ void __launch_bounds__(threads) name(PARAMETERS) {                    \
        attend<threads, columns, kind>(out, queries, records, rows, list, additive, classes,    \
                                       relative_keys, relative_values, biases, weights, shape); \
    }

// A name ends with the largest number of columns that the values of a head may have.
ATTENTION(attend_dot_128, DOT, 32, 4)
ATTENTION(attend_dot_512, DOT, 128, 4)
ATTENTION(attend_dot_2048, DOT, 256, 8)
ATTENTION(attend_relative_128, RELATIVE, 32, 4)
ATTENTION(attend_relative_512, RELATIVE, 128, 4)
ATTENTION(attend_additive_512, ADDITIVE, 128, 4)
ATTENTION(attend_additive_2048, ADDITIVE, 256, 8)
ATTENTION(attend_additive_4096, ADDITIVE, 256, 16)
