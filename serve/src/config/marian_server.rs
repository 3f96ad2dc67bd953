//! The models and settings that the command line of marian-server names.

use std::path::PathBuf;

use miriam_nmt::{BundleOptions, DecoderConfig, Error, ModelBundle};

/// The models of an ensemble or of decoder configurations, with settings that override those in the
/// files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MarianServerModels {
    /// The models, if there is no configuration.
    pub models: Vec<PathBuf>,
    /// Decoder configurations; later ones override earlier ones.
    pub configurations: Vec<PathBuf>,
    /// Whether paths in a configuration are relative to the folder of the configuration.
    pub has_relative_paths: bool,
    /// The settings of the command line.
    pub settings: DecoderConfig,
}

impl MarianServerModels {
    /// Opens the models.
    ///
    /// # Errors
    /// The errors of [`ModelBundle::open_ensemble`] and [`ModelBundle::open_config`]. Also if the
    /// other options of configurations have changed since they were added to the command line.
    pub(crate) fn open(&self, options: &BundleOptions<'_>) -> miriam_nmt::Result<ModelBundle> {
        let mut bundle = match self.configurations.last() {
            Some(last) => {
                let settings =
                    DecoderConfig::open_all(&self.configurations, self.has_relative_paths)?;
                if settings.other_options != self.settings.other_options {
                    let reason =
                        "options that are not Marian's have changed; start the server again";
                    return Err(Error::unsupported(last, reason));
                }
                ModelBundle::open_config(settings, last, options)?
            }
            None => ModelBundle::open_ensemble(&self.models, options)?,
        };
        let found = std::mem::take(&mut bundle.settings);
        bundle.settings = self.settings.clone().or(found);
        Ok(bundle)
    }
}
