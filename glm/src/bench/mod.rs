//! What `miriam bench glm` is made of, apart from the clock and the paper: queries in
//! the forms that searches take ([`queries`]), what a search has to read
//! ([`reads`]), random reads as a yardstick ([`memory`]), searches on the CPU
//! ([`cpu`]), and the comparison of the device with the CPU to the bit ([`check`]).

pub mod comparison;
pub mod cpu_scoring;
pub mod queries;
pub mod random_reads;
pub mod read_counts;

#[cfg(test)]
mod tests;
