// A libcuda.so without a GPU: the calls that Miriam makes, and kernels run by the host.
//
// Work is done at once, so streams and events have nothing to do. Each allocation has
// a fence around it that is looked at when it is freed and after each kernel.
//
// The environment makes it fail: MIRIAM_HOST_GPU may hold, separated by commas,
// init=STATUS, version=NUMBER, count=NUMBER, capability=NUMBER (10 * major + minor),
// memory=BYTES, module=STATUS, launch=STATUS.
#include "warp.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

#include "../../kernels/model.cuh"

thread_local dim3 threadIdx, blockIdx;

namespace {

// Bytes that a stream's window may have: fewer than any model.
constexpr std::size_t WINDOW = 64;

[[noreturn]] void fail(const std::string& reason) {
    std::fprintf(stderr, "host GPU: %s\n", reason.c_str());
    std::abort();
}

long long setting(const char* name, long long otherwise) {
    const char* all = std::getenv("MIRIAM_HOST_GPU");
    const std::string text = "," + std::string(all ? all : "") + ",";
    const auto at = text.find("," + std::string(name) + "=");
    return at == std::string::npos ? otherwise
                                   : std::atoll(text.c_str() + at + std::strlen(name) + 2);
}

// ---- memory ----

constexpr std::size_t FENCE = 256;
constexpr unsigned char POST = 0xA7;

std::shared_mutex memory_lock;
std::map<std::uintptr_t, std::size_t> allocations;  // device memory: start, bytes
std::size_t in_use = 0;

bool fence_stands(std::uintptr_t start, std::size_t bytes) {
    const auto* before = reinterpret_cast<const unsigned char*>(start) - FENCE;
    const auto* behind = reinterpret_cast<const unsigned char*>(start) + bytes;
    for (std::size_t i = 0; i < FENCE; ++i) {
        if (before[i] != POST || behind[i] != POST) return false;
    }
    return true;
}

int allocate(unsigned long long* address, std::size_t bytes) {
    std::unique_lock lock(memory_lock);
    if (in_use + bytes > static_cast<std::size_t>(setting("memory", 1LL << 40))) return 2;
    const std::size_t whole = (bytes + 2 * FENCE + 255) / 256 * 256;
    auto* memory = static_cast<unsigned char*>(std::aligned_alloc(256, whole));
    if (!memory) return 2;
    std::memset(memory, POST, whole);
    // What was there before is not zeros.
    std::memset(memory + FENCE, 0x5A, bytes);
    *address = reinterpret_cast<std::uintptr_t>(memory + FENCE);
    allocations[*address] = bytes;
    in_use += bytes;
    return 0;
}

int release(unsigned long long address) {
    std::unique_lock lock(memory_lock);
    const auto found = allocations.find(address);
    if (found == allocations.end()) fail("memory is freed that is not allocated");
    if (!fence_stands(found->first, found->second)) fail("memory was written outside of a buffer");
    in_use -= found->second;
    allocations.erase(found);
    std::free(reinterpret_cast<void*>(address - FENCE));
    return 0;
}

// Copies must lie in buffers.
void check_range(unsigned long long address, std::size_t bytes, const char* what) {
    std::shared_lock lock(memory_lock);
    auto found = allocations.upper_bound(address);
    if (found == allocations.begin()) fail(std::string(what) + " outside of a buffer");
    --found;
    if (address + bytes > found->first + found->second) {
        fail(std::string(what) + " outside of a buffer");
    }
}

// ---- warps ----

constexpr std::size_t STACK = 128 << 10;

struct Warp {
    unsigned values[2][32];
    int places[32];
    bool ended[32];
    unsigned turn[32];  // exchanges so far, by lane
    unsigned running, left;
    jmp_buf lanes[32], caller;
    bool started[32];
    unsigned base;  // threadIdx.x of lane 0
    void (*body)(void*);
    void* closure;
    unsigned char* stacks = nullptr;
};

thread_local Warp warp;

void switch_to(unsigned lane);

void lane_main() {
    warp.body(warp.closure);
    const unsigned lane = warp.running;
    warp.ended[lane] = true;
    if (--warp.left == 0) _longjmp(warp.caller, 1);
    unsigned next = lane;
    do next = (next + 1) % 32;
    while (warp.ended[next]);
    switch_to(next);
}

void switch_to(unsigned lane) {
    warp.running = lane;
    threadIdx = {warp.base + lane, 0, 0};
    if (warp.started[lane]) _longjmp(warp.lanes[lane], 1);
    warp.started[lane] = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = warp.stacks + lane * STACK;
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, lane_main, 0);
    setcontext(&context);
    fail("a lane does not start");
}

void run_warp(unsigned base, void (*body)(void*), void* closure) {
    if (!warp.stacks) {
        void* memory = mmap(nullptr, 32 * STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) fail("no memory for stacks");
        warp.stacks = static_cast<unsigned char*>(memory);
    }
    std::memset(warp.ended, 0, sizeof warp.ended);
    std::memset(warp.started, 0, sizeof warp.started);
    std::memset(warp.turn, 0, sizeof warp.turn);
    warp.left = 32;
    warp.base = base;
    warp.body = body;
    warp.closure = closure;
    if (_setjmp(warp.caller) == 0) switch_to(0);
}

}  // namespace

namespace host {

const unsigned* meet(unsigned value, int place) {
    const unsigned lane = warp.running;
    const unsigned side = warp.turn[lane]++ % 2;
    if (warp.left != 32) fail("a lane has ended where others meet");
    warp.values[side][lane] = value;
    warp.places[lane] = place;
    if (lane > 0 && (warp.places[lane - 1] != place || warp.turn[lane - 1] != warp.turn[lane])) {
        fail("lanes do not meet at one place");
    }
    if (_setjmp(warp.lanes[lane]) == 0) switch_to((lane + 1) % 32);
    return warp.values[side];
}

// The buffer that a kernel of this thread has read last.
thread_local std::uintptr_t read_start = 1, read_end = 0;

void check_read(const void* address, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (at % bytes != 0) fail("a read that is not aligned");
    if (at >= read_start && at + bytes <= read_end) return;
    // Other threads allocate meanwhile.
    std::shared_lock lock(memory_lock);
    auto found = allocations.upper_bound(at);
    if (found == allocations.begin()) fail("a read outside of the device's memory");
    --found;
    if (at + bytes > found->first + found->second) fail("a read outside of a buffer");
    read_start = found->first;
    read_end = read_start + found->second;
}

}  // namespace host

// ---- kernels ----

namespace {

struct Kernel {
    void (*call)(void* symbol, void** parameters);
    std::vector<std::size_t> sizes;
    void* symbol;
};

template <class... P, std::size_t... I>
void call_with(void (*kernel)(P...), void** parameters, std::index_sequence<I...>) {
    kernel(*static_cast<std::remove_const_t<P>*>(parameters[I])...);
}

template <class... P>
Kernel describe(void* symbol) {
    const auto call = [](void* symbol, void** parameters) {
        call_with(reinterpret_cast<void (*)(P...)>(symbol), parameters,
                  std::index_sequence_for<P...>());
    };
    return {call, {sizeof(P)...}, symbol};
}

// Kernels by the beginning of their names.
bool find_kernel(const std::string& name, Kernel& kernel) {
    void* symbol = dlsym(RTLD_DEFAULT, name.c_str());
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&find_kernel), &own);
    if (!symbol) {
        void* self = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
        symbol = self ? dlsym(self, name.c_str()) : nullptr;
    }
    if (!symbol) return false;
    const auto begins = [&](const char* text) { return name.rfind(text, 0) == 0; };
    using Words = const unsigned*;
    if (begins("tokens_")) {
        kernel = describe<Model, Words, unsigned, unsigned, float*, unsigned char*>(symbol);
    } else if (begins("ngrams_")) {
        kernel = describe<Model, Words, unsigned, unsigned, float*, unsigned char*, unsigned char*,
                          unsigned*>(symbol);
    } else if (begins("next_")) {
        kernel = describe<Model, Words, Words, unsigned, unsigned, float*, unsigned char*>(symbol);
    } else if (begins("sum_sentences")) {
        kernel = describe<Words, const float*, Words, u64, unsigned, unsigned, void*>(symbol);
    } else if (begins("read_sectors_")) {
        kernel = describe<const uint4*, u64, u64, unsigned, u64, unsigned*>(symbol);
    } else {
        return false;
    }
    return true;
}

struct Call {
    const Kernel* kernel;
    void** parameters;
};

// What was loaded: its text.
struct Module {
    std::string text;
};

}  // namespace

#define API extern "C" __attribute__((visibility("default"))) int

API cuInit(unsigned) { return static_cast<int>(setting("init", 0)); }
API cuDriverGetVersion(int* version) {
    *version = static_cast<int>(setting("version", 12040));
    return 0;
}
API cuGetErrorName(int status, const char** name) {
    *name = status == 0     ? "CUDA_SUCCESS"
            : status == 2   ? "CUDA_ERROR_OUT_OF_MEMORY"
            : status == 100 ? "CUDA_ERROR_NO_DEVICE"
            : status == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
            : status == 500 ? "CUDA_ERROR_NOT_FOUND"
            : status == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                            : "CUDA_ERROR_UNKNOWN";
    return 0;
}
API cuGetErrorString(int, const char** text) {
    *text = "as the host GPU was told";
    return 0;
}
API cuDeviceGetCount(int* count) {
    *count = static_cast<int>(setting("count", 1));
    return 0;
}
API cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return ordinal < setting("count", 1) ? 0 : 101;
}
API cuDeviceGetName(char* name, int length, int) {
    std::snprintf(name, static_cast<std::size_t>(length), "host");
    return 0;
}
API cuDeviceTotalMem_v2(std::size_t* bytes, int) {
    *bytes = static_cast<std::size_t>(setting("memory", 1LL << 40));
    return 0;
}
API cuDeviceGetAttribute(int* value, int attribute, int) {
    const int capability = static_cast<int>(setting("capability", 90));
    switch (attribute) {
        case 16: *value = 2; break;                // multiprocessors
        case 38: *value = 1 << 20; break;          // second-level cache
        case 75: *value = capability / 10; break;
        case 76: *value = capability % 10; break;
        case 108: *value = 1 << 19; break;         // of it, for persisting data
        case 109: *value = WINDOW; break;          // of a buffer, the most of a window
        case 115: *value = 1; break;               // memory pools
        default: *value = 0;
    }
    return 0;
}
API cuDevicePrimaryCtxRetain(void** context, int) {
    *context = reinterpret_cast<void*>(16);
    return 0;
}
API cuDevicePrimaryCtxRelease_v2(int) { return 0; }
API cuCtxSetCurrent(void*) { return 0; }
API cuCtxGetCurrent(void** context) {
    *context = reinterpret_cast<void*>(16);
    return 0;
}
API cuCtxSynchronize() { return 0; }
// As where another program has set the cache aside: only a hint is lost.
API cuCtxSetLimit(int, std::size_t) { return 801; }
API cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    *total = static_cast<std::size_t>(setting("memory", 1LL << 40));
    std::shared_lock lock(memory_lock);
    *free = *total - in_use;
    return 0;
}
API cuMemAllocAsync(unsigned long long* address, std::size_t bytes, void*) {
    return allocate(address, bytes);
}
API cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
    return allocate(address, bytes);
}
API cuMemFreeAsync(unsigned long long address, void*) { return release(address); }
API cuMemFree_v2(unsigned long long address) { return release(address); }
API cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
    *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return *memory ? 0 : 2;
}
API cuMemFreeHost(void* memory) {
    std::free(memory);
    return 0;
}
API cuMemsetD8Async(unsigned long long address, unsigned char value, std::size_t bytes, void*) {
    check_range(address, bytes, "a fill");
    std::memset(reinterpret_cast<void*>(address), value, bytes);
    return 0;
}
API cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, std::size_t bytes, void*) {
    check_range(to, bytes, "a copy");
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}
API cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, std::size_t bytes, void*) {
    check_range(from, bytes, "a copy");
    std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
    return 0;
}
API cuStreamCreate(void** stream, unsigned) {
    *stream = std::malloc(1);
    return 0;
}
API cuStreamDestroy_v2(void* stream) {
    std::free(stream);
    return 0;
}
API cuStreamSynchronize(void*) { return 0; }
API cuStreamWaitEvent(void*, void*, unsigned) { return 0; }
API cuStreamSetAttribute(void*, int, const void* value) {
    std::size_t bytes;
    std::memcpy(&bytes, static_cast<const char*>(value) + sizeof(void*), sizeof bytes);
    if (bytes > WINDOW) fail("a window larger than windows may be");
    return 0;
}
API cuEventCreate(void** event, unsigned) {
    *event = std::malloc(1);
    return 0;
}
API cuEventDestroy_v2(void* event) {
    std::free(event);
    return 0;
}
API cuEventRecord(void*, void*) { return 0; }
API cuEventSynchronize(void*) { return 0; }
API cuEventQuery(void*) { return 0; }
API cuEventElapsedTime(float* milliseconds, void*, void*) {
    *milliseconds = 1.0f;
    return 0;
}
API cuModuleLoadData(void** module, const void* image) {
    if (const auto status = setting("module", 0)) return static_cast<int>(status);
    *module = new Module{static_cast<const char*>(image)};
    return 0;
}
API cuModuleUnload(void* module) {
    delete static_cast<Module*>(module);
    return 0;
}
// The kernel is the host's, but the module must have one of this name.
API cuModuleGetFunction(void** function, void* module, const char* name) {
    const std::string entry = ".entry " + std::string(name) + "(";
    if (static_cast<Module*>(module)->text.find(entry) == std::string::npos) return 500;
    static std::mutex lock;
    static std::map<std::string, Kernel> kernels;
    const std::lock_guard guard(lock);
    auto found = kernels.find(name);
    if (found == kernels.end()) {
        Kernel kernel{};
        if (!find_kernel(name, kernel)) return 500;
        found = kernels.emplace(name, kernel).first;
    }
    *function = &found->second;
    return 0;
}
API cuFuncGetParamInfo(void* function, std::size_t index, std::size_t* offset, std::size_t* size) {
    const auto& sizes = static_cast<Kernel*>(function)->sizes;
    if (index >= sizes.size()) return 1;
    *offset = 0;
    *size = sizes[index];
    return 0;
}
API cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned, void*,
                   void** parameters, void**) {
    if (const auto status = setting("launch", 0)) return static_cast<int>(status);
    if (grid_x == 0 || grid_y == 0 || grid_y > 65535 || grid_z != 1 || block_x % 32 != 0
        || block_x == 0 || block_x > 1024 || block_y != 1 || block_z != 1) {
        return 1;
    }
    host::read_start = 1, host::read_end = 0;
    Call call{static_cast<Kernel*>(function), parameters};
    const auto body = [](void* closure) {
        const auto* call = static_cast<Call*>(closure);
        call->kernel->call(call->kernel->symbol, call->parameters);
    };
    // Not under the lock, since other threads allocate: that one of them frees what this kernel
    // reads goes unnoticed.
    for (unsigned y = 0; y < grid_y; ++y) {
        for (unsigned x = 0; x < grid_x; ++x) {
            blockIdx = {x, y, 0};
            for (unsigned base = 0; base < block_x; base += 32) run_warp(base, body, &call);
        }
    }
    std::shared_lock lock(memory_lock);
    for (const auto& [start, bytes] : allocations) {
        if (!fence_stands(start, bytes)) fail("a kernel wrote outside of a buffer");
    }
    return 0;
}
