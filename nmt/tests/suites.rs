//! All suites in one program: a program each would link the crate as many times.

mod forced;
mod formats;
mod hostile;
mod oracle;
mod oracle_search;
mod packed;
mod recurrent;
mod search;
mod stacked;
