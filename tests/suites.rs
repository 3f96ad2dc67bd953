//! All end-to-end suites over the binary in one program, which is linked once; the tests
//! of all suites run in parallel. `cargo test -p miriam --test suites NAME::` runs one of
//! them.

mod common;

mod align;
mod alignment_programs;
mod architecture;
mod bench;
mod bench_async;
mod clusters;
mod configuration;
mod console;
mod damaged_models;
mod demo;
mod device;
mod endless_lines;
mod estimate;
mod evaluate;
mod extract;
mod features;
mod glm_files;
mod lm;
mod markup;
mod n_best;
mod nmt;
mod nmt_bundles;
mod nmt_distill;
mod nmt_divergence;
mod nmt_folders;
mod nmt_intgemm;
mod nmt_marian_options;
mod nmt_packages;
mod nmt_robustness;
mod nmt_train;
mod nmt_train_async;
mod nmt_translate;
mod nmt_vocab;
mod packages;
mod partial_outputs;
mod perplexity;
mod programs;
mod pt;
mod python;
mod readme;
mod references;
mod robustness;
mod running_text;
mod self_contained;
#[cfg(feature = "serve")]
mod serve;
mod text_tools;
mod toy_model;
mod train;
mod translate;
mod tune;
mod wrong_kinds;
