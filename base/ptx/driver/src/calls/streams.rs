//! Streams and events.

use std::ffi::{c_int, c_uint, c_void};

use super::{MAX_WINDOW, NOT_READY, SUCCESS, device_status, driver, pointer};
use crate::driver::fail;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamCreate(stream: *mut *mut c_void, _: c_uint) -> c_int {
    let mut state = driver();
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *stream = pointer(state.new_handle()) };
    device_status(&state)
}

/// Does nothing: the remaining work of the stream is done later.
#[unsafe(no_mangle)]
pub extern "C" fn cuStreamDestroy_v2(_: *mut c_void) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamSynchronize(stream: *mut c_void) -> c_int {
    let mut state = driver();
    state.finish_stream(stream.addr());
    device_status(&state)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _: c_uint) -> c_int {
    let mut state = driver();
    state.wait_on_stream(stream.addr(), event.addr());
    device_status(&state)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuStreamSetAttribute(
    _: *mut c_void,
    _: c_int,
    value: *const c_void,
) -> c_int {
    // A window in the cache: its address, then its size in bytes.
    // SAFETY: the caller passes a window, whose second word is its size.
    let bytes = unsafe { value.cast::<usize>().add(1).read() };
    if bytes > MAX_WINDOW {
        fail("the window in the cache is too large");
    }
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventCreate(event: *mut *mut c_void, _: c_uint) -> c_int {
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *event = pointer(driver().new_handle()) };
    SUCCESS
}

/// Does nothing: work that waits for the event still waits for it.
#[unsafe(no_mangle)]
pub extern "C" fn cuEventDestroy_v2(_: *mut c_void) -> c_int {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int {
    let mut state = driver();
    state.record(event.addr(), stream.addr());
    device_status(&state)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventSynchronize(event: *mut c_void) -> c_int {
    let mut state = driver();
    state.finish_event(event.addr());
    device_status(&state)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventQuery(event: *mut c_void) -> c_int {
    let mut state = driver();
    if !state.is_lost && state.is_event_done(event.addr()) {
        return SUCCESS;
    }
    // Each query performs some work, so that repeated queries succeed in the end.
    if !state.is_lost {
        state.do_some();
    }
    if state.is_lost {
        return device_status(&state);
    }
    if state.is_event_done(event.addr()) { SUCCESS } else { NOT_READY }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    start: *mut c_void,
    end: *mut c_void,
) -> c_int {
    let state = driver();
    if state.is_lost {
        return device_status(&state);
    }
    if ![start, end].iter().all(|event| state.is_event_done(event.addr())) {
        return NOT_READY;
    }
    // SAFETY: the caller passes a pointer to the value that is written.
    unsafe { *milliseconds = 1.0 };
    SUCCESS
}
