//! Instructions in the form in which warps run them: operands are numbers of registers, and the
//! targets of branches are indices of instructions.
//!
//! Constants and special registers have numbers of their own ([`Value`]), so that all operands are
//! read in one way.

use crate::arithmetic::{Binary, Comparison, Conversion, Mode, Ternary, Unary};
use crate::types::Type;

/// The number of a register.
pub(crate) type Register = u32;

/// A register that no instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// A constant, as the bits of its type.
    Constant(u64),
    Special(Special),
}

/// A special register, such as the thread's position in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    Warp,
    NumWarps,
    WarpSize,
    /// `%dynamic_smem_size`.
    DynamicSharedBytes,
    LaneMask(LaneMask),
}

/// The lanes in a register `%lanemask_*`, compared with the thread's own lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneMask {
    Equal,
    LessEqual,
    Less,
    GreaterEqual,
    Greater,
}

/// The memory that is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    /// The address says in which of the other spaces it is.
    Generic,
    Global,
    Shared,
    /// Memory of each thread, also for the arguments of functions.
    Local,
    /// Initialised arrays of the module, read only.
    Module,
    /// The parameters of the launch, read only.
    Parameters,
}

/// An address: an offset, added to a register if there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Address {
    pub base: Option<Register>,
    pub offset: i64,
}

/// The way in which a lane of a warp chooses the lane whose value it gets.
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

/// The combination of a comparison with another predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combination {
    And,
    Or,
    Xor,
}

/// The operation of an atomic access on the value in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomic {
    /// Combines it with the operand.
    Combine(Binary),
    Exchange,
    /// Writes the second operand if the value equals the first.
    CompareAndSwap,
    /// Counts up to the operand, then from zero again.
    Increment,
    /// Counts down to zero, then from the operand again.
    Decrement,
}

/// The result of a barrier over the threads of a block: the number of true predicates, or whether
/// all or any are true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Number,
    All,
    Any,
}

/// An exchange between the lanes of a warp, which happens when all lanes of a mask have arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Exchange {
    Shuffle {
        kind: Shuffle,
        to: Register,
        is_valid: Option<Register>,
        value: Register,
        lane: Register,
        clamp: Register,
    },
    Vote {
        kind: Vote,
        to: Register,
        predicate: Register,
        negated: bool,
    },
    /// `redux`: all values combined.
    Reduce {
        kind: Binary,
        ty: Type,
        to: Register,
        value: Register,
    },
    /// The lanes with the same value; in the form `all`, whether all have it.
    Match {
        ty: Type,
        to: Register,
        is_all: Option<Option<Register>>,
        value: Register,
    },
    /// Lanes wait for each other; no values are exchanged.
    Nothing,
    /// `mma`: the product of two matrices, which has 16 rows and 8 columns, added to `added`.
    MultiplyMatrices {
        ty: Type,
        to: [Register; 4],
        left: Vec<Register>,
        right: Vec<Register>,
        added: [Register; 4],
    },
    /// `ldmatrix`: matrices of 8 rows of 16 bytes.
    LoadMatrices {
        space: Space,
        to: Vec<Register>,
        is_transposed: bool,
        address: Address,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    Move {
        ty: Type,
        to: Register,
        from: Register,
    },
    /// Joins the parts into one register, the first lowest.
    Pack {
        part: Type,
        to: Register,
        from: Vec<Register>,
    },
    /// Divides a register into parts, the lowest first.
    Unpack {
        part: Type,
        to: Vec<Register>,
        from: Register,
    },
    Unary {
        kind: Unary,
        ty: Type,
        mode: Mode,
        to: Register,
        from: Register,
    },
    Binary {
        kind: Binary,
        ty: Type,
        mode: Mode,
        to: Register,
        from: [Register; 2],
    },
    Ternary {
        kind: Ternary,
        ty: Type,
        mode: Mode,
        to: Register,
        from: [Register; 3],
    },
    /// `bfi`: the insertion of bits.
    InsertBits {
        ty: Type,
        to: Register,
        from: [Register; 4],
    },
    Convert {
        conversion: Conversion,
        to: Register,
        from: Register,
    },
    /// The conversion of two `f32` to a pair, the first in the upper half.
    ConvertPair {
        conversion: Conversion,
        to: Register,
        from: [Register; 2],
    },
    Compare {
        comparison: Comparison,
        ty: Type,
        flushes: bool,
        /// `None` if only the opposite is needed.
        to: Option<Register>,
        /// The register of the opposite.
        opposite: Option<Register>,
        from: [Register; 2],
        combined: Option<(Combination, bool, Register)>,
    },
    Select {
        ty: Type,
        to: Register,
        from: [Register; 2],
        by: Register,
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
        from: Vec<Register>,
        address: Address,
    },
    Atomic {
        kind: Atomic,
        space: Space,
        ty: Type,
        /// The register for the old value.
        to: Option<Register>,
        address: Address,
        from: [Register; 2],
    },
    /// `cp.async`: a copy to shared memory that is done later.
    CopyLater {
        to: Address,
        from: Address,
        size: usize,
        /// The number of bytes that are read; zeros follow them.
        read: Register,
    },
    /// Creates a group of the copies since the last group.
    EndCopyGroup,
    /// Performs the copies of all groups except the last `groups_left`. `None` performs all copies,
    /// also copies that belong to no group yet.
    AwaitCopies {
        groups_left: Option<usize>,
    },
    Branch {
        target: usize,
    },
    /// `brx`: a branch to one of several places.
    BranchIndexed {
        targets: Vec<usize>,
        index: Register,
    },
    Return,
    Exchange {
        exchange: Exchange,
        members: Register,
    },
    ActiveLanes {
        to: Register,
    },
    /// A barrier of the whole block, which may count the threads whose predicate is true.
    Barrier {
        number: Register,
        count: Option<(Count, Register, bool, Register)>,
    },
    /// Orders memory accesses. It does nothing here, because accesses are always in order.
    Fence,
    Trap,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Instruction {
    /// The predicate under which it runs, and the value that it must have.
    pub guard: Option<(Register, bool)>,
    pub operation: Operation,
    /// The line of the text, from 1.
    pub line: u32,
}
