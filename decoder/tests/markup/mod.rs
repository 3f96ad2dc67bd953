//! Random markup for the exhaustive decoder, and what it allows: the rules of
//! `docs/spec/phrase-decoding.md` 3.2, written as loops over lists.

use std::fmt::Write;

use proptest::prelude::*;

/// Markup of a sentence.
#[derive(Debug, Clone, Default)]
pub struct Markup {
    pub mode: &'static str,
    pub forced: Vec<Forced>,
    /// Walls before these words; 0 means no wall.
    pub walls: Vec<usize>,
    /// First and last words. After [`Markup::restrict_to`], zones are nested or disjoint.
    pub zones: Vec<(usize, usize)>,
}

/// Translations of the words `start..end`.
#[derive(Debug, Clone)]
pub struct Forced {
    pub start: usize,
    pub end: usize,
    /// Words of one letter each, and probabilities: for all or for none.
    pub translations: Vec<(String, Option<f32>)>,
}

/// Makes markup for sentences of up to `longest` words; see [`Markup::restrict_to`].
pub fn markup(longest: usize) -> impl Strategy<Value = Markup> {
    let words = proptest::collection::vec(proptest::sample::select(vec!["a", "b", "c", "d"]), 0..3);
    let translation = (words.prop_map(|words| words.join(" ")), 1u32..100);
    let forced =
        (0..longest, 1..3usize, proptest::collection::vec(translation, 1..3), any::<bool>())
            .prop_map(|(start, length, translations, probable)| {
                let given = |(words, p): (String, u32)| (words, probable.then(|| p as f32 / 100.0));
                let translations = translations.into_iter().map(given).collect();
                Forced { start, end: start + length, translations }
            });
    let mode = proptest::sample::select(vec!["ignore", "inclusive", "exclusive", "constraint"]);
    let zone = (0..longest, 0..longest);
    (
        mode,
        proptest::collection::vec(forced, 0..3),
        proptest::collection::vec(0..longest, 0..3),
        proptest::collection::vec(zone, 0..3),
    )
        .prop_map(|(mode, forced, walls, zones)| Markup { mode, forced, walls, zones })
}

impl Markup {
    /// Returns empty markup, in the mode that does not parse markup.
    pub fn none() -> Self {
        Markup { mode: "pass-through", ..Markup::default() }
    }

    /// Returns the part of the markup that fits a sentence of `length` words. Its zones are nested
    /// or disjoint.
    pub fn restrict_to(mut self, length: usize) -> Self {
        self.forced.retain(|f| f.end <= length);
        self.walls.retain(|&wall| wall < length);
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for (start, end) in self.zones {
            let zone = (start.min(end), start.max(end));
            let fits = |other: &(usize, usize)| {
                let inside = |a: (usize, usize), b: (usize, usize)| b.0 <= a.0 && a.1 <= b.1;
                other.1 < zone.0 || zone.1 < other.0 || inside(*other, zone) || inside(zone, *other)
            };
            if zone.1 < length && kept.iter().all(fits) {
                kept.push(zone);
            }
        }
        self.zones = kept;
        self
    }

    /// Returns the line with its markup. An element that translates one word encloses the word.
    /// Elements that translate several words, and zones, name the words in `span`.
    pub fn write(&self, words: &[&str]) -> String {
        let mut line = String::new();
        for (position, word) in words.iter().enumerate() {
            if self.walls.contains(&position) {
                line.push_str("<wall/>");
            }
            let mut around = 0;
            for forced in self.forced.iter().filter(|f| f.start == position) {
                let (texts, probabilities): (Vec<_>, Vec<_>) =
                    forced.translations.iter().cloned().unzip();
                write!(line, "<n translation=\"{}\"", texts.join("||")).unwrap();
                if probabilities[0].is_some() {
                    let shown: Vec<String> =
                        probabilities.iter().flatten().map(f32::to_string).collect();
                    write!(line, " prob='{}'", shown.join("||")).unwrap();
                }
                match forced.end - forced.start {
                    1 => {
                        line.push('>');
                        around += 1;
                    }
                    _ => write!(line, " span='{}-{}'/>", forced.start, forced.end - 1).unwrap(),
                }
            }
            line.push_str(word);
            line.push_str(&"</n>".repeat(around));
            line.push(' ');
        }
        for (first, last) in &self.zones {
            write!(line, "<zone span=\"{first},{last}\"/>").unwrap();
        }
        line
    }

    fn is_active(&self) -> bool {
        !matches!(self.mode, "pass-through" | "ignore")
    }

    /// Returns the forced translations that share words with `start..end`.
    fn overlapping(&self, start: usize, end: usize) -> Vec<&Forced> {
        let touches = |f: &&Forced| self.is_active() && f.start < end && start < f.end;
        self.forced.iter().filter(touches).collect()
    }

    /// Whether `target`, a translation of `start..end` from a table, is allowed.
    pub fn allows_table_option(&self, start: usize, end: usize, target: &str) -> bool {
        let touching = self.overlapping(start, end);
        match self.mode {
            "exclusive" => touching.is_empty(),
            "constraint" => {
                // All the translations of one span are alternatives.
                touching.iter().all(|f| {
                    let same = touching.iter().filter(|g| (g.start, g.end) == (f.start, f.end));
                    let mut words = same.flat_map(|g| &g.translations);
                    // Words have one letter each, so that texts can be compared instead of words.
                    let contained = words.any(|(words, _)| target.contains(&words[..]));
                    start <= f.start && f.end <= end && contained
                })
            }
            _ => true,
        }
    }

    /// Whether an unknown word at `position` may be copied.
    pub fn allows_copying(&self, position: usize) -> bool {
        let bound = matches!(self.mode, "exclusive" | "constraint");
        !bound || self.overlapping(position, position + 1).is_empty()
    }

    /// Returns the translations forced on exactly `start..end`.
    pub fn forced(&self, start: usize, end: usize) -> Vec<&(String, Option<f32>)> {
        let exact = |f: &&Forced| (f.start, f.end) == (start, end);
        self.overlapping(start, end)
            .into_iter()
            .filter(exact)
            .flat_map(|f| &f.translations)
            .collect()
    }

    /// Whether the words `start..=last` may be translated next, by the rules of walls and zones.
    pub fn respects_constraints(
        &self,
        covered: &[bool],
        start: usize,
        last: usize,
        limit: i64,
    ) -> bool {
        if !self.is_active() {
            return true;
        }
        let gap = covered.iter().position(|&c| !c).unwrap();
        // For each wall, the position of the word before it and the innermost zone around it.
        let walls = self.walls.iter().filter(|&&wall| wall > 0).map(|wall| {
            let p = wall - 1;
            let inside = self.zones.iter().filter(|z| z.0 <= p && p < z.1);
            (p, inside.min_by_key(|z| z.1 - z.0))
        });
        let walls: Vec<_> = walls.collect();
        let global = |p: &usize| walls.contains(&(*p, None));
        if start != gap && (gap..last).any(|p| global(&p)) {
            return false;
        }
        if start == gap && !covered[gap..].contains(&true) {
            return true;
        }
        for zone in &self.zones {
            let &(first, end) = zone;
            if gap > end {
                continue;
            }
            let left = (first..=end).filter(|&p| !covered[p]).count();
            let done = end - first + 1 - left;
            if left == 0 {
                continue;
            }
            if last < first || start > end {
                if done > 0 {
                    return false;
                }
                continue;
            }
            if start != gap && limit >= 0 && (end - gap) as i64 >= limit {
                return false;
            }
            if start <= first {
                continue;
            }
            if last > end {
                if end - start + 1 < left {
                    return false;
                }
                continue;
            }
            for (p, local) in &walls {
                let leaves_gap = (first..start).any(|q| q <= *p && !covered[q]);
                if *local == Some(zone) && *p < last && leaves_gap {
                    return false;
                }
            }
        }
        true
    }
}
