//! Any bytes as the pickles of a PyTorch file that is not an archive, and as the storages after
//! them. They give tensors or an error: never a panic, and never an allocation that is out of
//! proportion to the file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_nmt::checkpoint::Checkpoint;
use miriam_storage::Bytes;

/// The magic number, the version, and the description of a machine.
const HEAD: &[u8] = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\
                      \x80\x02}X\x0d\x00\x00\x00little_endian\x88s.";

fuzz_target!(|bytes: &[u8]| {
    let file = [HEAD, bytes].concat();
    let Ok(checkpoint) = Checkpoint::from_bytes(&Bytes::copy_from(&file), Path::new("fuzz")) else {
        return;
    };
    for name in checkpoint.names() {
        let tensor = checkpoint.get(name).expect("it is named");
        assert_eq!(tensor.values().len(), tensor.numel());
    }
});
