//! Recurrent models: Marian's `s2s`, Amun's and Nematus', and Devlin's (2017), which differ
//! in their decoders.

use super::{Family, Row};
use crate::Result;
use crate::architecture::{self, Tables};
use crate::layer::recurrent::{
    Attentional, Conditional, Decoder, Encoder, Sentences, Shortcuts, Source, States,
};
use crate::layer::{Decoding, GateParameters, Gates};

/// A recurrent model with the conditional decoder, or another one.
pub struct Recurrent<B: Gates, D = Conditional<B>> {
    encoder: Encoder<B>,
    decoder: D,
    output: B::Weights,
}

/// A model of fully connected layers over an attentional GRU: see
/// [`architecture::Stacked`].
pub type Stacked<B> = Recurrent<B, Attentional<B>>;

impl<B: Gates> Recurrent<B> {
    /// The model of that architecture.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new<P: GateParameters<B>>(
        model: &architecture::Recurrent,
        shortcuts: &Shortcuts,
        parameters: &mut P,
    ) -> Result<Self> {
        Ok(Recurrent {
            encoder: Encoder::new(model, shortcuts, parameters)?,
            decoder: Conditional::new(model, shortcuts, parameters)?,
            output: output(&model.tables, "decoder_ff_logit_l2", parameters)?,
        })
    }
}

impl<B: Gates> Stacked<B> {
    /// The model of that architecture.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn of_stacked<P: GateParameters<B>>(
        model: &architecture::Stacked,
        shortcuts: &Shortcuts,
        parameters: &mut P,
    ) -> Result<Self> {
        Ok(Recurrent {
            encoder: Encoder::of_stacked(model, shortcuts, parameters)?,
            decoder: Attentional::new(model, shortcuts, parameters)?,
            output: output(&model.tables, "decoder_ff_logit", parameters)?,
        })
    }
}

/// The output layer whose parameters have that name, if it has its own.
fn output<B: Gates, P: GateParameters<B>>(
    tables: &Tables,
    name: &str,
    parameters: &mut P,
) -> Result<B::Weights> {
    let [matrix, bias] = [format!("{name}_Wt"), format!("{name}_b")];
    let matrix = if tables.tied_output { tables.decoder_table() } else { &matrix };
    parameters.output(matrix, tables.output_bias.then_some(&bias))
}

impl<B: Gates, D> Recurrent<B, D> {
    /// What the encoder gives for the words of sentences, one sentence after the other.
    pub fn read(&self, backend: &mut B, sentences: &[&[u32]]) -> B::Rows {
        self.encoder.read(backend, &Sentences::new(sentences))
    }
}

impl<B: Decoding + Gates, D: Decoder<B>> Family<B> for Recurrent<B, D> {
    type Source = Source<B>;
    type State = States<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::Source>> {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.len()).collect();
        let states = self.read(backend, sentences);
        Ok(self.decoder.remember(backend, &states, &lengths))
    }

    fn state(&self, _: &mut B) -> States<B> {
        Vec::new()
    }

    fn step(
        &self,
        backend: &mut B,
        state: &mut States<B>,
        rows: &[Row],
        sources: &[&Self::Source],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows {
        self.decoder.step(backend, state, rows, sources, alignment)
    }

    fn output(&self) -> &B::Weights {
        &self.output
    }
}
