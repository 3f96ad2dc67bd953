//! State of the emulated driver: memory, streams with their work, events, modules.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use miriam_ptx::{Grid, Kernel, Memory, Module};

/// Memory of the host that work reads or writes later. The caller of the driver guarantees that it
/// lives until the work is done, as CUDA demands of pinned memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory {
    pub address: usize,
    pub length: usize,
}

impl HostMemory {
    /// Returns the current bytes.
    #[expect(unsafe_code, reason = "memory of the driver's caller")]
    fn read(self) -> Vec<u8> {
        // SAFETY: the caller of the copy promises `length` readable bytes until it is done.
        unsafe { std::slice::from_raw_parts(self.address as *const u8, self.length) }.to_vec()
    }

    #[expect(unsafe_code, reason = "memory of the driver's caller")]
    fn write(self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.length);
        // SAFETY: the caller of the copy promises `length` writable bytes, which nothing else reads
        // or writes until the copy is done.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.address as *mut u8, bytes.len());
        }
    }
}

/// Work on a stream.
#[derive(Debug)]
pub(crate) enum Work {
    /// Writes `value` `count` times, one after the other.
    Fill {
        address: u64,
        value: Vec<u8>,
        count: usize,
    },
    /// Copies between buffers of the device.
    Copy {
        to: u64,
        from: u64,
        length: usize,
    },
    Upload {
        address: u64,
        bytes: Vec<u8>,
    },
    /// Copies from pinned memory, which is read only when the copy is performed.
    UploadPinned {
        address: u64,
        from: HostMemory,
    },
    Download {
        address: u64,
        to: HostMemory,
    },
    Release {
        address: u64,
    },
    Launch {
        function: Arc<Function>,
        grid: Grid,
        parameters: Vec<u8>,
    },
    Record {
        event: usize,
        number: u64,
    },
    Wait {
        event: usize,
        number: u64,
    },
}

/// A kernel that a caller has a handle of.
#[derive(Debug)]
pub(crate) struct Function {
    module: Arc<Module>,
    name: String,
    /// The handle of the module.
    owner: usize,
}

impl Function {
    pub fn kernel(&self) -> &Kernel {
        self.module.kernel(&self.name).expect("it was found")
    }
}

/// The number of records of an event, and the number of records that are done.
#[derive(Clone, Copy, Debug, Default)]
struct Event {
    recorded: u64,
    done: u64,
}

#[derive(Debug)]
pub(crate) struct Driver {
    pub memory: Memory,
    /// The number of kernels that run before the device is lost.
    pub launches_left: u64,
    /// Whether a kernel has failed. Nothing is done from then on.
    pub is_lost: bool,
    streams: BTreeMap<usize, VecDeque<Work>>,
    events: BTreeMap<usize, Event>,
    modules: BTreeMap<usize, Arc<Module>>,
    /// The parsed modules by their text, because the same module is loaded for many models.
    parsed: HashMap<String, Arc<Module>>,
    functions: BTreeMap<usize, Arc<Function>>,
    /// By function, the bytes of dynamic shared memory that a launch may have, if they were set.
    max_shared: BTreeMap<usize, usize>,
    /// The lengths of pinned memory by address.
    pub pinned: BTreeMap<usize, usize>,
    next_handle: usize,
    random: u64,
}

impl Driver {
    pub fn new(memory: u64, seed: u64) -> Self {
        Driver {
            memory: Memory::new(memory),
            launches_left: u64::MAX,
            is_lost: false,
            streams: BTreeMap::new(),
            events: BTreeMap::new(),
            modules: BTreeMap::new(),
            parsed: HashMap::new(),
            functions: BTreeMap::new(),
            max_shared: BTreeMap::new(),
            pinned: BTreeMap::new(),
            // No handle is null.
            next_handle: 16,
            random: seed,
        }
    }

    pub fn new_handle(&mut self) -> usize {
        self.next_handle += 16;
        self.next_handle
    }

    /// Returns a pseudo-random number (SplitMix64).
    pub fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn push(&mut self, stream: usize, work: Work) {
        if !self.is_lost {
            self.streams.entry(stream).or_default().push_back(work);
        }
    }

    /// Drops all work: the device is lost.
    fn lose(&mut self) {
        self.is_lost = true;
        self.streams.clear();
    }

    pub fn record(&mut self, event: usize, stream: usize) {
        let state = self.events.entry(event).or_default();
        state.recorded += 1;
        let number = state.recorded;
        self.push(stream, Work::Record { event, number });
    }

    /// Makes later work on `stream` wait for the last record of `event`.
    pub fn wait_on_stream(&mut self, stream: usize, event: usize) {
        let number = self.events.entry(event).or_default().recorded;
        self.push(stream, Work::Wait { event, number });
    }

    pub fn is_event_done(&self, event: usize) -> bool {
        self.events.get(&event).is_none_or(|event| event.done >= event.recorded)
    }

    /// Performs work until `event` is done.
    pub fn finish_event(&mut self, event: usize) {
        while !self.is_lost && !self.is_event_done(event) {
            self.do_some();
        }
    }

    /// Performs work until `stream` has none.
    pub fn finish_stream(&mut self, stream: usize) {
        while self.streams.get(&stream).is_some_and(|queue| !queue.is_empty()) {
            self.do_some();
        }
    }

    /// Performs all work.
    pub fn finish(&mut self) {
        while self.streams.values().any(|queue| !queue.is_empty()) {
            self.do_some();
        }
    }

    /// Performs the first work of a stream that need not wait; ends the process at a fault.
    pub fn do_some(&mut self) {
        if let Err(reason) = self.try_some() {
            fail(&reason);
        }
    }

    /// Performs the first work of a stream that need not wait, or returns the reason of a fault.
    fn try_some(&mut self) -> Result<(), String> {
        let ready: Vec<usize> = self
            .streams
            .iter()
            .filter(|(_, queue)| match queue.front() {
                None => false,
                Some(Work::Wait { event, number }) => self.events[event].done >= *number,
                Some(_) => true,
            })
            .map(|(&stream, _)| stream)
            .collect();
        if ready.is_empty() {
            return Err("all streams wait for events that are not recorded".to_owned());
        }
        let chosen = ready[(self.random() % ready.len() as u64) as usize];
        let work = self.streams.get_mut(&chosen).and_then(VecDeque::pop_front);
        self.perform(work.expect("it is ready"))
    }

    fn perform(&mut self, work: Work) -> Result<(), String> {
        let outcome = match work {
            Work::Fill { address, value, count } => {
                self.memory.write(address, &value.repeat(count))
            }
            Work::Copy { to, from, length } => self.memory.copy(to, from, length),
            Work::Upload { address, bytes } => self.memory.write(address, &bytes),
            Work::UploadPinned { address, from } => self.memory.write(address, &from.read()),
            Work::Download { address, to } => {
                self.memory.read(address, to.length).map(|bytes| to.write(bytes))
            }
            Work::Release { address } => self.memory.release(address),
            Work::Launch { .. } if self.launches_left == 0 => {
                self.lose();
                Ok(())
            }
            Work::Launch { function, mut grid, parameters } => {
                self.launches_left -= 1;
                grid.seed = self.random();
                function.kernel().run(&grid, &parameters, &mut self.memory).map(drop)
            }
            Work::Record { event, number } => {
                let state = self.events.get_mut(&event).expect("it was recorded");
                state.done = state.done.max(number);
                Ok(())
            }
            Work::Wait { .. } => Ok(()),
        };
        outcome.map_err(|fault| fault.to_string())
    }

    /// Loads a module, or returns the reason why its text is not supported.
    pub fn load(&mut self, text: &str) -> Result<usize, String> {
        let module = match self.parsed.get(text) {
            Some(module) => Arc::clone(module),
            None => {
                let module = Arc::new(Module::parse(text).map_err(|fault| fault.to_string())?);
                self.parsed.insert(text.to_owned(), Arc::clone(&module));
                module
            }
        };
        let handle = self.new_handle();
        self.modules.insert(handle, module);
        Ok(handle)
    }

    /// Unloads a module after all work; its kernels cannot be launched afterwards.
    pub fn unload(&mut self, module: usize) {
        self.finish();
        if self.modules.remove(&module).is_none() {
            fail("a module is unloaded, but it is not loaded");
        }
        self.functions.retain(|_, function| function.owner != module);
    }

    /// Returns the kernel with this handle; ends the process if its module is not loaded.
    pub fn loaded_function(&self, handle: usize) -> Arc<Function> {
        let function = self.functions.get(&handle).cloned();
        function.unwrap_or_else(|| fail("a kernel is used, but its module is not loaded"))
    }

    /// Returns the largest number of bytes of dynamic shared memory in a launch of `function`:
    /// `default` unless it was set.
    pub fn max_shared(&self, function: usize, default: usize) -> usize {
        self.max_shared.get(&function).copied().unwrap_or(default)
    }

    pub fn set_max_shared(&mut self, function: usize, bytes: usize) {
        self.max_shared.insert(function, bytes);
    }

    /// Returns the handle of a module's kernel.
    pub fn function(&mut self, module: usize, name: &str) -> Option<usize> {
        let (owner, module) = (module, Arc::clone(self.modules.get(&module)?));
        module.kernel(name)?;
        let handle = self.new_handle();
        let function = Function { module, name: name.to_owned(), owner };
        self.functions.insert(handle, Arc::new(function));
        Some(handle)
    }
}

/// Prints the reason and ends the process, because results after a fault mean nothing.
pub(crate) fn fail(reason: &str) -> ! {
    eprintln!("emulated GPU: {reason}");
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: std::ops::Range<u64> = 0..20;

    /// Writes a buffer on one stream and reads it on another; with or without a wait between.
    fn copy_across_streams(waits: bool, seed: u64) -> Result<Vec<u8>, String> {
        let mut driver = Driver::new(1 << 20, seed);
        let address = driver.memory.allocate(4).unwrap();
        let [writer, reader, event] = std::array::from_fn(|_| driver.new_handle());
        driver.push(writer, Work::Upload { address, bytes: vec![1, 2, 3, 4] });
        driver.record(event, writer);
        if waits {
            driver.wait_on_stream(reader, event);
        }
        let mut read = vec![0u8; 4];
        let to = HostMemory { address: read.as_mut_ptr().expose_provenance(), length: 4 };
        driver.push(reader, Work::Download { address, to });
        while driver.streams.values().any(|queue| !queue.is_empty()) {
            driver.try_some()?;
        }
        Ok(read)
    }

    #[test]
    fn streams_wait_for_events() {
        for seed in SEEDS {
            assert_eq!(copy_across_streams(true, seed), Ok(vec![1, 2, 3, 4]));
        }
    }

    #[test]
    fn a_missing_wait_is_found() {
        let found: Vec<_> = SEEDS.map(|seed| copy_across_streams(false, seed)).collect();
        let is_fault = |outcome: &&Result<_, String>| {
            outcome.as_ref().is_err_and(|reason| reason.contains("which was not written"))
        };
        assert!(found.iter().any(|outcome| is_fault(&outcome)), "{found:?}");
    }

    #[test]
    fn a_wait_for_an_event_that_never_comes_is_a_fault() {
        let mut driver = Driver::new(1 << 20, 1);
        driver.push(32, Work::Wait { event: 48, number: 1 });
        driver.events.insert(48, Event { recorded: 1, done: 0 });
        assert!(driver.try_some().unwrap_err().contains("all streams wait"));
    }

    /// Neither the failing kernel nor later work is performed, whatever is waited for.
    #[test]
    fn a_lost_device_does_nothing() {
        let mut driver = Driver::new(1 << 10, 1);
        driver.launches_left = 1;
        let address = driver.memory.allocate(4).unwrap();
        let text = ".visible .entry k(.param .u64 out) {
                .reg .b32 %r<3>; .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [%rd1];
                add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2; ret;
            }";
        let module = driver.load(text).unwrap();
        let function = driver.function(module, "k").unwrap();
        let (stream, event) = (driver.new_handle(), driver.new_handle());
        driver.push(stream, Work::Upload { address, bytes: vec![5, 0, 0, 0] });
        for _ in 0..2 {
            let function = driver.loaded_function(function);
            let parameters = address.to_le_bytes().to_vec();
            driver.push(stream, Work::Launch { function, grid: Grid::default(), parameters });
        }
        driver.push(stream, Work::Upload { address, bytes: vec![9, 0, 0, 0] });
        driver.record(event, stream);
        driver.finish_stream(stream);
        assert!(driver.is_lost);
        driver.finish_event(event);
        driver.finish();
        assert_eq!(driver.memory.read(address, 4).unwrap(), [6, 0, 0, 0]);
    }

    #[test]
    fn memory_is_released_once_and_not_read_afterwards() {
        let mut driver = Driver::new(16, 1);
        let address = driver.memory.allocate(16).unwrap();
        assert!(driver.memory.allocate(1).unwrap_err().to_string().contains("out of memory"));
        driver.push(32, Work::Fill { address, value: vec![7], count: 16 });
        driver.push(32, Work::Release { address });
        driver.push(32, Work::Release { address });
        assert_eq!([driver.try_some(), driver.try_some()], [Ok(()), Ok(())]);
        assert!(driver.try_some().unwrap_err().contains("no buffer begins"));
        assert!(driver.memory.read(address, 1).is_err());
    }

    #[test]
    fn buffers_are_filled_with_words_and_copied() {
        let mut driver = Driver::new(1 << 10, 1);
        let [from, to] = [0; 2].map(|_| driver.memory.allocate(12).unwrap());
        let value = 0x0102_0304u32.to_le_bytes().to_vec();
        driver.push(32, Work::Fill { address: from, value, count: 2 });
        driver.push(32, Work::Copy { to: to + 4, from, length: 8 });
        driver.finish();
        assert_eq!(driver.memory.read(to + 4, 8).unwrap(), [4, 3, 2, 1, 4, 3, 2, 1]);
        // Bytes that were not written still count as not written after a copy.
        driver.memory.copy(to, from + 8, 4).unwrap();
        assert!(driver.memory.read(to, 4).is_err());
        driver.push(32, Work::Copy { to: to + 8, from, length: 8 });
        assert!(driver.try_some().unwrap_err().contains("of a buffer of 12 bytes"));
    }

    #[test]
    fn launches_have_blocks_along_z_and_shared_memory() {
        let text = ".extern .shared .align 4 .b8 tile[];
            .visible .entry k(.param .u64 out) {
                .reg .b32 %r<9>; .reg .b64 %rd<3>;
                ld.param.u64 %rd1, [out]; mov.u32 %r1, tile; mov.u32 %r2, %ctaid.z;
                st.shared.u32 [%r1+12], %r2; ld.shared.u32 %r3, [%r1+12];
                mov.u32 %r4, %nctaid.z; mul.lo.u32 %r5, %r3, %r4;
                mad.wide.u32 %rd2, %r2, 4, %rd1; st.global.u32 [%rd2], %r5; ret;
            }";
        let mut driver = Driver::new(1 << 10, 1);
        let address = driver.memory.allocate(12).unwrap();
        let module = driver.load(text).unwrap();
        let function = driver.function(module, "k").unwrap();
        let mut launch = |shared_bytes| {
            let function = driver.loaded_function(function);
            let grid = Grid { blocks: [1, 1, 3], shared_bytes, ..Grid::default() };
            let parameters = address.to_le_bytes().to_vec();
            driver.push(32, Work::Launch { function, grid, parameters });
            let outcome = driver.try_some();
            outcome.map(|()| driver.memory.read(address, 12).unwrap().to_vec())
        };
        assert_eq!(launch(16).unwrap(), [0, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0]);
        assert!(launch(12).unwrap_err().contains("of dynamic shared memory of 12 bytes"));
    }

    /// The same text is parsed once, but each load has kernels of its own.
    #[test]
    fn kernels_go_with_their_module() {
        let mut driver = Driver::new(1 << 10, 1);
        let [first, second] = [0; 2].map(|_| driver.load(".visible .entry k() { ret; }").unwrap());
        let [removed, kept] = [first, second].map(|module| driver.function(module, "k").unwrap());
        driver.unload(first);
        assert!(!driver.functions.contains_key(&removed));
        assert_eq!(driver.loaded_function(kept).name, "k");
        assert_eq!(driver.function(first, "k"), None);
    }
}
