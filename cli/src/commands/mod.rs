//! The subcommands, one module each.

pub mod align;
pub mod bench;
mod bleu_tokenizer;
mod compared_systems;
pub mod demo;
pub mod documentation;
pub mod dump;
mod estimate;
pub mod evaluate;
pub mod extract;
mod filter;
#[cfg(feature = "serve")]
pub mod health;
mod kept_inputs;
pub mod lm;
mod lm_rescore;
pub mod mbr;
mod metric_arguments;
pub mod next;
pub mod nmt;
mod numbered_references;
mod open_lm;
mod output_folder;
mod perplexity;
pub mod programs;
pub mod pt;
mod raw_text;
pub mod rerank;
mod rescore_lists;
pub mod sacrebleu_options;
#[cfg(feature = "serve")]
pub mod serve;
mod system_configuration;
#[cfg(feature = "serve")]
mod systemd;
pub mod textproc;
pub mod train;
pub mod translate;
#[cfg(feature = "serve")]
mod translate_server;
pub mod tune;
mod tuner_cache;
pub mod verify;
