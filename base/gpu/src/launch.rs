//! Kernels and how they are called.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::{CudaContext, DevicePtr, DevicePtrMut, SyncOnDrop, sys};
use zerocopy::{Immutable, IntoBytes};

use crate::device::describe_error;
use crate::{Buffer, Device, Error, Pod, Result, Stream};

/// The code of a module, loaded.
struct LoadedModule {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
}

// SAFETY: the driver's calls on modules may come from any thread.
unsafe impl Send for LoadedModule {}
// SAFETY: as above; nothing here changes after loading.
unsafe impl Sync for LoadedModule {}

impl Drop for LoadedModule {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: the module was loaded in this context and is unloaded once;
            // every kernel of it holds the code, so none is left. A failure leaves
            // nothing to do.
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
    /// Loads the module that `ptx` is the text of.
    ///
    /// # Safety
    ///
    /// Every launch of the module's kernels that safe code can make must end, write only
    /// buffers given to [`Launch::write`], and read only buffers given to the launch or
    /// buffers that live longer and whose [`Buffer::address`] is in its values.
    ///
    /// # Errors
    ///
    /// [`Error::Module`] when the driver does not accept the text.
    pub unsafe fn load(&self, ptx: &str) -> Result<Module> {
        let text = CString::new(ptx).map_err(|_| self.module_error("it holds a zero".into()))?;
        let module = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the text ends in a zero and lives until the call returns.
            unsafe { result::module::load_data(text.as_ptr().cast()) }
        });
        let module = module.map_err(|error| self.module_error(describe_error(error)))?;
        let code = Arc::new(LoadedModule { context: Arc::clone(&self.context), module });
        Ok(Module { device: self.clone(), loaded: code })
    }

    fn module_error(&self, reason: String) -> Error {
        Error::Module { number: self.properties().number, reason }
    }
}

impl Module {
    /// The kernel `name`.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let no_kernel = |error: DriverError| {
            self.device.module_error(format!("{name}: {}", describe_error(error)))
        };
        let symbol = CString::new(name).expect("names of kernels have no zeros");
        self.device.context.bind_to_thread().map_err(no_kernel)?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.loaded.module, symbol) };
        let function = function.map_err(no_kernel)?;
        let mut sizes = Vec::new();
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function is of a loaded module, the pointers are to local
            // variables. Behind the last parameter it answers with an error.
            let asked =
                unsafe { sys::cuFuncGetParamInfo(function, sizes.len(), &mut offset, &mut size) };
            if asked.result().is_err() {
                break;
            }
            sizes.push(size);
        }
        Ok(Kernel {
            name: name.into(),
            function,
            parameter_sizes: sizes,
            loaded: Arc::clone(&self.loaded),
        })
    }
}

/// A kernel, ready to be called.
pub struct Kernel {
    name: String,
    function: sys::CUfunction,
    /// Bytes of each parameter.
    parameter_sizes: Vec<usize>,
    /// Stays loaded as long.
    #[expect(dead_code, reason = "owned, not looked at")]
    loaded: Arc<LoadedModule>,
}

// SAFETY: a function is a handle into its module's code, which is held and never
// changes; the driver's calls on it may come from any thread.
unsafe impl Send for Kernel {}
// SAFETY: as above.
unsafe impl Sync for Kernel {}

/// A call of a kernel being put together: its parameters in order.
pub struct Launch<'a> {
    stream: &'a Stream,
    kernel: &'a Kernel,
    parameters: Vec<Parameter<'a>>,
}

enum Parameter<'a> {
    Value(&'a [u8]),
    Address {
        address: u64,
        #[expect(dead_code, reason = "dropping it notes that the buffer is in use")]
        in_use: Option<SyncOnDrop<'a>>,
    },
}

impl Stream {
    /// Begins a call of `kernel`.
    pub fn launch<'a>(&'a self, kernel: &'a Kernel) -> Launch<'a> {
        Launch { stream: self, kernel, parameters: Vec::new() }
    }
}

impl<'a> Launch<'a> {
    /// A number or a record, as it is.
    pub fn value<T: IntoBytes + Immutable>(mut self, value: &'a T) -> Self {
        self.parameters.push(Parameter::Value(value.as_bytes()));
        self
    }

    /// The address of what the kernel reads.
    pub fn read<T: Pod>(mut self, buffer: &'a Buffer<T>) -> Self {
        let (address, record) = buffer.slice.device_ptr(&self.stream.stream);
        self.parameters.push(Parameter::Address { address, in_use: Some(record) });
        self
    }

    /// The address of what the kernel writes.
    pub fn write<T: Pod>(mut self, buffer: &'a mut Buffer<T>) -> Self {
        let (address, record) = buffer.slice.device_ptr_mut(&self.stream.stream);
        self.parameters.push(Parameter::Address { address, in_use: Some(record) });
        self
    }

    /// As [`Launch::read`], or no address.
    pub fn read_optional<T: Pod>(mut self, buffer: Option<&'a Buffer<T>>) -> Self {
        match buffer {
            Some(buffer) => self.read(buffer),
            None => {
                self.parameters.push(Parameter::Address { address: 0, in_use: None });
                self
            }
        }
    }

    /// As [`Launch::write`], or no address.
    pub fn write_optional<T: Pod>(mut self, buffer: Option<&'a mut Buffer<T>>) -> Self {
        match buffer {
            Some(buffer) => self.write(buffer),
            None => {
                self.parameters.push(Parameter::Address { address: 0, in_use: None });
                self
            }
        }
    }

    /// Asks for the call: `grid` blocks of `threads` threads each.
    ///
    /// Panics when the parameters are not as many and as large as the kernel's.
    pub fn run(self, grid: (u32, u32), threads: u32) -> Result<()> {
        let Launch { stream, kernel, mut parameters } = self;
        let sizes = parameters.iter().map(|parameter| match parameter {
            Parameter::Value(bytes) => bytes.len(),
            Parameter::Address { .. } => size_of::<u64>(),
        });
        let sizes: Vec<usize> = sizes.collect();
        assert_eq!(sizes, kernel.parameter_sizes, "parameters of {}", kernel.name);
        let mut pointers: Vec<*mut c_void> = parameters
            .iter_mut()
            .map(|parameter| match parameter {
                Parameter::Value(bytes) => bytes.as_ptr().cast_mut().cast(),
                Parameter::Address { address, .. } => std::ptr::from_mut(address).cast(),
            })
            .collect();
        let outcome = stream.device.context.bind_to_thread().and_then(|()| {
            // SAFETY: there are as many pointers as the kernel has parameters, each to
            // as many readable bytes, which the driver copies before it returns.
            // Buffers are kept from being freed by their records, which are dropped
            // below. What the kernel does with them was promised to `Device::load`.
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
        outcome.map_err(|error| stream.device.driver_error("run a kernel", error))
    }
}
