//! Memory of a device, and pinned memory of the host, which a device copies from and to
//! asynchronously.

use std::sync::Arc;

use cudarc::driver::result::DriverError;
use cudarc::driver::{
    CudaEvent, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, PinnedHostSlice,
    ValidAsZeroBits, result,
};

use crate::{Device, Result, Stream};

/// Number types that have the same bytes on host and device, and for which every bit pattern is
/// valid.
pub trait Pod:
    sealed::EveryBitPattern + DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static
{
}

impl<T> Pod for T where
    T: sealed::EveryBitPattern + DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static
{
}

/// Sealed, because memory that was not initialised is read as these types.
mod sealed {
    pub trait EveryBitPattern {}

    impl EveryBitPattern for u8 {}
    impl EveryBitPattern for i8 {}
    impl EveryBitPattern for u16 {}
    impl EveryBitPattern for i32 {}
    impl EveryBitPattern for u32 {}
    impl EveryBitPattern for f32 {}
    impl EveryBitPattern for u64 {}
}

/// The largest size in bytes of each of the two pinned buffers of [`Stream::upload_blocking`].
const STAGING_BYTES: usize = 32 << 20;

/// Numbers in a device's memory, aligned to 256 bytes.
pub struct Buffer<T: Pod> {
    /// At least one element, even of an empty buffer.
    pub(crate) slice: CudaSlice<T>,
    /// The address in the memory of the device.
    address: u64,
    /// The requested number of elements.
    len: usize,
}

impl<T: Pod> Buffer<T> {
    fn new(slice: CudaSlice<T>, len: usize) -> Self {
        let address = slice.device_ptr(slice.stream()).0;
        Buffer { slice, address, len }
    }

    /// Returns the address in the device's memory, to be stored as a pointer in another buffer. A
    /// kernel that follows such a pointer must end before this buffer is dropped.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the buffer was allocated on this stream.
    pub(crate) fn belongs_to(&self, stream: &CudaStream) -> bool {
        std::ptr::eq(Arc::as_ptr(self.slice.stream()), stream)
    }

    /// Returns the size of all elements together, in bytes.
    pub fn size_in_bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }
}

/// Numbers in page-locked memory of the host, which a device copies asynchronously.
/// [`get`](Self::get) and [`get_mut`](Self::get_mut) wait for a copy in progress.
pub struct PinnedBuffer<T: Pod> {
    /// Recorded after the last copy that was queued; complete if no copy is in progress.
    copy_done: CudaEvent,
    device: Device,
    /// At least one element, even of an empty buffer.
    memory: PinnedHostSlice<T>,
    /// The requested number of elements.
    len: usize,
}

impl<T: Pod> PinnedBuffer<T> {
    /// Returns the elements, after waiting for copies in progress.
    ///
    /// # Errors
    ///
    /// If one of these copies, or earlier work of their streams, failed.
    pub fn get(&self) -> Result<&[T]> {
        self.wait_for_copy()?;
        let elements = self.memory.as_slice();
        let elements = elements.map_err(|error| self.device.driver_error("copy", error))?;
        Ok(&elements[..self.len])
    }

    /// Returns the elements for writing, after waiting for copies in progress.
    ///
    /// # Errors
    ///
    /// If one of these copies, or earlier work of their streams, failed.
    pub fn get_mut(&mut self) -> Result<&mut [T]> {
        self.wait_for_copy()?;
        let elements = self.memory.as_mut_slice();
        let elements = elements.map_err(|error| self.device.driver_error("copy", error))?;
        Ok(&mut elements[..self.len])
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn wait_for_copy(&self) -> Result<()> {
        self.copy_done.synchronize().map_err(|error| self.device.driver_error("copy", error))
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        // When this fails the device is lost and copies nothing more.
        let _ = self.copy_done.synchronize();
    }
}

impl Stream {
    /// Allocates `len` numbers on the device, all 0.
    ///
    /// # Errors
    ///
    /// If the device has too little free memory ([`crate::Error::OutOfMemory`]), or the driver
    /// fails.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        // The driver has no address for an allocation of no bytes.
        let slice = self.stream.alloc_zeros(len.max(1));
        let slice = slice.map_err(|error| self.device.allocation_error(bytes, error))?;
        Ok(Buffer::new(slice, len))
    }

    /// Allocates `len` numbers on the device without initialising them.
    ///
    /// # Errors
    ///
    /// If the device has too little free memory ([`crate::Error::OutOfMemory`]), or the driver
    /// fails.
    pub fn alloc_uninitialized<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        // The driver has no address for an allocation of no bytes.
        // SAFETY: every bit pattern is a value of `T` ([`Pod`]), so memory that was not written may
        // be read.
        let slice = unsafe { self.stream.alloc(len.max(1)) };
        let slice = slice.map_err(|error| self.device.allocation_error(bytes, error))?;
        Ok(Buffer::new(slice, len))
    }

    /// Allocates `len` numbers in pinned memory of the host, all 0.
    ///
    /// # Errors
    ///
    /// If this machine has too little memory ([`crate::Error::PinnedMemory`]), or the driver fails.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let bytes = len.max(1).saturating_mul(size_of::<T>());
        self.pin_zeros(len).map_err(|error| self.device.pinning_error(bytes, error))
    }

    fn pin_zeros<T: Pod>(&self, len: usize) -> std::result::Result<PinnedBuffer<T>, DriverError> {
        let (device, context) = (self.device.clone(), &self.device.context);
        // SAFETY: the memory is filled below before it is read.
        let mut memory = unsafe { context.alloc_pinned_with_flags::<T>(len.max(1), 0) }?;
        let start = memory.as_mut_ptr()?;
        // SAFETY: `memory.len()` numbers were allocated at `start`, and zero bytes are a value of
        // `T`.
        unsafe { std::ptr::write_bytes(start, 0, memory.len()) };
        let copy_done = context.new_event(None)?;
        Ok(PinnedBuffer { copy_done, device, memory, len })
    }

    /// Queues a copy of the first `count` numbers of the host buffer `from` to
    /// `to[at..at + count]` on the device.
    ///
    /// # Errors
    ///
    /// If the driver fails, or an earlier copy of `from` failed.
    ///
    /// # Panics
    ///
    /// When either buffer is too short.
    pub fn upload<T: Pod>(
        &self,
        from: &mut PinnedBuffer<T>,
        count: usize,
        to: &mut Buffer<T>,
        at: usize,
    ) -> Result<()> {
        let source = &from.get()?[..count];
        assert!(at + count <= to.len, "{count} numbers at {at} do not fit in {}", to.len);
        let mut target = to.slice.slice_mut(at..at + count);
        let outcome = self.device.context.bind_to_thread().and_then(|()| {
            let (address, _record) = target.device_ptr_mut(&self.stream);
            // SAFETY: source and target are alive and long enough. This is the only copy of `from`
            // in progress, and `from` is neither lent mutably nor freed before the event that is
            // recorded next is complete. `_record` makes later work on `to`, including its release,
            // wait for the copy.
            unsafe { result::memcpy_htod_async(address, source, self.stream.cu_stream()) }
        });
        let outcome = outcome.and_then(|()| self.record_copy(&from.copy_done));
        outcome.map_err(|error| self.device.driver_error("copy", error))
    }

    /// Queues a copy of the first `count` numbers of the device buffer `from` to the beginning of
    /// the host buffer `to`.
    ///
    /// # Errors
    ///
    /// If the driver fails, or an earlier copy to `to` failed.
    ///
    /// # Panics
    ///
    /// When either buffer is too short.
    pub fn download<T: Pod>(
        &self,
        from: &Buffer<T>,
        count: usize,
        to: &mut PinnedBuffer<T>,
    ) -> Result<()> {
        assert!(count <= from.len, "{count} numbers of a buffer of {}", from.len);
        let source = from.slice.slice(..count);
        let target = &mut to.get_mut()?[..count];
        let outcome = self.device.context.bind_to_thread().and_then(|()| {
            let (address, _record) = source.device_ptr(&self.stream);
            // SAFETY: source and target are alive and long enough. `to` is neither read nor freed
            // before the event that is recorded next is complete; `_record` makes the release of
            // `from` wait for the copy.
            unsafe { result::memcpy_dtoh_async(target, address, self.stream.cu_stream()) }
        });
        let outcome = outcome.and_then(|()| self.record_copy(&to.copy_done));
        outcome.map_err(|error| self.device.driver_error("copy", error))
    }

    /// Queues an event that completes with the last queued copy. If queuing fails, waits for the
    /// copy, because nothing else would tell when the pinned memory may be used again.
    fn record_copy(&self, copy_done: &CudaEvent) -> std::result::Result<(), DriverError> {
        copy_done.record(&self.stream).inspect_err(|_| {
            // When this fails too the device is lost and copies nothing more.
            let _ = self.stream.synchronize();
        })
    }

    /// Copies `data` to `to[at..at + data.len()]` on the device, in chunks through pinned memory,
    /// and waits until the copy is complete.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    ///
    /// # Panics
    ///
    /// When `to` is too short.
    pub fn upload_blocking<T: Pod>(&self, to: &mut Buffer<T>, at: usize, data: &[T]) -> Result<()> {
        let chunk_len = (STAGING_BYTES / size_of::<T>()).min(data.len()).max(1);
        let mut stages = [self.alloc_pinned(chunk_len)?, self.alloc_pinned(chunk_len)?];
        for (i, chunk) in data.chunks(chunk_len).enumerate() {
            let stage = &mut stages[i % 2];
            stage.get_mut()?[..chunk.len()].copy_from_slice(chunk);
            self.upload(stage, chunk.len(), to, at + i * chunk_len)?;
        }
        self.synchronize()
    }
}
