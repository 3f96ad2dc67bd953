//! The translation server: models by name and language, behind protocols that existing clients
//! speak.
//!
//! One process serves all protocols on the same port. Searching threads take sentences out of
//! queues ([`engine`]). A small runtime serves sockets ([`http`]). Each protocol is a module that
//! turns requests into sentences and results into responses ([`api`]). The translation of a
//! sentence is exactly what the command line prints for it, whatever else the server does.
//!
//! TLS and host names are left to a proxy, so a server needs no network to start.
//!
//! ```
//! use std::sync::Arc;
//!
//! use miriam_nmt::engine::{Autotuner, Cpu};
//! use miriam_serve::{Configuration, Error, Server};
//!
//! // The text of a serve.toml; port 0 is any free port.
//! let toml = "
//!     listen = [\"127.0.0.1:0\"]
//!     [[model]]
//!     name = \"toy\"
//!     path = \"../examples/toy-neural\"
//! ";
//! let read_configuration =
//!     || Configuration::parse(toml).map_err(|reason| Error::Usage { reason });
//! let tuner = Arc::new(Autotuner::new(Cpu::detect()));
//! let (opened, has_opened) = std::sync::mpsc::channel();
//! let report = Box::new(move |any_model| opened.send(any_model).expect("the receiver lives"));
//! let server = Server::start(Box::new(read_configuration), tuner, report)?;
//! assert!(has_opened.recv()?, "the model has opened");
//! println!("open http://{}/", server.addresses()[0]);
//! assert!(server.stop(), "no request was under way");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod access_log;
pub mod api;
mod app;
mod background;
pub mod config;
mod connections;
pub mod engine;
pub mod http;
mod keys;
mod listen_addresses;
mod listener;
pub mod metrics;
pub mod models;
mod pivot;
pub mod readiness;
mod refusal;
mod reload;
mod request_record;
mod server;
mod text_translation;

pub use app::App;
pub use config::{
    Api, Configuration, Limits, MarianServerModels, ModelConfiguration, ModelKind, MosesSystem,
    ShortlistSetting,
};
pub use keys::make_key;
pub use reload::ReloadSender;
pub use server::{CheckedModel, ConfigurationSource, OpenListener, Server, check};

/// The result of this crate's fallible calls.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of starting a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid option or setting.
    #[error("{reason}")]
    Usage {
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A mistake in a file.
    #[error("{place}: {reason}")]
    Configuration {
        /// The file.
        place: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A model did not open.
    #[error("{0}")]
    Model(String),
    /// An address cannot be opened, or a thread cannot be started.
    #[error("{place}: {error}")]
    System {
        /// The address or the thread.
        place: String,
        /// Why it cannot be opened or started.
        error: std::io::Error,
    },
}

impl Error {
    fn model(name: &str, reason: impl std::fmt::Display) -> Self {
        Error::Model(format!("model {name}: {reason}"))
    }

    fn configuration(file: &std::path::Path, reason: impl Into<String>) -> Self {
        Error::Configuration { place: file.display().to_string(), reason: reason.into() }
    }

    fn system(place: impl Into<String>, error: std::io::Error) -> Self {
        Error::System { place: place.into(), error }
    }
}
