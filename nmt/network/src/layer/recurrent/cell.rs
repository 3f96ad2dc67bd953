//! Recurrent cells: matrix products, the layer norms of the products, and the biases.
//!
//! A step of a cell has three parts: the product of the input, the product of the state, and an
//! element-wise operation on both. The products are separate so that they can be shared or computed
//! ahead.

use std::ops::Range;

use miriam_kernels::operators::{Gru, LstmCell, LstmOutput, MultiplicativeState};

use super::Speedups;
use super::column_norms::ColumnNorms;
use super::normed_affine::{MARIAN_EPSILON, NEMATUS_EPSILON};
use crate::Result;
use crate::layer::{
    ActivationImpl, AffineNames, Backend, ColumnSlice, Epilogue, GruVariant, LayerNorm, NormKind,
    Operator, ParameterLoader, RecurrentOps,
};
use miriam_nmt_models::architecture::CellKind as Kind;

/// The states of a layer, `[rows, width]` each.
pub struct CellState<B: RecurrentOps + ?Sized> {
    /// The output of the layer.
    pub output: B::Tensor,
    /// The memory cell of an LSTM or mLSTM. A GRU has none: it ignores a value that is passed to
    /// it, and returns `None`.
    pub cell: Option<B::Tensor>,
}

/// The states of all layers of a decoder.
pub type DecoderStates<B> = Vec<CellState<B>>;

/// The position of a cell in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellRole {
    /// Whether it is in the encoder.
    pub in_encoder: bool,
    /// Whether it follows attention. The reset gate of a GRU after attention also scales the
    /// candidate's bias.
    pub after_attention: bool,
    /// Whether it has an input; transitions have none.
    pub has_input: bool,
}

/// A recurrent cell.
pub struct Cell<B: RecurrentOps> {
    parameters: CellParameters<B>,
    recurrent_weights: B::Weights,
    recurrent_norms: ColumnNorms<B>,
    input_norms: ColumnNorms<B>,
    activation_impl: ActivationImpl,
    width: usize,
}

enum CellParameters<B: RecurrentOps> {
    Gru { form: GruVariant, bias: Option<B::Vector> },
    Lstm { bias: B::Vector },
    Mlstm { bias: B::Vector, gates: B::Weights, input_bias: B::Vector, recurrent_bias: B::Vector },
}

/// Names of a cell's parameters.
pub struct CellNames {
    /// Matrices of the input, their outputs side by side.
    pub input: Vec<String>,
    /// The biases of these matrices, if they are added in the product.
    pub input_biases: Vec<String>,
    recurrent: Vec<String>,
    recurrent_biases: Vec<String>,
}

impl CellNames {
    /// Returns the names of the cell `prefix` in its role. `norms`: whether the model has norms.
    pub fn new(prefix: &str, kind: Kind, role: CellRole, norms: bool) -> Self {
        fn named(names: &[&str], prefix: &str) -> Vec<String> {
            names.iter().map(|name| format!("{prefix}_{name}")).collect()
        }
        let mut names = match kind {
            Kind::Gru | Kind::NematusGru => CellNames {
                input: named(&["W", "Wx"], prefix),
                input_biases: Vec::new(),
                recurrent: named(&["U", "Ux"], prefix),
                recurrent_biases: Vec::new(),
            },
            Kind::Lstm => CellNames {
                input: named(&["W"], prefix),
                input_biases: Vec::new(),
                recurrent: named(&["U"], prefix),
                recurrent_biases: Vec::new(),
            },
            Kind::Mlstm => CellNames {
                input: named(&["W", "Wm"], prefix),
                input_biases: Vec::new(),
                recurrent: named(&["Um"], prefix),
                recurrent_biases: Vec::new(),
            },
        };
        // Nematus adds the biases to a product before it normalises that product. Cells with an
        // input, except after attention, add them to the product of the input. Cells after
        // attention and the decoder's transitions add them to the product of the state.
        if kind == Kind::NematusGru && norms {
            if role.has_input && !role.after_attention {
                names.input_biases = named(&["b", "bx"], prefix);
            } else if !role.in_encoder {
                names.recurrent_biases = named(&["b", "bx"], prefix);
            }
        }
        names
    }

    /// Returns the names of the parameters of the product of the input.
    pub fn input_affine<'a>(&'a self, storage: &'a mut [Vec<&'a str>; 2]) -> AffineNames<'a> {
        borrow_affine(&self.input, &self.input_biases, storage)
    }

    fn recurrent_affine<'a>(&'a self, storage: &'a mut [Vec<&'a str>; 2]) -> AffineNames<'a> {
        borrow_affine(&self.recurrent, &self.recurrent_biases, storage)
    }
}

fn borrow_affine<'a>(
    matrices: &'a [String],
    biases: &'a [String],
    storage: &'a mut [Vec<&'a str>; 2],
) -> AffineNames<'a> {
    *storage = [matrices, biases].map(|names| names.iter().map(String::as_str).collect());
    AffineNames { matrices: &storage[0], biases: &storage[1] }
}

/// Computes a step of a cell. The operator takes two matrices, and the product of the input if
/// there is one.
fn apply_cell<B: Backend>(
    backend: &mut B,
    operator: impl Operator,
    matrices: [&B::Tensor; 2],
    input: Option<ColumnSlice<'_, B::Tensor>>,
    bias: &[&B::Vector],
) -> Result<B::Tensor> {
    let [recurrent, state] = matrices.map(|matrix| backend.whole(matrix));
    match input {
        Some(input) => backend.apply(operator, &[recurrent, state, input], bias),
        None => backend.apply(operator, &[recurrent, state], bias),
    }
}

impl<B: RecurrentOps> Cell<B> {
    /// Loads the cell `prefix`, with states `width` wide.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn new(
        prefix: &str,
        (kind, width): (Kind, usize),
        role: CellRole,
        norms: bool,
        speedups: &Speedups,
        parameters: &mut impl ParameterLoader<B>,
    ) -> Result<Self> {
        let names = CellNames::new(prefix, kind, role, norms);
        let name = |suffix: &str| format!("{prefix}_{suffix}");
        let recurrent = parameters.weights(names.recurrent_affine(&mut Default::default()))?;
        let mut load_bias = |suffixes: &[&str]| {
            let all: Vec<String> = suffixes.iter().map(|suffix| name(suffix)).collect();
            parameters.concat_vectors(&all.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let cell_parameters = match kind {
            Kind::Gru | Kind::NematusGru => {
                let form = if role.after_attention {
                    GruVariant::BiasInsideReset
                } else {
                    GruVariant::Standard
                };
                let bias_in_product =
                    !names.input_biases.is_empty() || !names.recurrent_biases.is_empty();
                let bias = if bias_in_product { None } else { Some(load_bias(&["b", "bx"])?) };
                CellParameters::Gru { form, bias }
            }
            Kind::Lstm => CellParameters::Lstm { bias: load_bias(&["b"])? },
            Kind::Mlstm => CellParameters::Mlstm {
                bias: load_bias(&["b"])?,
                input_bias: load_bias(&["bwm"])?,
                recurrent_bias: load_bias(&["bm"])?,
                gates: parameters.weights(AffineNames { matrices: &[&name("U")], biases: &[] })?,
            },
        };
        let mut norm = |columns: Range<usize>, scale: &str, bias: Option<&str>, epsilon: f32| {
            let bias = bias.map(|bias| parameters.vector(&name(bias))).transpose()?;
            let scale = parameters.vector(&name(scale))?;
            Ok::<_, crate::Error>((
                columns,
                LayerNorm { kind: NormKind::Layer, scale, bias, epsilon },
            ))
        };
        let mut load_norms = |marian: &str, nematus: &str| {
            Ok::<_, crate::Error>(match kind {
                _ if !norms => Vec::new(),
                Kind::NematusGru => {
                    let parts = [
                        (0..2 * width, nematus.to_owned()),
                        (2 * width..3 * width, format!("{nematus}x")),
                    ];
                    let norms = parts.into_iter().map(|(columns, name)| {
                        let [scale, bias] = [format!("{name}_lns"), format!("{name}_lnb")];
                        norm(columns, &scale, Some(&bias), NEMATUS_EPSILON)
                    });
                    norms.collect::<Result<_>>()?
                }
                Kind::Gru => vec![norm(0..3 * width, marian, None, MARIAN_EPSILON)?],
                Kind::Lstm | Kind::Mlstm => vec![norm(0..4 * width, marian, None, MARIAN_EPSILON)?],
            })
        };
        let input_norms = if role.has_input { load_norms("gamma1", "W")? } else { Vec::new() };
        let recurrent_norms = load_norms("gamma2", "U")?;
        Ok(Cell {
            parameters: cell_parameters,
            recurrent_weights: recurrent,
            recurrent_norms: ColumnNorms::new(recurrent_norms),
            input_norms: ColumnNorms::new(input_norms),
            activation_impl: speedups.activation_impl,
            width,
        })
    }

    /// Applies the layer norms to the product of the input, if the model has norms.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn norm_input(&self, backend: &mut B, product: B::Tensor) -> Result<B::Tensor> {
        self.input_norms.forward(backend, product)
    }

    /// Computes the product of the state, and applies the layer norms if the model has norms.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn project_state(&self, backend: &mut B, state: &B::Tensor) -> Result<B::Tensor> {
        let (weights, epilogue) = (&self.recurrent_weights, Epilogue::default());
        let product = match &self.parameters {
            // An mLSTM applies dropout to its multiplicative state instead.
            CellParameters::Mlstm { .. } => backend.affine(state, weights, epilogue)?,
            _ => backend.affine_after_dropout(state, weights, epilogue)?,
        };
        self.recurrent_norms.forward(backend, product)
    }

    /// Returns the next states of an LSTM or mLSTM. `gates`, `[rows, 4 * width]`, is the product of
    /// the weights of all gates with the state (LSTM) or with the multiplicative state (mLSTM).
    fn step_lstm(
        &self,
        backend: &mut B,
        input: Option<&B::Tensor>,
        gates: &B::Tensor,
        bias: &B::Vector,
        cell: Option<B::Tensor>,
    ) -> Result<CellState<B>> {
        let cell = match cell {
            Some(cell) => cell,
            None => {
                let [rows, _] = backend.shape(gates);
                backend.zeros(rows, self.width)?
            }
        };
        let activation = self.activation_impl;
        let input = input.map(|tensor| ColumnSlice { tensor, columns: 0..4 * self.width });
        let matrices = [gates, &cell];
        let next = apply_cell(backend, LstmCell { activation }, matrices, input.clone(), &[bias])?;
        let matrices = [gates, &next];
        let output = apply_cell(backend, LstmOutput { activation }, matrices, input, &[bias])?;
        Ok(CellState { output, cell: Some(next) })
    }

    /// Computes the product of the state first, then the states that follow `output` and `cell`.
    /// `input` is the result of [`norm_input`](Cell::norm_input), `None` in transitions.
    ///
    /// # Errors
    /// If the backend fails.
    ///
    /// # Panics
    /// If an mLSTM has no input.
    pub fn advance(
        &self,
        backend: &mut B,
        input: Option<&B::Tensor>,
        output: &B::Tensor,
        cell: Option<B::Tensor>,
    ) -> Result<CellState<B>> {
        let recurrent = self.project_state(backend, output)?;
        self.step(backend, input, &recurrent, output, cell)
    }

    /// Returns the next states. `input` is the result of [`norm_input`](Cell::norm_input); it is
    /// `None` in transitions. `recurrent` is the result of [`project_state`](Cell::project_state).
    ///
    /// # Errors
    /// If the backend fails.
    ///
    /// # Panics
    /// If an mLSTM has no input.
    pub fn step(
        &self,
        backend: &mut B,
        input: Option<&B::Tensor>,
        recurrent: &B::Tensor,
        output: &B::Tensor,
        cell: Option<B::Tensor>,
    ) -> Result<CellState<B>> {
        let width = self.width;

        match &self.parameters {
            CellParameters::Gru { form, bias } => {
                let gru = Gru { variant: *form, activation: self.activation_impl };
                let bias = bias.as_ref();
                let matrices = [recurrent, output];
                let input = input.map(|tensor| ColumnSlice { tensor, columns: 0..3 * width });
                let output = apply_cell(backend, gru, matrices, input, bias.as_slice())?;
                Ok(CellState { output, cell: None })
            }
            CellParameters::Lstm { bias } => self.step_lstm(backend, input, recurrent, bias, cell),
            CellParameters::Mlstm { bias, gates, input_bias, recurrent_bias } => {
                let tensor = input.expect("an mLSTM has an input");
                let input_part = ColumnSlice { tensor, columns: 4 * width..5 * width };
                let matrices = [input_part, backend.whole(recurrent)];
                let biases = [input_bias, recurrent_bias];
                let state = backend.apply(MultiplicativeState, &matrices, &biases)?;
                let gates = backend.affine_after_dropout(&state, gates, Epilogue::default())?;
                self.step_lstm(backend, input, &gates, bias, cell)
            }
        }
    }
}
