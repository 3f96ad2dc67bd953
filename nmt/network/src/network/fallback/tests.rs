//! Sessions and scorers whose device has room for a few sentences only, or is lost.

use super::*;

/// A stand-in for a device or the CPU, with room for `room` sentences. It computes nothing, and
/// counts the sentences that it is given.
struct Place {
    room: usize,
    is_full: AtomicBool,
    is_lost: AtomicBool,
    sentences: AtomicUsize,
}

impl Place {
    fn new(room: usize) -> Arc<Self> {
        Arc::new(Place {
            room,
            is_full: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
            sentences: AtomicUsize::new(0),
        })
    }

    fn check(&self, sentences: usize) -> Result<()> {
        let reason = String::new();
        if self.is_lost.load(Ordering::Relaxed) {
            Err(Error::Device { reason })
        } else if sentences > self.room || sentences > 0 && self.is_full.load(Ordering::Relaxed) {
            Err(Error::DeviceMemory { reason })
        } else {
            Ok(())
        }
    }

    fn sentences(&self) -> usize {
        self.sentences.load(Ordering::Relaxed)
    }
}

impl SharedModel for Place {
    fn session(self: Arc<Self>) -> Result<Box<dyn Session>> {
        self.check(0)?;
        Ok(Box::new(PlaceSession { place: self, active: 0 }))
    }

    fn scorer(self: Arc<Self>) -> Result<Box<dyn SequenceScorer>> {
        self.check(0)?;
        Ok(Box::new(PlaceScorer(self)))
    }
}

struct PlaceSession {
    place: Arc<Place>,
    active: usize,
}

impl Session for PlaceSession {
    fn vocab_size(&self) -> usize {
        10
    }

    fn begin(&mut self, sentences: &[&[u32]], _: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.place.check(self.active + sentences.len())?;
        self.place.sentences.fetch_add(sentences.len(), Ordering::Relaxed);
        let first = self.active as u32;
        self.active += sentences.len();
        Ok((first..self.active as u32).map(Slot).collect())
    }

    fn finish(&mut self, _: Slot) {
        self.active -= 1;
    }

    fn step(&mut self, _: &[HypothesisRow]) -> Result<()> {
        self.place.check(self.active)
    }

    fn topk(&mut self, _: &mut [TopK]) -> Result<()> {
        self.place.check(self.active)
    }

    fn token_logits(&mut self, _: &[(u32, u32)], _: &mut Vec<f32>) -> Result<()> {
        self.place.check(self.active)
    }

    fn row_logits(&mut self, _: Range<usize>, _: &mut Vec<f32>, _: &mut Vec<f32>) -> Result<()> {
        self.place.check(self.active)
    }

    fn log_probabilities(&mut self, _: u32, _: &mut Vec<f32>) -> Result<()> {
        self.place.check(self.active)
    }

    fn keep_alignments(&mut self, _: bool) {}

    fn alignment(&self, _: u32) -> &[f32] {
        &[]
    }
}

/// A scorer whose score of a translation is the id of its first token.
struct PlaceScorer(Arc<Place>);

impl SequenceScorer for PlaceScorer {
    fn score(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        self.0.check(sources.len())?;
        self.0.sentences.fetch_add(sources.len(), Ordering::Relaxed);
        Ok(targets.iter().map(|target| vec![target[0] as f32]).collect())
    }
}

/// Returns a device with room for `room` sentences, the CPU, and a network that uses both.
fn places(room: usize) -> (Arc<Place>, Arc<Place>, Network) {
    let (device, cpu) = (Place::new(room), Place::new(usize::MAX));
    let on_cpu = Network { model: Arc::clone(&cpu) as Arc<dyn SharedModel> };
    let network = Network { model: Arc::clone(&device) as Arc<dyn SharedModel> };
    (device, cpu, network.with_fallback(move || Ok(on_cpu.clone())))
}

fn begin(session: &mut dyn Session, count: usize) -> Vec<Slot> {
    let sentence: &[u32] = &[5, 0];
    session.begin(&vec![sentence; count], None).unwrap()
}

#[test]
fn a_full_device_is_given_half_as_many_sentences() {
    let (device, cpu, network) = places(3);
    let mut session = network.session().unwrap();
    assert_eq!(session.max_sentences(), usize::MAX);
    for (count, next) in [(8, 4), (4, 2)] {
        let before = cpu.sentences();
        let slots = begin(session.as_mut(), count);
        assert_eq!((device.sentences(), cpu.sentences()), (0, before + count));
        // No sentence joins those on the CPU, so that the device can be tried again after them.
        for (slot, finished) in slots.into_iter().zip(0..) {
            assert_eq!(session.max_sentences(), count - finished);
            session.finish(slot);
        }
        assert_eq!(session.max_sentences(), next);
    }
    begin(session.as_mut(), 2);
    assert_eq!((device.sentences(), cpu.sentences()), (2, 12));
    // Two more sentences have no room together with these two, so all four move to the CPU.
    begin(session.as_mut(), 2);
    assert_eq!((device.sentences(), cpu.sentences()), (2, 16));
    // The limit of the device also holds for the sessions of other threads.
    assert_eq!(network.session().unwrap().max_sentences(), 1);
}

#[test]
fn sessions_that_fill_a_device_together_halve_its_limit_once() {
    let (device, _, network) = places(8);
    let mut sessions = [network.session().unwrap(), network.session().unwrap()];
    for session in &mut sessions {
        let slots = begin(session.as_mut(), 8);
        assert_eq!(slots.len(), 8);
    }
    // Their steps need more memory than there is.
    device.is_full.store(true, Ordering::Relaxed);
    for session in &mut sessions {
        session.step(&[]).unwrap();
    }
    assert_eq!(network.session().unwrap().max_sentences(), 4);
}

#[test]
fn a_lost_device_is_not_used_again() {
    let (device, cpu, network) = places(9);
    let mut session = network.session().unwrap();
    let slots = begin(session.as_mut(), 3);
    let rows: Vec<HypothesisRow> =
        slots.iter().map(|&slot| HypothesisRow { slot, parent: None, token: None }).collect();
    session.step(&rows).unwrap();
    assert_eq!((device.sentences(), cpu.sentences()), (3, 0));
    device.is_lost.store(true, Ordering::Relaxed);
    // The CPU answers all calls from now on.
    session.token_logits(&[(0, 1)], &mut Vec::new()).unwrap();
    session.topk(&mut [TopK::new(1, true), TopK::new(1, true), TopK::new(1, true)]).unwrap();
    assert_eq!((device.sentences(), cpu.sentences()), (3, 3));
    assert_eq!(session.max_sentences(), usize::MAX);
    slots.into_iter().for_each(|slot| session.finish(slot));
    device.is_lost.store(false, Ordering::Relaxed);
    begin(session.as_mut(), 1);
    begin(network.session().unwrap().as_mut(), 1);
    network.scorer().unwrap().score(&[&[5, 0]], &[&[6, 0]]).unwrap();
    assert_eq!((device.sentences(), cpu.sentences()), (3, 6));
}

#[test]
fn translations_are_scored_where_there_is_room() {
    let tokens: Vec<[u32; 2]> = (0..10).map(|token| [token, 0]).collect();
    let tokens: Vec<&[u32]> = tokens.iter().map(|list| &list[..]).collect();
    let expected: Vec<Vec<f32>> = (0..10u8).map(|token| vec![f32::from(token)]).collect();
    for (room, on_device) in [(20, 10), (3, 10), (0, 0)] {
        let (device, cpu, network) = places(room);
        let found = network.scorer().unwrap().score(&tokens, &tokens).unwrap();
        assert_eq!(found, expected, "room for {room}");
        assert_eq!((device.sentences(), cpu.sentences()), (on_device, 10 - on_device));
        // A call halves the common limit only once, however little room there is.
        let limit = network.session().unwrap().max_sentences();
        assert_eq!(limit, if room < 10 { 5 } else { usize::MAX });
    }
}
