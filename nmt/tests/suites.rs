//! All suites but `allocations` in one test binary, so that the crate is linked once for them.

mod argos;
mod ctranslate2;
mod forced_decoding;
mod hostile;
mod hugging_face;
mod marian_writing;
mod model_formats;
mod npz_writing;
mod oracle;
mod oracle_data;
mod oracle_search;
mod packed_weights;
mod pool;
mod pytorch;
mod recurrent;
mod reference;
mod score_lists;
mod search;
mod stacked;
