//! Kernel modules, kernels and their launches.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, SyncOnDrop, sys};
use zerocopy::{Immutable, IntoBytes};

use crate::device::describe_error;
use crate::{Buffer, Device, Error, Pod, Result, Stream};

/// The handle of a loaded module.
struct LoadedModule {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
}

// SAFETY: the driver's calls on modules may come from any thread.
unsafe impl Send for LoadedModule {}
// SAFETY: as for `Send`; besides, a loaded module does not change.
unsafe impl Sync for LoadedModule {}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the module was loaded in this context and is unloaded once. Each of its
            // kernels holds a reference, so none outlives it. A failure cannot be handled here.
            let _ = unsafe { result::module::unload(self.module) };
        }
    }
}

/// A module of kernels on a device.
pub struct Module {
    device: Device,
    loaded: Arc<LoadedModule>,
}

impl Device {
    /// Loads a module from its PTX text.
    ///
    /// # Safety
    ///
    /// Every launch of the module's kernels that safe code can make must
    /// - end;
    /// - write only to buffers that are passed by [`Launch::write`] or [`Launch::in_order`];
    /// - read only from buffers that are passed to the launch, or that outlive it and whose
    ///   [`Buffer::address`] is among its values or in its buffers.
    ///
    /// # Errors
    ///
    /// [`Error::Module`] if the text has a NUL byte or the driver does not accept it,
    /// [`Error::FullMemory`] if there is no memory left for the kernels.
    pub unsafe fn load(&self, ptx: &str) -> Result<Module> {
        let text = CString::new(ptx)
            .map_err(|_| self.module_error("their PTX text has a NUL byte".into()))?;
        let module = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the text ends in a zero and lives until the call returns.
            unsafe { result::module::load_data(text.as_ptr().cast()) }
        });
        let module = module.map_err(|error| self.load_error("", error))?;
        let loaded = Arc::new(LoadedModule { context: Arc::clone(&self.context), module });
        Ok(Module { device: self.clone(), loaded })
    }

    /// Returns the error of loading kernels. Its reason begins with `prefix`.
    fn load_error(&self, prefix: &str, error: DriverError) -> Error {
        match error.0 {
            sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => self.driver_error("load the kernels", error),
            _ => self.module_error(format!("{prefix}{}", describe_error(error))),
        }
    }

    fn module_error(&self, reason: String) -> Error {
        Error::Module { number: self.properties().number, reason }
    }
}

impl Module {
    /// Returns the kernel `name`.
    ///
    /// # Errors
    ///
    /// [`Error::Module`] if the module has no kernel of this name, [`Error::FullMemory`] if there
    /// is no memory left for it.
    ///
    /// # Panics
    ///
    /// When `name` has a NUL byte.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let symbol = CString::new(name).expect("names of kernels have no NUL bytes");
        let function = self.device.context.bind_to_thread().and_then(|()| {
            // SAFETY: the module is loaded.
            unsafe { result::module::get_function(self.loaded.module, symbol) }
        });
        let function =
            function.map_err(|error| self.device.load_error(&format!("{name}: "), error))?;
        let parameter_sizes = parameter_sizes(function)
            .map_err(|error| self.device.load_error(&format!("parameters of {name}: "), error))?;
        Ok(Kernel {
            name: name.into(),
            function,
            parameter_sizes,
            loaded: Arc::clone(&self.loaded),
        })
    }
}

/// Returns the size in bytes of each parameter of a kernel, whose module must be loaded.
fn parameter_sizes(function: sys::CUfunction) -> Result<Vec<usize>, DriverError> {
    let mut sizes = Vec::new();
    loop {
        let mut offset = 0;
        let mut size = 0;
        let number = sizes.len();
        // SAFETY: the function is of a loaded module, and the pointers are to local variables.
        let outcome = unsafe { sys::cuFuncGetParamInfo(function, number, &mut offset, &mut size) };
        match outcome.result() {
            Ok(()) => sizes.push(size),
            // There is no parameter of this number.
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_INVALID_VALUE => return Ok(sizes),
            Err(error) => return Err(error),
        }
    }
}

/// A kernel, ready to be launched.
pub struct Kernel {
    name: String,
    function: sys::CUfunction,
    /// Bytes of each parameter.
    parameter_sizes: Vec<usize>,
    /// Keeps the module loaded.
    #[expect(dead_code, reason = "owned, not read")]
    loaded: Arc<LoadedModule>,
}

// SAFETY: a function is a handle into its module, which stays loaded and never changes. The
// driver's calls on it may come from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// A launch being built: the kernel's parameters in order.
///
/// # Examples
///
/// A kernel whose threads each write a number:
///
/// ```no_run
/// use miriam_gpu::Device;
///
/// const FILL: &str = "
/// .version 8.4
/// .target sm_75
/// .address_size 64
/// .visible .entry fill(.param .u64 numbers, .param .u32 value)
/// {
///     .reg .b64 %address;
///     .reg .b32 %value, %thread;
///     ld.param.u64 %address, [numbers];
///     ld.param.u32 %value, [value];
///     mov.u32 %thread, %tid.x;
///     mad.wide.u32 %address, %thread, 4, %address;
///     st.global.u32 [%address], %value;
///     ret;
/// }";
///
/// let device = Device::open(0)?;
/// let stream = device.new_stream()?;
/// // SAFETY: each thread of the one block writes one number, and the only launch has as
/// // many threads as the buffer has numbers.
/// let module = unsafe { device.load(FILL) }?;
/// let fill = module.kernel("fill")?;
/// let mut numbers = stream.alloc_zeros::<u32>(32)?;
/// stream.launch(&fill).write(&mut numbers).value(&7u32).run((1, 1), 32)?;
/// let mut copy = stream.alloc_pinned::<u32>(32)?;
/// stream.download(&numbers, 32, &mut copy)?;
/// assert_eq!(copy.get()?, [7; 32]);
/// # Ok::<(), miriam_gpu::Error>(())
/// ```
pub struct Launch<'a> {
    stream: &'a Stream,
    kernel: &'a Kernel,
    parameters: Vec<Parameter<'a>>,
}

enum Parameter<'a> {
    Value(&'a [u8]),
    Address {
        address: u64,
        #[expect(dead_code, reason = "dropping it records that the buffer is in use")]
        in_use: Option<SyncOnDrop<'a>>,
    },
}

impl Stream {
    /// Begins a launch of `kernel` on this stream.
    pub fn launch<'a>(&'a self, kernel: &'a Kernel) -> Launch<'a> {
        Launch { stream: self, kernel, parameters: Vec::new() }
    }
}

impl<'a> Launch<'a> {
    /// Passes a number or a struct by value.
    pub fn value<T: IntoBytes + Immutable>(mut self, value: &'a T) -> Self {
        self.parameters.push(Parameter::Value(value.as_bytes()));
        self
    }

    /// Passes the address of a buffer that the kernel reads.
    pub fn read<T: Pod>(mut self, buffer: &'a Buffer<T>) -> Self {
        let (address, in_use) = buffer.slice.device_ptr(&self.stream.stream);
        self.parameters.push(Parameter::Address { address, in_use: Some(in_use) });
        self
    }

    /// Passes the address of a buffer that the kernel writes.
    pub fn write<T: Pod>(mut self, buffer: &'a mut Buffer<T>) -> Self {
        let (address, in_use) = buffer.slice.device_ptr_mut(&self.stream.stream);
        self.parameters.push(Parameter::Address { address, in_use: Some(in_use) });
        self
    }

    /// Passes the address of element `first` of a buffer of this stream; the kernel reads or writes
    /// from there on. This is faster than [`Launch::read`] and [`Launch::write`]: a stream runs its
    /// work and releases its buffers in order, so the use of the buffer is not recorded.
    ///
    /// # Panics
    ///
    /// When the buffer was allocated on another stream, or `first` is larger than its length.
    pub fn in_order<T: Pod>(mut self, buffer: &'a Buffer<T>, first: usize) -> Self {
        assert!(buffer.belongs_to(&self.stream.stream), "the buffer is of another stream");
        assert!(first <= buffer.len(), "element {first} of a buffer of {}", buffer.len());
        let address = buffer.address() + (first * size_of::<T>()) as u64;
        self.parameters.push(Parameter::Address { address, in_use: None });
        self
    }

    /// Works like [`Launch::in_order`]; `None` passes a null address.
    pub fn in_order_optional<T: Pod>(self, buffer: Option<(&'a Buffer<T>, usize)>) -> Self {
        match buffer {
            Some((buffer, first)) => self.in_order(buffer, first),
            None => self.null(),
        }
    }

    fn null(mut self) -> Self {
        self.parameters.push(Parameter::Address { address: 0, in_use: None });
        self
    }

    /// Works like [`Launch::read`]; `None` passes a null address.
    pub fn read_optional<T: Pod>(self, buffer: Option<&'a Buffer<T>>) -> Self {
        match buffer {
            Some(buffer) => self.read(buffer),
            None => self.null(),
        }
    }

    /// Works like [`Launch::write`]; `None` passes a null address.
    pub fn write_optional<T: Pod>(self, buffer: Option<&'a mut Buffer<T>>) -> Self {
        match buffer {
            Some(buffer) => self.write(buffer),
            None => self.null(),
        }
    }

    /// Queues the launch: a grid of `(x, y)` blocks of `threads` threads each.
    ///
    /// # Errors
    ///
    /// If the driver refuses the launch. Failures of the kernel itself are reported by
    /// [`Stream::synchronize`].
    ///
    /// # Panics
    ///
    /// When the number or the sizes of the parameters do not match the kernel.
    pub fn run(self, grid: (u32, u32), threads: u32) -> Result<()> {
        let Launch { stream, kernel, mut parameters } = self;
        let sizes: Vec<usize> = parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Value(bytes) => bytes.len(),
                Parameter::Address { .. } => size_of::<u64>(),
            })
            .collect();
        assert_eq!(sizes, kernel.parameter_sizes, "parameters of {}", kernel.name);
        let mut pointers: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|parameter| match parameter {
                Parameter::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                Parameter::Address { address, .. } => std::ptr::from_mut(address).cast(),
            })
            .collect();
        let outcome = stream.device.context.bind_to_thread().and_then(|()| {
            // SAFETY: each parameter of the kernel has a pointer to readable bytes of its size, as
            // checked above. The driver copies them before it returns. Buffers are not freed before
            // the kernel ends: dropping `parameters` below records their use, and buffers of
            // `in_order` are released on this stream. The caller of `Device::load` guarantees what
            // the kernel does with them.
            unsafe {
                result::launch_kernel(
                    kernel.function,
                    (grid.0, grid.1, 1),
                    (threads, 1, 1),
                    0,
                    stream.stream.cu_stream(),
                    &mut pointers,
                )
            }
        });
        drop(parameters);
        outcome.map_err(|error| stream.device.driver_error("launch a kernel", error))
    }
}
