//! The phrase penalty: 1 for each phrase.

/// The phrase penalty with its weight and its component.
#[derive(Clone, Debug)]
pub(crate) struct PhrasePenalty {
    component: usize,
    weight: f32,
}

impl PhrasePenalty {
    const VALUE: f32 = 1.0;

    pub(super) fn new(component: usize) -> Self {
        PhrasePenalty { component, weight: 0.0 }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    #[inline]
    pub(super) fn score(&self) -> f32 {
        Self::VALUE * self.weight
    }

    pub(super) fn add_value(&self, values: &mut [f32]) {
        values[self.component] += Self::VALUE;
    }
}
