//! Calls of the driver's interface, with the numbers of its statuses and attributes.
#![expect(unsafe_code, reason = "a C interface: callers pass pointers")]
// The signatures are the same as in `cuda.h`. Callers pass pointers that are valid for what a call
// reads or writes, and handles that earlier calls returned.
#![allow(missing_docs, reason = "the names are those of the interface")]

mod memory;
mod modules;
mod streams;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use crate::SETTINGS;
use crate::driver::{Driver, fail};

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const OUT_OF_MEMORY: c_int = 2;
const INVALID_DEVICE: c_int = 101;
const INVALID_PTX: c_int = 218;
const NOT_FOUND: c_int = 500;
const NOT_READY: c_int = 600;
const NOT_SUPPORTED: c_int = 801;

/// The status of calls that use the device after it is lost, unless the settings say otherwise.
const LAUNCH_FAILED: u64 = 719;

/// The memory of the device unless the settings say otherwise: more than any test needs.
const MEMORY: u64 = 1 << 40;

/// The largest size of a stream's window in the cache, in bytes: smaller than any model.
const MAX_WINDOW: usize = 64;

/// Bytes of shared memory that every kernel may have.
const DEFAULT_SHARED: usize = 48 << 10;

/// Returns the bytes of shared memory that a kernel may ask for, by the device's capability.
fn max_shared() -> usize {
    match setting("capability", 90) {
        ..80 => 64 << 10,
        80 | 87 => 163 << 10,
        86 | 89 => 99 << 10,
        _ => 227 << 10,
    }
}

static DRIVER: LazyLock<Mutex<Driver>> = LazyLock::new(|| {
    let mut driver = Driver::new(setting("memory", MEMORY), setting("seed", 0));
    driver.launches_left = setting("launches", u64::MAX);
    Mutex::new(driver)
});

fn driver() -> MutexGuard<'static, Driver> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value of a setting, which must be a number, or `default` if it is not given.
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

/// Returns the status of a call that uses the device, which fails when the device is lost.
fn device_status(driver: &Driver) -> c_int {
    if driver.is_lost { setting("launch", LAUNCH_FAILED) as c_int } else { SUCCESS }
}

/// Refuses an attribute that has no value here.
fn unknown_attribute(attribute: c_int) -> c_int {
    eprintln!("emulated GPU: the attribute {attribute} is not supported");
    INVALID_VALUE
}

/// The driver's one context.
const CONTEXT: *mut c_void = std::ptr::without_provenance_mut(16);

/// Returns a handle as a pointer, which callers hold.
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
        719 => c"CUDA_ERROR_LAUNCH_FAILED",
        _ => c"CUDA_ERROR_UNKNOWN",
    };
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *name = text.as_ptr() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGetErrorString(_: c_int, text: *mut *const c_char) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *text = c"reported by the emulated GPU".as_ptr() };
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
        // Threads of a block, shared memory of a block, lanes of a warp.
        1 => 1024,
        8 => DEFAULT_SHARED as c_int,
        10 => 32,
        // Multiprocessors.
        16 => 2,
        // Bytes of the second-level cache.
        38 => 1 << 20,
        75 => capability / 10,
        76 => capability % 10,
        // Bytes of shared memory of a multiprocessor, and the most that a kernel can ask for.
        81 => max_shared() as c_int + 1024,
        97 => max_shared() as c_int,
        // Bytes of the second-level cache for persisting data, and the most for a window.
        108 => 1 << 19,
        109 => MAX_WINDOW as c_int,
        // Whether there are pools of memory.
        115 => 1,
        _ => return unknown_attribute(attribute),
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
    let mut state = driver();
    state.finish();
    device_status(&state)
}

/// Refuses the limit, as if another program had set the cache aside: only a hint is lost.
#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetLimit(_: c_int, _: usize) -> c_int {
    NOT_SUPPORTED
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> c_int {
    let state = driver();
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe {
        *free = state.memory.free_bytes() as usize;
        *total = setting("memory", MEMORY) as usize;
    }
    device_status(&state)
}
