//! Lower bounds of decoding time on GPUs, computed from the shapes of matrices (roofline model).
//!
//! A backend whose tensors are shapes runs the layers of a model in the usual session. It adds up
//! the kernel launches, bytes and operations of each layer, as if each number were read and written
//! once. With the memory bandwidth and the peak rates of a GPU, these give a lower bound of the
//! time.

mod backend;
mod loader;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use miriam_nmt::Result;
use miriam_nmt::architecture::Model;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::{HypothesisRow, Network, TopK};

use backend::ShapeDevice;
use loader::ShapeLoader;

/// The work of the launches of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct KernelWork {
    /// The number of launches.
    pub launches: usize,
    /// The number of elements read and written.
    pub numbers: f64,
    /// Operations of GEMM; a multiplication and an addition are two.
    pub product_operations: f64,
    /// Other operations.
    pub other_operations: f64,
}

impl KernelWork {
    /// Returns the bytes read and written, with `size` bytes for a number.
    pub fn bytes(&self, size: f64) -> f64 {
        self.numbers * size
    }

    /// Returns the number of operations.
    pub fn operations(&self) -> f64 {
        self.product_operations + self.other_operations
    }

    fn add(&mut self, other: &KernelWork) {
        self.launches += other.launches;
        self.numbers += other.numbers;
        self.product_operations += other.product_operations;
        self.other_operations += other.other_operations;
    }
}

/// The peak rates of a GPU in a precision. Operations are counted as in [`KernelWork`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// The name in tables.
    pub name: &'static str,
    bytes_per_number: f64,
    bytes_per_second: f64,
    products_per_second: f64,
    others_per_second: f64,
}

/// The GPUs for which lower bounds are computed: an H100 in f32 and with tensor cores in bf16
/// (measured rates), and a T4 in f32.
pub const ROOFLINES: [Roofline; 3] = [
    Roofline {
        name: "h100_f32",
        bytes_per_number: 4.0,
        bytes_per_second: 3.0e12,
        products_per_second: 67e12,
        others_per_second: 67e12,
    },
    Roofline {
        name: "h100_bf16",
        bytes_per_number: 2.0,
        bytes_per_second: 3.0e12,
        products_per_second: 800e12,
        others_per_second: 67e12,
    },
    Roofline {
        name: "t4_f32",
        bytes_per_number: 4.0,
        bytes_per_second: 320e9,
        products_per_second: 8.1e12,
        others_per_second: 8.1e12,
    },
];

impl Roofline {
    /// Returns the lower bound of the time of the work, in seconds.
    pub fn floor(&self, work: &KernelWork) -> f64 {
        let memory = work.bytes(self.bytes_per_number) / self.bytes_per_second;
        let units = work.product_operations / self.products_per_second
            + work.other_operations / self.others_per_second;
        memory.max(units)
    }
}

/// The work of each kernel, by its name.
pub type WorkByKernel = BTreeMap<&'static str, KernelWork>;

/// Returns the sum of the lower bounds of kernels, which run one after the other.
pub fn total_floor(roofline: &Roofline, kernels: &WorkByKernel) -> f64 {
    kernels.values().map(|work| roofline.floor(work)).sum()
}

/// A model whose layers compute only shapes, and count the work of computing the numbers.
pub struct ShapeModel {
    network: Network,
    work: Arc<Mutex<WorkByKernel>>,
}

/// The work of a batch: encoding, and a step in the middle of the translations.
pub struct BatchWork {
    /// The encoder.
    pub encoder: WorkByKernel,
    /// The step, with the output layer.
    pub step: WorkByKernel,
}

/// The sizes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSizes {
    /// The number of sentences of the batch.
    pub sentences: usize,
    /// The number of hypotheses per sentence.
    pub beam: usize,
    /// The number of tokens of each source.
    pub source_length: usize,
    /// The number of tokens of each hypothesis before the step.
    pub history: usize,
}

impl ShapeModel {
    /// Reads the shapes of `model`; `path` names it in messages.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new(model: &Model, path: &Path) -> Result<Self> {
        let work = Arc::<Mutex<WorkByKernel>>::default();
        let device = ShapeDevice::new(&work);
        let mut loader = ShapeLoader::new(model, path);
        let network = Network::load_on(device, &mut loader, model, path, &Speedups::default())?;
        Ok(ShapeModel { network, work })
    }

    /// Returns the work of a batch.
    ///
    /// # Errors
    /// If the vocabulary lacks token 1, of which the sentences consist.
    pub fn work(&self, sizes: StepSizes) -> Result<BatchWork> {
        let StepSizes { sentences, beam, source_length, history } = sizes;
        let mut session = self.network.session()?;
        self.take_work();
        let source = vec![1; source_length];
        let slots = session.begin(&vec![&source[..]; sentences], None)?;
        let encoder = self.take_work();
        for time in 0..=history {
            self.take_work();
            let rows = slots.iter().flat_map(|&slot| (0..beam).map(move |_| slot));
            let rows: Vec<HypothesisRow> = (0..)
                .zip(rows)
                .map(|(row, slot)| HypothesisRow {
                    slot,
                    parent: (time > 0).then_some(row),
                    token: (time > 0).then_some(1),
                })
                .collect();
            session.step(&rows)?;
        }
        session.topk(&mut vec![TopK::new(beam, true); sentences * beam])?;
        Ok(BatchWork { encoder, step: self.take_work() })
    }

    fn take_work(&self) -> WorkByKernel {
        std::mem::take(&mut *self.work.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }
}

#[cfg(test)]
mod tests {
    use miriam_nmt::architecture::{Architecture, CellKind};

    use super::super::super::random_models::{
        random_model_without_eos, recurrent_shape, transformer_of_width,
    };
    use super::*;

    const SIZES: StepSizes = StepSizes { sentences: 3, beam: 2, source_length: 5, history: 4 };

    fn step(architecture: Architecture) -> WorkByKernel {
        let model = random_model_without_eos(architecture, 1).unwrap();
        ShapeModel::new(&model, Path::new("random")).unwrap().work(SIZES).unwrap().step
    }

    /// The operations of GEMM were computed by hand: width 16, feed-forward width 24, one layer, 50
    /// tokens, 6 rows.
    #[test]
    fn products_of_a_transformer_are_those_of_its_matrices() {
        let shape = transformer_of_width(16, 24, [1, 1], 50);
        let work = step(Architecture::Transformer(shape));
        let matrices = 16 * 48 + 16 * 16 + 16 * 16 + 16 * 16 + 2 * 16 * 24 + 16 * 50;
        assert_eq!(work["product"].launches, 7);
        assert_eq!(work["product"].product_operations, (2 * 6 * matrices) as f64);
        // Attention to five positions of the target and to five of the source.
        assert_eq!(work["attend"].launches, 2);
        assert_eq!(work["attend"].product_operations, (2 * 6 * (5 + 5) * 32) as f64);
        assert!(ROOFLINES.iter().all(|roofline| total_floor(roofline, &work) > 0.0));
    }

    #[test]
    fn every_cell_has_its_kernel() {
        for (cell, kernel) in [(CellKind::Gru, "gru"), (CellKind::Mlstm, "lstm_cell")] {
            let shape = recurrent_shape(cell, 16, 50);
            let work = step(Architecture::Recurrent(shape));
            assert!(work.contains_key(kernel), "{work:?}");
            assert_eq!(work["attend"].launches, 1);
        }
    }

    #[test]
    fn a_floor_is_the_longer_of_memory_and_compute_time() {
        let [h100, bf16, t4] = ROOFLINES;
        let few = KernelWork { launches: 1, numbers: 3e9, ..KernelWork::default() };
        assert_eq!([h100.floor(&few), bf16.floor(&few)], [4e-3, 2e-3]);
        let many = KernelWork { product_operations: 8.1e12, ..few };
        assert_eq!(t4.floor(&many), 1.0);
    }
}
