//! Curves of a training run as CSV and SVG (`--plot`).
//!
//! The CSV has one named value per line. A resumed training run reads it up to its own progress, so
//! that curves have neither gaps nor repeated points.

use std::path::{Path, PathBuf};

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};
use miriam_textio::Output;

use crate::error::{Error, Result};
use crate::progress::Progress;

const HEADER: &str = "updates,labels,epoch,name,value";

/// The name of the training loss per target token.
pub const LOSS: &str = "loss";
/// The name of the learning rate.
pub const RATE: &str = "learning-rate";
/// The name of the cross-entropy per target token of a sample of the training text.
pub const TRAINING_SAMPLE: &str = "training sample: ce-mean-words";

/// A value at a point of the training.
#[derive(Clone, Debug, PartialEq)]
struct Point {
    progress: Progress,
    name: String,
    value: f64,
}

/// The curves up to the current progress.
#[derive(Debug)]
pub struct Curves {
    folder: Option<PathBuf>,
    points: Vec<Point>,
}

impl Curves {
    /// Opens the curves in `folder` up to `progress`. Without a folder no curves are kept.
    ///
    /// # Errors
    /// If the folder cannot be created, or the CSV in it cannot be read or has another format.
    pub fn open(folder: Option<&Path>, progress: &Progress) -> Result<Self> {
        let mut curves = Curves { folder: folder.map(Path::to_owned), points: Vec::new() };
        let Some(folder) = folder else { return Ok(curves) };
        std::fs::create_dir_all(folder)
            .map_err(|e| miriam_storage::Error::io(folder, "create", e))?;
        let path = folder.join("training.csv");
        if path.is_file() && progress.updates > 0 {
            let text = std::fs::read_to_string(&path)
                .map_err(|e| miriam_storage::Error::io(&path, "read", e))?;
            for (number, line) in (1..).zip(text.lines()).skip(1) {
                let point = parse_point(line).ok_or_else(|| {
                    let file = path.display();
                    Error::config(format!(
                        "{file}, line {number}: expected {HEADER}; move the file away"
                    ))
                })?;
                if point.progress.updates <= progress.updates {
                    curves.points.push(point);
                }
            }
        }
        Ok(curves)
    }

    /// Adds a value.
    pub fn add(&mut self, progress: &Progress, name: &str, value: f64) {
        if self.folder.is_some() {
            self.points.push(Point { progress: *progress, name: name.into(), value });
        }
    }

    /// Whether the curves have no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Writes both files.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn save(&self) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let mut csv = format!("{HEADER}\n");
        for Point { progress: Progress { updates, labels, epoch }, name, value } in &self.points {
            csv += &format!("{updates},{labels},{epoch},{name},{value}\n");
        }
        for (name, text) in [("training.csv", csv), ("training.svg", self.chart().to_svg())] {
            let mut output = Output::create_atomic(&folder.join(name))?;
            output.write(text.as_bytes())?;
            output.finish()?;
        }
        Ok(())
    }

    /// Returns the names of curves in the order in which they began.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for point in &self.points {
            if !names.contains(&&point.name[..]) {
                names.push(&point.name);
            }
        }
        names
    }

    fn points_of(&self, name: &str) -> Vec<(f64, f64)> {
        let named_points = self.points.iter().filter(|point| point.name == name);
        let points = named_points.map(|point| (point.progress.updates as f64, point.value));
        points.filter(|(_, value)| value.is_finite()).collect()
    }

    /// Returns the chart: a panel for losses, one for each other measure, and one for the rate.
    fn chart(&self) -> Chart {
        fn is_loss(name: &str) -> bool {
            matches!(name, LOSS | TRAINING_SAMPLE | "ce-mean-words")
        }
        let names = self.names();
        let losses: Vec<&str> = names.iter().copied().filter(|name| is_loss(name)).collect();
        let others = names.iter().copied().filter(|name| !is_loss(name) && *name != RATE);
        let mut groups: Vec<(&str, Vec<&str>)> = vec![("nats per token", losses)];
        groups.extend(others.map(|name| (name, vec![name])));
        groups.push(("learning rate", vec![RATE]));
        let (mut panels, mut legend) = (Vec::new(), Vec::new());
        for (label, names) in groups {
            let mut curves = Vec::new();
            for name in names {
                let points = self.points_of(name);
                if !points.is_empty() {
                    let style = LineStyle::for_curve(legend.len());
                    legend.push((describe(name), style));
                    let markers = points.len() < 60;
                    curves.push(Curve { markers, ..Curve::new(style, points) });
                }
            }
            let values = curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value);
            let (low, high) =
                values.fold((0.0, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
            if high > low {
                let y_axis = Axis::linear(label, low, high);
                panels.push(Panel { height: 220, y_axis, curves });
            }
        }
        let last = self.points.last().map_or(1.0, |point| point.progress.updates as f64);
        Chart {
            title: "Training".into(),
            notes: Vec::new(),
            legend,
            x_axis: Axis::linear("updates", 0.0, last),
            bands: Vec::new(),
            panels,
        }
    }
}

/// Returns a curve's entry in the legend.
fn describe(name: &str) -> String {
    match name {
        LOSS => "loss in training".into(),
        RATE => "learning rate".into(),
        TRAINING_SAMPLE => "ce-mean-words of a sample of the training text".into(),
        name => format!("{name} of the validation set"),
    }
}

fn parse_point(line: &str) -> Option<Point> {
    let mut fields = line.split(',');
    let mut number = || fields.next()?.parse().ok();
    let progress = Progress { updates: number()?, labels: number()?, epoch: number()? };
    let name = fields.next()?.to_owned();
    let value = fields.next()?.parse().ok()?;
    fields.next().is_none().then_some(Point { progress, name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(updates: u64) -> Progress {
        Progress { updates, labels: 10 * updates, epoch: 1 }
    }

    #[test]
    fn a_resumed_training_continues_its_curves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plot");
        let mut curves = Curves::open(Some(&path), &at(0)).unwrap();
        for updates in [50, 100, 150] {
            curves.add(&at(updates), LOSS, 5.0 - updates as f64 / 100.0);
            curves.add(&at(updates), RATE, 1e-4);
        }
        curves.add(&at(150), "bleu", 12.5);
        assert!(!curves.is_empty());
        curves.save().unwrap();
        // The run was killed after the state at update 100 was saved.
        let mut resumed = Curves::open(Some(&path), &at(100)).unwrap();
        assert_eq!(resumed.points, curves.points[..4]);
        resumed.add(&at(150), LOSS, 3.5);
        resumed.save().unwrap();
        let csv = std::fs::read_to_string(path.join("training.csv")).unwrap();
        assert_eq!(csv.lines().count(), 6);
        assert!(csv.ends_with("150,1500,1,loss,3.5\n"));
        let svg = std::fs::read_to_string(path.join("training.svg")).unwrap();
        assert!(svg.contains("loss in training") && svg.contains("learning rate"));
        std::fs::write(path.join("training.csv"), "updates\nnonsense\n").unwrap();
        assert!(Curves::open(Some(&path), &at(100)).unwrap_err().to_string().contains("line 2"));
    }

    #[test]
    fn losses_of_both_texts_share_a_panel() {
        let folder = tempfile::tempdir().unwrap();
        let mut curves = Curves::open(Some(folder.path()), &at(0)).unwrap();
        for name in [LOSS, TRAINING_SAMPLE, "ce-mean-words", "bleu"] {
            curves.add(&at(1), name, 2.0);
        }
        let chart = curves.chart();
        let sizes: Vec<usize> = chart.panels.iter().map(|panel| panel.curves.len()).collect();
        assert_eq!(sizes, [3, 1]);
        let labels: Vec<&str> = chart.legend.iter().map(|(label, _)| label.as_str()).collect();
        let expected = [
            "loss in training",
            "ce-mean-words of a sample of the training text",
            "ce-mean-words of the validation set",
            "bleu of the validation set",
        ];
        assert_eq!(labels, expected);
    }

    #[test]
    fn without_a_folder_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Curves::open(Some(folder.path()), &at(9)).unwrap().is_empty());
        let mut curves = Curves::open(None, &at(0)).unwrap();
        curves.add(&at(1), LOSS, 1.0);
        curves.save().unwrap();
        assert!(curves.is_empty());
    }
}
