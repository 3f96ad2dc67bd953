//! Reader of sources with the translations to score.

use miriam_textio::n_best::{NBestFields, NBestForm};
use miriam_textio::{Error as TextError, Lines, ParallelLines};

use crate::Result;
use crate::translate::sentence_parser::{MAX_LENGTH_OPTION, describe_excess};
use crate::translate::{LoadedModels, Tokenizer, TokenizerScratch};

/// The texts to score.
pub enum ScoringInput {
    /// The sources and their translations, two texts line by line.
    ParallelTexts(ParallelLines),
    /// One text: a source, a tab, and its translation.
    Tsv(Lines),
    /// A text, and n-best lists with lines `number ||| translation ||| features ||| score`, in
    /// ascending order of numbers, which are line numbers of the text from 0.
    NBestLists {
        /// The sources.
        source: Box<Lines>,
        /// The n-best lists.
        list: Box<Lines>,
        /// The name of the new feature.
        feature: String,
    },
}

impl ScoringInput {
    /// Returns the names of the texts with sources and translations.
    fn names(&self) -> [String; 2] {
        match self {
            ScoringInput::ParallelTexts(texts) => [0, 1].map(|side| texts.names()[side].clone()),
            ScoringInput::Tsv(lines) => [lines, lines].map(|text| text.name().to_owned()),
            ScoringInput::NBestLists { source, list, .. } => {
                [source, list].map(|text| text.name().to_owned())
            }
        }
    }

    pub(super) fn feature_name(&self) -> Option<String> {
        match self {
            ScoringInput::NBestLists { feature, .. } => Some(feature.clone()),
            _ => None,
        }
    }
}

/// The maximum number of lines of a group.
const MAX_GROUP_LINES: usize = 1000;

/// A source with its translations, or a part of them.
pub(super) struct TranslationGroup {
    /// The index of the group, from 0.
    pub id: u64,
    /// Tokens and `</s>`.
    pub source: Vec<u32>,
    /// Tokens and `</s>`.
    pub targets: Vec<Vec<u32>>,
    /// The lines of the n-best list, if the translations are from one.
    pub lines: Vec<NBestLine>,
}

impl TranslationGroup {
    /// Returns the length by which groups are sorted: the tokens of the source and of the longest
    /// target.
    pub fn length(&self) -> usize {
        self.source.len() + self.targets.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// A line of an n-best list, to which a feature is added.
pub(super) struct NBestLine {
    /// The whole line.
    pub bytes: Vec<u8>,
    /// The places of its fields.
    pub fields: NBestFields,
}

/// Reader that makes groups of lines.
pub(super) struct GroupReader {
    pairs: ScoringInput,
    tokenizers: [Tokenizer; 2],
    scratch: TokenizerScratch,
    max_length: usize,
    id: u64,
    /// The last source that was read.
    source: Vec<u32>,
    /// The number of sources read.
    sources_read: u64,
    /// The first entry of the next group.
    lookahead: Option<NBestEntry>,
}

/// A parsed line of an n-best list.
struct NBestEntry {
    source_number: u64,
    /// The line number, from 1.
    line_number: u64,
    target: Vec<u32>,
    line: NBestLine,
}

impl GroupReader {
    pub fn new(
        pairs: ScoringInput,
        models: &LoadedModels,
        pieces: bool,
        max_length: usize,
    ) -> Self {
        let mut tokenizers = models.tokenizers().clone();
        tokenizers.iter_mut().for_each(|side| side.input_is_tokenized = pieces);
        GroupReader {
            pairs,
            tokenizers,
            scratch: TokenizerScratch::default(),
            max_length,
            id: 0,
            source: Vec::new(),
            sources_read: 0,
            lookahead: None,
        }
    }

    /// Returns the next group; none at the end.
    pub fn next_group(&mut self) -> Result<Option<TranslationGroup>> {
        let group = match self.pairs {
            ScoringInput::ParallelTexts(_) | ScoringInput::Tsv(_) => self.read_pair()?,
            ScoringInput::NBestLists { .. } => self.read_list()?,
        };
        self.id += u64::from(group.is_some());
        Ok(group)
    }

    fn read_pair(&mut self) -> Result<Option<TranslationGroup>> {
        let (names, number) = (self.pairs.names(), self.id + 1);
        let (source, target) = match &mut self.pairs {
            ScoringInput::ParallelTexts(texts) => {
                let mut pair = [const { Vec::new() }; 2];
                let more = texts.next(|side, _, line| {
                    pair[side] = line.bytes.to_vec();
                    Ok::<_, TextError>(())
                })?;
                if !more {
                    return Ok(None);
                }
                pair.into()
            }
            ScoringInput::Tsv(lines) => {
                let Some(line) = lines.next()? else { return Ok(None) };
                let tab = line.bytes.iter().position(|&byte| byte == b'\t').ok_or_else(|| {
                    let reason = "expected a source, a tab and a translation";
                    TextError::format(&names[0], number, None, reason)
                })?;
                (line.bytes[..tab].to_vec(), line.bytes[tab + 1..].to_vec())
            }
            ScoringInput::NBestLists { .. } => return Ok(None),
        };
        let source = self.encode_line(0, &source, &names[0], number)?;
        let targets = vec![self.encode_line(1, &target, &names[1], number)?];
        Ok(Some(TranslationGroup { id: self.id, source, targets, lines: Vec::new() }))
    }

    /// Reads the next lines of an n-best list that have the same number, at most
    /// [`MAX_GROUP_LINES`].
    fn read_list(&mut self) -> Result<Option<TranslationGroup>> {
        let first = match self.lookahead.take() {
            Some(first) => first,
            None => match self.read_entry()? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        self.seek_source(first.source_number, first.line_number)?;
        let number = first.source_number;
        let mut group = TranslationGroup {
            id: self.id,
            source: self.source.clone(),
            targets: Vec::new(),
            lines: Vec::new(),
        };
        let mut next = Some(first);
        while let Some(entry) = next {
            if entry.source_number != number || group.targets.len() >= MAX_GROUP_LINES {
                self.lookahead = Some(entry);
                break;
            }
            group.targets.push(entry.target);
            group.lines.push(entry.line);
            next = self.read_entry()?;
        }
        Ok(Some(group))
    }

    /// Reads up to source `number`, which line `at` of the n-best list names.
    fn seek_source(&mut self, number: u64, at: u64) -> Result<()> {
        let [name, _] = self.pairs.names();
        let ScoringInput::NBestLists { source, list, .. } = &mut self.pairs else { return Ok(()) };
        let mut text = None;
        if number < self.sources_read.saturating_sub(1) {
            let reason = format!("number {number} comes after {}", self.sources_read - 1);
            return Err(TextError::format(list.name(), at, Some(1), reason).into());
        }
        while self.sources_read <= number {
            let Some(line) = source.next()? else {
                let reason = format!(
                    "the text has no line of number {number}, which {} translates",
                    list.name()
                );
                return Err(TextError::format(&name, self.sources_read + 1, None, reason).into());
            };
            self.sources_read += 1;
            text = Some(line.bytes.to_vec());
        }
        if let Some(text) = text {
            self.source = self.encode_line(0, &text, &name, self.sources_read)?;
        }
        Ok(())
    }

    /// Reads the next line of an n-best list.
    fn read_entry(&mut self) -> Result<Option<NBestEntry>> {
        let ScoringInput::NBestLists { list, .. } = &mut self.pairs else { return Ok(None) };
        let name = list.name().to_owned();
        let Some(line) = list.next()? else { return Ok(None) };
        let fields =
            NBestFields::parse(line.bytes, NBestForm::Any).map_err(|(field, reason)| {
                TextError::format(&name, line.number, Some(field), reason)
            })?;
        let at = line.number;
        let line = NBestLine { bytes: line.bytes.to_vec(), fields };
        let target = self.encode_line(1, &line.bytes[line.fields.text.clone()], &name, at)?;
        let source_number = line.fields.sentence;
        Ok(Some(NBestEntry { source_number, line_number: at, target, line }))
    }

    /// Returns the tokens of line `number` of the text `name`, with `</s>`. Rejects long lines,
    /// because memory grows with the square of their length.
    fn encode_line(
        &mut self,
        side: usize,
        text: &[u8],
        name: &str,
        number: u64,
    ) -> Result<Vec<u32>> {
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let pieces = self.tokenizers[side].encode(text, &mut self.scratch);
        if pieces.len() > self.max_length {
            let reason = describe_excess(pieces.len(), self.max_length, MAX_LENGTH_OPTION);
            return Err(TextError::format(name, number, None, reason).into());
        }
        let words = self.tokenizers[side].ids_with_marks(&pieces);
        if words.is_empty() {
            let reason = "an empty line, which this model cannot score: it adds no </s>";
            return Err(TextError::format(name, number, None, reason).into());
        }
        Ok(words)
    }
}
