//! Building a `glm` file from the n-grams of a model.
//!
//! [`miriam_lmcpu::sorted`] sorts and joins the n-grams. Then the orders are written one after
//! another, in batches. Before an order is written, the next one is laid out, because entries point
//! to their children. Written orders are freed. The bytes do not depend on the number of threads.

mod blocks;
mod buckets;

use std::path::Path;

use miriam_lmcpu::probing::ModelSize;
use miriam_lmcpu::sorted::{Nodes, SortedModel};
use miriam_lmcpu::{ArpaOptions, Result};
use miriam_storage::dictionary::Dictionary;
use miriam_storage::parallel;
use miriam_storage::{Bytes, ContainerWriter};
use miriam_textio::Progress;

use blocks::BlockWriter;
use buckets::BucketWriter;

use crate::block_allocator::ParentKind;
use crate::format::{Entry, NodeWidth};
use crate::model::{KIND, LevelMetadata, Metadata, VERSION};
use crate::search::SIGN;

/// The layout of a file. Scores do not depend on it.
///
/// # Examples
///
/// ```
/// use miriam_glm::format::NodeWidth;
/// use miriam_glm::{GlmModel, GlmOptions, build_glm};
/// # use miriam_lmcpu::{ArpaOptions, LanguageModel, State};
/// # use miriam_storage::LoadMethod;
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let [arpa, file] = ["lm.arpa", "lm.glm"].map(|name| folder.path().join(name));
/// # let text = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(&arpa, text)?;
/// for max_hashed_order in [0, 2] {
///     let options = GlmOptions { node_width: NodeWidth::Keys16, max_hashed_order };
///     build_glm(&arpa, &file, &options, ArpaOptions::default(), &NoProgress)?;
///     let model = GlmModel::open(&file, LoadMethod::Lazy)?;
///     assert_eq!(model.max_hashed_order(), max_hashed_order);
///     let (a, mut next) = (model.word_id(b"a"), State::EMPTY);
///     assert_eq!(model.score(&model.begin_state(), a, &mut next).0.0, -0.5);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlmOptions {
    /// Keys of a node.
    pub node_width: NodeWidth,
    /// Orders from 2 up to this one are in hash tables instead of blocks; 0 or 1: none.
    pub max_hashed_order: usize,
}

/// The fastest layout for its size on a CPU: nearly all large blocks are of bigrams and trigrams,
/// and a lookup in a hash table reads one cache line instead of one for each level of a tree.
impl Default for GlmOptions {
    fn default() -> Self {
        GlmOptions { node_width: NodeWidth::Keys32, max_hashed_order: 3 }
    }
}

/// Builds the file `output` from the model at `path`, on rayon's current threads.
/// [`crate::open_source`] opens the model, so it may have any kind that this function opens.
///
/// # Errors
///
/// If the model cannot be read, the file cannot be written, or an order is too large for
/// the layout.
pub fn build_glm(
    path: &Path,
    output: &Path,
    options: &GlmOptions,
    arpa: ArpaOptions,
    progress: &dyn Progress,
) -> Result<ModelSize> {
    let task = progress.task("reading", path.metadata().map(|found| found.len()).ok());
    let model = SortedModel::from_source(&mut *crate::open_source(path, arpa, progress)?)?;
    drop(task);
    let size = model.size();
    let _task = progress.task("writing", None);
    write_glm(model, options, create_glm(output)?)?;
    Ok(size)
}

/// Creates a file for [`write_glm`].
///
/// # Errors
///
/// If the file cannot be created.
pub fn create_glm(output: &Path) -> Result<ContainerWriter> {
    Ok(ContainerWriter::create(output, KIND, VERSION)?)
}

/// Writes `model`, on rayon's current threads; returns the bytes if `writer` writes to memory. The
/// arrays of the model are freed one by one.
///
/// # Errors
///
/// If the file cannot be written, or an order is too large for the layout.
pub fn write_glm(
    mut model: SortedModel,
    options: &GlmOptions,
    mut writer: ContainerWriter,
) -> Result<Option<Bytes>> {
    let head = model.head_metadata();
    let mut levels = std::mem::take(&mut model.trie.levels);
    let order = levels.len();
    let hashed = options.max_hashed_order.min(order);
    fn level(nodes: &Nodes) -> LevelMetadata {
        LevelMetadata { entries: nodes.len() as u64, blanks: nodes.blanks.len() as u64 }
    }
    writer.write_metadata(&Metadata {
        order: order as u32,
        counts: model.counts,
        node_width: options.node_width.keys() as u32,
        max_hashed_order: hashed as u32,
        levels: levels[1..].iter().map(level).collect(),
        head,
    })?;
    let words = model.source_ids.iter().map(|&id| model.vocabulary.word(id));
    Dictionary::write(&mut writer, "words", words)?;
    drop((model.vocabulary, model.source_ids));

    let mut blanks: Vec<u32> = Vec::new();
    let mut own = LevelLayout::Words;
    let mut parents = Nodes::default();
    for n in 1..=order {
        let nodes = std::mem::take(&mut levels[n - 1]);
        let next = match levels.get(n) {
            None => LevelLayout::Empty,
            Some(children) if n < hashed => LevelLayout::Buckets(BucketWriter::plan(
                n + 1,
                order,
                &nodes,
                children,
                &own,
                &writer,
            )?),
            Some(_) => {
                let parent_kind = match own {
                    LevelLayout::Buckets(_) => ParentKind::Buckets,
                    _ if n == 1 => ParentKind::Words,
                    _ => ParentKind::Entries,
                };
                LevelLayout::Blocks(BlockWriter::plan(
                    n + 1,
                    order,
                    &nodes,
                    options.node_width,
                    parent_kind,
                    &writer,
                )?)
            }
        };
        let level = LevelNodes {
            order: n,
            orders: order,
            nodes: &nodes,
            children: levels.get(n),
            layout: &next,
        };
        let mut order_blanks = match &own {
            LevelLayout::Words => {
                let entries = parallel::map(nodes.len(), |at| level.node_entry(at));
                writer.write_section("order-1", &entries)?;
                Vec::new()
            }
            LevelLayout::Blocks(blocks) => blocks.write(&parents, &level, &mut writer)?,
            LevelLayout::Buckets(buckets) => buckets.write(&level, &mut writer)?,
            LevelLayout::Empty => Vec::new(),
        };
        order_blanks.sort_unstable();
        blanks.append(&mut order_blanks);
        (own, parents) = (next, nodes);
    }
    writer.write_section("blanks", &blanks)?;
    Ok(writer.finish()?)
}

/// The layout of the n-grams of an order.
enum LevelLayout {
    /// Unigrams, by word id.
    Words,
    Blocks(BlockWriter),
    Buckets(BucketWriter),
    /// No n-grams.
    Empty,
}

/// The n-grams of an order and the layout of their children.
struct LevelNodes<'m> {
    order: usize,
    /// The highest order.
    orders: usize,
    nodes: &'m Nodes,
    /// The next order, unless this is the highest.
    children: Option<&'m Nodes>,
    /// The layout of `children`.
    layout: &'m LevelLayout,
}

impl LevelNodes<'_> {
    /// Whether the n-grams are of the highest order.
    fn is_longest(&self) -> bool {
        self.order == self.orders
    }

    /// Returns the bits of log10 p, with the sign bit set, of an n-gram of order 2 or higher.
    fn log10(&self, at: usize) -> u32 {
        self.nodes.log10[at].to_bits() | SIGN
    }

    /// Returns the first unit of an n-gram's children, 0 if they have none, and their number.
    fn child_range(&self, at: usize) -> (u32, usize) {
        let count = match self.children {
            Some(_) => self.nodes.children_of(at as u32).len(),
            None => 0,
        };
        match self.layout {
            LevelLayout::Blocks(blocks) if count > 0 => (blocks.first_unit(at), count),
            _ => (0, count),
        }
    }

    /// Returns the entry of an n-gram below the highest order, or of a unigram.
    fn node_entry(&self, at: usize) -> Entry {
        let (mut first, count) = self.child_range(at);
        let backoff = self.nodes.backoffs.get(at).map_or(SIGN, |backoff| backoff.to_bits());
        if self.order == 1 {
            let log10 = self.nodes.log10[at].to_bits();
            return Entry { log10, backoff, first, count: count as u32 };
        }
        let mut log10 = self.log10(at) & !Entry::SINGLE;
        let mut count = count as u32;
        if let (1, Some(children)) = (count, self.children) {
            let child = self.nodes.children_of(at as u32).start;
            log10 |= Entry::SINGLE;
            count = children.words[child];
            if self.order + 1 == self.orders {
                first = children.log10[child].to_bits() | SIGN;
            }
        }
        Entry { log10, backoff, first, count }
    }
}
