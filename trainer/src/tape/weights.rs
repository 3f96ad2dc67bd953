//! Parameters of layers as places in the flat vector, and their packed values.
//!
//! Layers hold ids, which refer to a [`WeightRegistry`] that is made when the layers are loaded.
//! The values are [`PackedParameters`], which are rebuilt after every update and shared by all
//! workers.

use std::ops::Range;

use miriam_kernels::MatRef;

use crate::Real;
use crate::kernels::{Kernels, WeightPart, Weights};
use crate::parameters::ParameterLayout;

/// Weights of a matrix product in a [`WeightRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AffineId(pub(super) u32);

/// A vector in a [`WeightRegistry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VectorId(pub(super) u32);

/// The position and the shape of a matrix in the flat vector of all parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixPlace {
    /// The index of its first number.
    pub offset: usize,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

impl MatrixPlace {
    /// Returns its range in the flat vector.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.rows * self.columns
    }

    fn view<'a, R>(&self, values: &'a [R]) -> MatRef<'a, R> {
        MatRef::new(&values[self.range()], self.rows, self.columns)
    }
}

/// Weights of a matrix product: matrices with the same inputs, their outputs side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AffineSpec {
    pub parts: Vec<MatrixPlace>,
    /// Whether matrices are tables, with one row per output.
    pub is_transposed: bool,
    pub bias: Option<VectorId>,
    pub inputs: usize,
    pub outputs: usize,
}

/// A vector that consists of parts side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct VectorSpec {
    pub parts: Vec<VectorPart>,
    pub len: usize,
}

/// A part of a vector: a parameter, or zeros if a product has no bias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VectorPart {
    pub offset: Option<usize>,
    pub len: usize,
}

/// The parameters that the ids of layers refer to.
#[derive(Clone, Debug)]
pub struct WeightRegistry {
    pub(super) layout: ParameterLayout,
    pub(super) affines: Vec<AffineSpec>,
    pub(super) vectors: Vec<VectorSpec>,
}

impl WeightRegistry {
    pub(super) fn new(layout: ParameterLayout) -> Self {
        WeightRegistry { layout, affines: Vec::new(), vectors: Vec::new() }
    }

    /// Returns the places of parameters.
    pub fn layout(&self) -> &ParameterLayout {
        &self.layout
    }

    /// Returns how many numbers packed weights (for both passes) and vectors take in addition to
    /// the flat vector.
    pub(crate) fn num_packed(&self) -> usize {
        let weights: usize = self.affines.iter().map(AffineSpec::len).sum();
        2 * weights + self.vectors.iter().map(|vector| vector.len).sum::<usize>()
    }

    pub(super) fn affine(&self, id: AffineId) -> &AffineSpec {
        &self.affines[id.0 as usize]
    }

    pub(super) fn vector(&self, id: VectorId) -> &VectorSpec {
        &self.vectors[id.0 as usize]
    }

    /// Returns the id of weights; equal weights have the same id.
    pub(super) fn affine_id(&mut self, spec: AffineSpec) -> AffineId {
        AffineId(index_of(&mut self.affines, spec))
    }

    /// Returns the id of a vector; equal vectors have the same id.
    pub(super) fn vector_id(&mut self, parts: Vec<VectorPart>) -> VectorId {
        let len = parts.iter().map(|part| part.len).sum();
        VectorId(index_of(&mut self.vectors, VectorSpec { parts, len }))
    }
}

fn index_of<T: PartialEq>(all: &mut Vec<T>, item: T) -> u32 {
    let found = all.iter().position(|other| *other == item);
    let index = found.unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    });
    index as u32
}

/// The packed values of all parameters between two updates.
pub struct PackedParameters<K: Kernels> {
    values: Vec<K::Real>,
    /// Vectors with their parts side by side.
    vectors: Vec<Vec<K::Real>>,
    packed: Vec<K::Packed>,
}

impl<K: Kernels> PackedParameters<K> {
    /// Returns the packed parameters of `values`, a flat vector.
    ///
    /// # Panics
    /// If the number of values differs from the layout's.
    pub fn new(registry: &WeightRegistry, kernels: &K, values: Vec<K::Real>) -> Self {
        assert_eq!(values.len(), registry.layout.len(), "one value per parameter");
        let mut packed_parameters = PackedParameters {
            values,
            vectors: registry.vectors.iter().map(|_| Vec::new()).collect(),
            packed: registry.affines.iter().map(|_| K::Packed::default()).collect(),
        };
        packed_parameters.refresh(registry, kernels);
        packed_parameters
    }

    /// Returns the flat vector.
    pub fn values(&self) -> &[K::Real] {
        &self.values
    }

    /// Returns the flat vector for changes, after which [`refresh`](PackedParameters::refresh) must
    /// be called.
    pub fn values_mut(&mut self) -> &mut [K::Real] {
        &mut self.values
    }

    /// Updates packed weights and vectors from the flat vector.
    pub fn refresh(&mut self, registry: &WeightRegistry, kernels: &K) {
        self.refresh_parallel(registry, kernels, 1);
    }

    /// Works like [`refresh`](PackedParameters::refresh) on several threads.
    pub fn refresh_parallel(&mut self, registry: &WeightRegistry, kernels: &K, num_threads: usize) {
        for (spec, vector) in registry.vectors.iter().zip(&mut self.vectors) {
            vector.clear();
            for part in &spec.parts {
                match part.offset {
                    Some(offset) => vector.extend(&self.values[offset..offset + part.len]),
                    None => vector.resize(vector.len() + part.len, K::Real::ZERO),
                }
            }
        }
        let values = &self.values;
        let pack = |specs: &[AffineSpec], packed: &mut [K::Packed], kernels: &K| {
            for (spec, packed) in specs.iter().zip(packed) {
                kernels.pack(&spec.parts(values), packed);
            }
        };
        // Numbers are divided equally among threads.
        let total: usize = registry.affines.iter().map(AffineSpec::len).sum();
        let share = total.div_ceil(num_threads.max(1)).max(1);
        std::thread::scope(|scope| {
            let (mut specs, mut packed) = (&registry.affines[..], &mut self.packed[..]);
            while !specs.is_empty() {
                let (mut count, mut numbers) = (0, 0);
                while count < specs.len() && numbers < share {
                    numbers += specs[count].len();
                    count += 1;
                }
                let (now, later) = specs.split_at(count);
                let (packed_now, packed_later) = std::mem::take(&mut packed).split_at_mut(count);
                (specs, packed) = (later, packed_later);
                if specs.is_empty() {
                    pack(now, packed_now, kernels);
                } else {
                    let kernels = kernels.clone();
                    scope.spawn(move || pack(now, packed_now, &kernels));
                }
            }
        });
    }

    pub(super) fn vector(&self, id: VectorId) -> &[K::Real] {
        &self.vectors[id.0 as usize]
    }

    /// Calls `body` with the weights of a matrix product.
    pub(super) fn with_weights<T>(
        &self,
        registry: &WeightRegistry,
        id: AffineId,
        body: impl FnOnce(&Weights<'_, K>) -> T,
    ) -> T {
        let parts = registry.affine(id).parts(&self.values);
        body(&Weights { parts: &parts, packed: &self.packed[id.0 as usize] })
    }
}

impl AffineSpec {
    /// Returns the number of elements.
    fn len(&self) -> usize {
        self.inputs * self.outputs
    }

    fn parts<'a, R>(&self, values: &'a [R]) -> Vec<WeightPart<'a, R>> {
        self.parts
            .iter()
            .map(|place| WeightPart {
                values: place.view(values),
                is_transposed: self.is_transposed,
            })
            .collect()
    }
}
