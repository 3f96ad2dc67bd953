//! What can go wrong with a `glm` model.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a model could not be built, opened, trusted or taken to a GPU. Each message
/// ends the story: no cause hides behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model file could not be written, opened or trusted.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// The model that a file is made from could not be read.
    #[error(transparent)]
    Lm(#[from] miriam_lmcpu::Error),
    /// There is no GPU, or it refused.
    #[error(transparent)]
    Gpu(#[from] miriam_gpu::Error),
    /// A model or a request that kernels are not made for.
    #[error("{reason}")]
    Unsupported {
        /// What, and what to do instead.
        reason: String,
    },
    /// Two searches that must agree do not.
    #[error("{what}: they differ at {detail}; please report this with the command")]
    Mismatch {
        /// What was compared.
        what: String,
        /// The first difference.
        detail: String,
    },
}
