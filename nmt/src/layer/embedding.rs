//! From words to the first rows of a stack.

use super::{Around, Backend, Parameters};
use crate::Result;
use crate::architecture::{Positions, Transformer};

/// Embeddings of one side with the marks of positions.
pub struct Embedding<B: Backend> {
    table: B::Table,
    scale: f32,
    marks: Option<B::Marks>,
    /// The last position that has a mark.
    last: u32,
    behind: Around<B>,
}

impl<B: Backend> Embedding<B> {
    /// The embeddings of `side`, `encoder` or `decoder`, in the table of that name.
    pub fn load(
        parameters: &mut impl Parameters<B>,
        shape: &Transformer,
        side: &str,
        table: &str,
    ) -> Result<Self> {
        let width = shape.tables.embedding;
        let last = match shape.positions {
            Positions::Table { length } => length.saturating_sub(1) as u32,
            _ => u32::MAX,
        };
        let process = &shape.postprocess_embedding;
        Ok(Embedding {
            table: parameters.table(table)?,
            scale: if shape.scaled_embeddings { (width as f32).sqrt() } else { 1.0 },
            marks: parameters.marks(shape.positions, width, &format!("{side}_Wpos"))?,
            last,
            behind: Around::load_behind(
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
    pub fn rows(&self, backend: &mut B, words: &[Option<u32>], positions: &[u32]) -> B::Rows {
        let positions: Vec<u32> = positions.iter().map(|&place| place.min(self.last)).collect();
        let marks = self.marks.as_ref().map(|marks| (marks, &positions[..]));
        let rows = backend.embed(&self.table, words, self.scale, marks);
        let nothing = backend.zeros(0, 0);
        self.behind.leave(backend, rows, &nothing)
    }
}
