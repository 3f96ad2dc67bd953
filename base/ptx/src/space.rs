//! Windows of generic addresses: shared memory, local memory and the module's arrays have a range
//! of addresses each. The other generic addresses are in global memory.

use crate::instruction::Space;

/// The first generic address of shared memory.
pub(crate) const SHARED_WINDOW: u64 = 1 << 32;

/// The first generic address of a thread's local memory.
pub(crate) const LOCAL_WINDOW: u64 = 2 << 32;

/// The first generic address of the module's initialised arrays, also in the spaces `.const` and
/// `.global`.
pub(crate) const MODULE_WINDOW: u64 = 3 << 32;

/// Returns the space of an address, and its offset there.
#[inline]
pub(crate) fn resolve(space: Space, address: u64) -> (Space, u64) {
    match (space, address >> 32) {
        (Space::Generic, 1) => (Space::Shared, address - SHARED_WINDOW),
        (Space::Generic, 2) => (Space::Local, address - LOCAL_WINDOW),
        (Space::Generic | Space::Global | Space::Module, 3) => {
            (Space::Module, address - MODULE_WINDOW)
        }
        (Space::Generic, _) => (Space::Global, address),
        _ => (space, address),
    }
}
