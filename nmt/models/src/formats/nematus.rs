//! Nematus' parameter names, which Amun uses too, and the options inferred from them for
//! checkpoints without options.

use std::collections::BTreeMap;

use crate::checkpoint::Tensor;
use crate::yaml::Value;

/// Whether the parameters are named as Nematus names them.
pub fn has_nematus_names(tensors: &BTreeMap<String, Tensor>) -> bool {
    ["Wemb", "encoder_U", "decoder_U_nl", "ff_logit_lstm_W"]
        .iter()
        .all(|name| tensors.contains_key(*name))
}

/// Renames parameters to Marian's names; other names are kept.
pub fn rename_to_marian(tensors: BTreeMap<String, Tensor>) -> BTreeMap<String, Tensor> {
    let separate = tensors.contains_key("Wemb_dec");
    fn rename(name: String, separate: bool) -> String {
        match &name[..] {
            "Wemb" if separate => "encoder_Wemb".to_owned(),
            "Wemb_dec" => "decoder_Wemb".to_owned(),
            _ => marian_name(&name).unwrap_or(name),
        }
    }
    tensors.into_iter().map(|(name, tensor)| (rename(name, separate), tensor)).collect()
}

/// Returns Marian's name for `name`, if `name` is one of Nematus' names.
fn marian_name(name: &str) -> Option<String> {
    if let Some(rest) = name.strip_prefix("ff_logit_") {
        for (layer, number) in [("prev_", '0'), ("lstm_", '1'), ("ctx_", '2')] {
            if let Some(what) = rest.strip_prefix(layer) {
                return Some(format!("decoder_ff_logit_l1_{what}{number}"));
            }
        }
        return Some(match rest.strip_prefix("l1_") {
            Some(what) => format!("decoder_ff_logit_l1_{what}"),
            None => format!("decoder_ff_logit_l2_{rest}"),
        });
    }
    if let Some(what) = name.strip_prefix("ff_state_") {
        return Some(format!("decoder_ff_state_{what}"));
    }
    // Scale and bias of a layer norm have the name of the matrix as prefix.
    let (matrix, norm) = match name.rsplit_once("_ln") {
        Some((matrix, letter @ ("s" | "b"))) => (matrix, format!("_ln{letter}")),
        _ => (name, String::new()),
    };
    let (matrix, transition) = match matrix.split_once("_drt_") {
        Some((matrix, number)) => (matrix, number.parse::<usize>().ok()?),
        None => (matrix, 0),
    };
    if let Some(rest) = matrix.strip_prefix("encoder_") {
        let (stack, what) = match rest.strip_prefix("r_") {
            Some(what) => ("encoder_bi_r", what),
            None => ("encoder_bi", rest),
        };
        let known = matches!(what, "U" | "Ux" | "W" | "Wx" | "b" | "bx" | "gamma1" | "gamma2");
        let cell = if transition > 0 { format!("_cell{}", transition + 1) } else { String::new() };
        return known.then(|| format!("{stack}{cell}_{what}{norm}"));
    }
    let what = matrix.strip_prefix("decoder_")?;
    let cell = match what {
        "U" | "Ux" | "W" | "Wx" | "b" | "bx" if transition == 0 => format!("cell1_{what}"),
        "Wc" if transition == 0 => "cell2_W".into(),
        "Wcx" if transition == 0 => "cell2_Wx".into(),
        "U_nl" | "Ux_nl" | "b_nl" | "bx_nl" => {
            format!("cell{}_{}", transition + 2, what.strip_suffix("_nl")?)
        }
        _ => return None,
    };
    Some(format!("decoder_{cell}{norm}"))
}

/// Returns Nematus' name of the parameter that Marian calls `name`, if they differ: the inverse of
/// [`rename_to_marian`] for models of Nematus' architecture.
pub fn nematus_name(name: &str) -> Option<String> {
    match name {
        "encoder_Wemb" => return Some("Wemb".into()),
        "decoder_Wemb" => return Some("Wemb_dec".into()),
        // Nematus stores this matrix transposed under `ff_logit_W`; Marian reads both names.
        "decoder_ff_logit_l2_Wt" => return None,
        _ => {}
    }
    if let Some(what) = name.strip_prefix("decoder_ff_logit_l1_") {
        let layers = [('0', "prev"), ('1', "lstm"), ('2', "ctx")];
        return layers.into_iter().find_map(|(number, layer)| {
            Some(format!("ff_logit_{layer}_{}", what.strip_suffix(number)?))
        });
    }
    if let Some(what) = name.strip_prefix("decoder_ff_logit_l2_") {
        return Some(format!("ff_logit_{what}"));
    }
    if let Some(what) = name.strip_prefix("decoder_ff_state_") {
        return Some(format!("ff_state_{what}"));
    }
    let (matrix, norm) = match name.rsplit_once("_ln") {
        Some((matrix, letter @ ("s" | "b"))) => (matrix, format!("_ln{letter}")),
        _ => (name, String::new()),
    };
    let (side, cell) = if let Some(cell) = matrix.strip_prefix("encoder_bi_r_") {
        ("encoder_r", cell)
    } else if let Some(cell) = matrix.strip_prefix("encoder_bi_") {
        ("encoder", cell)
    } else {
        ("decoder", matrix.strip_prefix("decoder_").filter(|cell| cell.starts_with("cell"))?)
    };
    // A cell of the encoder without a number is its first cell.
    let (number, what) = match cell.strip_prefix("cell").and_then(|cell| cell.split_once('_')) {
        Some((number, what)) => (number.parse::<usize>().ok()?, what),
        None => (1, cell),
    };
    // Transition 0 is the first cell. In the decoder, the cells after attention are numbered from 0
    // again.
    let (what, transition) = match (side, number, what) {
        ("decoder", 2, "W") => ("Wc".to_owned(), 0),
        ("decoder", 2, "Wx") => ("Wcx".to_owned(), 0),
        ("decoder", 2.., _) => (format!("{what}_nl"), number - 2),
        _ => (what.to_owned(), number - 1),
    };
    let drt = if transition > 0 { format!("_drt_{transition}") } else { String::new() };
    Some(format!("{side}_{what}{drt}{norm}"))
}

/// Returns Marian's options of the model with these parameters.
pub fn infer_options(tensors: &BTreeMap<String, Tensor>) -> Value {
    fn has(name: &str, tensors: &BTreeMap<String, Tensor>) -> bool {
        tensors.contains_key(name)
    }
    fn transitions(prefix: &str, tensors: &BTreeMap<String, Tensor>) -> usize {
        (1..).take_while(|k| has(&format!("{prefix}_drt_{k}"), tensors)).count()
    }
    fn dimension(name: &str, index: usize, tensors: &BTreeMap<String, Tensor>) -> usize {
        tensors.get(name).and_then(|tensor| tensor.shape().get(index)).copied().unwrap_or(0)
    }
    let separate = has("Wemb_dec", tensors);
    let nematus_layer_norm = has("encoder_U_lns", tensors);
    let kind = if has("encoder_gamma1", tensors) { "amun" } else { "nematus" };
    let cell = if kind == "amun" { "gru" } else { "gru-nematus" };
    let options = [
        ("type", kind.to_owned()),
        ("enc-cell", cell.to_owned()),
        ("dec-cell", cell.to_owned()),
        ("dim-emb", dimension("Wemb", 1, tensors).to_string()),
        ("dim-rnn", dimension("encoder_U", 0, tensors).to_string()),
        ("enc-cell-depth", (1 + transitions("encoder_U", tensors)).to_string()),
        ("dec-cell-base-depth", (2 + transitions("decoder_U_nl", tensors)).to_string()),
        ("layer-normalization", (nematus_layer_norm || kind == "amun").to_string()),
        ("tied-embeddings-src", (!separate).to_string()),
        ("tied-embeddings", (!has("ff_logit_W", tensors)).to_string()),
    ];
    fn scalar(text: String) -> Value {
        Value::Scalar(text.into_bytes())
    }
    Value::Mapping(
        options.into_iter().map(|(name, text)| (name.as_bytes().to_vec(), scalar(text))).collect(),
    )
}
