//! Memory of the device and of the host, fills and copies.

use std::ffi::{c_int, c_uint, c_void};

use super::{INVALID_VALUE, OUT_OF_MEMORY, SUCCESS, device_status, driver, status};
use crate::driver::{Driver, HostMemory, Work, fail};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemAlloc_v2(address: *mut u64, bytes: usize) -> c_int {
    let mut state = driver();
    let status = device_status(&state);
    if status != SUCCESS {
        return status;
    }
    let allocated = state.memory.allocate(bytes as u64).or_else(|_| {
        // Buffers whose release is queued on a stream are free when the streams have finished.
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
    if !state.is_lost {
        state.memory.release(address).unwrap_or_else(|fault| fail(&fault.to_string()));
    }
    device_status(&state)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeAsync(address: u64, stream: *mut c_void) -> c_int {
    push(stream, Work::Release { address })
}

/// Queues work on a stream; returns the status of the device.
fn push(stream: *mut c_void, work: Work) -> c_int {
    let mut state = driver();
    state.push(stream.addr(), work);
    device_status(&state)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuMemHostAlloc(
    memory: *mut *mut c_void,
    bytes: usize,
    _: c_uint,
) -> c_int {
    let refusal = status("pinned");
    if refusal != SUCCESS {
        return refusal;
    }
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
        fail("host memory is freed, but it is not pinned")
    };
    let words = std::ptr::slice_from_raw_parts_mut(memory.cast::<u64>(), length);
    // SAFETY: `cuMemHostAlloc` made the box, and it is no longer among the pinned ones.
    drop(unsafe { Box::from_raw(words) });
    device_status(&state)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(
    address: u64,
    value: u8,
    length: usize,
    stream: *mut c_void,
) -> c_int {
    fill(address, &value.to_le_bytes(), length, stream)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD16Async(
    address: u64,
    value: u16,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    fill(address, &value.to_le_bytes(), count, stream)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD32Async(
    address: u64,
    value: c_uint,
    count: usize,
    stream: *mut c_void,
) -> c_int {
    fill(address, &value.to_le_bytes(), count, stream)
}

fn fill(address: u64, value: &[u8], count: usize, stream: *mut c_void) -> c_int {
    if !address.is_multiple_of(value.len() as u64) {
        return INVALID_VALUE;
    }
    push(stream, Work::Fill { address, value: value.to_vec(), count })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(
    to: u64,
    from: u64,
    length: usize,
    stream: *mut c_void,
) -> c_int {
    push(stream, Work::Copy { to, from, length })
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
    device_status(&state)
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
    device_status(&state)
}

/// Whether the bytes are within pinned memory.
fn is_pinned(driver: &Driver, HostMemory { address, length }: HostMemory) -> bool {
    let before = driver.pinned.range(..=address).next_back();
    before.is_some_and(|(&start, &words)| address + length <= start + 8 * words)
}
