//! The parts of `miriam bench glm` without its timing and its report: queries in the form
//! that searches take ([`queries`]), what a search has to read ([`read_counts`]), random
//! reads as the upper bound ([`random_reads`]), searches on the CPU ([`cpu_scoring`]), and
//! the comparison of the device with the CPU to the bit ([`comparison`]).

pub mod comparison;
pub mod cpu_scoring;
pub mod queries;
pub mod random_reads;
pub mod read_counts;

#[cfg(test)]
mod tests;
