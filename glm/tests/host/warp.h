// What the kernels use of CUDA, on the host: included before a kernel's source, which
// is then C++ as it stands.
//
// A warp is 32 fibres on one thread. An exchange between lanes is a place where each
// fibre leaves its value and lets the next one run; when it runs again all values are
// there. That all 32 lanes meet at the same exchange is checked, and so is that reads
// stay within the memory of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#define __device__
#define __global__ __attribute__((visibility("default")))
// Really: each source is compiled many times with other constants, and functions that
// stay would be taken for one another.
#define __forceinline__ inline __attribute__((always_inline))
#define __grid_constant__
#define __launch_bounds__(...)

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

struct dim3 {
    unsigned x, y, z;
};
extern thread_local dim3 threadIdx, blockIdx;

namespace host {

// Leaves `value` and comes back when all lanes have: what each of the 32 left. `place`
// tells exchanges apart.
const unsigned* meet(unsigned value, int place);

// Ends the process with a message unless `bytes` from `address` on are of the device.
void check_read(const void* address, std::size_t bytes);

}  // namespace host

template <class T>
inline T __ldg(const T* address) {
    host::check_read(address, sizeof(T));
    return *address;
}

inline unsigned lane_of_warp() { return threadIdx.x % 32; }

// In tiles of `width` lanes: the value of lane `from`.
#define __shfl_sync(mask, value, from, width) host_shuffle(mask, value, from, width, __LINE__)
#define __shfl_up_sync(mask, value, by, width) host_shuffle_up(mask, value, by, width, __LINE__)
#define __ballot_sync(mask, yes) host_ballot(mask, yes, __LINE__)
#define __any_sync(mask, yes) (host_ballot(mask, yes, __LINE__) != 0)

inline unsigned host_shuffle(unsigned, unsigned value, unsigned from, unsigned width, int line) {
    const unsigned* values = host::meet(value, line);
    return values[lane_of_warp() / width * width + from % width];
}

inline unsigned host_shuffle_up(unsigned, unsigned value, unsigned by, unsigned width, int line) {
    const unsigned* values = host::meet(value, line);
    return lane_of_warp() % width < by ? value : values[lane_of_warp() - by];
}

inline unsigned host_ballot(unsigned, bool yes, int line) {
    const unsigned* values = host::meet(yes, line);
    unsigned all = 0;
    for (unsigned lane = 0; lane < 32; ++lane) all |= values[lane] << lane;
    return all;
}

inline int __ffs(unsigned bits) { return __builtin_ffs(static_cast<int>(bits)); }

inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned __int128>(a) * b >> 64;
}

inline float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
