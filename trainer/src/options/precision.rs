//! Options for the precision of training: the type of numbers in products with weights, and the
//! bits of the parameters. Some of these options exclude each other, so they are read in one place.

use miriam_kernels::Cpu;

use super::raw::RawOptions;
use super::resolve::invalid_option;
use crate::error::Result;
use crate::kernels::{IntegerPrecision, ProductPrecision};
use crate::update::QuantizationOptions;

impl RawOptions {
    /// Returns the type of numbers in products with weights.
    ///
    /// # Errors
    /// If the type is unknown, the optimiser's type is not f32, `quantize-aware` is invalid or
    /// given with bf16, or the CPU cannot multiply bf16.
    pub(super) fn product_precision(&self) -> Result<ProductPrecision> {
        let name = "precision";
        let given = self.get_strings(name);
        let is_f32 = |text: &str| matches!(text, "float32" | "f32");
        let is_bf16 = match given.first().map(String::as_str) {
            Some(products) if is_f32(products) => false,
            Some("bf16" | "bfloat16") => true,
            _ => {
                let found = given.join(" ");
                return Err(invalid_option(
                    name,
                    format!("expected float32 or bf16, found {found}"),
                ));
            }
        };
        match &given[1..] {
            [] => {}
            [optimizer] if is_f32(optimizer) => {}
            rest => {
                let reason = format!(
                    "the optimiser computes in float32, not {}; give {} alone",
                    rest.join(" "),
                    given[0]
                );
                return Err(invalid_option(name, reason));
            }
        }
        match self.quantize_aware()? {
            Some(_) if is_bf16 => {
                Err(invalid_option(name, "give bf16 or --quantize-aware, not both"))
            }
            Some(integers) => Ok(ProductPrecision::Integers(integers)),
            None if !is_bf16 => Ok(ProductPrecision::F32),
            None if Cpu::detect().multiplies_bf16() => Ok(ProductPrecision::Bf16),
            None => Err(invalid_option(
                name,
                "this CPU has no instructions for bf16 (AVX-512 BF16), or MIRIAM_MAX_ISA excludes \
                 them; leave the option out",
            )),
        }
    }

    /// Returns the integer precision of products in quantisation-aware training; `None` if products
    /// are not in integers.
    pub(super) fn quantize_aware(&self) -> Result<Option<IntegerPrecision>> {
        match &self.get_string("quantize-aware")[..] {
            "" | "none" => Ok(None),
            "i8" => Ok(Some(IntegerPrecision::I8)),
            "i16" => Ok(Some(IntegerPrecision::I16)),
            other => Err(invalid_option(
                "quantize-aware",
                format!("expected i8, i16 or none, found {other:?}"),
            )),
        }
    }

    /// Returns the quantisation of parameters after every update.
    pub(super) fn quantization(&self) -> Result<Option<QuantizationOptions>> {
        let bits: u32 = self.get("quantize-bits")?;
        let options = QuantizationOptions {
            bits,
            optimization_steps: self.get("quantize-optimization-steps")?,
            is_log_based: self.get_flag("quantize-log-based")?,
            quantizes_biases: self.get_flag("quantize-biases")?,
        };
        match bits {
            0 => Ok(None),
            2..=QuantizationOptions::MAX_BITS => Ok(Some(options)),
            _ => {
                let most = QuantizationOptions::MAX_BITS;
                Err(invalid_option(
                    "quantize-bits",
                    format!("expected 2 to {most}, or 0 for none, found {bits}"),
                ))
            }
        }
    }
}
