//! The choice of the instruction set: the fastest that CPU, system and user allow.

use std::sync::OnceLock;

use super::Plain;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Avx512Amx, Avx512Bf16, Avx512Vnni, amx::TileAccess};
use crate::{Error, Result};

/// The environment variable that names the highest instruction set to use.
const LIMIT_VARIABLE: &str = "MIRIAM_MAX_ISA";

/// The names of all instruction sets, from plain to fastest.
const NAMES: [&str; 5] = ["plain", "avx2", "avx512", "avx512-vnni", "avx512-amx"];

/// The instruction set that kernels use, chosen once and passed to every call.
///
/// Only the functions of this module create a `Cpu`, and only for instructions that this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu(Level);

/// The instruction sets with kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Plain(Plain),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(Avx512Vnni),
    #[cfg(target_arch = "x86_64")]
    Avx512Amx(Avx512Amx),
}

impl Cpu {
    /// Returns the fastest instruction set of this CPU, detected at the first call.
    ///
    /// The environment variable `MIRIAM_MAX_ISA` may name the highest one to use, for instance
    /// `avx512-vnni` to leave tile units alone. A value that is not a name is ignored here;
    /// [`check_limit`](Self::check_limit) reports it.
    pub fn detect() -> Self {
        static BEST: OnceLock<Cpu> = OnceLock::new();
        *BEST.get_or_init(|| {
            let limit = limit().ok().flatten().unwrap_or(NAMES.len() - 1);
            Self::up_to(limit).pop().expect("the plain set is everywhere")
        })
    }

    /// Returns the plain instruction set, the baseline of the compilation target.
    pub fn plain() -> Self {
        Self(Level::Plain(Plain))
    }

    /// Returns all instruction sets of this CPU, from plain to fastest.
    pub fn all() -> Vec<Self> {
        Self::up_to(NAMES.len() - 1)
    }

    /// Returns the instruction sets of this CPU up to rank `limit`. The system is asked for tile
    /// units only if the limit includes them.
    fn up_to(limit: usize) -> Vec<Self> {
        let levels: &[fn() -> Option<Level>] = &[
            || Some(Level::Plain(Plain)),
            #[cfg(target_arch = "x86_64")]
            || Avx2::new().map(Level::Avx2),
            #[cfg(target_arch = "x86_64")]
            || Avx512::new().map(Level::Avx512),
            #[cfg(target_arch = "x86_64")]
            || Avx512Vnni::new().map(Level::Avx512Vnni),
            #[cfg(target_arch = "x86_64")]
            || Avx512Amx::new().map(Level::Avx512Amx),
        ];
        levels.iter().take(limit + 1).filter_map(|level| level().map(Self)).collect()
    }

    /// Returns the instruction set whose tile instructions are emulated. The CPU must have the
    /// instructions that they are used with, but not the tile instructions themselves.
    #[cfg(all(test, target_arch = "x86_64"))]
    pub(crate) fn emulated_amx() -> Option<Self> {
        Avx512Amx::emulated().map(Level::Avx512Amx).map(Self)
    }

    /// Checks the environment variable `MIRIAM_MAX_ISA`, for programs to call when they start.
    ///
    /// # Errors
    /// [`Error::InstructionSet`] if it is not the name of an instruction set.
    pub fn check_limit() -> Result<()> {
        limit().map(|_| ())
    }

    /// Returns `plain`, `avx2`, `avx512`, `avx512-vnni` or `avx512-amx`.
    pub fn name(self) -> &'static str {
        NAMES[match self.0 {
            Level::Plain(_) => 0,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2(_) => 1,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512(_) => 2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Vnni(_) => 3,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Amx(_) => 4,
        }]
    }

    /// Returns the name of the set that [`detect`](Self::detect) returns, for logs, and the reason
    /// if it is not the fastest that the CPU has.
    pub fn describe_detected() -> String {
        let name = Self::detect().name();
        let limit = limit().ok().flatten().map(|limit| NAMES[limit]);
        if limit == Some(name) && limit != NAMES.last().copied() {
            return format!("{name} (the highest that {LIMIT_VARIABLE} allows)");
        }
        #[cfg(target_arch = "x86_64")]
        if name == "avx512-vnni" {
            return match TileAccess::request() {
                TileAccess::Granted | TileAccess::Absent => name.into(),
                TileAccess::Disabled => {
                    format!("{name} (the CPU has AMX, but the system does not enable it)")
                }
                TileAccess::Refused(error) => format!(
                    "{name} (the CPU has AMX, but the system refuses it to this process: error {error})"
                ),
            };
        }
        name.into()
    }

    pub(crate) fn level(self) -> Level {
        self.0
    }

    /// Whether there are instructions for products of bf16 (AVX-512 BF16).
    pub fn multiplies_bf16(self) -> bool {
        self.bf16_isa().is_some()
    }

    /// Returns the instruction set with products of bf16, if the CPU has them.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn bf16_isa(self) -> Option<Avx512Bf16> {
        match self.0 {
            Level::Avx512Vnni(isa) => isa.with_bf16(),
            Level::Avx512Amx(isa) => isa.without_amx().with_bf16(),
            _ => None,
        }
    }

    /// Returns nothing: only x86-64 has vectors here.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn bf16_isa(self) -> Option<Plain> {
        None
    }
}

/// Returns the rank of the highest instruction set that the user allows, if there is a limit.
fn limit() -> Result<Option<usize>> {
    std::env::var_os(LIMIT_VARIABLE).map(|name| parse_limit(&name.to_string_lossy())).transpose()
}

fn parse_limit(name: &str) -> Result<usize> {
    let rank = NAMES.iter().position(|&known| known == name);
    rank.ok_or_else(|| Error::InstructionSet {
        variable: LIMIT_VARIABLE,
        found: name.to_owned(),
        names: NAMES.join(", "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_names_of_sets() {
        for (rank, name) in NAMES.into_iter().enumerate() {
            assert_eq!(parse_limit(name).unwrap(), rank);
            let sets = Cpu::up_to(rank);
            assert!(sets.iter().all(|cpu| NAMES[..=rank].contains(&cpu.name())));
            assert!(Cpu::all().starts_with(&sets));
        }
        let error = parse_limit("AVX512").unwrap_err().to_string();
        assert_eq!(
            error,
            "MIRIAM_MAX_ISA is \"AVX512\", which is not an instruction set; use one of plain, avx2, \
             avx512, avx512-vnni, avx512-amx, or remove the variable"
        );
        assert!(parse_limit("").is_err());
    }
}
