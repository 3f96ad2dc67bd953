//! From words to the first rows of a stack.

use super::{Backend, ParameterLoader, SublayerConnection};
use crate::Result;
use crate::architecture::{PositionalEncodingKind, TransformerConfig};

/// Embeddings of one side with the marks of positions.
pub struct Embedding<B: Backend> {
    table: B::EmbeddingTable,
    scale: f32,
    positional_encoding: Option<B::PositionalEncoding>,
    /// The last position that has a mark.
    max_position: u32,
    connection: SublayerConnection<B>,
}

impl<B: Backend> Embedding<B> {
    /// The embeddings of `side`, `encoder` or `decoder`, in the table of that name.
    pub fn load(
        parameters: &mut impl ParameterLoader<B>,
        shape: &TransformerConfig,
        side: &str,
        table: &str,
    ) -> Result<Self> {
        let width = shape.embeddings.dim;
        let last = match shape.positional_encoding {
            PositionalEncodingKind::Table { length } => length.saturating_sub(1) as u32,
            _ => u32::MAX,
        };
        let process = &shape.postprocess_embedding;
        Ok(Embedding {
            table: parameters.embedding_table(table)?,
            scale: if shape.scales_embeddings { (width as f32).sqrt() } else { 1.0 },
            positional_encoding: parameters.positional_encoding(
                shape.positional_encoding,
                width,
                &format!("{side}_Wpos"),
            )?,
            max_position: last,
            connection: SublayerConnection::load_post(
                parameters,
                shape,
                process,
                &format!("{side}_emb"),
                "_pre",
            )?,
        })
    }

    /// Rows of words at `positions`. Behind the end of a table of positions its last one
    /// is taken again, as Marian does.
    pub fn forward(&self, backend: &mut B, words: &[Option<u32>], positions: &[u32]) -> B::Tensor {
        let positions: Vec<u32> =
            positions.iter().map(|&place| place.min(self.max_position)).collect();
        let marks = self.positional_encoding.as_ref().map(|marks| (marks, &positions[..]));
        let rows = backend.embed(&self.table, words, self.scale, marks);
        let nothing = backend.zeros(0, 0);
        self.connection.postprocess(backend, rows, &nothing)
    }
}
