//! The parameters of a transformer under Marian's names: readers look them up, writers write them
//! and training initialises them.

use super::ParameterSpec;
use super::transformer::*;

impl TransformerConfig {
    /// Returns the names and shapes of all parameters.
    pub fn parameters(&self) -> Vec<ParameterSpec> {
        let d = self.embeddings.dim;
        let mut all = Vec::new();
        let has_source = self.has_source();
        self.embeddings.push_parameters(has_source, "decoder_ff_logit_out", d, &mut all);
        let sides: &[&str] = if has_source { &["encoder", "decoder"] } else { &["decoder"] };
        if let PositionalEncodingKind::Table { length } = self.positional_encoding {
            let tables = sides.iter().map(|side| format!("{side}_Wpos"));
            all.extend(tables.map(|name| ParameterSpec::new(name, [length, d])));
        }
        for side in sides {
            push_norm(&self.postprocess_embedding, &format!("{side}_emb"), "_pre", d, &mut all);
            push_norm(&self.postprocess_top, &format!("{side}_top"), "", d, &mut all);
        }
        for layer in 1..=self.encoder.depth {
            self.push_self_attention(&format!("encoder_l{layer}_self"), &self.encoder, &mut all);
            self.push_feed_forward(&format!("encoder_l{layer}_ffn"), &self.encoder, &mut all);
        }
        let mut stored_layers = self.tied_layers.clone();
        stored_layers.sort_unstable();
        stored_layers.dedup();
        for layer in stored_layers {
            self.push_autoregression(&format!("decoder_l{layer}"), &mut all);
            if has_source {
                self.push_attention(&format!("decoder_l{layer}_context"), &self.decoder, &mut all);
            }
            self.push_feed_forward(&format!("decoder_l{layer}_ffn"), &self.decoder, &mut all);
        }
        all
    }

    /// Adds the layer norms before and after a sublayer, under their prefixes.
    fn push_norms(&self, pre_prefix: &str, post_prefix: &str, all: &mut Vec<ParameterSpec>) {
        let d = self.embeddings.dim;
        push_norm(&self.preprocess, pre_prefix, "_pre", d, all);
        push_norm(&self.postprocess, post_prefix, "", d, all);
    }

    fn push_self_attention(
        &self,
        prefix: &str,
        stack: &TransformerStackConfig,
        all: &mut Vec<ParameterSpec>,
    ) {
        self.push_attention(prefix, stack, all);
        match self.positional_encoding {
            PositionalEncodingKind::RelativeVectors { max_distance } => {
                let shape = [2 * max_distance + 1, self.embeddings.dim / stack.heads];
                all.push(ParameterSpec::new(format!("{prefix}_Rk"), shape));
                all.push(ParameterSpec::new(format!("{prefix}_Rv"), shape));
            }
            PositionalEncodingKind::RelativeBias(bias) => {
                let shape = [bias.buckets, stack.heads];
                all.push(ParameterSpec::new(format!("{prefix}_Rb"), shape));
            }
            _ => {}
        }
    }

    fn push_attention(
        &self,
        prefix: &str,
        stack: &TransformerStackConfig,
        all: &mut Vec<ParameterSpec>,
    ) {
        let (d, width) = (self.embeddings.dim, self.attention_width(stack));
        for letter in ["q", "k", "v"] {
            all.push(ParameterSpec::new(format!("{prefix}_W{letter}"), [d, width]));
            all.push(ParameterSpec::new(format!("{prefix}_b{letter}"), [1, width]));
        }
        if self.has_output_projection {
            all.push(ParameterSpec::new(format!("{prefix}_Wo"), [width, d]));
            all.push(ParameterSpec::new(format!("{prefix}_bo"), [1, d]));
        }
        let norm_prefix = format!("{prefix}_Wo");
        self.push_norms(&norm_prefix, &norm_prefix, all);
    }

    fn push_feed_forward(
        &self,
        prefix: &str,
        stack: &TransformerStackConfig,
        all: &mut Vec<ParameterSpec>,
    ) {
        let d = self.embeddings.dim;
        for i in 1..=stack.ffn_depth {
            let input = if i == 1 { d } else { stack.ffn_width };
            let output = if i == stack.ffn_depth { d } else { stack.ffn_width };
            all.push(ParameterSpec::new(format!("{prefix}_W{i}"), [input, output]));
            all.push(ParameterSpec::new(format!("{prefix}_b{i}"), [1, output]));
        }
        if self.activation.is_gated() {
            all.push(ParameterSpec::new(format!("{prefix}_Wg"), [d, stack.ffn_width]));
            all.push(ParameterSpec::new(format!("{prefix}_bg"), [1, stack.ffn_width]));
        }
        let norm_prefix = format!("{prefix}_ffn");
        self.push_norms(&norm_prefix, &norm_prefix, all);
    }

    fn push_autoregression(&self, layer: &str, all: &mut Vec<ParameterSpec>) {
        let d = self.embeddings.dim;
        match &self.autoregression {
            AutoregressionConfig::SelfAttention => {
                self.push_self_attention(&format!("{layer}_self"), &self.decoder, all)
            }
            AutoregressionConfig::AverageAttention(average) => {
                let prefix = format!("{layer}_aan");
                for (i, [input, output]) in (1..).zip(average.layer_shapes(d)) {
                    all.push(ParameterSpec::new(format!("{prefix}_W{i}"), [input, output]));
                    all.push(ParameterSpec::new(format!("{prefix}_b{i}"), [1, output]));
                }
                for gate in ["i", "f"].into_iter().filter(|_| average.has_gate) {
                    all.push(ParameterSpec::new(format!("{prefix}_W{gate}"), [d, d]));
                    all.push(ParameterSpec::new(format!("{prefix}_b{gate}"), [1, d]));
                }
                let norm_prefix = format!("{prefix}_ffn");
                self.push_norms(&norm_prefix, &norm_prefix, all);
            }
            AutoregressionConfig::Recurrent(sublayer) => {
                let prefix = format!("{layer}_rnn");
                let mut matrix = |suffix: &str, bias: bool| {
                    all.push(ParameterSpec::new(format!("{prefix}_W{suffix}"), [d, d]));
                    if bias {
                        all.push(ParameterSpec::new(format!("{prefix}_b{suffix}"), [1, d]));
                    }
                };
                matrix("", false);
                matrix("f", true);
                if sublayer.kind == SruKind::Sru {
                    matrix("r", true);
                }
                if sublayer.has_output_projection {
                    matrix("o", true);
                }
                if sublayer.has_layer_norm {
                    let mut gammas = vec!["gamma", "gammaf"];
                    if sublayer.kind == SruKind::Sru {
                        gammas.push("gammar");
                    }
                    for gamma in gammas {
                        all.push(ParameterSpec::new(format!("{prefix}_{gamma}"), [1, d]));
                    }
                }
                self.push_norms(&prefix, &format!("{prefix}_ffn"), all);
            }
        }
    }
}

impl AverageAttentionConfig {
    /// Returns the input and output widths of the affine layers after the mean.
    pub fn layer_shapes(&self, embedding: usize) -> Vec<[usize; 2]> {
        let mut widths = Vec::new();
        let mut width = embedding;
        for _ in 1..self.ffn_depth {
            widths.push([width, self.ffn_width]);
            width = self.ffn_width;
        }
        if width != embedding {
            widths.push([width, embedding]);
        }
        widths
    }
}

/// Adds the parameters of the norm among `steps`, if there is one.
fn push_norm(
    steps: &ProcessSteps,
    prefix: &str,
    suffix: &str,
    width: usize,
    all: &mut Vec<ParameterSpec>,
) {
    let parts: &[&str] = match steps.norm() {
        Some(ProcessStep::Norm) => &["ln_scale", "ln_bias"],
        Some(ProcessStep::RmsNorm) => &["rms_scale"],
        Some(ProcessStep::Add) | None => &[],
    };
    for part in parts {
        all.push(ParameterSpec::new(format!("{prefix}_{part}{suffix}"), [1, width]));
    }
}
