use std::collections::HashSet;
use std::path::Path;

use miriam_nmt::architecture::{Architecture, StackedConfig, TopLayerConfig};
use miriam_nmt::layer::recurrent::Speedups;

use super::super::random_models::random_model;
use super::systems::{DevlinSystem, SYSTEM_NAMES, stacked_shape};
use super::workload::{AblationSetting, Workload, WorkloadResult};
use super::{load, open_session};

const TEXT: &[u8] =
    b"a dog runs over a field\n\ntwo men sit on a bench and a dog looks on\na field\n";

fn workload(words: usize) -> Workload {
    Workload::new(TEXT, 10, words, Path::new("text")).unwrap()
}

/// Translates with an ensemble of models with these seeds.
fn translate(setting: &AblationSetting, seeds: &[u64]) -> WorkloadResult {
    let small = StackedConfig {
        encoder_state_width: 16,
        state_width: 32,
        attention_width: 16,
        fc_width: 24,
        ..stacked_shape(3, TopLayerConfig::Tanh(16), 300)
    };
    let models = seeds
        .iter()
        .map(|&seed| random_model(Architecture::Stacked(small.clone()), 1.5, seed).unwrap());
    let networks = load(&models.collect::<Vec<_>>(), setting).unwrap();
    workload(300).translate(open_session(&networks).unwrap()).unwrap()
}

#[test]
fn translations_vary_and_exact_speedups_change_none() {
    let all: Vec<WorkloadResult> =
        AblationSetting::individual().iter().map(|setting| translate(setting, &[5])).collect();
    let baseline = &all[0];
    assert_eq!(baseline.translations.len(), 3, "lines without words are skipped");
    let words: HashSet<u32> = baseline.translations.concat().into_iter().collect();
    assert!(words.len() > 2, "more than two distinct tokens: {words:?}");
    assert!(
        baseline.rows > baseline.distinct_parents && baseline.distinct_parents >= baseline.tokens
    );
    for (setting, outcome) in AblationSetting::individual().iter().zip(&all) {
        if setting.precision == AblationSetting::individual()[0].precision
            && [Speedups::NONE.activation_impl, Speedups::default().activation_impl]
                .contains(&setting.speedups.activation_impl)
        {
            assert_eq!(outcome.translations, baseline.translations, "{}", setting.name);
        }
    }
}

/// An ensemble of the same model twice translates as that model does; an ensemble of two different
/// models does not.
#[test]
fn ensembles_translate_with_all_their_models() {
    let [setting, _] = AblationSetting::all_speedups();
    let alone = translate(&setting, &[5]);
    assert_eq!(translate(&setting, &[5, 5]).translations, alone.translations);
    assert_ne!(translate(&setting, &[5, 6]).translations, alone.translations);
}

#[test]
fn systems_have_the_layers_of_the_table() {
    for (name, last, next) in [
        ("s1", "decoder_cell_Ux", "decoder_fc1_W"),
        ("s2", "decoder_top_Ux", "decoder_fc1_W"),
        ("s4", "decoder_fc7_W", "decoder_fc8_W"),
        ("s6", "decoder_fc15_W", "decoder_fc16_W"),
        ("s7", "decoder_l8_cell1_U", "decoder_l9_cell1_U"),
        ("s7", "encoder_l8_cell1_U", "encoder_l9_cell1_U"),
        ("e2", "decoder_fc7_W", "decoder_top_Ux"),
    ] {
        let architecture = DevlinSystem::named(name).unwrap().architecture(300);
        architecture.validate().unwrap();
        let parameters = architecture.parameters();
        let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
        assert!(has(last) && !has(next), "{name}: {last}, {next}");
    }
    let counts = SYSTEM_NAMES.map(|name| DevlinSystem::named(name).unwrap().models);
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 2, 3]);
}

#[test]
fn text_without_words_is_rejected() {
    let Err(error) = Workload::new(b" \n\n", 5, 300, Path::new("text")) else { panic!() };
    assert!(error.to_string().contains("no line with words"), "{error}");
}
