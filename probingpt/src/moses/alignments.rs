//! `Alignments.dat`: the distinct word alignments, one per line, in no order.

use std::path::Path;

use super::text_file::TextFile;
use crate::Result;

/// The alignments of a table, by id.
pub(super) struct Alignments {
    /// The range in `points` of each alignment.
    ranges: Vec<(u32, u32)>,
    points: Vec<(u16, u16)>,
}

/// The range of an alignment that has not been read.
const MISSING: (u32, u32) = (1, 0);

impl Alignments {
    pub fn read(path: &Path) -> Result<Self> {
        let file = TextFile::open(path)?;
        let (mut ranges, mut points) = (Vec::new(), Vec::new());
        for line in file.lines() {
            let (id, positions) = line.split_at_tab()?;
            let id = line.parse_number::<usize>(1, id)?;
            // Ids are dense, so they are below the number of bytes. The check bounds the
            // allocation.
            if id >= file.byte_len() {
                return Err(line.error(Some(1), format!("{id} is larger than the number of lines")));
            }
            if ranges.len() <= id {
                ranges.resize(id + 1, MISSING);
            }
            if ranges[id] != MISSING {
                return Err(line.error(Some(1), format!("alignment {id} is listed twice")));
            }
            let first = points.len() as u32;
            let mut positions = positions.split(|&b| b == b' ').filter(|text| !text.is_empty());
            while let Some(source) = positions.next() {
                let Some(target) = positions.next() else {
                    return Err(line.error(Some(2), "a source position has no target position"));
                };
                points.push((line.parse_number(2, source)?, line.parse_number(2, target)?));
            }
            let Ok(end) = u32::try_from(points.len()) else {
                return Err(line.error(None, "there are more than 4,294,967,295 points"));
            };
            ranges[id] = (first, end);
        }
        if let Some(id) = ranges.iter().position(|&range| range == MISSING) {
            return Err(file.error(format!("alignment {id} is missing")));
        }
        Ok(Alignments { ranges, points })
    }

    /// Returns the number of alignments.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the points of alignment `id`; empty for an id that does not exist.
    pub fn points(&self, id: u32) -> &[(u16, u16)] {
        match self.ranges.get(id as usize) {
            Some(&(first, end)) => &self.points[first as usize..end as usize],
            None => &[],
        }
    }
}
