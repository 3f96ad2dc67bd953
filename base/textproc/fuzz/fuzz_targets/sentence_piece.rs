//! Any bytes as a SentencePiece model and as text, and as changes to small models: models never
//! panic, and encoding gives only ids of the model.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_textproc::SentencePiece;
use miriam_textproc::sentencepiece::Encoding;

const SEEDS: [&[u8]; 4] = [
    include_bytes!("../../testdata/unigram.spm"),
    include_bytes!("../../testdata/bpe.spm"),
    include_bytes!("../../testdata/unigram-bytes.spm"),
    include_bytes!("../../testdata/bpe-bytes.spm"),
];

fn round_trip(model: &[u8], text: &[u8]) {
    let Ok(model) = SentencePiece::from_bytes(model, "fuzz") else { return };
    let mut encoding = Encoding::new();
    model.encode(text, &mut encoding);
    assert!(encoding.ids().iter().all(|&id| (id as usize) < model.len()));
    let mut back = Vec::new();
    model.decode(encoding.ids(), &mut back);
    model.decode_pieces(model.pieces(&encoding), &mut back);
}

fuzz_target!(|bytes: &[u8]| {
    round_trip(bytes, b"la casa");
    let Some((&kind, rest)) = bytes.split_first() else { return };
    let mut model = SEEDS[usize::from(kind) % SEEDS.len()].to_vec();
    round_trip(&model, rest);
    for change in rest.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % model.len();
        model[at] = change[2];
    }
    round_trip(&model, rest);
});
