//! Calls of the driver's interface, with the numbers of its statuses and attributes.
#![expect(unsafe_code, reason = "a C interface: callers pass pointers")]
// The signatures are those of `cuda.h`: pointers are valid for what a call reads or writes, handles
// are those that earlier calls gave.
#![allow(missing_docs, reason = "the names are those of the interface")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use miriam_ptx::Grid;

use crate::SETTINGS;
use crate::driver::{Driver, HostMemory, Work, fail};

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const INVALID_DEVICE: c_int = 101;
const INVALID_PTX: c_int = 218;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
const NOT_SUPPORTED: c_int = 801;

/// The memory of the device unless the settings say otherwise: more than any test wants.
const MEMORY: u64 = 1 << 40;

/// Bytes that a stream's window in the cache may have: fewer than any model.
const MAX_WINDOW: usize = 64;

static DRIVER: LazyLock<Mutex<Driver>> =
    LazyLock::new(|| Mutex::new(Driver::new(setting("memory", MEMORY), setting("seed", 0))));

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of a setting.
fn setting(name: &str, default: u64) -> u64 {
    let settings = std::env::var(SETTINGS).unwrap_or_default();
    let value = settings.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    value.map_or(default, |value| {
        value
            .parse()
            .unwrap_or_else(|_| fail(&format!("{SETTINGS}: {name}={value} is not a number")))
    })
}

fn status(name: &str) -> c_int {
    setting(name, 0) as c_int
}

/// The driver's one context.
const CONTEXT: *mut c_void = std::ptr::without_provenance_mut(16);

/// A handle as callers hold it.
fn pointer(handle: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(handle)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_: c_uint) -> c_int {
    status("init")
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDriverGetVersion(version: *mut c_int) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *version = setting("version", 12_040) as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorName(status: c_int, name: *mut *const c_char) -> c_int {
    let text = match status {
        SUCCESS => c"CUDA_SUCCESS",
        OUT_OF_MEMORY => c"CUDA_ERROR_OUT_OF_MEMORY",
        100 => c"CUDA_ERROR_NO_DEVICE",
        INVALID_PTX => c"CUDA_ERROR_INVALID_PTX",
        222 => c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        NOT_FOUND => c"CUDA_ERROR_NOT_FOUND",
        700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
        _ => c"CUDA_ERROR_UNKNOWN",
    };
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *name = text.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *text = c"as the emulated GPU was told".as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetCount(count: *mut c_int) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *count = setting("count", 1) as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGet(device: *mut c_int, ordinal: c_int) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *device = ordinal };
    if (ordinal as u64) < setting("count", 1) { SUCCESS } else { INVALID_DEVICE }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, length: c_int, _: c_int) -> c_int {
    let text = c"emulated";
    if (length as usize) < text.to_bytes_with_nul().len() {
        return INVALID_VALUE;
    }
    // SAFETY: the caller passes room for `length` bytes, and the text has no more.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), name, text.to_bytes_with_nul().len()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _: c_int) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *bytes = setting("memory", MEMORY) as usize };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    _: c_int,
) -> c_int {
    let capability = setting("capability", 90) as c_int;
    let found = match attribute {
        // Multiprocessors.
        16 => 2,
        // Bytes of the second-level cache.
        38 => 1 << 20,
        75 => capability / 10,
        76 => capability % 10,
        // Bytes of it for persisting data, and the most of a window.
        108 => 1 << 19,
        109 => MAX_WINDOW as c_int,
        // Pools of memory.
        115 => 1,
        _ => 0,
    };
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *value = found };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, _: c_int) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *context = CONTEXT };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRelease_v2(_: c_int) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(_: *mut c_void) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuCtxGetCurrent(context: *mut *mut c_void) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *context = CONTEXT };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSynchronize() -> c_int {
    driver().finish();
    SUCCESS
}

/// As where another program has set the cache aside: only a hint is lost.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(_: c_int, _: usize) -> c_int {
    NOT_SUPPORTED
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe {
        *free = driver().memory.free_bytes() as usize;
        *total = setting("memory", MEMORY) as usize;
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    let mut state = driver();
    let allocated = state.memory.allocate(bytes as u64).or_else(|_| {
        // What streams will release is free when they have done it.
        state.finish();
        state.memory.allocate(bytes as u64)
    });
    match allocated {
        Ok(found) => {
            // SAFETY: the caller passes a pointer to the value that is written.
            unsafe { *address = found };
            SUCCESS
        }
        Err(_) => OUT_OF_MEMORY,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAllocAsync(address: *mut u64, bytes: usize, _: *mut c_void) -> c_int {
    // SAFETY: the conditions of both calls are the same.
    unsafe { cuMemAlloc_v2(address, bytes) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(address: u64) -> c_int {
    let mut state = driver();
    state.finish();
    state.memory.release(address).unwrap_or_else(|fault| fail(&fault.to_string()));
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> c_int {
    driver().push(stream.addr(), Work::Release { address });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(
    memory: *mut *mut c_void,
    bytes: usize,
    _: c_uint,
) -> c_int {
    let words = vec![0u64; bytes.div_ceil(8).max(1)].into_boxed_slice();
    let length = words.len();
    let address = Box::into_raw(words).cast::<c_void>();
    driver().pinned.insert(address.expose_provenance(), length);
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *memory = address };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemFreeHost(memory: *mut c_void) -> c_int {
    let mut state = driver();
    state.finish();
    let Some(length) = state.pinned.remove(&memory.addr()) else {
        fail("memory of the host is freed that is not pinned")
    };
    let words = std::ptr::slice_from_raw_parts_mut(memory.cast::<u64>(), length);
    // SAFETY: `cuMemHostAlloc` made the box, and it is no longer among the pinned ones.
    drop(unsafe { Box::from_raw(words) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(
    address: u64,
    value: u8,
    length: usize,
    stream: *mut c_void,
) -> c_int {
    driver().push(stream.addr(), Work::Fill { address, value, length });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    address: u64,
    from: *const c_void,
    length: usize,
    stream: *mut c_void,
) -> c_int {
    let mut state = driver();
    let host = HostMemory { address: from.expose_provenance(), length };
    let work = if is_pinned(&state, host) {
        Work::UploadPinned { address, from: host }
    } else {
        // SAFETY: the caller passes `length` readable bytes.
        let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) };
        Work::Upload { address, bytes: bytes.to_vec() }
    };
    state.push(stream.addr(), work);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    address: u64,
    length: usize,
    stream: *mut c_void,
) -> c_int {
    let mut state = driver();
    let to = HostMemory { address: to.expose_provenance(), length };
    state.push(stream.addr(), Work::Download { address, to });
    if !is_pinned(&state, to) {
        state.finish_stream(stream.addr());
    }
    SUCCESS
}

/// Whether the bytes are within pinned memory.
fn is_pinned(driver: &Driver, HostMemory { address, length }: HostMemory) -> bool {
    let before = driver.pinned.range(..=address).next_back();
    before.is_some_and(|(&start, &words)| address + length <= start + 8 * words)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, _: c_uint) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *stream = pointer(driver().new_handle()) };
    SUCCESS
}

/// The work that is left is done later.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(_: *mut c_void) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    driver().finish_stream(stream.addr());
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _: c_uint) -> c_int {
    driver().wait_on_stream(stream.addr(), event.addr());
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute(
    _: *mut c_void,
    _: c_int,
    value: *const c_void,
) -> c_int {
    // A window in the cache: its address, then its bytes.
    // SAFETY: the caller passes a window, whose second word is its size.
    let bytes = unsafe { value.cast::<usize>().add(1).read() };
    if bytes > MAX_WINDOW {
        fail("a window larger than windows may be");
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _: c_uint) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *event = pointer(driver().new_handle()) };
    SUCCESS
}

/// Work that waits for the event still does.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(_: *mut c_void) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    driver().record(event.addr(), stream.addr());
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: *mut c_void) -> c_int {
    driver().finish_event(event.addr());
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: *mut c_void) -> c_int {
    let mut state = driver();
    if state.is_event_done(event.addr()) {
        return SUCCESS;
    }
    // Who asks again and again gets its answer.
    state.do_some();
    if state.is_event_done(event.addr()) { SUCCESS } else { NOT_READY }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    _: *mut c_void,
    _: *mut c_void,
) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *milliseconds = 1.0 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    let status = status("module");
    if status != SUCCESS {
        return status;
    }
    // SAFETY: the caller passes text that ends with NUL.
    let text = unsafe { CStr::from_ptr(image.cast()) };
    match driver().load(&text.to_string_lossy()) {
        Ok(handle) => {
            // SAFETY: the caller passes a pointer to the value that is written.
            unsafe { *module = pointer(handle) };
            SUCCESS
        }
        Err(reason) => {
            eprintln!("emulated GPU: {reason}");
            INVALID_PTX
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleUnload(module: *mut c_void) -> c_int {
    driver().unload(module.addr());
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleGetFunction(
    function: *mut *mut c_void,
    module: *mut c_void,
    name: *const c_char,
) -> c_int {
    // SAFETY: the caller passes text that ends with NUL.
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    match driver().function(module.addr(), &name) {
        Some(handle) => {
            // SAFETY: the caller passes a pointer to the value that is written.
            unsafe { *function = pointer(handle) };
            SUCCESS
        }
        None => NOT_FOUND,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetParamInfo(
    function: *mut c_void,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> c_int {
    let state = driver();
    let (module, name) = &*state.functions[&function.addr()];
    let kernel = module.kernel(name).expect("it was found");
    match kernel.parameter(index) {
        Some((found, length)) => {
            // SAFETY: the caller passes a pointer to the value that is written.
            unsafe {
                *offset = found;
                *size = length;
            }
            SUCCESS
        }
        None => INVALID_VALUE,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuLaunchKernel(
    function: *mut c_void,
    blocks_x: c_uint,
    blocks_y: c_uint,
    blocks_z: c_uint,
    threads_x: c_uint,
    threads_y: c_uint,
    threads_z: c_uint,
    shared_bytes: c_uint,
    stream: *mut c_void,
    parameters: *mut *mut c_void,
    _: *mut *mut c_void,
) -> c_int {
    let status = status("launch");
    if status != SUCCESS {
        return status;
    }
    let (blocks, threads) = ([blocks_x, blocks_y, blocks_z], [threads_x, threads_y, threads_z]);
    let num_threads = threads.iter().map(|&n| u64::from(n)).product::<u64>();
    let is_possible = !blocks.contains(&0) && blocks_y.max(blocks_z) < 1 << 16;
    if !is_possible || num_threads == 0 || num_threads > 1024 {
        return INVALID_VALUE;
    }
    let mut state = driver();
    let function = std::sync::Arc::clone(&state.functions[&function.addr()]);
    let kernel = function.0.kernel(&function.1).expect("it was found");
    let mut bytes = vec![0; kernel.parameter_bytes()];
    for (index, (offset, size)) in (0..).map_while(|i| Some((i, kernel.parameter(i)?))) {
        // SAFETY: the caller passes a pointer to each parameter, of the kernel's size.
        let value = unsafe { std::slice::from_raw_parts((*parameters.add(index)).cast(), size) };
        bytes[offset..offset + size].copy_from_slice(value);
    }
    let shared_bytes = shared_bytes as usize;
    let grid = Grid { blocks, threads, shared_bytes, ..Grid::default() };
    state.push(stream.addr(), Work::Launch { kernel: function, grid, parameters: bytes });
    SUCCESS
}
