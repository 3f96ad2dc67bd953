//! The format of printed alignments.

/// The format of printed alignments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AlignmentFormat {
    /// The attention weights of each token.
    Soft,
    /// Points `source-target` with more attention than this threshold; at 1, the best point of each
    /// target token.
    Hard(f32),
}

impl std::str::FromStr for AlignmentFormat {
    type Err = String;

    /// Parses `hard`, `soft`, or a threshold from 0 to 1.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "hard" => Ok(AlignmentFormat::Hard(1.0)),
            "soft" => Ok(AlignmentFormat::Soft),
            _ => match text.parse() {
                Ok(threshold) if (0.0..=1.0).contains(&threshold) => {
                    Ok(AlignmentFormat::Hard(threshold))
                }
                _ => Err("give hard, soft, or a threshold from 0 to 1".into()),
            },
        }
    }
}
