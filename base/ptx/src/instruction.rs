//! Instructions in the form in which warps run them: registers have numbers, branches have places.

use crate::arithmetic::{Binary, Comparison, Conversion, Ternary, Unary};
use crate::types::Type;

/// The number of a register.
pub(crate) type Register = u32;

/// An operand that is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    Register(Register),
    /// A constant, as the bits of its type.
    Constant(u64),
    Special(Special),
}

/// A special register: the thread's place in its block and grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// `%tid`, by axis.
    Thread(usize),
    /// `%ntid`.
    NumThreads(usize),
    /// `%ctaid`.
    Block(usize),
    /// `%nctaid`.
    NumBlocks(usize),
    Lane,
    LaneMask(LaneMask),
}

/// The lanes beside a lane, in `%lanemask_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// The memory that an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Global,
    Shared,
    /// The parameters of the launch, read only.
    Parameters,
}

/// An address: a register or nothing, and an offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Address {
    pub base: Option<Register>,
    pub offset: i64,
}

/// The exchange of values between the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shuffle {
    Index,
    Up,
    Down,
    Butterfly,
}

/// The question that lanes answer together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vote {
    Ballot,
    Any,
    All,
    Uniform,
}

/// How a comparison is combined with a further predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combination {
    And,
    Or,
    Xor,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    Move {
        ty: Type,
        to: Register,
        from: Operand,
    },
    /// Joins the parts into one register, the first lowest.
    Pack {
        part: Type,
        to: Register,
        from: Vec<Operand>,
    },
    /// Divides a register into parts, the lowest first.
    Unpack {
        part: Type,
        to: Vec<Register>,
        from: Operand,
    },
    Unary {
        kind: Unary,
        ty: Type,
        to: Register,
        from: Operand,
    },
    Binary {
        kind: Binary,
        ty: Type,
        to: Register,
        from: [Operand; 2],
    },
    Ternary {
        kind: Ternary,
        ty: Type,
        to: Register,
        from: [Operand; 3],
    },
    /// `bfi`: the insertion of bits.
    InsertBits {
        ty: Type,
        to: Register,
        from: [Operand; 4],
    },
    Convert {
        conversion: Conversion,
        to: Register,
        from: Operand,
    },
    Compare {
        comparison: Comparison,
        ty: Type,
        to: Register,
        /// The register of the opposite.
        opposite: Option<Register>,
        from: [Operand; 2],
        combined: Option<(Combination, bool, Operand)>,
    },
    Select {
        ty: Type,
        to: Register,
        from: [Operand; 2],
        by: Operand,
    },
    Load {
        space: Space,
        ty: Type,
        to: Vec<Register>,
        address: Address,
    },
    Store {
        space: Space,
        ty: Type,
        from: Vec<Operand>,
        address: Address,
    },
    Branch {
        target: usize,
    },
    Return,
    Shuffle {
        kind: Shuffle,
        to: Register,
        is_valid: Option<Register>,
        value: Operand,
        lane: Operand,
        clamp: Operand,
        members: Operand,
    },
    Vote {
        kind: Vote,
        to: Register,
        predicate: Operand,
        negated: bool,
        members: Operand,
    },
    /// A barrier of the whole block.
    Barrier {
        number: Operand,
    },
    /// Waits for the lanes of a mask.
    WarpBarrier {
        members: Operand,
    },
    /// Orders memory accesses, which are in order here.
    Fence,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    /// The predicate under which it runs, and the value that it must have.
    pub guard: Option<(Register, bool)>,
    pub operation: Operation,
    /// The line of the text, from 1.
    pub line: u32,
}
