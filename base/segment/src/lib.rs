//! Text as people write it, and text as translation models know it: tokeniser,
//! detokeniser, truecaser and punctuation normaliser, line for line what Moses'
//! scripts give.

#![forbid(unsafe_code)]
