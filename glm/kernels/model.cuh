// The bytes of a model as the kernels read them; `glm/src/format.rs` describes them.
// Parameters are mirrored in `glm/src/device/sections.rs`.
#pragma once

typedef unsigned long long u64;

// All lanes of a warp take part in every exchange, whatever their tiles do.
#define ALL 0xFFFFFFFFu

constexpr unsigned SIGN = 1u << 31;          // the sign of log10 p; in an entry it marks an only child
constexpr unsigned NO_EXTENSION = 1u << 31;  // the bits of a missing backoff
constexpr unsigned NO_WORD = 0xFFFFFFFFu;    // fills up keys and queries
constexpr unsigned MANY = 255;               // this many children or more have a head
constexpr unsigned SENTENCE_START = 1u << 31;
constexpr unsigned LINE = 8;                 // units of 16 bytes

struct Order {
    const uint4* units;
    unsigned last;  // the last unit, or the last bucket; nothing beyond it is read
    unsigned zero;
};

struct Model {
    Order orders[16];
    unsigned order;
    unsigned hashed;  // orders 2 up to this one lie in buckets
    unsigned words;
    unsigned zero;
};

// The bucket in which the search for a key begins.
__device__ __forceinline__ unsigned home(u64 key, u64 buckets) {
    u64 mixed = (key ^ (key >> 32)) * 0x9E3779B97F4A7C15ull;
    mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ull;
    return static_cast<unsigned>(__umul64hi(mixed, buckets));
}

// One of the four words of a unit, chosen at run time without going through memory.
__device__ __forceinline__ unsigned part(const uint4& unit, unsigned index) {
    const unsigned low = index & 1 ? unit.y : unit.x;
    const unsigned high = index & 1 ? unit.w : unit.z;
    return index & 2 ? high : low;
}
