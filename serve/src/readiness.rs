//! Readiness: one rule for all protocols that report it.
//!
//! A server that is not stopping is ready while each name of its configuration is served, even by
//! an earlier generation of the model. A failed reload must not take a server that still translates
//! out of the load balancer; the server is reported as degraded instead.

use crate::refusal::Refusal;

/// Whether a server should be sent requests, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    /// Whether the server is stopping or about to stop.
    pub stopping: bool,
    /// The models that are not open yet.
    pub loading: Vec<String>,
    /// The models that did not open at the last reload.
    pub broken: Vec<BrokenModel>,
    /// The reason for the failure of the last reload.
    pub reload_error: Option<String>,
    /// Changed settings that take effect only at the next start.
    pub pending_settings: Vec<&'static str>,
}

/// A model that did not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenModel {
    /// Its name.
    pub name: String,
    /// Why it did not open.
    pub reason: String,
    /// The earlier generation that is served in its place.
    pub serves: Option<u64>,
}

impl Readiness {
    /// Whether each name of the configuration is served and the server is not stopping.
    pub fn is_ready(&self) -> bool {
        !self.stopping
            && self.loading.is_empty()
            && self.broken.iter().all(|model| model.serves.is_some())
    }

    /// Whether the server differs from its configuration.
    pub fn is_degraded(&self) -> bool {
        !self.broken.is_empty() || self.reload_error.is_some() || !self.pending_settings.is_empty()
    }

    /// Returns the refusal for clients, if the server is not ready.
    pub fn refusal(&self) -> Option<Refusal> {
        if self.is_ready() {
            return None;
        }
        let absent = self.broken.iter().filter(|model| model.serves.is_none());
        let absent: Vec<String> =
            absent.map(|model| format!("{}: {}", model.name, model.reason)).collect();
        let reason = if self.stopping {
            "the server is stopping".into()
        } else if !self.loading.is_empty() {
            format!("these models are being opened: {}", self.loading.join(", "))
        } else {
            format!("these models did not open: {}", absent.join("; "))
        };
        Some(Refusal::NotReady(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(serves: Option<u64>) -> Readiness {
        let model = BrokenModel { name: "m".into(), reason: "no file".into(), serves };
        Readiness { broken: vec![model], ..Readiness::default() }
    }

    #[test]
    fn a_server_is_ready_while_each_name_is_served() {
        let whole = Readiness::default();
        assert!(whole.is_ready() && !whole.is_degraded() && whole.refusal().is_none());
        let old = broken(Some(1));
        assert!(old.is_ready() && old.is_degraded());
        let absent = broken(None);
        assert!(!absent.is_ready() && absent.is_degraded());
        assert_eq!(absent.refusal().unwrap().detail(), "these models did not open: m: no file");
        let unread = Readiness { reload_error: Some("line 3".into()), ..Readiness::default() };
        assert!(unread.is_ready() && unread.is_degraded());
        let loading = Readiness { loading: vec!["a".into()], ..Readiness::default() };
        assert!(!loading.is_ready() && !loading.is_degraded());
        let stopping = Readiness { stopping: true, ..Readiness::default() };
        assert_eq!(stopping.refusal().unwrap().status(), 503);
    }
}
