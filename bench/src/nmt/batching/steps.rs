//! Steps of searches one by one: the time of each step of a batch (Hoang et al. 2018, figure 2),
//! and the number of sentences that batches still have (figure 8 of the paper's draft).

use std::fmt::Write;

use miriam_chart::{Axis, Chart, Curve, LineStyle, Panel};
use miriam_nmt::network::Network;

use super::super::speed::csv_name;
use super::ablated_session::StepRecord;
use super::variant::{BatchingVariant, ParallelText, run_variant};
use crate::error::Result;
use crate::machine::Clock;
use crate::statistics::median;

/// The variants whose steps are recorded.
pub const RECORDED: [BatchingVariant; 4] = {
    let all = BatchingVariant::ALL;
    [all[1], all[2], all[5], all[0]]
};

/// The number of sentences below which the paper's draft calls a batch small.
pub const FEW_SENTENCES: usize = 8;

/// The names of the columns of `steps.csv`.
const HEADING: &str = "model,place,beam,batch,batching,step,fills,sentences,rows,seconds";

/// The steps of a search over a text.
pub struct RecordedSearch {
    /// The model, the place (device and precision) and the beam size, as columns of CSV.
    pub subject: [String; 3],
    pub batch: u32,
    pub variant: BatchingVariant,
    /// All steps, with median times.
    pub steps: Vec<StepRecord>,
}

impl RecordedSearch {
    /// Returns the share of steps with fewer than `sentences` sentences.
    pub fn share_below(&self, sentences: usize) -> f64 {
        let below = self.steps.iter().filter(|step| step.sentences < sentences).count();
        below as f64 / self.steps.len().max(1) as f64
    }

    /// Returns the steps of the first batch.
    fn first_batch(&self) -> &[StepRecord] {
        let end = self.steps.iter().position(|step| step.fills > 1);
        &self.steps[..end.unwrap_or(self.steps.len())]
    }
}

/// Translates `text` `rounds` times, and returns the steps with median times.
///
/// # Errors
/// Those of [`run_variant`].
pub fn record(
    network: &Network,
    text: &ParallelText,
    variant: BatchingVariant,
    [batch, beam, rounds]: [u32; 3],
    clock: Clock,
) -> Result<Vec<StepRecord>> {
    let mut session = network.session()?;
    let mut runs = Vec::new();
    for _ in 0..rounds {
        let (batch, beam) = (batch as usize, beam as usize);
        runs.push(run_variant(&mut *session, text, batch, beam, variant, Some(clock))?.records);
    }
    let steps = runs[0].iter().enumerate().map(|(at, step)| {
        let seconds: Vec<f64> = runs.iter().map(|steps| steps[at].seconds).collect();
        StepRecord { seconds: median(&seconds), ..*step }
    });
    Ok(steps.collect())
}

/// Returns a CSV table with a line for each step of each search.
pub fn to_csv(searches: &[RecordedSearch]) -> String {
    let mut text = format!("{HEADING}\n");
    for search in searches {
        let (subject, variant) = (search.subject.join(","), csv_name(search.variant.name));
        for (number, step) in (1..).zip(&search.steps) {
            let StepRecord { fills, sentences, rows, seconds } = step;
            let batch = search.batch;
            let _ = writeln!(
                text,
                "{subject},{batch},{variant},{number},{fills},{sentences},{rows},{seconds:.6}"
            );
        }
    }
    text
}

/// Returns the searches of the first place and beam size. The numbers of sentences are the same for
/// the other places and beam sizes, because translations end at the length of the reference.
pub fn first_subject(searches: &[RecordedSearch]) -> impl Iterator<Item = &RecordedSearch> + Clone {
    searches.iter().filter(|search| search.subject == searches[0].subject)
}

/// Draws the time and the rows of each step of the first batch, with and without finished
/// sentences.
pub fn draw_times(searches: &[RecordedSearch], notes: &[String]) -> Chart {
    let shown: Vec<&RecordedSearch> = first_subject(searches).take(2).collect();
    let curves = |value: fn(&StepRecord) -> f64| {
        let curves = shown.iter().enumerate().map(|(index, search)| {
            let points = (1u32..).map(f64::from).zip(search.first_batch().iter().map(value));
            Curve::new(LineStyle::for_curve(index), points.collect::<Vec<_>>())
        });
        curves.collect::<Vec<_>>()
    };
    let steps = shown.iter().map(|search| search.first_batch().len()).max().unwrap_or(0);
    let panel = |label: &str, height, curves: Vec<Curve>| Panel {
        height,
        y_axis: Axis::linear(label, 0.0, highest(&curves)),
        curves,
    };
    chart(
        "Time of each step of a batch",
        notes,
        &shown,
        Axis::linear("step", 0.0, steps as f64),
        vec![
            panel("ms", 280, curves(|step| 1e3 * step.seconds)),
            panel("rows", 180, curves(|step| step.rows as f64)),
        ],
    )
}

/// Draws the share of steps that have at most n sentences, over n, for the variants that drop
/// finished sentences.
pub fn draw_sentences(searches: &[RecordedSearch], notes: &[String]) -> Chart {
    let shown: Vec<&RecordedSearch> =
        first_subject(searches).filter(|search| !search.variant.keep_dead_rows).collect();
    let curves = shown.iter().enumerate().map(|(index, search)| {
        let mut counts: Vec<usize> = search.steps.iter().map(|step| step.sentences).collect();
        counts.sort_unstable();
        counts.dedup();
        let share = |&count: &usize| (count as f64, 100.0 * search.share_below(count + 1));
        Curve::new(LineStyle::for_curve(index), counts.iter().map(share).collect::<Vec<_>>())
    });
    let panel = Panel {
        height: 320,
        y_axis: Axis::linear("% of steps with at most these", 0.0, 100.0),
        curves: curves.collect(),
    };
    let most = f64::from(shown.first().map_or(1, |search| search.batch));
    let x_axis = Axis::linear("sentences of the batch that are not finished", 0.0, most);
    chart("Sentences that a batch still has", notes, &shown, x_axis, vec![panel])
}

fn chart(
    title: &str,
    notes: &[String],
    shown: &[&RecordedSearch],
    x_axis: Axis,
    panels: Vec<Panel>,
) -> Chart {
    let mut notes = notes.to_vec();
    if let Some(search) = shown.first() {
        let [model, place, beam] = &search.subject;
        notes.push(format!("{model}, {place}, beam {beam}, batches of {}", search.batch));
    }
    let legend = shown.iter().enumerate().map(|(index, search)| -> (String, LineStyle) {
        (search.variant.name.into(), LineStyle::for_curve(index))
    });
    let (title, legend) = (title.into(), legend.collect());
    Chart { title, notes, legend, x_axis, panels, bands: Vec::new() }
}

fn highest(curves: &[Curve]) -> f64 {
    curves.iter().flat_map(|curve| &curve.points).map(|point| point.1).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(variant: BatchingVariant, steps: &[(usize, usize, usize)]) -> RecordedSearch {
        let steps = steps.iter().map(|&(fills, sentences, rows)| {
            let seconds = rows as f64 / 1000.0;
            StepRecord { fills, sentences, rows, seconds }
        });
        let subject = ["gru", "cpu f32", "2"].map(str::to_owned);
        RecordedSearch { subject, batch: 9, variant, steps: steps.collect() }
    }

    fn searches() -> Vec<RecordedSearch> {
        vec![
            search(RECORDED[0], &[(1, 9, 9), (1, 8, 16), (1, 2, 4), (2, 1, 1)]),
            search(RECORDED[1], &[(1, 9, 9), (1, 8, 18), (1, 2, 18), (2, 1, 1)]),
        ]
    }

    #[test]
    fn times_are_those_of_the_first_batch() {
        let chart = draw_times(&searches(), &[]);
        let [times, rows] = &chart.panels[..] else { panic!("two panels") };
        assert_eq!(times.curves[0].points, [(1.0, 9.0), (2.0, 16.0), (3.0, 4.0)]);
        assert_eq!(rows.curves[1].points, [(1.0, 9.0), (2.0, 18.0), (3.0, 18.0)]);
        let names: Vec<&str> = chart.legend.iter().map(|entry| &entry.0[..]).collect();
        assert_eq!(names, ["not topped up", "dead rows kept"]);
        assert_eq!(chart.notes, ["gru, cpu f32, beam 2, batches of 9"]);
    }

    #[test]
    fn sentences_are_a_cumulative_share_of_steps() {
        let chart = draw_sentences(&searches(), &[]);
        assert_eq!(chart.panels[0].curves.len(), 1, "dead rows are not sentences");
        let points = [(1.0, 25.0), (2.0, 50.0), (8.0, 75.0), (9.0, 100.0)];
        assert_eq!(chart.panels[0].curves[0].points, points);
        assert_eq!(searches()[0].share_below(FEW_SENTENCES), 0.5);
        let csv = to_csv(&searches());
        assert_eq!(csv.lines().nth(3), Some("gru,cpu f32,2,9,not topped up,3,1,2,4,0.004000"));
    }
}
