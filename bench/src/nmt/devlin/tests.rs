use std::collections::HashSet;
use std::path::Path;

use miriam_nmt::architecture::{Architecture, StackedConfig, TopLayerConfig};
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::Network;

use super::super::random_models::random_model;
use super::workload::{AblationSetting, Workload, WorkloadResult, stacked_shape};

const TEXT: &[u8] =
    b"a dog runs over a field\n\ntwo men sit on a bench and a dog looks on\na field\n";

fn workload(words: usize) -> Workload {
    Workload::new(TEXT, 10, words, Path::new("text")).unwrap()
}

fn translate(setting: &AblationSetting) -> WorkloadResult {
    let small = StackedConfig {
        encoder_state_width: 16,
        state_width: 32,
        attention_width: 16,
        fc_depth: 3,
        fc_width: 24,
        top: TopLayerConfig::Tanh(16),
        ..stacked_shape("s3", 300).unwrap()
    };
    let model = random_model(Architecture::Stacked(small), 1.5, 5).unwrap();
    let (path, shortcuts) = (Path::new("random"), &setting.shortcuts);
    let network = Network::load_with(&model, path, setting.precision, shortcuts).unwrap();
    workload(300).translate(&network).unwrap()
}

#[test]
fn translations_vary_and_exact_speedups_change_none() {
    let all: Vec<WorkloadResult> = AblationSetting::individual().iter().map(translate).collect();
    let baseline = &all[0];
    assert_eq!(baseline.translations.len(), 3, "lines without words are skipped");
    let words: HashSet<u32> = baseline.translations.concat().into_iter().collect();
    assert!(words.len() > 2, "more than one token: {words:?}");
    assert!(
        baseline.rows > baseline.distinct_parents && baseline.distinct_parents >= baseline.tokens
    );
    for (setting, outcome) in AblationSetting::individual().iter().zip(&all) {
        if setting.precision == AblationSetting::individual()[0].precision
            && [Speedups::NONE.activation_impl, Speedups::default().activation_impl]
                .contains(&setting.shortcuts.activation_impl)
        {
            assert_eq!(outcome.translations, baseline.translations, "{}", setting.name);
        }
    }
}

#[test]
fn text_without_words_is_rejected() {
    let Err(error) = Workload::new(b" \n\n", 5, 300, Path::new("text")) else { panic!() };
    assert!(error.to_string().contains("no line with words"), "{error}");
}
