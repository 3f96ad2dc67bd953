//! Charts of a study: cross-entropy over epochs and over simulated time, one curve per system.

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};

use super::report::Study;
use super::training::ValidationPoint;
use crate::date;

/// The height of the panel above the lowest point: with the high losses of the first epochs in
/// it, the differences between systems could not be seen.
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
    let (mut legend, mut curves) = (Vec::new(), Vec::new());
    for (index, (system, runs)) in study.systems.iter().enumerate() {
        let style = LineStyle::for_curve(index);
        let name = match system.name {
            name if system.is_synchronous() => name.into(),
            name => format!("({name})"),
        };
        legend.push((format!("{name} {}", system.about), style));
        let points = Study::mean_curve(runs);
        let points: Vec<_> = points.iter().map(|p| (x(p), p.cross_entropy)).collect();
        curves.push(Curve::new(style, points));
    }
    let points = curves.iter().flat_map(|curve| &curve.points);
    let low = points.clone().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    let high = points.clone().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
    let last = points.map(|(x, _)| *x).fold(0.0, f64::max);
    for curve in &mut curves {
        // Points above the panel are left out, except the last one before the curve enters it.
        let outside = curve.points.iter().take_while(|(_, y)| *y > low + SHOWN_NATS).count();
        curve.points.drain(..outside);
    }
    Chart {
        title: "Asynchronous SGD on a simulated machine".into(),
        notes: vec![format!(
            "{}: cross-entropy of the validation set, mean of the seeds; {}",
            study.data,
            date::today()
        )],
        legend,
        x_axis: Axis::linear(label, 0.0, last),
        bands: Vec::new(),
        panels: vec![Panel {
            height: 420,
            y_axis: Axis::linear("nats a word", low, high.min(low + SHOWN_NATS)),
            curves,
        }],
    }
}
