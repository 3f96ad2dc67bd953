//! `Alignments.dat`: the distinct word alignments, a line each, in no order.

use std::path::Path;

use super::text_file::TextFile;
use crate::Result;

/// The alignments of a table by their ids.
pub(super) struct Alignments {
    /// First point and the one behind the last, of each alignment.
    ranges: Vec<(u32, u32)>,
    points: Vec<(u16, u16)>,
}

/// The place of an alignment that is not there.
const MISSING: (u32, u32) = (1, 0);

impl Alignments {
    pub fn read(path: &Path) -> Result<Self> {
        let file = TextFile::open(path)?;
        let (mut places, mut points) = (Vec::new(), Vec::new());
        for line in file.lines() {
            let (id, positions) = line.split_at_tab()?;
            let id = line.parse_number::<usize>(1, id)?;
            // Ids are dense, so a larger one is no id, and never a size to reserve.
            if id >= file.byte_len() {
                return Err(line.error(Some(1), format!("{id} is more than there are lines")));
            }
            if places.len() <= id {
                places.resize(id + 1, MISSING);
            }
            if places[id] != MISSING {
                return Err(line.error(Some(1), format!("alignment {id} stands there already")));
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
            places[id] = (first, end);
        }
        if let Some(id) = places.iter().position(|&place| place == MISSING) {
            return Err(file.error(format!("alignment {id} is not among them")));
        }
        Ok(Alignments { ranges: places, points })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// The points of alignment `id`, none for an id that does not exist.
    pub fn points(&self, id: u32) -> &[(u16, u16)] {
        match self.ranges.get(id as usize) {
            Some(&(first, end)) => &self.points[first as usize..end as usize],
            None => &[],
        }
    }
}
