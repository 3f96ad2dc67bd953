//! Checks of a training run's numbers at its start and before it is saved.
//!
//! A NaN in the optimiser's state makes all parameters NaN within an update, and this cannot be
//! undone. So training does not start with such a state, and does not save it over a good state.

use super::checkpoint::SavedTraining;
use crate::parameters::{ParameterLayout, is_usable_parameter};
use crate::update::{BiasCorrections, OptimizerState};

/// Checks parameters and the state of their optimiser.
///
/// # Errors
/// If a number is not usable; the message contains the first such number and its parameter.
pub(super) fn check_numbers(
    layout: &ParameterLayout,
    values: &[f32],
    optimizer: &OptimizerState<f32>,
) -> Result<(), String> {
    let OptimizerState {
        first,
        second,
        bias_corrections: BiasCorrections(corrections),
        average,
        average_updates: _,
        residual,
    } = optimizer;
    let place = |index: usize| {
        let found = layout.iter().find(|parameter| parameter.range().contains(&index));
        found.map_or("padding".into(), |parameter| parameter.name.clone())
    };
    let check = |what: &str, vector: &[f32], is_usable: &dyn Fn(f32) -> bool| {
        let unusable = vector.iter().position(|&x| !is_usable(x));
        unusable.map_or(Ok(()), |index| {
            let (number, place) = (vector[index], place(index));
            Err(format!("{what} {place} has the unusable number {number:e}"))
        })
    };
    check("the parameter", values, &is_usable_parameter)?;
    check("the average of the parameter", average, &is_usable_parameter)?;
    check("the quantisation residual of the parameter", residual, &is_usable_parameter)?;
    check("the mean gradient of the parameter", first, &f32::is_finite)?;
    check("the squared gradient of the parameter", second, &|x| x.is_finite() && x >= 0.0)?;
    let unusable = corrections.iter().find(|x| !x.is_finite());
    unusable.map_or(Ok(()), |x| Err(format!("a bias correction of the optimiser is {x}")))
}

/// Checks the numbers of a saved training: parameters, the optimiser's state, the factor of the
/// learning rate, and the vectors of asynchronous workers.
///
/// # Errors
/// If a number is not usable; the message says which.
pub(super) fn check_saved_numbers(
    layout: &ParameterLayout,
    saved: &SavedTraining,
) -> Result<(), String> {
    check_numbers(layout, &saved.values, &saved.optimizer)?;
    let factor = saved.state.schedule.factor;
    if !factor.is_finite() {
        return Err(format!("the factor of the learning rate is invalid: {factor}"));
    }
    let vectors = saved.workers.iter().flat_map(|workers| &workers.vectors);
    for (name, vector) in vectors {
        if let Some(number) = vector.iter().find(|x| !x.is_finite()) {
            return Err(format!(
                "the vector {name} of asynchronous training has the unusable number {number}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_spoil_a_training_are_named() {
        let architecture = crate::tests::tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let len = layout.len();
        let sound = OptimizerState {
            first: vec![-1.0; len],
            second: vec![0.5; len],
            bias_corrections: BiasCorrections([0.1, 0.2]),
            average: vec![1.0; len],
            average_updates: 3,
            residual: vec![0.0; len],
        };
        let values = vec![-2.0; len];
        assert_eq!(check_numbers(&layout, &values, &sound), Ok(()));
        let parameter = layout.iter().nth(1).unwrap();
        let spoilt = |vector: &[f32], number: f32| {
            let mut vector = vector.to_vec();
            vector[parameter.offset] = number;
            vector
        };
        let error = |values: &[f32], state: &OptimizerState<f32>| {
            let error = check_numbers(&layout, values, state).unwrap_err();
            assert!(error.contains(&parameter.name), "{error}");
            error
        };
        for number in [f32::NAN, f32::INFINITY, -1e30] {
            error(&spoilt(&values, number), &sound);
            let state = OptimizerState { average: spoilt(&sound.average, number), ..sound.clone() };
            error(&values, &state);
        }
        for number in [f32::NAN, f32::NEG_INFINITY] {
            let state = OptimizerState { first: spoilt(&sound.first, number), ..sound.clone() };
            error(&values, &state);
        }
        // The optimiser takes the square root of squared gradients.
        for number in [f32::NAN, f32::INFINITY, -0.5] {
            let state = OptimizerState { second: spoilt(&sound.second, number), ..sound.clone() };
            assert!(error(&values, &state).contains("squared gradient"));
        }
        let state =
            OptimizerState { bias_corrections: BiasCorrections([f64::NAN, 0.2]), ..sound.clone() };
        assert!(check_numbers(&layout, &values, &state).unwrap_err().contains("bias correction"));
    }
}
