//! All suites in one program: a program each would link the crate as many times.

mod forced_decoding;
mod formats;
mod hostile;
mod oracle;
mod oracle_search;
mod packed_weights;
mod recurrent;
mod reference;
mod search;
mod stacked;
