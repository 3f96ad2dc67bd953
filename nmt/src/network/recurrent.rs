//! Recurrent models: Marian's `s2s`, Amun's and Nematus'.

use super::{Family, Row};
use crate::Result;
use crate::architecture;
use crate::layer::recurrent::{Conditional, Encoder, Sentences, Shortcuts, Source, States};
use crate::layer::{Decoding, GateParameters, Gates};

/// A recurrent model.
pub struct Recurrent<B: Gates> {
    encoder: Encoder<B>,
    decoder: Conditional<B>,
    output: B::Weights,
}

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
        let tables = &model.tables;
        let matrix =
            if tables.tied_output { tables.decoder_table() } else { "decoder_ff_logit_l2_Wt" };
        let bias = tables.output_bias.then_some("decoder_ff_logit_l2_b");
        Ok(Recurrent {
            encoder: Encoder::new(model, shortcuts, parameters)?,
            decoder: Conditional::new(model, shortcuts, parameters)?,
            output: parameters.output(matrix, bias)?,
        })
    }

    /// What the encoder gives for the words of sentences, one sentence after the other.
    pub fn read(&self, backend: &mut B, sentences: &[&[u32]]) -> B::Rows {
        self.encoder.read(backend, &Sentences::new(sentences))
    }
}

impl<B: Decoding + Gates> Family<B> for Recurrent<B> {
    type Source = Source<B>;
    type State = States<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::Source>> {
        let sentences = Sentences::new(sentences);
        let states = self.encoder.read(backend, &sentences);
        Ok(self.decoder.remember(backend, &states, &sentences.lengths))
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
