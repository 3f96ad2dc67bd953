//! Folders and files that have a part of a model of `transformers`, with advice for messages.

use std::path::Path;

use super::CONFIGURATION;
use crate::formats::found_model::FoundModel;
use crate::{Error, Result};

/// Weights of other libraries, which a folder may have in place of PyTorch's.
const OTHER_LIBRARIES: [&str; 5] = [".h5", ".msgpack", ".onnx", ".ot", ".tflite"];

/// Whether `file` has weights alone, under a name that does not stand for a folder.
pub(in crate::formats) fn is_other_weight_file(file: &Path) -> bool {
    is_safetensors(&file.to_string_lossy()) && file.is_file()
}

/// Rejects a file of weights that [`is_other_weight_file`] recognises.
pub(in crate::formats) fn reject_weight_file(file: &Path) -> Result<FoundModel> {
    let reason = "it has weights alone; give the folder with config.json, in which the weights are \
                  model.safetensors, or several files with model.safetensors.index.json";
    Err(Error::unsupported(file, reason))
}

/// Returns what a folder lacks, with advice, if it seems to be for `transformers`. `names` are the
/// names in the folder.
pub(in crate::formats) fn missing_part(folder: &Path, names: &[String]) -> Option<String> {
    let has = |name: &str| names.iter().any(|other| other == name);
    let listed = |is_wanted: &dyn Fn(&str) -> bool| {
        let wanted = names.iter().map(String::as_str).filter(|name| is_wanted(name));
        wanted.collect::<Vec<_>>().join(", ")
    };
    if has("adapter_config.json") {
        let advice = "an adapter without its model; merge both with PEFT (merge_and_unload), and \
                      save the result";
        return Some(advice.into());
    }
    if has("snapshots") && has("refs") {
        let snapshots = crate::formats::files::file_names(&folder.join("snapshots"));
        return Some(format!(
            "a folder of the cache of Hugging Face's hub; give one of its snapshots: snapshots/{}",
            snapshots.unwrap_or_default().join(", snapshots/")
        ));
    }
    let weights = listed(&|name| is_safetensors(name) || name.starts_with("pytorch_model"));
    let is_configured = has(CONFIGURATION);
    if !weights.is_empty() && !is_configured {
        return Some(format!("it has weights ({weights}), but not the model's config.json"));
    }
    if !weights.is_empty() {
        return Some(format!(
            "its weights have other names than those that transformers writes ({weights}); a \
             single file is model.safetensors or pytorch_model.bin, and several files need \
             model.safetensors.index.json or pytorch_model.bin.index.json"
        ));
    }
    let others = listed(&|name| OTHER_LIBRARIES.iter().any(|end| name.ends_with(end)));
    if is_configured && !others.is_empty() {
        return Some(format!(
            "it has weights of other libraries only ({others}); save the model with transformers \
             as model.safetensors"
        ));
    }
    let checkpoints =
        listed(&|name| name.starts_with("checkpoint-") && super::is_folder(&folder.join(name)));
    if !checkpoints.is_empty() {
        return Some(format!("a folder of checkpoints; give one of them: {checkpoints}"));
    }
    None
}

fn is_safetensors(name: &str) -> bool {
    name.ends_with(".safetensors")
}

#[cfg(test)]
mod tests {
    use crate::ModelBundle;

    #[test]
    fn what_a_folder_lacks_is_named() {
        for (names, advice) in [
            (&["adapter_config.json", "adapter_model.safetensors"][..], "merge_and_unload"),
            (&["refs/main", "snapshots/abc/config.json"], "snapshots/abc"),
            (&["model.safetensors"], "config.json"),
            (&["config.json", "model.fp16.safetensors"], "model.fp16.safetensors"),
            (&["config.json", "pytorch_model-00001-of-00002.bin"], "pytorch_model.bin.index.json"),
            (&["config.json", "tf_model.h5"], "tf_model.h5"),
            (&["checkpoint-500/config.json", "checkpoint-500/model.safetensors"], "checkpoint-500"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            for name in names {
                let path = folder.path().join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "{}").unwrap();
            }
            let error = ModelBundle::open(folder.path(), None).err().unwrap().to_string();
            assert!(error.contains(advice), "{names:?}: {error}");
        }
        let folder = tempfile::tempdir().unwrap();
        let shard = folder.path().join("model-00001-of-00002.safetensors");
        std::fs::write(&shard, "{}").unwrap();
        let error = ModelBundle::open(&shard, None).err().unwrap().to_string();
        assert!(error.contains("give the folder with config.json"), "{error}");
    }
}
