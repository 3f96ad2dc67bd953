//! The search graph in the format of Moses' server.

use std::collections::HashMap;

use serde::Deserialize;

use super::value::Value;

/// The JSON object that the decoder writes.
#[derive(Deserialize)]
struct Graph {
    pieces: Vec<Piece>,
}

#[derive(Deserialize)]
struct Piece {
    hypotheses: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: u32,
    back: Option<u32>,
    span: Option<(u32, u32)>,
    text: Option<String>,
    score: Option<f32>,
    recombined: Option<u32>,
    #[serde(default)]
    complete: bool,
}

/// Returns the nodes of a graph. Each has its previous node (`back`) and the score that it adds
/// (`transition`), the number of covered words (`stack`), the next node on the best path to the end
/// (`forward`, -1 at the end) and the score of that path (`fscore`). If a line is translated in
/// parts, the graph of the first part is returned.
pub(super) fn search_graph(json: &[u8]) -> Value {
    let graph = serde_json::from_slice::<Graph>(json).ok();
    let nodes = graph.and_then(|graph| graph.pieces.into_iter().next()).map(|one| one.hypotheses);
    let nodes = nodes.unwrap_or_default();
    let by_id: HashMap<u32, usize> =
        nodes.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
    fn score(node: &Node) -> f64 {
        node.score.map_or(f64::NEG_INFINITY, f64::from)
    }
    fn before(node: &Node, by_id: &HashMap<u32, usize>) -> Option<usize> {
        node.back.and_then(|back| by_id.get(&back).copied())
    }
    let transition =
        |node: &Node| score(node) - before(node, &by_id).map_or(0.0, |index| score(&nodes[index]));
    let mut covered = vec![0; nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        // A hypothesis comes after the one that it extends.
        let words = node.span.map_or(0, |(first, last)| last + 1 - first);
        covered[index] = words + before(node, &by_id).map_or(0, |index| covered[index]);
    }
    let mut forward: Vec<(i64, f64)> = nodes
        .iter()
        .map(|node| if node.complete { (-1, 0.0) } else { (-1, f64::NEG_INFINITY) })
        .collect();
    // A recombined hypothesis continues like the one that it was recombined with.
    for (index, node) in nodes.iter().enumerate().rev() {
        if let Some(other) = node.recombined.and_then(|id| by_id.get(&id)) {
            forward[index] = forward[*other];
        }
        let through = forward[index].1 + transition(node);
        if let Some(back) = before(node, &by_id)
            && through > forward[back].1
        {
            forward[back] = (i64::from(node.id), through);
        }
    }
    let values = nodes.iter().enumerate().map(|(index, node)| {
        let mut value = vec![
            ("hyp".to_owned(), Value::from_count(node.id)),
            ("stack".into(), Value::from_count(covered[index])),
            ("forward".into(), Value::Double(forward[index].0 as f64)),
            ("fscore".into(), Value::Double(forward[index].1)),
        ];
        if let (Some(back), Some((first, last))) = (node.back, node.span) {
            value.extend([
                ("back".to_owned(), Value::from_count(back)),
                ("score".into(), Value::Double(score(node))),
                ("transition".into(), Value::Double(transition(node))),
                ("cover-start".into(), Value::from_count(first)),
                ("cover-end".into(), Value::from_count(last)),
                ("out".into(), Value::String(node.text.clone().unwrap_or_default())),
            ]);
            value
                .extend(node.recombined.map(|id| ("recombined".to_owned(), Value::from_count(id))));
        }
        Value::Struct(value)
    });
    Value::Array(values.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two words in two orders; the expected scores were computed by hand.
    #[test]
    fn the_path_forward_is_the_best() {
        let json = br#"{"id":0,"pieces":[{"first":0,"words":2,"hypotheses":[
            {"id":0,"score":0,"future":0},
            {"id":1,"back":0,"span":[0,0],"text":"a","score":-1,"future":-2},
            {"id":2,"back":0,"span":[1,1],"text":"b","score":-2,"future":-3},
            {"id":4,"back":1,"span":[1,1],"text":"b","score":-4,"future":-4,"complete":true},
            {"id":5,"back":2,"span":[0,0],"text":"a","score":-3,"future":-3,"complete":true}]}]}"#;
        let Value::Array(nodes) = search_graph(json) else { panic!("no array") };
        let member = |at: usize, name: &str| nodes[at].member(name).cloned();
        assert_eq!(member(0, "forward"), Some(Value::Double(2.0)));
        assert_eq!(member(0, "fscore"), Some(Value::Double(-3.0)));
        assert_eq!(member(0, "back"), None);
        assert_eq!(member(1, "fscore"), Some(Value::Double(-3.0)));
        assert_eq!(member(3, "transition"), Some(Value::Double(-3.0)));
        assert_eq!(member(3, "stack"), Some(Value::Int(2)));
        assert_eq!(member(4, "forward"), Some(Value::Double(-1.0)));
        assert_eq!(search_graph(b"nothing"), Value::Array(vec![]));
    }
}
