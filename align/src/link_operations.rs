//! Operations on files of links, as in fast_align's `atools`.
//!
//! Links may follow text: they are the part of a line after its last ` ||| `. The result of a line
//! is written before the next line is read, so that scripts can align single sentences. Both inputs
//! may be the same stream; its lines then belong to the first and the second input in turn.

use std::path::Path;

use miriam_textio::number::push_general;
use miriam_textio::{Input, Line, Lines, Output};

use crate::links::{Link, parse_links, print_links};
use crate::symmetrization::{Symmetrization, Symmetrizer};
use crate::{Error, Result};

/// The operation on the links of each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkOperation {
    /// Print the links, by source and target position.
    Convert,
    /// Print the links as a grid, then as `Convert` does.
    Display,
    /// Exchange source and target.
    Invert,
    /// Join the links with the links of a second file.
    Symmetrize(Symmetrization),
    /// Compare the links with the links of a second file: precision, recall and F.
    FMeasure,
}

impl LinkOperation {
    /// The operations by atools' names.
    pub const ALL: [(&'static str, LinkOperation); 9] = [
        ("convert", LinkOperation::Convert),
        ("display", LinkOperation::Display),
        ("fmeasure", LinkOperation::FMeasure),
        ("grow-diag", LinkOperation::Symmetrize(Symmetrization::GrowDiag)),
        ("grow-diag-final", LinkOperation::Symmetrize(Symmetrization::GrowDiagFinal)),
        ("grow-diag-final-and", LinkOperation::Symmetrize(Symmetrization::GrowDiagFinalAnd)),
        ("intersect", LinkOperation::Symmetrize(Symmetrization::Intersection)),
        ("invert", LinkOperation::Invert),
        ("union", LinkOperation::Symmetrize(Symmetrization::Union)),
    ];

    /// Whether the operation needs a second file.
    pub fn is_binary(self) -> bool {
        matches!(self, LinkOperation::Symmetrize(_) | LinkOperation::FMeasure)
    }
}

/// Applies `operation` to every line of `first`, and of `second` if the operation needs a second
/// file; `-` is standard input.
///
/// # Errors
/// If a file cannot be read or written, the files differ in their numbers of lines, a link is
/// malformed, or there are no links to compare.
pub fn apply_link_operation(
    operation: LinkOperation,
    first: &Path,
    second: Option<&Path>,
    output: &Path,
) -> Result<()> {
    let mut inputs = vec![Lines::new(Input::open(first)?)];
    let shared = second == Some(first) && first.as_os_str() == "-";
    if let Some(second) = second.filter(|_| !shared) {
        inputs.push(Lines::new(Input::open(second)?));
    }
    let sides = if second.is_some() { 2 } else { 1 };
    let mut output = Output::create(output)?;
    let mut links: [Vec<Link>; 2] = Default::default();
    let mut read = [0u64; 2];
    let (mut symmetrizer, mut result, mut text) = (Symmetrizer::default(), Vec::new(), Vec::new());
    let mut agreement = [0u64; 3];
    loop {
        let mut ended = [false; 2];
        for side in 0..sides {
            let input = if shared { &mut inputs[0] } else { &mut inputs[side] };
            let name = input.name().to_owned();
            match input.next()? {
                Some(line) => {
                    read[side] += 1;
                    parse_links(&name, &after_text(&line), &mut links[side])?;
                    links[side].sort_unstable();
                    links[side].dedup();
                }
                None => ended[side] = true,
            }
        }
        if ended[..sides].contains(&true) {
            if ended[..sides].contains(&false) {
                check_line_counts(&mut inputs, shared, read)?;
            }
            break;
        }
        let [first, second] = &links;
        text.clear();
        match operation {
            LinkOperation::Convert => print_links(first, &mut text),
            LinkOperation::Display => {
                print_grid(first, &mut text);
                text.push(b'\n');
                print_links(first, &mut text);
            }
            LinkOperation::Invert => {
                result.clear();
                result.extend(first.iter().map(|&(source, target)| (target, source)));
                result.sort_unstable();
                print_links(&result, &mut text);
            }
            LinkOperation::Symmetrize(how) => {
                symmetrizer.symmetrize(how, first, second, &mut result);
                print_links(&result, &mut text);
            }
            LinkOperation::FMeasure => {
                let common = first.iter().filter(|link| second.binary_search(link).is_ok());
                agreement[0] += common.count() as u64;
                agreement[1] += first.len() as u64;
                agreement[2] += second.len() as u64;
            }
        }
        if !text.is_empty() {
            output.write(&text)?;
            output.flush()?;
        }
    }
    if operation == LinkOperation::FMeasure {
        print_f_measure(agreement, &mut text)?;
        output.write(&text)?;
    }
    Ok(output.finish()?)
}

/// Returns the part of a line after its last ` ||| `.
fn after_text<'a>(line: &Line<'a>) -> Line<'a> {
    const BARS: &[u8] = b" ||| ";
    let at = line.bytes.windows(BARS.len()).rposition(|window| window == BARS);
    Line { bytes: &line.bytes[at.map_or(0, |at| at + BARS.len())..], ..*line }
}

/// Counts the remaining lines of both inputs, and fails if their numbers of lines differ.
fn check_line_counts(inputs: &mut [Lines], shared: bool, mut read: [u64; 2]) -> Result<()> {
    if shared {
        let reason =
            "standard input has an odd number of lines; the lines of both files must alternate";
        return Err(Error::InvalidOptions { reason: reason.into() });
    }
    for (input, read) in inputs.iter_mut().zip(&mut read) {
        while input.next()?.is_some() {
            *read += 1;
        }
    }
    let names = inputs.iter().map(Lines::name);
    Ok(miriam_textio::Error::check_line_counts(names.zip(read))?)
}

/// Prints a line of `*` and `.` for each source position. The last digits of positions surround the
/// grid. Without links, the grid has one cell.
fn print_grid(links: &[Link], text: &mut Vec<u8>) {
    let rows = links.iter().map(|link| link.0 + 1).max().unwrap_or(1);
    let columns = links.iter().map(|link| link.1 + 1).max().unwrap_or(1);
    fn digit(position: u16) -> u8 {
        b'0' + (position % 10) as u8
    }
    fn push_header(columns: u16, text: &mut Vec<u8>) {
        text.push(b' ');
        text.extend((0..columns).map(digit));
        text.push(b'\n');
    }
    push_header(columns, text);
    for source in 0..rows {
        text.push(digit(source));
        text.extend(
            (0..columns)
                .map(|target| links.binary_search(&(source, target)).map_or(b'.', |_| b'*')),
        );
        text.extend_from_slice(&[digit(source), b'\n']);
    }
    push_header(columns, text);
}

fn print_f_measure([matches, found, reference]: [u64; 3], text: &mut Vec<u8>) -> Result<()> {
    if found == 0 || reference == 0 {
        let reason = "cannot compute an F-measure: one of the files has no links";
        return Err(Error::InvalidOptions { reason: reason.into() });
    }
    let precision = matches as f64 / found as f64;
    let recall = matches as f64 / reference as f64;
    let f = (2.0 * precision * recall) / (recall + precision);
    for (name, value) in [("P: ", precision), ("R: ", recall), ("F: ", f)] {
        text.extend_from_slice(name.as_bytes());
        push_general(text, value);
        text.push(b'\n');
    }
    Ok(())
}
