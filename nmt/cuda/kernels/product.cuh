// The shape of a product of rows with weights, and what is done with each sum.
#pragma once
#include "common.cuh"

// Mirrored in `nmt/cuda/src/product.rs`.
struct ProductShape {
    unsigned rows;
    unsigned depth;
    unsigned columns;
    unsigned input_stride;
    unsigned weights_stride;
    unsigned residual_stride;
    unsigned out_stride;
    unsigned activation;
};

// Stores `activation(sum + bias + residual)`, if the element exists.
__device__ __forceinline__ void store(float* out, const float* bias, const float* residual,
                                      const ProductShape& shape, unsigned row, unsigned column,
                                      float sum) {
    if (row >= shape.rows || column >= shape.columns) return;
    if (bias) sum += __ldg(bias + column);
    if (residual) sum += __ldg(residual + static_cast<u64>(row) * shape.residual_stride + column);
    out[static_cast<u64>(row) * shape.out_stride + column] = activate(shape.activation, sum);
}
