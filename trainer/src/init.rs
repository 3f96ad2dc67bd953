//! Initial values of parameters (`docs/spec/training.md` B.4).
//!
//! The distributions are Marian's. Numbers are drawn with the seed and the parameter's name, so
//! they do not depend on the other parameters.

use miriam_nmt::architecture::Architecture;

use crate::parameters::{Parameter, ParameterLayout};
use crate::random::RandomStream;

/// The random stream of initial values.
const STREAM: u32 = 1;

/// The distribution of a parameter's initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Initializer {
    Constant(f32),
    /// Uniform between minus and plus this bound.
    Uniform(f32),
}

/// Returns the initial values of all parameters as a flat vector. With `depth_scaling`, matrices of
/// layer n of a transformer are divided by the square root of n (`transformer-depth-scaling`).
pub fn initial_values(architecture: &Architecture, seed: u64, depth_scaling: bool) -> Vec<f32> {
    let layout = ParameterLayout::new(architecture);
    let mut values = vec![0.0; layout.len()];
    for parameter in layout.iter() {
        let values = &mut values[parameter.range()];
        match initializer(parameter, architecture, depth_scaling) {
            Initializer::Constant(value) => values.fill(value),
            Initializer::Uniform(limit) => {
                let hash = fnv1a(parameter.name.as_bytes());
                let stream = [hash as u32, (hash >> 32) as u32, STREAM];
                let mut random = RandomStream::new([seed as u32, (seed >> 32) as u32], stream);
                values.iter_mut().for_each(|x| *x = limit * (2.0 * random.next_unit() - 1.0));
            }
        }
    }
    values
}

fn initializer(
    parameter: &Parameter,
    architecture: &Architecture,
    depth_scaling: bool,
) -> Initializer {
    let Parameter { name, shape: [rows, columns], .. } = parameter;
    let last = name.rsplit('_').next().unwrap_or(name);
    // Names of scales of norms end in `_ln_scale`, `_ln_scale_pre`, `_ln_s`, `_gamma1`, `_lns`.
    let is_scale = name.contains("_ln_s") || last.starts_with("gamma") || last.ends_with("lns");
    if is_scale {
        return Initializer::Constant(1.0);
    }
    // For Marian, the vector of additive attention is a matrix `[width, 1]`.
    if *rows == 1 && !name.ends_with("U_att") {
        return Initializer::Constant(0.0);
    }
    fn uniform(variance: f32) -> Initializer {
        Initializer::Uniform((3.0 * variance).sqrt())
    }
    if name.ends_with("Wemb") {
        return uniform(1.0 / architecture.embeddings().dim as f32);
    }
    // An output matrix of its own has a row for each token, like a table of embeddings.
    if name.ends_with("_Wt") {
        return uniform(1.0 / *columns as f32);
    }
    let mut limit = (6.0 / (rows + columns) as f32).sqrt();
    if let Some(layer) = layer_of(name).filter(|_| depth_scaling) {
        limit /= (layer as f32).sqrt();
    }
    Initializer::Uniform(limit)
}

/// Returns the number of the layer in a name such as `encoder_l3_self_Wq`.
fn layer_of(name: &str) -> Option<u32> {
    let mut parts = name.split('_');
    parts.find_map(|part| part.strip_prefix('l')?.parse().ok())
}

/// Returns the 64-bit FNV-1a hash.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_has_its_published_value() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn layers_are_found_in_names() {
        assert_eq!(layer_of("encoder_l12_ffn_W1"), Some(12));
        assert_eq!(layer_of("decoder_ff_logit_out_b"), None);
    }
}
