//! Devlin's model (2017): see [`architecture::Stacked`].

use super::{Family, Row};
use crate::Result;
use crate::architecture;
use crate::layer::recurrent::{Attentional, Encoder, Sentences, Shortcuts, Source, States};
use crate::layer::{Decoding, GateParameters, Gates};

/// A model of fully connected layers over an attentional GRU.
pub struct Stacked<B: Gates> {
    encoder: Encoder<B>,
    decoder: Attentional<B>,
    output: B::Weights,
}

impl<B: Gates> Stacked<B> {
    /// The model of that architecture.
    ///
    /// # Errors
    /// If a parameter is missing or of another shape.
    pub fn new<P: GateParameters<B>>(
        model: &architecture::Stacked,
        shortcuts: &Shortcuts,
        parameters: &mut P,
    ) -> Result<Self> {
        let tables = &model.tables;
        let matrix =
            if tables.tied_output { tables.decoder_table() } else { "decoder_ff_logit_Wt" };
        let bias = tables.output_bias.then_some("decoder_ff_logit_b");
        Ok(Stacked {
            encoder: Encoder::of_stacked(model, shortcuts, parameters)?,
            decoder: Attentional::new(model, shortcuts, parameters)?,
            output: parameters.output(matrix, bias)?,
        })
    }
}

impl<B: Decoding + Gates> Family<B> for Stacked<B> {
    type Source = Source<B>;
    type State = States<B>;

    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Source<B>>> {
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
        sources: &[&Source<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows {
        self.decoder.step(backend, state, rows, sources, alignment)
    }

    fn output(&self) -> &B::Weights {
        &self.output
    }
}
