//! Embeddings of tokens with positional encodings: the input of a stack.

use super::{Backend, ParameterLoader, SublayerConnection};
use crate::Result;
use miriam_nmt_models::architecture::{PositionalEncodingKind, TransformerConfig};

/// Token embeddings and positional encoding of the encoder or the decoder.
pub struct Embedding<B: Backend> {
    table: B::EmbeddingTable,
    scale: f32,
    positional_encoding: Option<B::PositionalEncoding>,
    /// The position of the first token.
    first_position: u32,
    /// The last position that has an encoding.
    max_position: u32,
    connection: SublayerConnection<B>,
}

impl<B: Backend> Embedding<B> {
    /// Loads the embeddings of `side`, `encoder` or `decoder`, from `table`.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        side: &str,
        table: &str,
    ) -> Result<Self> {
        let width = shape.embeddings.dim;
        let max_position = match shape.positional_encoding {
            PositionalEncodingKind::Table { length } => length.saturating_sub(1) as u32,
            _ => u32::MAX,
        };
        Ok(Embedding {
            table: parameters.embedding_table(table)?,
            scale: if shape.scales_embeddings { (width as f32).sqrt() } else { 1.0 },
            positional_encoding: parameters.positional_encoding(
                shape.positional_encoding,
                width,
                &format!("{side}_Wpos"),
            )?,
            first_position: shape.positional_encoding.first_position(),
            max_position,
            connection: SublayerConnection::load_embedding(parameters, shape, side)?,
        })
    }

    /// Returns the embeddings of `tokens` at `positions`, `[tokens, width]`, not postprocessed yet.
    /// Positions after the end of a learned table use its last row, as in Marian.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn forward(
        &self,
        backend: &mut B,
        tokens: &[Option<u32>],
        positions: &[u32],
    ) -> Result<B::Tensor> {
        // The usual encodings begin at 0 and have no end.
        let mut shifted = Vec::new();
        let positions = if self.first_position == 0 && self.max_position == u32::MAX {
            positions
        } else {
            shifted.extend(positions.iter().map(|&position| {
                position.saturating_add(self.first_position).min(self.max_position)
            }));
            &shifted[..]
        };
        let encoding = self.positional_encoding.as_ref().map(|table| (table, positions));
        backend.embed(&self.table, tokens, self.scale, encoding)
    }

    /// Returns the input of the first layer: a postprocessed copy of `embedded`. The embeddings
    /// themselves are kept, because the postprocessing after the last layer may add them.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn postprocess(&self, backend: &mut B, embedded: &B::Tensor) -> Result<B::Tensor> {
        let rows = backend.copy(backend.whole(embedded))?;
        let no_input = backend.zeros(0, 0)?;
        self.connection.postprocess(backend, rows, &no_input)
    }
}
