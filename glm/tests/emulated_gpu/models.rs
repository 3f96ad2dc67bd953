//! Random models, on the CPU and on the device, and random texts.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use miriam_glm::device::{DeviceModel, DeviceOptions};
use miriam_glm::format::NodeWidth;
use miriam_glm::{GlmOptions, KIND, VERSION, write_glm};
use miriam_lmcpu::sorted::SortedModel;
use miriam_lmcpu::trie::{TrieModel, build_trie};
use miriam_lmcpu::{ArpaOptions, LanguageModel, LmWord};
use miriam_storage::{Bytes, Container, ContainerWriter, LoadMethod};
use miriam_textio::NoProgress;

/// A linear congruential generator.
pub struct Random(pub u64);

impl Random {
    /// Returns a number from 0 to `n - 1`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let high = self.0 >> 33;
        high % n
    }

    /// Returns a number from 0 to `n - 1`; small ones are frequent.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let limit = 1 + self.below(n);
        self.below(limit)
    }
}

/// Returns the name of a word in ARPA text.
pub fn word_name(id: usize) -> String {
    match id {
        0 => "<unk>".to_owned(),
        1 => "<s>".to_owned(),
        2 => "</s>".to_owned(),
        _ => format!("w{id}"),
    }
}

/// Returns a random ARPA model. Every context of an n-gram is in the model, but not every suffix.
/// Small ids are frequent and have many neighbours.
pub fn random_arpa(order: usize, num_words: u64, num_ngrams: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let names: Vec<String> = (0..num_words as usize).map(word_name).collect();
    let mut sets = vec![std::collections::BTreeSet::<Vec<usize>>::new(); order + 1];
    for i in 0..num_ngrams {
        // w3 is the second word of many n-grams.
        let mut ngram: Vec<usize> = (0..order).map(|_| random.skewed(num_words) as usize).collect();
        let length = 2 + random.below(order as u64 - 1) as usize;
        match i % 4 {
            0 => ngram[1] = 3,
            1 if order > 2 => ngram[1..3].copy_from_slice(&[4, 3]),
            _ => {}
        }
        for n in 2..=length {
            sets[n].insert(ngram[..n].to_vec());
        }
    }
    let mut text = String::from("\\data\\\n");
    writeln!(text, "ngram 1={num_words}").unwrap();
    for (n, set) in sets.iter().enumerate().skip(2) {
        writeln!(text, "ngram {n}={}", set.len()).unwrap();
    }
    let number = |random: &mut Random| random.below(90_000) as f32 / 17_000.0;
    let backoff = |random: &mut Random| {
        if order == 1 || random.below(3) == 0 {
            String::new()
        } else {
            format!("\t{}", random.below(3000) as f32 / 1000.0 - 2.0)
        }
    };
    writeln!(text, "\n\\1-grams:").unwrap();
    for (i, name) in names.iter().enumerate() {
        let log10 = if i == 1 { 99.0 } else { number(&mut random) };
        writeln!(text, "-{log10}\t{name}{}", backoff(&mut random)).unwrap();
    }
    for (n, set) in sets.iter().enumerate().skip(2) {
        writeln!(text, "\n\\{n}-grams:").unwrap();
        for ngram in set {
            let ngram: Vec<&str> = ngram.iter().map(|&word| &names[word][..]).collect();
            let backoff = if n < order { backoff(&mut random) } else { String::new() };
            writeln!(text, "-{}\t{}{backoff}", number(&mut random), ngram.join(" ")).unwrap();
        }
    }
    text + "\n\\end\\\n"
}

/// The same n-grams as a trie on the CPU and as `glm` models on the device.
pub struct TestModels {
    pub cpu_model: Arc<dyn LanguageModel>,
    path: tempfile::TempPath,
}

impl TestModels {
    pub fn from_arpa(arpa: &Path) -> Self {
        let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        build_trie(arpa, &path, None, ArpaOptions::default(), &NoProgress).unwrap();
        TestModels { cpu_model: Arc::new(TrieModel::open(&path, LoadMethod::Lazy).unwrap()), path }
    }

    pub fn glm_bytes(&self, width: NodeWidth, max_hashed_order: usize) -> Bytes {
        let sorted = SortedModel::read(&self.path, ArpaOptions::default(), &NoProgress).unwrap();
        let writer = ContainerWriter::in_memory(Path::new("model"), KIND, VERSION).unwrap();
        write_glm(sorted, &GlmOptions { node_width: width, max_hashed_order }, writer)
            .unwrap()
            .expect("a writer in memory returns its bytes")
    }

    pub fn on_device(&self, bytes: &Bytes, options: DeviceOptions) -> DeviceModel {
        let container = Container::from_bytes(bytes.clone(), Path::new("model")).unwrap();
        DeviceModel::new(&container, Arc::clone(&self.cpu_model), 0, options).unwrap()
    }
}

/// Returns sentences of `count` tokens in all, and their ends.
pub fn random_text(
    model: &dyn LanguageModel,
    count: usize,
    random: &mut Random,
) -> (Vec<LmWord>, Vec<usize>) {
    let words = model.num_words() as u64;
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    while text.len() < count {
        text.push(LmWord(random.skewed(words) as u32));
        if random.below(9) == 0 {
            ends.push(text.len());
        }
    }
    ends.push(text.len());
    (text, ends)
}

/// Writes a model to a temporary file.
pub fn write_arpa(text: &str) -> tempfile::TempPath {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file.into_temp_path()
}
