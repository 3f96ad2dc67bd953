// The operators of networks (`base/kernels/src/operators`), with the same names and formulas.
//
// All have the same parameters, so that a backend launches them by name: the result, up to four
// matrices, up to two vectors, a list of numbers, and the shape. Matrices and vectors that an
// operator does not have are null.
#include "common.cuh"

#define THREADS 128

// Mirrored in `nmt/cuda/src/operators.rs`.
struct OperatorShape {
    unsigned rows;
    unsigned width;
    unsigned out_stride;
    unsigned strides[4];  // of the matrices
    unsigned code;        // an activation, a kind of norm, or the position of a bias
    unsigned sequences;
    float number;  // epsilon, or a limit
};

#define PARAMETERS                                                                              \
    float *__restrict__ out, const float *__restrict__ a, const float *__restrict__ b,          \
        const float *__restrict__ c, const float *__restrict__ d, const float *__restrict__ v,  \
        const float *__restrict__ w, const unsigned *__restrict__ list, OperatorShape shape

// The place of this thread's element in the result and in each matrix.
struct Element {
    bool exists;
    unsigned row;
    unsigned column;
    __device__ __forceinline__ Element(const OperatorShape& shape) {
        const u64 at = static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x;
        exists = at < static_cast<u64>(shape.rows) * shape.width;
        row = exists ? static_cast<unsigned>(at / shape.width) : 0;
        column = exists ? static_cast<unsigned>(at - static_cast<u64>(row) * shape.width) : 0;
    }
    __device__ __forceinline__ u64 in(unsigned stride) const {
        return static_cast<u64>(row) * stride + column;
    }
};

// An operator that computes each element from the elements at the same place.
#define ELEMENTWISE(name, expression)                                         \
    extern "C" __global__ void __launch_bounds__(THREADS) name(PARAMETERS) {  \
        const Element at(shape);                                              \
        if (!at.exists) return;                                               \
        const auto A = [&] { return __ldg(a + at.in(shape.strides[0])); };    \
        const auto B = [&] { return __ldg(b + at.in(shape.strides[1])); };    \
        const auto C = [&] { return __ldg(c + at.in(shape.strides[2])); };    \
        const auto D = [&] { return __ldg(d + at.in(shape.strides[3])); };    \
        const auto V = [&] { return __ldg(v + at.column); };                  \
        const auto W = [&] { return __ldg(w + at.column); };                  \
        (void)A, (void)B, (void)C, (void)D, (void)V, (void)W;                 \
        out[at.in(shape.out_stride)] = expression;                            \
    }

__device__ __forceinline__ float clipped(float x, float limit) {
    return x > limit ? limit : x < -limit ? -limit : x;
}

__device__ __forceinline__ float highway_of(float gate, float x, float y) {
    const float g = sigmoid(gate);
    return g * y + (1.0f - g) * x;
}

ELEMENTWISE(activate_elements, activate(shape.code, A()))
ELEMENTWISE(add, A() + B())
ELEMENTWISE(multiply, A() * B())
ELEMENTWISE(clip, clipped(A(), shape.number))
ELEMENTWISE(average_attention_gate, sigmoid(A()) * C() + sigmoid(B()) * D())
ELEMENTWISE(highway, highway_of(A(), B(), C()))
ELEMENTWISE(multiplicative_state, (A() + V()) * (B() + W()))

// The argument of a gate without the recurrent term: the input, if there is one.
__device__ __forceinline__ float gate_input(const float* input, u64 at) {
    return input ? __ldg(input + at) : 0.0f;
}

// Matrices: products of the state, the state, and products of the input. `code` 1: the bias of the
// candidate is reset with the state.
extern "C" __global__ void __launch_bounds__(THREADS) gru(PARAMETERS) {
    const Element at(shape);
    if (!at.exists) return;
    float x[3], s[3], bias[3];
#pragma unroll
    for (int gate = 0; gate < 3; ++gate) {
        const u64 offset = static_cast<u64>(gate) * shape.width;
        s[gate] = __ldg(a + at.in(shape.strides[0]) + offset);
        x[gate] = gate_input(c, at.in(shape.strides[2]) + offset);
        bias[gate] = v ? __ldg(v + offset + at.column) : 0.0f;
    }
    const float reset = sigmoid(x[0] + s[0] + bias[0]);
    const float update = sigmoid(x[1] + s[1] + bias[1]);
    const float inner = shape.code ? s[2] + bias[2] : s[2];
    const float candidate = tanhf(x[2] + reset * inner + (shape.code ? 0.0f : bias[2]));
    const float state = __ldg(b + at.in(shape.strides[1]));
    out[at.in(shape.out_stride)] = (1.0f - update) * candidate + update * state;
}

// Matrices: products of the state, the cell, and products of the input.
__device__ __forceinline__ float lstm_gate(const float* recurrent, const float* input,
                                           const float* bias, const Element& at,
                                           const OperatorShape& shape, unsigned gate) {
    const u64 offset = static_cast<u64>(gate) * shape.width;
    return gate_input(input, at.in(shape.strides[2]) + offset) +
           __ldg(recurrent + at.in(shape.strides[0]) + offset) + __ldg(bias + offset + at.column);
}

extern "C" __global__ void __launch_bounds__(THREADS) lstm_cell(PARAMETERS) {
    const Element at(shape);
    if (!at.exists) return;
    const float forget = sigmoid(lstm_gate(a, c, v, at, shape, 0));
    const float add = sigmoid(lstm_gate(a, c, v, at, shape, 1));
    const float candidate = tanhf(lstm_gate(a, c, v, at, shape, 2));
    out[at.in(shape.out_stride)] = forget * __ldg(b + at.in(shape.strides[1])) + add * candidate;
}

extern "C" __global__ void __launch_bounds__(THREADS) lstm_output(PARAMETERS) {
    const Element at(shape);
    if (!at.exists) return;
    const float gate = sigmoid(lstm_gate(a, c, v, at, shape, 3));
    out[at.in(shape.out_stride)] = gate * tanhf(__ldg(b + at.in(shape.strides[1])));
}

// A thread for each column of each sequence. `list` has the first row of each sequence and the end,
// then the counts of the operator, if it has any.
struct Sequence {
    bool exists;
    unsigned sequence;
    unsigned column;
    unsigned first;
    unsigned end;
    __device__ __forceinline__ Sequence(const OperatorShape& shape, const unsigned* starts) {
        const u64 at = static_cast<u64>(blockIdx.x) * THREADS + threadIdx.x;
        exists = at < static_cast<u64>(shape.sequences) * shape.width;
        sequence = exists ? static_cast<unsigned>(at / shape.width) : 0;
        column = exists ? static_cast<unsigned>(at - static_cast<u64>(sequence) * shape.width) : 0;
        first = exists ? __ldg(starts + sequence) : 0;
        end = exists ? __ldg(starts + sequence + 1) : 0;
    }
};

// Matrices: rows. The mean of each sequence.
extern "C" __global__ void __launch_bounds__(THREADS) mean_pool(PARAMETERS) {
    const Sequence at(shape, list);
    if (!at.exists) return;
    float sum = 0.0f;
    for (unsigned row = at.first; row < at.end; ++row) {
        sum += __ldg(a + static_cast<u64>(row) * shape.strides[0] + at.column);
    }
    out[static_cast<u64>(at.sequence) * shape.out_stride + at.column] = sum / (at.end - at.first);
}

// Matrices: rows, and the means before. The list ends with the number of rows in each mean before.
extern "C" __global__ void __launch_bounds__(THREADS) running_mean(PARAMETERS) {
    const Sequence at(shape, list);
    if (!at.exists) return;
    float mean = __ldg(b + static_cast<u64>(at.sequence) * shape.strides[1] + at.column);
    float count = __ldg(list + shape.sequences + 1 + at.sequence);
    for (unsigned row = at.first; row < at.end; ++row) {
        const float x = __ldg(a + static_cast<u64>(row) * shape.strides[0] + at.column);
        mean = (count * mean + x) / (count + 1.0f);
        count += 1.0f;
        out[static_cast<u64>(row) * shape.out_stride + at.column] = mean;
    }
}

// Matrices: gates, inputs, and the states before.
extern "C" __global__ void __launch_bounds__(THREADS) linear_recurrence(PARAMETERS) {
    const Sequence at(shape, list);
    if (!at.exists) return;
    float state = __ldg(c + static_cast<u64>(at.sequence) * shape.strides[2] + at.column);
    for (unsigned row = at.first; row < at.end; ++row) {
        const float gate = __ldg(a + static_cast<u64>(row) * shape.strides[0] + at.column);
        const float x = __ldg(b + static_cast<u64>(row) * shape.strides[1] + at.column);
        state = highway_of(gate, x, state);
        out[static_cast<u64>(row) * shape.out_stride + at.column] = state;
    }
}

// A warp for each row. Matrices: one or two summands; vectors: scale and bias, if any. `code` 1: no
// mean is subtracted.
extern "C" __global__ void __launch_bounds__(THREADS) normalize(PARAMETERS) {
    const unsigned lane = threadIdx.x % 32;
    const u64 row = static_cast<u64>(blockIdx.x) * (THREADS / 32) + threadIdx.x / 32;
    if (row >= shape.rows) return;
    const float* x = a + row * shape.strides[0];
    const float* y = b ? b + row * shape.strides[1] : nullptr;
    const auto sum_at = [&](unsigned column) {
        return __ldg(x + column) + (y ? __ldg(y + column) : 0.0f);
    };
    float mean = 0.0f;
    if (shape.code == 0) {
        for (unsigned column = lane; column < shape.width; column += 32) mean += sum_at(column);
        mean = warp_sum(mean) / shape.width;
    }
    float squares = 0.0f;
    for (unsigned column = lane; column < shape.width; column += 32) {
        const float deviation = sum_at(column) - mean;
        squares = fmaf(deviation, deviation, squares);
    }
    const float factor = 1.0f / sqrtf(warp_sum(squares) / shape.width + shape.number);
    for (unsigned column = lane; column < shape.width; column += 32) {
        const float bias = w ? __ldg(w + column) : 0.0f;
        out[row * shape.out_stride + column] =
            __ldg(v + column) * (sum_at(column) - mean) * factor + bias;
    }
}
