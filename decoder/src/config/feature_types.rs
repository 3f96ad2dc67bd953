//! Feature types of Moses that are not available, with the reasons that users see.

/// Says why a type is not available, and what to do; `None` for types that are available or that
/// Moses does not have either.
pub(super) fn unsupported_reason(type_name: &str) -> Option<&'static str> {
    Some(match type_name {
        "PhraseDictionaryBinary" | "PhraseDictionaryTree" => {
            "binary tables of Moses 1 are not read; build one from the text with `miriam pt \
             build` and name it in a ProbingPT line"
        }
        "PhraseDictionaryCompact" => {
            "compact tables (.minphr) are not read; build a table from the text with `miriam pt \
             build` and name it in a ProbingPT line"
        }
        "PhraseDictionaryOnDisk" => {
            "on-disk tables are not read; build a table from the text with `miriam pt build` and \
             name it in a ProbingPT line"
        }
        "Mmsapt"
        | "PhraseDictionaryBitextSampling"
        | "PhraseDictionaryALSuffixArray"
        | "PhraseDictionaryDynSuffixArray"
        | "PhraseDictionarySuffixArray" => "suffix-array tables are not available",
        "PhraseDictionaryScope3"
        | "PhraseDictionaryFuzzyMatch"
        | "RuleTable"
        | "SyntaxInputWeight"
        | "RuleScope"
        | "MaxSpanFreeNonTermSource"
        | "NieceTerminal"
        | "SparseHieroReorderingFeature"
        | "SpanLength"
        | "SyntaxRHS"
        | "CountNonTerms"
        | "TreeStructureFeature"
        | "SoftMatchingFeature"
        | "SoftSourceSyntacticConstraintsFeature"
        | "SourceGHKMTreeInputMatchFeature"
        | "TargetConstituentAdjacencyFeature"
        | "TargetPreferencesFeature"
        | "PhraseOrientationFeature"
        | "DeleteRules"
        | "SetSourcePhrase"
        | "RDLM" => "it belongs to hierarchical and syntactic decoding, which is not available",
        "PhraseDictionaryMultiModel"
        | "PhraseDictionaryMultiModelCounts"
        | "PhraseDictionaryGroup" => {
            "combined tables are not available; give each table a feature and a [mapping] line"
        }
        "PhraseDictionaryTransliteration"
        | "PhraseDictionaryDynamicCacheBased"
        | "PhraseDictionaryCache"
        | "PhraseDictionaryMemoryPerSentence"
        | "PhraseDictionaryMemoryPerSentenceOnDemand"
        | "DynamicCacheBasedLanguageModel"
        | "InMemoryPerSentenceOnDemandLM" => "tables and models that change are not available",
        "Generation" => "generation steps are not available",
        "InputFeature" => "it belongs to lattices and confusion networks, which are not available",
        "GlobalLexicalModel"
        | "GlobalLexicalModelUnlimited"
        | "SourceWordDeletionFeature"
        | "TargetWordInsertionFeature"
        | "PhraseBoundaryFeature"
        | "PhraseDistanceFeature"
        | "PhraseLengthFeature"
        | "PhrasePairFeature"
        | "RulePairUnlexicalizedSource"
        | "TargetBigramFeature"
        | "TargetNgramFeature"
        | "WordTranslationFeature"
        | "UnalignedWordCountFeature"
        | "EditOps"
        | "CorrectionPattern" => "sparse features are not available",
        "NeuralLM" | "BilingualLM" | "BilingualNPLM" | "OxLM" | "OxFactoredLM"
        | "OxFactoredMaxentLM" | "OxSourceFactoredLM" | "OxTreeLM" => {
            "neural language models are not available in this decoder"
        }
        "Model1Feature" => "IBM model 1 as a feature is not available",
        "DesegModel" => "segmented Arabic is not rejoined in the search",
        "ControlRecombination" => "give -exact-recombination for exact recombination",
        "HyperParameterAsWeight" => "give the parameters of the search as options",
        "RANDLM" | "DALM" | "MaxEntLM" | "GPULM" | "SyntacticLM" | "SyntacticLanguageModel" => {
            "models of this kind are not read; use an ARPA file with KENLM"
        }
        "BleuScoreFeature"
        | "ConstrainedDecoding"
        | "CoveredReferenceFeature"
        | "ReferenceComparison" => "decoding towards a reference is not available",
        name if name.starts_with("VW") => "Vowpal Wabbit classifiers are not available",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::is_language_model_alias;

    #[test]
    fn a_type_is_opened_or_explained_or_unknown() {
        assert!(is_language_model_alias("IRSTLM") && unsupported_reason("IRSTLM").is_none());
        assert!(
            unsupported_reason("PhraseDictionaryCompact").is_some_and(|why| why.contains("minphr"))
        );
        assert!(unsupported_reason("VWFeatureSourceWindow").is_some());
        assert!(unsupported_reason("WordPenalti").is_none());
    }
}
