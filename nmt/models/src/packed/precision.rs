//! The precision of GEMM.

use miriam_kernels::pack::Layout;

/// The element type that GEMM computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// Floats.
    #[default]
    F32,
    /// Sixteen bits (Devlin 2017, section 4.1): scales of rows and columns as with eight bits, as
    /// fine as 32-bit sums allow.
    I16,
    /// Eight bits: a scale for each row of the input and each column of weights.
    I8,
    /// Sixteen bits in the encoder, eight elsewhere. Every step of the decoder sees the errors of
    /// the encoder again, and sixteen bits cost least in the encoder, which works on many rows at
    /// once.
    Mixed,
    /// Eight bits as in bergamot and Firefox: the file has a fixed scale for the inputs of each
    /// matrix (alphas), and larger inputs are clipped. It loses more than [`Precision::I8`], but
    /// gives the translations of these programs.
    I8Alphas,
    /// Floats of 16 bits by IEEE 754, added up in 32 bits. For GPUs.
    F16,
    /// Floats of 16 bits with the exponents of f32, added up in 32 bits. For GPUs.
    Bf16,
}

impl Precision {
    /// The precisions that every model supports on CPUs; others need a GPU, or data that few files
    /// have.
    pub const FOR_ANY_MODEL: [Precision; 4] =
        [Precision::F32, Precision::I16, Precision::I8, Precision::Mixed];

    /// All precisions.
    pub const ALL: [Precision; 7] = [
        Precision::F32,
        Precision::I16,
        Precision::I8,
        Precision::Mixed,
        Precision::I8Alphas,
        Precision::F16,
        Precision::Bf16,
    ];

    /// Returns the precision that `name` names here, or that weights of CTranslate2's type `name`
    /// have.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|precision| {
            precision.name() == name || precision.ctranslate2_names().any(|known| known == name)
        })
    }

    /// Returns its name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::I16 => "i16",
            Precision::I8 => "i8",
            Precision::Mixed => "mixed",
            Precision::I8Alphas => "i8-alphas",
            Precision::F16 => "f16",
            Precision::Bf16 => "bf16",
        }
    }

    /// Whether only GPUs compute in this precision.
    pub fn needs_gpu(self) -> bool {
        matches!(self, Precision::F16 | Precision::Bf16)
    }

    /// Whether products are computed in integers, which GPUs do not do.
    pub fn is_integer(self) -> bool {
        matches!(self, Precision::I16 | Precision::I8 | Precision::Mixed | Precision::I8Alphas)
    }

    /// Whether weights that are packed for one precision serve the other.
    pub fn packs_like(self, other: Precision) -> bool {
        ["encoder", ""].iter().all(|name| self.layout(name) == other.layout(name))
    }

    /// Returns the layout of the matrix `name`, or of several matrices side by side if `name` is
    /// the first. For floats of 16 bits it is the layout of f32: numbers are rounded when a GPU
    /// loads them.
    pub fn layout(self, name: &str) -> Layout {
        match self {
            Precision::F32 | Precision::F16 | Precision::Bf16 => Layout::F32,
            Precision::I16 => Layout::I16,
            Precision::I8 | Precision::I8Alphas => Layout::I8,
            Precision::Mixed if name.starts_with("encoder") => Layout::I16,
            Precision::Mixed => Layout::I8,
        }
    }
}
