//! Recurrent cells by their parameters: which products they need, which norms stand
//! between, and where biases go.
//!
//! A cell takes its step in three parts, so that the first two can be shared or made ahead:
//! the product of the input, the product of the state, and the pass over both.

use std::ops::Range;

use super::Shortcuts;
use super::term::{MARIAN, NEMATUS};
use crate::Result;
use crate::architecture::Cell as Kind;
use crate::layer::{Affine, Gates, GruForm, Norm, Norms, Parameters, Part, Squash, Then};

/// The states of some rows.
pub struct State<B: Gates + ?Sized> {
    /// What the layer gives.
    pub output: B::Rows,
    /// The cell of an LSTM. Others have none, and do not look at it.
    pub cell: Option<B::Rows>,
}

/// The states of all layers of a decoder.
pub type States<B> = Vec<State<B>>;

/// Where a cell stands in its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// In the encoder.
    pub encoder: bool,
    /// Behind attention: the bias of a GRU's candidate is reset with the state.
    pub behind_attention: bool,
    /// Whether it has an input, or only moves the state on.
    pub input: bool,
}

/// A recurrent cell.
pub struct Cell<B: Gates> {
    unit: Unit<B>,
    recurrent: B::Weights,
    recurrent_norms: Norms<B>,
    input_norms: Norms<B>,
    squash: Squash,
    width: usize,
}

enum Unit<B: Gates> {
    Gru { form: GruForm, bias: Option<B::Vector> },
    Lstm { bias: B::Vector },
    Mlstm { bias: B::Vector, gates: B::Weights, input_bias: B::Vector, recurrent_bias: B::Vector },
}

/// Names of a cell's parameters.
pub struct CellNames {
    /// Matrices of the input, side by side in its product.
    pub input: Vec<String>,
    /// Their biases where they belong to the product, or none.
    pub input_biases: Vec<String>,
    recurrent: Vec<String>,
    recurrent_biases: Vec<String>,
}

impl CellNames {
    /// The names of the cell `prefix` at its place. `norms`: whether the model has norms.
    pub fn new(prefix: &str, kind: Kind, place: Place, norms: bool) -> Self {
        let named = |names: &[&str]| -> Vec<String> {
            names.iter().map(|name| format!("{prefix}_{name}")).collect()
        };
        let mut names = match kind {
            Kind::Gru | Kind::NematusGru => CellNames {
                input: named(&["W", "Wx"]),
                input_biases: Vec::new(),
                recurrent: named(&["U", "Ux"]),
                recurrent_biases: Vec::new(),
            },
            Kind::Lstm => CellNames {
                input: named(&["W"]),
                input_biases: Vec::new(),
                recurrent: named(&["U"]),
                recurrent_biases: Vec::new(),
            },
            Kind::Mlstm => CellNames {
                input: named(&["W", "Wm"]),
                input_biases: Vec::new(),
                recurrent: named(&["Um"]),
                recurrent_biases: Vec::new(),
            },
        };
        // Nematus norms products with their biases: of the input in cells that have one, of
        // the state behind attention and in the decoder's transitions.
        if kind == Kind::NematusGru && norms {
            if place.input && !place.behind_attention {
                names.input_biases = named(&["b", "bx"]);
            } else if !place.encoder {
                names.recurrent_biases = named(&["b", "bx"]);
            }
        }
        names
    }

    /// What the product of the input is made of.
    pub fn of_input<'a>(&'a self, storage: &'a mut [Vec<&'a str>; 2]) -> Affine<'a> {
        affine(&self.input, &self.input_biases, storage)
    }

    fn of_state<'a>(&'a self, storage: &'a mut [Vec<&'a str>; 2]) -> Affine<'a> {
        affine(&self.recurrent, &self.recurrent_biases, storage)
    }
}

fn affine<'a>(
    matrices: &'a [String],
    biases: &'a [String],
    storage: &'a mut [Vec<&'a str>; 2],
) -> Affine<'a> {
    *storage = [matrices, biases].map(|names| names.iter().map(String::as_str).collect());
    Affine { matrices: &storage[0], biases: &storage[1] }
}

impl<B: Gates> Cell<B> {
    /// The cell `prefix`, with states `width` wide.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new(
        prefix: &str,
        (kind, width): (Kind, usize),
        place: Place,
        norms: bool,
        shortcuts: &Shortcuts,
        parameters: &mut impl Parameters<B>,
    ) -> Result<Self> {
        let names = CellNames::new(prefix, kind, place, norms);
        let name = |suffix: &str| format!("{prefix}_{suffix}");
        let recurrent = parameters.weights(names.of_state(&mut Default::default()))?;
        let mut bias_of = |suffixes: &[&str]| {
            let all: Vec<String> = suffixes.iter().map(|suffix| name(suffix)).collect();
            parameters.vectors(&all.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let unit = match kind {
            Kind::Gru | Kind::NematusGru => {
                let form = if place.behind_attention { GruForm::BiasReset } else { GruForm::Usual };
                let elsewhere =
                    !names.input_biases.is_empty() || !names.recurrent_biases.is_empty();
                let bias = if elsewhere { None } else { Some(bias_of(&["b", "bx"])?) };
                // With Nematus' norms the bias behind attention is in the product.
                Unit::Gru { form, bias }
            }
            Kind::Lstm => Unit::Lstm { bias: bias_of(&["b"])? },
            Kind::Mlstm => Unit::Mlstm {
                bias: bias_of(&["b"])?,
                input_bias: bias_of(&["bwm"])?,
                recurrent_bias: bias_of(&["bm"])?,
                gates: parameters.weights(Affine { matrices: &[&name("U")], biases: &[] })?,
            },
        };
        let mut norm = |columns: Range<usize>, scale: &str, bias: Option<&str>, epsilon: f32| {
            let bias = bias.map(|bias| parameters.vector(&name(bias))).transpose()?;
            let scale = parameters.vector(&name(scale))?;
            Ok::<_, crate::Error>((columns, Norm { scale, bias, epsilon }))
        };
        let mut norms_of = |marian: &str, nematus: &str| {
            Ok::<_, crate::Error>(match kind {
                _ if !norms => Vec::new(),
                Kind::NematusGru => {
                    let mut part = |columns, name: &str| {
                        let [scale, bias] = [format!("{name}_lns"), format!("{name}_lnb")];
                        norm(columns, &scale, Some(&bias), NEMATUS)
                    };
                    let gates = part(0..2 * width, nematus)?;
                    vec![gates, part(2 * width..3 * width, &format!("{nematus}x"))?]
                }
                Kind::Gru => vec![norm(0..3 * width, marian, None, MARIAN)?],
                Kind::Lstm | Kind::Mlstm => vec![norm(0..4 * width, marian, None, MARIAN)?],
            })
        };
        let input_norms = if place.input { norms_of("gamma1", "W")? } else { Vec::new() };
        let recurrent_norms = norms_of("gamma2", "U")?;
        let squash = shortcuts.squash;
        Ok(Cell { unit, recurrent, recurrent_norms, input_norms, squash, width })
    }

    /// Norms the product of the input.
    pub fn input(&self, backend: &mut B, product: B::Rows) -> B::Rows {
        backend.norm_parts(product, &self.input_norms)
    }

    /// The product of the state, normed.
    pub fn recurrent(&self, backend: &mut B, state: &B::Rows) -> B::Rows {
        let product = backend.affine(state, &self.recurrent, Then::default());
        backend.norm_parts(product, &self.recurrent_norms)
    }

    /// The next states of `output` and `cell`, product and all.
    pub fn go_on(
        &self,
        backend: &mut B,
        input: Option<&B::Rows>,
        output: &B::Rows,
        cell: Option<B::Rows>,
    ) -> State<B> {
        let recurrent = self.recurrent(backend, output);
        self.step(backend, input, &recurrent, output, cell)
    }

    /// The next states. `input` is what [`input`](Cell::input) gives, none in
    /// transitions, `recurrent` what [`recurrent`](Cell::recurrent) gives of the states.
    pub fn step(
        &self,
        backend: &mut B,
        input: Option<&B::Rows>,
        recurrent: &B::Rows,
        output: &B::Rows,
        cell: Option<B::Rows>,
    ) -> State<B> {
        let part = |columns: Range<usize>| input.map(|rows| Part { rows, columns });
        let width = self.width;
        let lstm = |backend: &mut B, gates: &B::Rows, bias: &B::Vector| {
            let cell = cell.unwrap_or_else(|| {
                let [rows, _] = backend.shape(output);
                backend.zeros(rows, width)
            });
            let [output, cell] = backend.lstm(self.squash, part(0..4 * width), gates, bias, cell);
            State { output, cell: Some(cell) }
        };
        match &self.unit {
            Unit::Gru { form, bias } => {
                let input = part(0..3 * width);
                let how = (self.squash, *form);
                let output = backend.gru(how, input, recurrent, bias.as_ref(), output);
                State { output, cell: None }
            }
            Unit::Lstm { bias } => lstm(backend, recurrent, bias),
            Unit::Mlstm { bias, gates, input_bias, recurrent_bias } => {
                let input = part(4 * width..5 * width).expect("an mLSTM has an input");
                let state =
                    backend.multiplicative_state(input, input_bias, recurrent, recurrent_bias);
                let gates = backend.affine(&state, gates, Then::default());
                lstm(backend, &gates, bias)
            }
        }
    }
}
