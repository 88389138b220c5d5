//! Dense graphs with short labels: nodes in columns by their distance from the first one.
//!
//! # Source
//! K. Sugiyama and others, "Methods for visual understanding of hierarchical system structures", 1981: layers, and the order
//! within them by barycentres.

use std::cmp::Ordering;

use super::graph::{Edge, Node};
use super::{px, text};

/// The greatest number of nodes in a column.
const COLUMN: usize = 10;
/// The gap between columns, and between the nodes of a column.
const GAP: (f64, f64) = (120.0, 26.0);
/// The number of sweeps over the columns.
const SWEEPS: usize = 12;

/// A box: left, top, right, bottom.
type Room = (f64, f64, f64, f64);

/// A curve: its ends and the control points between them.
type Curve = [(f64, f64); 4];

/// The sides of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Returns the elements of a graph with their width and height, and the number of labels for which there was no space. Labels
/// do not overlap nodes or other labels.
pub(super) fn layers(nodes: &[Node], edges: &[Edge]) -> (String, f64, f64, usize) {
    let columns = columns(nodes.len(), edges);
    let mut rooms: Vec<Room> = vec![(0.0, 0.0, 0.0, 0.0); nodes.len()];
    let tall = |column: &Vec<usize>| -> f64 {
        let sizes = column.iter().filter_map(|node| nodes.get(*node));
        sizes.map(|node| node.size().1 + GAP.1).sum()
    };
    let tallest = columns.iter().map(tall).fold(0.0, f64::max);
    let mut left = 16.0;
    for column in &columns {
        let sizes = || {
            column
                .iter()
                .filter_map(|node| nodes.get(*node))
                .map(Node::size)
        };
        let wide = sizes().map(|size| size.0).fold(0.0, f64::max);
        let mut top = GAP.1 / 2.0 + (tallest - tall(column)) / 2.0;
        for (node, size) in column.iter().zip(sizes()) {
            if let Some(room) = rooms.get_mut(*node) {
                *room = (left, top, left + wide, top + size.1);
            }
            top += size.1 + GAP.1;
        }
        left += wide + GAP.0;
    }
    let curves = curves(&rooms, edges);
    let mut taken = rooms.clone();
    let (mut lines, mut labels, mut without) = (String::new(), String::new(), 0);
    for (edge, curve) in edges.iter().zip(&curves) {
        let [a, b, c, d] = curve.map(|(x, y)| format!("{} {}", px(x), px(y)));
        let [.., before, end] = *curve;
        let angle = (end.1 - before.1).atan2(end.0 - before.0);
        let drawn = edge.draw(&format!("M{a}C{b} {c} {d}"), [(end, angle)]);
        lines.push_str(&drawn.into_string());
    }
    for (edge, curve) in edges.iter().zip(&curves) {
        let Some((x, y)) = free(curve, &edge.label, &mut taken) else {
            without += 1;
            continue;
        };
        let label = text((x, y + 4.0), "middle", Some("quiet on"), &edge.label);
        labels.push_str(&label.into_string());
    }
    let shapes = nodes.iter().zip(&rooms).map(|(node, room)| {
        let drawn = node.draw((room.0, room.1), (room.2 - room.0, room.3 - room.1));
        drawn.into_string()
    });
    let shapes: String = shapes.collect();
    let body = lines + &shapes + &labels;
    (body, left - GAP.0 + 48.0, tallest + GAP.1, without)
}

/// Returns the nodes by column, each column in an order that keeps edges short.
fn columns(count: usize, edges: &[Edge]) -> Vec<Vec<usize>> {
    let mut seen = vec![false; count];
    let mut layers: Vec<Vec<usize>> = Vec::new();
    for first in 0..count {
        let mut layer = vec![first];
        let mut depth = 0;
        while !layer.is_empty() {
            layer.retain(|node| {
                seen.get_mut(*node)
                    .is_some_and(|seen| !std::mem::replace(seen, true))
            });
            let next = edges.iter().filter(|edge| layer.contains(&edge.from));
            let next: Vec<usize> = next.map(|edge| edge.to).collect();
            if layers.len() <= depth {
                layers.push(Vec::new());
            }
            if let Some(own) = layers.get_mut(depth) {
                own.append(&mut layer);
            }
            layer = next;
            depth += 1;
        }
    }
    layers.retain(|layer| !layer.is_empty());
    let parts = |layer: &Vec<usize>| {
        let parts = layer.len().div_ceil(COLUMN).max(1);
        let each = layer.len().div_ceil(parts).max(1);
        layer
            .chunks(each)
            .map(<[usize]>::to_vec)
            .collect::<Vec<_>>()
    };
    let mut columns: Vec<Vec<usize>> = layers.iter().flat_map(parts).collect();
    for sweep in 0..SWEEPS {
        let mut height = vec![0.0; count];
        for column in &columns {
            for (place, node) in column.iter().enumerate() {
                if let Some(height) = height.get_mut(*node) {
                    *height = place as f64 - column.len() as f64 / 2.0;
                }
            }
        }
        let at = |node: usize| height.get(node).copied().unwrap_or(0.0);
        let mean = |node: usize| {
            let near = edges
                .iter()
                .filter_map(|edge| match (edge.from == node, edge.to == node) {
                    (true, false) => Some(edge.to),
                    (false, true) => Some(edge.from),
                    _ => None,
                });
            let (sum, n) = near.fold((0.0, 0.0), |(sum, n), other| (sum + at(other), n + 1.0));
            if n > 0.0 { sum / n } else { at(node) }
        };
        // Only every second column is reordered, so that two neighbours do not alternate forever.
        for column in columns.iter_mut().skip(sweep % 2).step_by(2) {
            let mut order: Vec<(f64, usize)> =
                column.iter().map(|node| (mean(*node), *node)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            *column = order.into_iter().map(|(_, node)| node).collect();
        }
    }
    columns
}

/// Returns the curve of each edge. Edges at one side of a box are spread over it, in the order of their other ends.
fn curves(rooms: &[Room], edges: &[Edge]) -> Vec<Curve> {
    let room = |node: usize| rooms.get(node).copied().unwrap_or_default();
    let middle = |node: usize| {
        let room = room(node);
        (room.1 + room.3) / 2.0
    };
    let sides = |edge: &Edge| match room(edge.from).0.total_cmp(&room(edge.to).0) {
        Ordering::Less => (Side::Right, Side::Left),
        Ordering::Equal => (Side::Right, Side::Right),
        Ordering::Greater => (Side::Left, Side::Right),
    };
    // For each end of an edge: its box and side, the height of the other end, the edge, and whether it is the first
    // end.
    let mut ends: Vec<(usize, Side, f64, usize, bool)> = Vec::new();
    for (idx, edge) in edges.iter().enumerate() {
        let (from, to) = sides(edge);
        ends.push((edge.from, from, middle(edge.to), idx, true));
        ends.push((edge.to, to, middle(edge.from), idx, false));
    }
    ends.sort_by(|a, b| {
        (a.0, a.1 == Side::Right)
            .cmp(&(b.0, b.1 == Side::Right))
            .then(a.2.total_cmp(&b.2))
            .then((a.3, a.4).cmp(&(b.3, b.4)))
    });
    let mut curves = vec![[(0.0, 0.0); 4]; edges.len()];
    for group in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        for (place, (node, side, _, idx, is_first)) in group.iter().enumerate() {
            let room = room(*node);
            let part = (place + 1) as f64 / (group.len() + 1) as f64;
            let x = if *side == Side::Left { room.0 } else { room.2 };
            let point = (x, room.1 + part * (room.3 - room.1));
            if let Some(curve) = curves.get_mut(*idx) {
                curve[if *is_first { 0 } else { 3 }] = point;
            }
        }
    }
    for (curve, edge) in curves.iter_mut().zip(edges) {
        let (from, to) = sides(edge);
        let [start, .., end] = *curve;
        let bend = match from == to {
            true => 30.0 + (start.1 - end.1).abs() / 6.0,
            false => ((start.0 - end.0).abs() / 2.2).max(40.0),
        };
        let away = |side: Side| if side == Side::Left { -bend } else { bend };
        curve[1] = (start.0 + away(from), start.1);
        curve[2] = (end.0 + away(to), end.1);
    }
    curves
}

/// Finds a free position for a label on or beside a curve, and marks it as taken.
fn free(curve: &Curve, label: &str, taken: &mut Vec<Room>) -> Option<(f64, f64)> {
    let half = super::breadth(label) / 2.0;
    let [a, b, c, d] = *curve;
    let at = |t: f64| {
        let s = 1.0 - t;
        let mix = |a: f64, b: f64, c: f64, d: f64| {
            s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d
        };
        (mix(a.0, b.0, c.0, d.0), mix(a.1, b.1, c.1, d.1))
    };
    let along = (0..20).map(|step| {
        let away = f64::from(step / 2 + step % 2) * 0.04;
        0.5 + if step % 2 == 0 { away } else { -away }
    });
    let places = along.flat_map(|t| [0.0, -9.0, 9.0].map(|above| (at(t).0, at(t).1 + above)));
    for (x, y) in places {
        let room = (x - half, y - 8.0, x + half, y + 8.0);
        let hits = |other: &Room| {
            room.0 < other.2 && other.0 < room.2 && room.1 < other.3 && other.1 < room.3
        };
        if room.0 >= 0.0 && !taken.iter().any(hits) {
            taken.push(room);
            return Some((x, y));
        }
    }
    None
}
