//! Lanes of a warp that search together.

/// The lanes of a warp that search for one n-gram together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// Orders up to 5.
    Lanes4,
    /// Orders up to 9.
    Lanes8,
    /// All orders that the kernels support, up to 16.
    Lanes16,
}

impl Tile {
    /// Returns the number of lanes.
    pub fn lanes(self) -> usize {
        match self {
            Tile::Lanes4 => 4,
            Tile::Lanes8 => 8,
            Tile::Lanes16 => 16,
        }
    }

    /// Returns the smallest tile for models of `order`: a lane for each word of context.
    pub fn for_order(order: usize) -> Self {
        match order {
            0..=5 => Tile::Lanes4,
            6..=9 => Tile::Lanes8,
            _ => Tile::Lanes16,
        }
    }
}
