//! The one place that talks to a GPU.
