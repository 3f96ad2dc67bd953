//! Memory of a device, and memory of the host that a device copies from and to while
//! other work goes on.

use cudarc::driver::{
    CudaEvent, CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, PinnedHostSlice, ValidAsZeroBits,
    result,
};

use crate::{Device, Result, Stream};

/// Numbers that host and device share.
pub trait Pod: DeviceRepr + ValidAsZeroBits + Copy + Send + Sync + 'static {}

impl Pod for u8 {}
impl Pod for u32 {}
impl Pod for f32 {}
impl Pod for u64 {}

/// Bytes of one of the two pinned buffers through which long data go to a device.
const STAGING_BYTES: usize = 32 << 20;

/// Numbers in a device's memory. They begin at a multiple of 256.
pub struct Buffer<T: Pod> {
    pub(crate) slice: CudaSlice<T>,
}

impl<T: Pod> Buffer<T> {
    /// Where it begins in the device's memory, for records that point to it. The
    /// kernel that follows such a pointer must end before the buffer is dropped.
    pub fn address(&self) -> u64 {
        let stream = self.slice.stream();
        let (address, _record) = self.slice.device_ptr(stream);
        address
    }

    /// How many numbers it holds.
    pub fn len(&self) -> usize {
        self.slice.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.slice.is_empty()
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.slice.num_bytes() as u64
    }
}

/// Numbers in memory of the host that stays where it is, so that a device can copy
/// them by itself. Looking at them waits until it has.
pub struct PinnedBuffer<T: Pod> {
    /// Past when no copy is under way.
    copy_done: CudaEvent,
    device: Device,
    memory: PinnedHostSlice<T>,
}

impl<T: Pod> PinnedBuffer<T> {
    /// The numbers, when copies under way have ended.
    pub fn get(&self) -> Result<&[T]> {
        self.wait_for_copy()?;
        self.memory.as_slice().map_err(|error| self.device.driver_error("copy", error))
    }

    /// The numbers, when copies under way have ended.
    pub fn get_mut(&mut self) -> Result<&mut [T]> {
        self.wait_for_copy()?;
        self.memory.as_mut_slice().map_err(|error| self.device.driver_error("copy", error))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    fn wait_for_copy(&self) -> Result<()> {
        self.copy_done.synchronize().map_err(|error| self.device.driver_error("copy", error))
    }
}

impl<T: Pod> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        // When this fails the device is lost and copies nothing any more.
        let _ = self.copy_done.synchronize();
    }
}

impl Stream {
    /// Room for `len` numbers on the device, all 0.
    pub fn alloc_zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        let bytes = len.saturating_mul(size_of::<T>());
        // An address of no bytes would be none.
        let slice = self.stream.alloc_zeros(len.max(1));
        Ok(Buffer { slice: slice.map_err(|error| self.device.allocation_error(bytes, error))? })
    }

    /// Room for `len` numbers on the host, pinned, all 0.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        let (device, context) = (self.device.clone(), &self.device.context);
        let no_room = |error| self.device.driver_error("pin memory of this machine", error);
        // SAFETY: the memory is filled below before anybody sees it.
        let mut memory =
            unsafe { context.alloc_pinned_with_flags::<T>(len.max(1), 0) }.map_err(no_room)?;
        let start = memory.as_mut_ptr().map_err(no_room)?;
        // SAFETY: as many numbers have just been allocated there, and 0 is one of T.
        unsafe { std::ptr::write_bytes(start, 0, memory.len()) };
        let free = context.new_event(None).map_err(no_room)?;
        Ok(PinnedBuffer { copy_done: free, device, memory })
    }

    /// Copies the first `count` numbers of `from` to those of `to` from `at` on.
    ///
    /// Panics when either has fewer.
    pub fn upload<T: Pod>(
        &self,
        from: &mut PinnedBuffer<T>,
        count: usize,
        to: &mut Buffer<T>,
        at: usize,
    ) -> Result<()> {
        let source = &from.get()?[..count];
        let mut target = to.slice.slice_mut(at..at + count);
        let outcome = self.device.context.bind_to_thread().and_then(|()| {
            let (address, _record) = target.device_ptr_mut(&self.stream);
            // SAFETY: source and target are alive and long enough; `from`, of which this is
            // the only copy under way, is neither seen as mutable nor freed before the event
            // that is recorded next, and `to` keeps its own record.
            unsafe { result::memcpy_htod_async(address, source, self.stream.cu_stream()) }?;
            from.copy_done.record(&self.stream)
        });
        outcome.map_err(|error| self.device.driver_error("copy", error))
    }

    /// Copies the first `count` numbers of `from` to those of `to`.
    ///
    /// Panics when either has fewer.
    pub fn download<T: Pod>(
        &self,
        from: &Buffer<T>,
        count: usize,
        to: &mut PinnedBuffer<T>,
    ) -> Result<()> {
        let source = from.slice.slice(..count);
        let target = &mut to.get_mut()?[..count];
        let outcome = self.device.context.bind_to_thread().and_then(|()| {
            let (address, _record) = source.device_ptr(&self.stream);
            // SAFETY: source and target are alive and long enough; `to` is not seen
            // nor freed before the event that is recorded next.
            unsafe { result::memcpy_dtoh_async(target, address, self.stream.cu_stream()) }
        });
        let outcome = outcome.and_then(|()| to.copy_done.record(&self.stream));
        outcome.map_err(|error| self.device.driver_error("copy", error))
    }

    /// Copies `data` to the numbers of `to` from `at` on, in pieces through pinned
    /// memory, and waits until it is there.
    ///
    /// Panics when `to` has fewer.
    pub fn upload_blocking<T: Pod>(&self, to: &mut Buffer<T>, at: usize, data: &[T]) -> Result<()> {
        let piece = (STAGING_BYTES / size_of::<T>()).min(data.len()).max(1);
        let mut stages = [self.alloc_pinned(piece)?, self.alloc_pinned(piece)?];
        for (i, part) in data.chunks(piece).enumerate() {
            let stage = &mut stages[i % 2];
            stage.get_mut()?[..part.len()].copy_from_slice(part);
            self.upload(stage, part.len(), to, at + i * piece)?;
        }
        self.synchronize()
    }
}
