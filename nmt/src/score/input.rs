//! Reader of sources with the translations to score.

use miriam_textio::{Error as TextError, Lines, ParallelLines};

use crate::Result;
use crate::translate::{LengthLimit, LoadedModels, Tokenizer, TokenizerScratch};

/// The texts to score.
pub enum ScoringInput {
    /// The sources and their translations, two texts line by line.
    ParallelTexts(ParallelLines),
    /// One text, each line of which has a source, a tab and the translation.
    Tsv(Lines),
    /// A text by itself, for a language model.
    Text(Lines),
}

impl ScoringInput {
    /// Returns the names of the text with the sources and of the text with the translations.
    fn names(&self) -> [String; 2] {
        match self {
            ScoringInput::ParallelTexts(texts) => [0, 1].map(|side| texts.names()[side].clone()),
            ScoringInput::Tsv(lines) | ScoringInput::Text(lines) => {
                [lines, lines].map(|text| text.name().to_owned())
            }
        }
    }

    /// Whether translations come with their sources.
    pub(super) fn has_sources(&self) -> bool {
        !matches!(self, ScoringInput::Text(_))
    }
}

/// A source and its translation.
pub(super) struct EncodedPair {
    /// The index of the pair, from 0.
    pub id: u64,
    /// Tokens and `</s>`; none for a language model.
    pub source: Vec<u32>,
    /// Tokens and `</s>`.
    pub target: Vec<u32>,
}

impl EncodedPair {
    /// Returns the length by which pairs are sorted: the tokens of both sides.
    pub fn length(&self) -> usize {
        self.source.len() + self.target.len()
    }
}

/// Reader of pairs.
pub(super) struct PairReader {
    pairs: ScoringInput,
    tokenizers: [Tokenizer; 2],
    scratch: TokenizerScratch,
    limit: LengthLimit,
    id: u64,
}

impl PairReader {
    pub fn new(
        pairs: ScoringInput,
        models: &LoadedModels,
        pieces: bool,
        limit: LengthLimit,
    ) -> Self {
        let mut tokenizers = models.tokenizers().clone();
        tokenizers.iter_mut().for_each(|side| side.input_is_tokenized = pieces);
        PairReader { pairs, tokenizers, scratch: TokenizerScratch::default(), limit, id: 0 }
    }

    /// Returns the next pair; `None` at the end.
    pub fn next(&mut self) -> Result<Option<EncodedPair>> {
        let (names, number) = (self.pairs.names(), self.id + 1);
        let texts = match &mut self.pairs {
            ScoringInput::ParallelTexts(texts) => {
                let mut pair = [const { Vec::new() }; 2];
                let more = texts.next(|side, _, line| {
                    pair[side] = line.bytes.to_vec();
                    Ok::<_, TextError>(())
                })?;
                if !more {
                    return Ok(None);
                }
                pair
            }
            ScoringInput::Tsv(lines) => {
                let Some(line) = lines.next()? else { return Ok(None) };
                let tab = line.bytes.iter().position(|&byte| byte == b'\t').ok_or_else(|| {
                    let reason = "expected a source, a tab and a translation";
                    TextError::format(&names[0], number, None, reason)
                })?;
                [line.bytes[..tab].to_vec(), line.bytes[tab + 1..].to_vec()]
            }
            ScoringInput::Text(lines) => {
                let Some(line) = lines.next()? else { return Ok(None) };
                [Vec::new(), line.bytes.to_vec()]
            }
        };
        let mut encode = |side: usize| {
            let encoded =
                self.tokenizers[side].encode_to_score(&texts[side], self.limit, &mut self.scratch);
            encoded
                .map(|(_, ids)| ids)
                .map_err(|reason| TextError::format(&names[side], number, None, reason))
        };
        let source = if self.pairs.has_sources() { encode(0)? } else { Vec::new() };
        let target = encode(1)?;
        self.id += 1;
        Ok(Some(EncodedPair { id: self.id - 1, source, target }))
    }
}
