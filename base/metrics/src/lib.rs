//! How good translations are, by their references: BLEU, chrF and TER with
//! sacreBLEU's numbers and signatures, and the sufficient statistics that tuning
//! adds up.

#![forbid(unsafe_code)]
