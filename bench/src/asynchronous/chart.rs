//! Charts of a study: cross-entropy over epochs and over simulated time, one curve per system.

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};
use miriam_textio::date;

use super::report::Study;
use super::training::ValidationPoint;

/// The height of the panel above the lowest point, in nats. A panel with the high losses of the
/// first epochs would hide the differences between systems.
const SHOWN_NATS: f64 = 2.0;

/// Draws the cross-entropy over epochs.
pub fn by_epoch(study: &Study) -> Chart {
    draw(study, "epochs", |point| point.epoch)
}

/// Draws the cross-entropy over the seconds of the simulated machine.
pub fn by_time(study: &Study) -> Chart {
    draw(study, "simulated seconds", |point| point.seconds)
}

fn draw(study: &Study, label: &str, x: fn(&ValidationPoint) -> f64) -> Chart {
    let legend = study.systems.iter().enumerate().map(|(index, (system, _))| {
        let name = match system.name {
            name if system.is_synchronous() => name.into(),
            name => format!("({name})"),
        };
        (format!("{name} {}", system.about), LineStyle::for_curve(index))
    });
    let curves = |y: fn(&ValidationPoint) -> f64| {
        let curves = study.systems.iter().enumerate().map(|(index, (_, runs))| {
            let points = Study::mean_curve(runs);
            let points = points.iter().map(|point| (x(point), y(point)));
            let points = points.filter(|(_, y)| !y.is_nan()).collect::<Vec<_>>();
            Curve::new(LineStyle::for_curve(index), points)
        });
        curves.collect::<Vec<Curve>>()
    };
    let validation = curves(|point| point.cross_entropy);
    let training = curves(|point| point.training_cross_entropy);
    let points = validation.iter().flat_map(|curve| &curve.points);
    let last = points.map(|(x, _)| *x).fold(0.0, f64::max);
    let mut panels = vec![panel("validation set, nats a word", 420, validation)];
    // Training runs of older versions of this program have no sample of the training text.
    if training.iter().any(|curve| !curve.points.is_empty()) {
        panels.push(panel("training text, nats a word", 320, training));
    }
    Chart {
        title: "Asynchronous SGD on a simulated machine".into(),
        notes: vec![format!(
            "{}: cross-entropy of the validation set and of a sample of the training text, mean of \
             the seeds; {}",
            study.data,
            date::today()
        )],
        legend: legend.collect(),
        x_axis: Axis::linear(label, 0.0, last),
        bands: Vec::new(),
        panels,
    }
}

/// Returns a panel that shows the lowest part of curves.
fn panel(label: &str, height: u32, mut curves: Vec<Curve>) -> Panel {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let low = points.clone().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let high = points.map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
    let top = high.min(low + SHOWN_NATS);
    for curve in &mut curves {
        enter_from_above(&mut curve.points, top);
    }
    Panel { height, y_axis: Axis::linear(label, low, top), curves }
}

/// Replaces the leading points above `top` by the point at which the curve crosses `top`. A curve
/// that stays above it loses all its points.
fn enter_from_above(points: &mut Vec<(f64, f64)>, top: f64) {
    let outside = points.iter().take_while(|(_, y)| *y > top).count();
    if let Some(last) = outside.checked_sub(1)
        && let Some(&(next_x, next_y)) = points.get(outside)
    {
        let (x, y) = points[last];
        // An infinite loss falls when the next one is measured.
        let part = if y.is_finite() { (y - top) / (y - next_y) } else { 1.0 };
        points[last] = (x + part * (next_x - x), top);
        points.drain(..last);
    } else {
        points.drain(..outside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_enter_their_panel_from_above() {
        for (points, expected) in [
            (
                vec![(1.0, 9.0), (2.0, 6.0), (4.0, 2.0), (6.0, 1.0)],
                vec![(3.0, 4.0), (4.0, 2.0), (6.0, 1.0)],
            ),
            (vec![(1.0, 4.0), (2.0, 3.0)], vec![(1.0, 4.0), (2.0, 3.0)]),
            (vec![(1.0, f64::INFINITY), (2.0, 3.0)], vec![(2.0, 4.0), (2.0, 3.0)]),
            (vec![(1.0, 6.0), (2.0, 5.0)], vec![]),
        ] {
            let mut found = points;
            enter_from_above(&mut found, 4.0);
            assert_eq!(found, expected);
        }
    }
}
