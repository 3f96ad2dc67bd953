//! The errors of this crate.

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of building, opening or verifying a model, or of using it on a GPU. Each message is
/// complete: its source need not be printed after it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model file could not be written or opened, or is damaged.
    #[error(transparent)]
    Storage(#[from] miriam_storage::Error),
    /// The model that a file is made from could not be read.
    #[error(transparent)]
    Lm(#[from] miriam_lmcpu::Error),
    /// There is no GPU, or it failed.
    #[cfg(feature = "cuda")]
    #[error(transparent)]
    Gpu(#[from] miriam_gpu::Error),
    /// A GPU is chosen in a build that cannot use one.
    #[error(transparent)]
    BuiltWithoutCuda(#[from] miriam_gpu::BuiltWithoutCuda),
    /// A model or a request that the kernels do not support.
    #[error("{reason}")]
    Unsupported {
        /// What is not supported, and what to do instead.
        reason: String,
    },
}

impl miriam_lmcpu::AsDuplicateError for Error {
    fn is_duplicate(&self) -> bool {
        matches!(self, Error::Lm(error) if error.is_duplicate())
    }
}
