//! Compiler of a map of byte strings into a double array in Darts-clone's format.
//!
//! Equal subtrees are stored once: most keys of `nmt_nfkc` are Hangul syllables with other forms of
//! their letters, and without sharing the map would be ten times as large.
//!
//! A unit has 32 bits: the label (bits 0 to 7), whether a key ends at the child (bit 8), and the
//! offset to the children by exclusive or (bits 10 to 30), times 256 if bit 9 is set. A value is a
//! unit with bit 31 set, at label 0.

use hashbrown::HashMap;

const BLOCK_UNITS: usize = 256;
const HAS_LEAF: u32 = 1 << 8;
/// The bit that is set in values and free slots, so that they match no label.
const VALUE: u32 = 1 << 31;
/// Smaller offsets are stored unchanged, larger ones without their last eight bits.
const MAX_PLAIN_OFFSET: u32 = 1 << 21;
/// The number of free slots tried for a state before a new block is added.
const MAX_ATTEMPTS: usize = 20_000;

/// Compiles a map; keys are distinct and not empty, replacements have no zero bytes.
pub fn compile(entries: &[(String, String)]) -> Vec<u8> {
    let mut pool = Vec::new();
    let mut offsets: HashMap<&str, u32> = HashMap::new();
    let mut entries: Vec<(&str, &str)> =
        entries.iter().map(|(key, replacement)| (&**key, &**replacement)).collect();
    entries.sort_unstable();
    let mut keys = Vec::with_capacity(entries.len());
    for (key, replacement) in entries {
        let offset = *offsets.entry(replacement).or_insert_with(|| {
            let offset = pool.len() as u32;
            pool.extend_from_slice(replacement.as_bytes());
            pool.push(0);
            offset
        });
        keys.push((key.as_bytes(), offset));
    }
    let mut states = StateTable::default();
    let root = states.add_range(&keys, 0);
    let units = Layout::new(&states).lay_out(root);
    let mut bytes = ((units.len() * 4) as u32).to_le_bytes().to_vec();
    bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
    bytes.extend_from_slice(&pool);
    bytes
}

/// A state of the minimal automaton: the value of the key that ends here, and the next states, by
/// byte.
#[derive(PartialEq, Eq, Hash)]
struct State {
    value: Option<u32>,
    children: Vec<(u8, u32)>,
}

#[derive(Default)]
struct StateTable {
    ids: HashMap<std::rc::Rc<State>, u32>,
    states: Vec<std::rc::Rc<State>>,
}

impl StateTable {
    /// Adds the state of the sorted `keys`, which share their first `depth` bytes.
    fn add_range(&mut self, keys: &[(&[u8], u32)], depth: usize) -> u32 {
        let mut rest = keys;
        let mut value = None;
        if let [(key, offset), after @ ..] = rest
            && key.len() == depth
        {
            (value, rest) = (Some(*offset), after);
        }
        let mut children = Vec::new();
        while let [(first, _), ..] = rest {
            let byte = first[depth];
            let (same, after) = rest.split_at(rest.partition_point(|(key, _)| key[depth] == byte));
            children.push((byte, self.add_range(same, depth + 1)));
            rest = after;
        }
        let state = std::rc::Rc::new(State { value, children });
        let next = self.states.len() as u32;
        *self.ids.entry(std::rc::Rc::clone(&state)).or_insert_with(|| {
            self.states.push(state);
            next
        })
    }
}

/// The units of placed states.
struct Layout<'s> {
    states: &'s StateTable,
    units: Vec<u32>,
    is_taken: Vec<bool>,
    /// Bases are distinct, because a state must not see the children of another.
    is_base: Vec<bool>,
    first_free: usize,
    bases: Vec<Option<u32>>,
}

impl<'s> Layout<'s> {
    fn new(states: &'s StateTable) -> Self {
        let bases = vec![None; states.states.len()];
        let mut layout = Layout {
            states,
            units: Vec::new(),
            is_taken: Vec::new(),
            is_base: Vec::new(),
            first_free: 1,
            bases,
        };
        layout.add_block();
        // Unit 0 leads to the root; base 0 would make it a child.
        layout.is_taken[0] = true;
        layout.is_base[0] = true;
        layout
    }

    fn lay_out(mut self, root: u32) -> Vec<u32> {
        let base = self.place(root);
        self.units[0] = encode_offset(base);
        let mut pending = vec![root];
        while let Some(state) = pending.pop() {
            let base = self.bases[state as usize].expect("pending states have a place");
            for &(byte, child) in &self.states.states[state as usize].children {
                let slot = base ^ u32::from(byte);
                let child_base = match self.bases[child as usize] {
                    Some(base) => base,
                    None => {
                        pending.push(child);
                        self.place(child)
                    }
                };
                let leaf = match self.states.states[child as usize].value {
                    Some(_) => HAS_LEAF,
                    None => 0,
                };
                let unit = encode_offset(slot ^ child_base) | leaf | u32::from(byte);
                self.units[slot as usize] = unit;
            }
        }
        self.units
    }

    /// Takes slots for the children of a state and stores its value; returns the base.
    fn place(&mut self, id: u32) -> u32 {
        let state = &self.states.states[id as usize];
        let value_label = state.value.map(|_| 0);
        let labels = value_label.into_iter().chain(state.children.iter().map(|&(byte, _)| byte));
        let labels: Vec<usize> = labels.map(usize::from).collect();
        let base = self.find_base(&labels);
        self.is_base[base] = true;
        for label in labels {
            self.is_taken[base ^ label] = true;
        }
        if let Some(value) = state.value {
            self.units[base] = VALUE | value;
        }
        self.bases[id as usize] = Some(base as u32);
        base as u32
    }

    fn find_base(&mut self, labels: &[usize]) -> usize {
        while self.first_free < self.is_taken.len() && self.is_taken[self.first_free] {
            self.first_free += 1;
        }
        let free = (self.first_free..self.is_taken.len()).filter(|&slot| !self.is_taken[slot]);
        let mut attempts = 0;
        for slot in free.take(MAX_ATTEMPTS) {
            let base = slot ^ labels[0];
            if !self.is_base[base] && labels.iter().all(|label| !self.is_taken[base ^ label]) {
                return base;
            }
            attempts += 1;
        }
        if attempts == MAX_ATTEMPTS {
            self.first_free += 1;
        }
        let base = self.units.len();
        self.add_block();
        base
    }

    fn add_block(&mut self) {
        let length = self.units.len() + BLOCK_UNITS;
        self.units.resize(length, VALUE);
        self.is_taken.resize(length, false);
        self.is_base.resize(length, false);
    }
}

/// Returns the bits of a unit that contain `offset`.
fn encode_offset(offset: u32) -> u32 {
    if offset < MAX_PLAIN_OFFSET {
        return offset << 10;
    }
    // This happens only for maps a hundred times as large.
    assert!(offset.is_multiple_of(256) && offset < MAX_PLAIN_OFFSET << 8, "the map is too large");
    offset << 2 | 1 << 9
}
