//! GPUs with their streams and events, and the errors of the driver.

use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};

use crate::{Buffer, Error, Pod, Result};

/// The version of CUDA that a driver must support at least, because the kernels' PTX needs it: 12.4
/// in the driver's notation.
const MIN_DRIVER_VERSION: i32 = 12040;
/// The lowest compute capability that the kernels' PTX runs on.
const MIN_COMPUTE_CAPABILITY: (u32, u32) = (7, 5);

/// The properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceProperties {
    /// Its number, from 0.
    pub number: u32,
    /// Its product name.
    pub name: String,
    /// Its compute capability, such as (9, 0).
    pub compute_capability: (u32, u32),
    /// The number of streaming multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of the L2 cache.
    pub l2_bytes: u64,
    /// The number of these bytes that may be set aside for persisting accesses.
    pub max_persisting_l2_bytes: u64,
    /// The largest size of a stream's access policy window, in bytes.
    pub max_l2_window_bytes: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
}

/// A GPU that is open. Clones share it.
///
/// # Examples
///
/// Opening a device fails if there is none, or if its number is too high:
///
/// ```
/// use miriam_gpu::{Device, Error};
///
/// let reason = Device::open(1000).err();
/// let expected = match Device::count() {
///     Ok(count) => Error::NoSuchDevice { number: 1000, count },
///     Err(reason) => reason,
/// };
/// assert_eq!(reason, Some(expected));
/// ```
#[derive(Clone)]
pub struct Device {
    pub(crate) context: Arc<CudaContext>,
    properties: Arc<DeviceProperties>,
}

impl Device {
    /// Returns the number of devices that the driver sees.
    ///
    /// # Errors
    ///
    /// If there is no driver, it is too old, or it sees no device.
    pub fn count() -> Result<u32> {
        // SAFETY: loading a library runs its initialisers; this one is the machine's
        // driver, and whoever can replace it can replace this program.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::NoLibrary);
        }
        result::init().map_err(|error| match error.0 {
            CUresult::CUDA_ERROR_NO_DEVICE => Error::NoDevice,
            _ => Error::NoDriver { reason: describe_error(error) },
        })?;
        let mut version = 0;
        // SAFETY: the pointer is to a local variable.
        let outcome = unsafe { sys::cuDriverGetVersion(&mut version) };
        outcome.result().map_err(|error| Error::NoDriver { reason: describe_error(error) })?;
        if version < MIN_DRIVER_VERSION {
            return Err(Error::OldDriver { version });
        }
        match result::device::get_count() {
            Ok(0) => Err(Error::NoDevice),
            Ok(count) => Ok(count as u32),
            Err(error) => Err(Error::NoDriver { reason: describe_error(error) }),
        }
    }

    /// Opens the device `number`, counted from 0.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::count`]; also if there is no device of this number, if the device is
    /// too old, or if the driver fails.
    pub fn open(number: u32) -> Result<Self> {
        let count = Self::count()?;
        if number >= count {
            return Err(Error::NoSuchDevice { number, count });
        }
        let failed = |error| driver_error(number, "open", error);
        let context = CudaContext::new(number as usize).map_err(failed)?;
        let capability = (
            attribute(&context, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
                .map_err(failed)?,
            attribute(&context, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
                .map_err(failed)?,
        );
        let name = context.name().map_err(failed)?;
        if capability < MIN_COMPUTE_CAPABILITY {
            return Err(Error::OldDevice { number, name, capability });
        }
        let multiprocessors =
            attribute(&context, Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
                .map_err(failed)?;
        let l2 = attribute(&context, Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
            .map_err(failed)?
            .into();
        let persisting = Attribute::CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE;
        let l2_persisting = attribute(&context, persisting).map_err(failed)?.into();
        let window = Attribute::CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE;
        let l2_window = attribute(&context, window).map_err(failed)?.into();
        let memory = context.total_mem().map_err(failed)? as u64;
        let properties = DeviceProperties {
            number,
            name,
            compute_capability: capability,
            multiprocessors,
            l2_bytes: l2,
            max_persisting_l2_bytes: l2_persisting,
            max_l2_window_bytes: l2_window,
            memory_bytes: memory,
        };
        Ok(Device { context, properties: Arc::new(properties) })
    }

    /// Returns the properties of the device.
    pub fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    /// Returns the number of bytes of the device's memory that are free now.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn free_memory(&self) -> Result<u64> {
        let (free, _) = self
            .context
            .mem_get_info()
            .map_err(|error| self.driver_error("count its memory", error))?;
        Ok(free as u64)
    }

    /// Creates a stream: a queue whose work runs in order, concurrently with the work of other
    /// streams.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn new_stream(&self) -> Result<Stream> {
        let stream =
            self.context.new_stream().map_err(|error| self.driver_error("make a stream", error))?;
        Ok(Stream { device: self.clone(), stream })
    }

    /// Sets `bytes` of the L2 cache aside for data that streams keep there
    /// ([`Stream::persist_in_l2`]); at most [`DeviceProperties::max_persisting_l2_bytes`].
    ///
    /// # Errors
    ///
    /// If the driver refuses the limit.
    pub fn reserve_persisting_l2(&self, bytes: u64) -> Result<()> {
        let limit = sys::CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE;
        let outcome = self.context.set_limit(limit, bytes as usize);
        outcome.map_err(|error| self.driver_error("set L2 cache aside", error))
    }

    pub(crate) fn driver_error(&self, action: &'static str, error: DriverError) -> Error {
        driver_error(self.properties.number, action, error)
    }

    /// Returns the error of an allocation of `bytes` bytes: [`Error::OutOfMemory`] if there is too
    /// little memory, otherwise the error of [`Device::driver_error`].
    pub(crate) fn allocation_error(&self, bytes: usize, error: DriverError) -> Error {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::OutOfMemory {
                number: self.properties.number,
                bytes: bytes as u64,
                free: self.free_memory().unwrap_or(0),
            },
            _ => self.driver_error("allocate memory", error),
        }
    }

    /// Returns the error of an allocation of `bytes` bytes of pinned memory. The driver reports a
    /// lack of memory of the machine as it does one of the device.
    pub(crate) fn pinning_error(&self, bytes: usize, error: DriverError) -> Error {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                Error::PinnedMemory { number: self.properties.number, bytes: bytes as u64 }
            }
            _ => self.driver_error("pin memory of this machine", error),
        }
    }
}

fn attribute(context: &CudaContext, name: Attribute) -> std::result::Result<u32, DriverError> {
    context.attribute(name).map(|value| value as u32)
}

/// Returns the name and the text of a driver's error.
pub(crate) fn describe_error(error: DriverError) -> String {
    match (error.error_name(), error.error_string()) {
        (Ok(name), Ok(text)) => format!("{}: {}", name.to_string_lossy(), text.to_string_lossy()),
        _ => format!("error {}", error.0 as u32),
    }
}

/// Returns the error of a call that failed to do `action`. Any call can find the memory full, not
/// only an allocation.
fn driver_error(number: u32, action: &'static str, error: DriverError) -> Error {
    match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::FullMemory { number, action },
        _ => Error::Refused { number, action, reason: describe_error(error) },
    }
}

/// A queue of work on a device. Launches and copies return at once;
/// [`Stream::synchronize`] waits for them.
///
/// # Examples
///
/// Measuring the time of a copy:
///
/// ```
/// use miriam_gpu::{Device, Result};
///
/// fn copy_ms(device: &Device) -> Result<f32> {
///     let stream = device.new_stream()?;
///     let mut on_host = stream.alloc_pinned::<f32>(1000)?;
///     let mut on_device = stream.alloc_zeros::<f32>(1000)?;
///     let start = stream.record_event()?;
///     stream.upload(&mut on_host, 1000, &mut on_device, 0)?;
///     let end = stream.record_event()?;
///     stream.synchronize()?;
///     end.elapsed_ms_since(&start)
/// }
///
/// if let Ok(device) = Device::open(0) {
///     assert!(copy_ms(&device)? >= 0.0);
/// }
/// # Ok::<(), miriam_gpu::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    pub(crate) device: Device,
    pub(crate) stream: Arc<CudaStream>,
}

impl Stream {
    /// Returns the device of this stream.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all work of this stream is done.
    ///
    /// # Errors
    ///
    /// If a launch or a copy failed.
    pub fn synchronize(&self) -> Result<()> {
        self.stream
            .synchronize()
            .map_err(|error| self.device.driver_error("complete its work", error))
    }

    /// Records an event, which is complete when all work that was queued before it is done.
    ///
    /// # Errors
    ///
    /// If the driver fails.
    pub fn record_event(&self) -> Result<Event> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT;
        let event = self.stream.record_event(Some(flags));
        Ok(Event {
            event: event.map_err(|error| self.device.driver_error("make an event", error))?,
            device: self.device.clone(),
        })
    }

    /// Asks the device to keep the first `bytes` of `buffer`, at most
    /// [`DeviceProperties::max_l2_window_bytes`], in the L2 cache while kernels of this stream read
    /// them. If `bytes` is more than the cache can set aside
    /// ([`DeviceProperties::max_persisting_l2_bytes`]), the device keeps the data of a random part
    /// of the accesses, as much as fits on average.
    ///
    /// # Errors
    ///
    /// If the driver refuses the window.
    pub fn persist_in_l2<T: Pod>(&self, buffer: &Buffer<T>, bytes: u64) -> Result<()> {
        let bytes =
            bytes.min(buffer.size_in_bytes()).min(self.device.properties().max_l2_window_bytes);
        let reserved = self.device.properties().max_persisting_l2_bytes;
        let window = sys::CUaccessPolicyWindow {
            base_ptr: buffer.address() as *mut _,
            num_bytes: bytes as usize,
            hitRatio: (reserved as f32 / bytes.max(1) as f32).min(1.0),
            hitProp: sys::CUaccessProperty::CU_ACCESS_PROPERTY_PERSISTING,
            missProp: sys::CUaccessProperty::CU_ACCESS_PROPERTY_STREAMING,
        };
        let value = sys::CUlaunchAttributeValue { accessPolicyWindow: window };
        let attribute = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
        let outcome = self.device.context.bind_to_thread().and_then(|()| {
            // SAFETY: the stream is alive. The value has the type of the attribute and is copied
            // before the call returns. The window is a hint about addresses: nothing is read
            // through it.
            unsafe { sys::cuStreamSetAttribute(self.stream.cu_stream(), attribute, &value) }
                .result()
        });
        outcome.map_err(|error| self.device.driver_error("keep data in its L2 cache", error))
    }
}

/// A point in time in the work of a stream.
pub struct Event {
    device: Device,
    event: CudaEvent,
}

impl Event {
    /// Returns the milliseconds from `earlier` to this event. Both must be complete.
    ///
    /// # Errors
    ///
    /// If one of them is not complete, or work before it failed.
    pub fn elapsed_ms_since(&self, earlier: &Event) -> Result<f32> {
        let elapsed = earlier.event.elapsed_ms(&self.event);
        elapsed.map_err(|error| self.device.driver_error("complete its work", error))
    }
}
