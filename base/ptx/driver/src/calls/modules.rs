//! Calls that load modules, describe their kernels and launch them.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use miriam_ptx::{Grid, Kernel};

use super::{
    DEFAULT_SHARED, INVALID_PTX, INVALID_VALUE, NOT_FOUND, SUCCESS, device_status, driver,
    max_shared, pointer, setting, status, unknown_attribute,
};
use crate::driver::Work;
use crate::kernel_folder::target;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuModuleLoadData(module: *mut *mut c_void, image: *const c_void) -> c_int {
    let status = status("module");
    if status != SUCCESS {
        return status;
    }
    let mut state = driver();
    let status = device_status(&state);
    if status != SUCCESS {
        return status;
    }
    // SAFETY: the caller passes text that ends with NUL.
    let text = unsafe { CStr::from_ptr(image.cast()) }.to_string_lossy();
    if target(&text).is_some_and(|target| u64::from(target) > setting("capability", 90)) {
        eprintln!("emulated GPU: the module is for later devices");
        return INVALID_PTX;
    }
    match state.load(&text) {
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
    let function = driver().loaded_function(function.addr());
    match function.kernel().parameter(index) {
        Some((found, length)) => {
            // SAFETY: the caller passes pointers to the two values that are written.
            unsafe {
                *offset = found;
                *size = length;
            }
            SUCCESS
        }
        None => INVALID_VALUE,
    }
}

/// The attribute `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`: the maximum dynamic shared
/// memory of a launch, in bytes.
const MAX_DYNAMIC_SHARED: c_int = 8;
/// The attribute `CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT`: the preferred share of
/// shared memory in the cache, which changes only the speed.
const PREFERRED_CARVEOUT: c_int = 9;

/// Returns the bytes of dynamic shared memory that a launch of `kernel` may have if its attribute
/// was not set.
fn default_dynamic_shared(kernel: &Kernel) -> usize {
    DEFAULT_SHARED.saturating_sub(kernel.shared_bytes())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: c_int,
    function: *mut c_void,
) -> c_int {
    let (state, handle) = (driver(), function.addr());
    let function = state.loaded_function(handle);
    let kernel = function.kernel();
    let found = match attribute {
        // The maximum number of threads of a block.
        0 => kernel.max_threads() as usize,
        // Bytes of shared memory that the kernel declares.
        1 => kernel.shared_bytes(),
        MAX_DYNAMIC_SHARED => state.max_shared(handle, default_dynamic_shared(kernel)),
        _ => return unknown_attribute(attribute),
    };
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *value = found as c_int };
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncSetAttribute(
    function: *mut c_void,
    attribute: c_int,
    value: c_int,
) -> c_int {
    let mut state = driver();
    let fixed = state.loaded_function(function.addr()).kernel().shared_bytes();
    match (attribute, usize::try_from(value)) {
        (MAX_DYNAMIC_SHARED, Ok(bytes)) if bytes + fixed <= max_shared() => {
            state.set_max_shared(function.addr(), bytes);
            SUCCESS
        }
        (MAX_DYNAMIC_SHARED, _) => INVALID_VALUE,
        (PREFERRED_CARVEOUT, _) => SUCCESS,
        _ => unknown_attribute(attribute),
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
    // The setting `launch` is the status of every launch. If `launches` is set too, it is the
    // status only of launches after the loss of the device.
    let mut state = driver();
    let fails_later = setting("launches", u64::MAX) != u64::MAX;
    let status = if fails_later { device_status(&state) } else { status("launch") };
    if status != SUCCESS {
        return status;
    }
    let handle = function.addr();
    let function = state.loaded_function(handle);
    let kernel = function.kernel();
    let (blocks, threads) = ([blocks_x, blocks_y, blocks_z], [threads_x, threads_y, threads_z]);
    let num_threads = threads.iter().fold(1u64, |all, &n| all.saturating_mul(n.into()));
    let is_possible = !blocks.contains(&0) && blocks_y.max(blocks_z) < 1 << 16;
    if !is_possible || num_threads == 0 || num_threads > kernel.max_threads().into() {
        return INVALID_VALUE;
    }
    let shared_bytes = shared_bytes as usize;
    if shared_bytes > state.max_shared(handle, default_dynamic_shared(kernel)) {
        return INVALID_VALUE;
    }
    let mut bytes = vec![0; kernel.parameter_bytes()];
    for (index, (offset, size)) in (0..).map_while(|i| Some((i, kernel.parameter(i)?))) {
        // SAFETY: the caller passes a pointer to each of the kernel's parameters.
        let value = unsafe { std::slice::from_raw_parts((*parameters.add(index)).cast(), size) };
        bytes[offset..offset + size].copy_from_slice(value);
    }
    let grid = Grid { blocks, threads, shared_bytes, ..Grid::default() };
    state.push(stream.addr(), Work::Launch { function, grid, parameters: bytes });
    SUCCESS
}
