//! Nodes and edges, and small graphs with long labels, which `layout-rs` places.

use layout::core::base::Orientation;
use layout::core::format::{ClipHandle, RenderBackend};
use layout::core::geometry::{Point, Position};
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;
use maud::{Markup, html};

use super::{breadth, px, text};

/// The outline of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A box with round corners.
    Box,
    /// A circle.
    Circle,
    /// Two circles.
    DoubleCircle,
}

/// A node for drawing.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its outline.
    pub shape: Shape,
    /// Its lines of text.
    pub lines: Vec<String>,
    /// Its classes in `plot.css`.
    pub class: String,
    /// The tooltip text.
    pub title: String,
}

/// An edge for drawing.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The index of its source among the nodes.
    pub from: usize,
    /// The index of its target among the nodes.
    pub to: usize,
    /// Its label.
    pub label: String,
    /// Its classes in `plot.css`.
    pub class: &'static str,
    /// Its width in pixels.
    pub width: f64,
}

impl Node {
    /// Returns the size that its text needs.
    pub(super) fn size(&self) -> (f64, f64) {
        let widest = self.lines.iter().map(|line| breadth(line));
        let tall = LINE * self.lines.len().max(1) as f64;
        (widest.fold(0.0, f64::max) + 18.0, tall + 12.0)
    }

    /// Draws it from its upper left corner.
    pub(super) fn draw(&self, (x, y): (f64, f64), (wide, tall): (f64, f64)) -> Markup {
        let class = format!("node {}", self.class);
        let (middle, centre) = (x + wide / 2.0, y + tall / 2.0);
        let first = centre - LINE * self.lines.len() as f64 / 2.0 + 11.0;
        html! {
            g {
                title { (self.title) }
                @if self.shape == Shape::Box {
                    rect class=(class) x=(px(x)) y=(px(y)) width=(px(wide)) height=(px(tall)) rx="6" {}
                } @else {
                    circle class=(class) cx=(px(middle)) cy=(px(centre)) r=(px(wide / 2.0)) {}
                }
                text text-anchor="middle" {
                    @for (place, line) in self.lines.iter().enumerate() {
                        tspan x=(px(middle)) y=(px(first + LINE * place as f64)) { (line) }
                    }
                }
            }
        }
    }
}

impl Edge {
    /// Draws it along a path, with arrow heads at these positions and in these directions.
    pub(super) fn draw(
        &self,
        path: &str,
        tips: impl IntoIterator<Item = ((f64, f64), f64)>,
    ) -> Markup {
        let corners = |((x, y), angle): ((f64, f64), f64)| {
            let corner = |turn: f64| {
                let (sin, cos) = (angle + turn).sin_cos();
                format!("{},{}", px(x - 9.0 * cos), px(y - 9.0 * sin))
            };
            format!("{},{} {} {}", px(x), px(y), corner(0.4), corner(-0.4))
        };
        html! {
            path class={ "edge " (self.class) } d=(path) stroke-width=(px(self.width)) {}
            @for tip in tips {
                polygon class={ "tip " (self.class) } points=(corners(tip)) {}
            }
        }
    }
}

/// The height of a line of text.
const LINE: f64 = 15.0;
/// The font size for which `layout-rs` reserves space: it assumes square letters.
const FONT: usize = 8;
/// The distance of nodes from their surroundings.
const HALO: f64 = 16.0;

/// Returns the elements of a graph, with their width and height. Labels do not overlap. Suitable for a few dozen nodes:
/// backward edges make larger graphs very wide.
pub(crate) fn graph(nodes: &[Node], edges: &[Edge]) -> (String, f64, f64) {
    let direction = Orientation::LeftToRight;
    let mut graph = VisualGraph::new(direction);
    let mut look = StyleAttr::simple();
    look.font_size = FONT;
    let handles: Vec<_> = nodes
        .iter()
        .enumerate()
        .map(|(place, node)| {
            let lines = node.lines.join("\n");
            let (wide, tall) = node.size();
            let side = Point::splat(wide.max(tall));
            let (shape, size) = match node.shape {
                Shape::Box => (ShapeKind::new_box(&lines), Point::new(wide, tall)),
                Shape::Circle => (ShapeKind::new_circle(&lines), side),
                Shape::DoubleCircle => (ShapeKind::new_double_circle(&lines), side),
            };
            let properties = place.to_string();
            let mut element =
                Element::create_with_properties(shape, look.clone(), direction, size, properties);
            element.pos = Position::new(Point::zero(), size, Point::zero(), Point::splat(HALO));
            graph.add_node(element)
        })
        .collect();
    for (place, edge) in edges.iter().enumerate() {
        if let (Some(from), Some(to)) = (handles.get(edge.from), handles.get(edge.to)) {
            let mut arrow = Arrow::simple_with_properties(&edge.label, place.to_string());
            arrow.look = look.clone();
            graph.add_edge(arrow, *from, *to);
        }
    }
    let mut canvas = Canvas {
        nodes,
        edges,
        lines: String::new(),
        shapes: String::new(),
        labels: String::new(),
        is_node: false,
        size: (0.0, 0.0),
    };
    graph.do_it(false, false, false, &mut canvas);
    let Canvas {
        lines,
        shapes,
        labels,
        size: (width, height),
        ..
    } = canvas;
    (lines + &shapes + &labels, width + 6.0, height + 6.0)
}

/// Collects the drawing commands of `layout-rs`. Nodes and edges carry their index as the property.
struct Canvas<'a> {
    nodes: &'a [Node],
    edges: &'a [Edge],
    lines: String,
    shapes: String,
    labels: String,
    /// Whether the next text is that of a node, which was already drawn.
    is_node: bool,
    size: (f64, f64),
}

impl Canvas<'_> {
    fn reach(&mut self, x: f64, y: f64) {
        self.size = (self.size.0.max(x), self.size.1.max(y));
    }

    /// Returns the node of a property.
    fn node(&self, properties: Option<&String>) -> Option<&Node> {
        self.nodes.get(properties?.parse::<usize>().ok()?)
    }

    /// Draws a node with its text, around a centre.
    fn draw(&mut self, centre: Point, size: Point, properties: Option<&String>) {
        let (x, y) = (centre.x - size.x / 2.0, centre.y - size.y / 2.0);
        self.reach(x + size.x, y + size.y);
        let Some(node) = self.node(properties) else {
            // The second circle of a state.
            let outer = html! { circle class="node outer" cx=(px(centre.x)) cy=(px(centre.y)) r=(px(size.x / 2.0)) {} };
            self.shapes.push_str(&outer.into_string());
            return;
        };
        let drawn = node.draw((x, y), (size.x, size.y)).into_string();
        self.shapes.push_str(&drawn);
        self.is_node = true;
    }
}

impl RenderBackend for Canvas<'_> {
    fn draw_rect(
        &mut self,
        xy: Point,
        size: Point,
        _: &StyleAttr,
        properties: Option<String>,
        _: Option<ClipHandle>,
    ) {
        let centre = Point::new(xy.x + size.x / 2.0, xy.y + size.y / 2.0);
        self.draw(centre, size, properties.as_ref());
    }

    fn draw_line(&mut self, _: Point, _: Point, _: &StyleAttr, _: Option<String>) {}

    fn draw_circle(&mut self, xy: Point, size: Point, _: &StyleAttr, properties: Option<String>) {
        self.draw(xy, size, properties.as_ref());
    }

    fn draw_text(&mut self, xy: Point, label: &str, _: &StyleAttr) {
        if std::mem::take(&mut self.is_node) {
            return;
        }
        self.reach(xy.x + breadth(label) / 2.0, xy.y + LINE);
        let label = text((xy.x, xy.y + 4.0), "middle", Some("quiet"), label);
        self.labels.push_str(&label.into_string());
    }

    fn draw_arrow(
        &mut self,
        path: &[(Point, Point)],
        _: bool,
        head: (bool, bool),
        _: &StyleAttr,
        properties: Option<String>,
        _: &str,
    ) {
        let edge = properties.and_then(|place| self.edges.get(place.parse::<usize>().ok()?));
        let (Some(edge), [first, second, rest @ ..]) = (edge, path) else {
            return;
        };
        // The first part of the path leaves a point; all others enter one.
        let at = |point: &Point| format!("{} {}", px(point.x), px(point.y));
        let mut line = format!(
            "M{}C{} {} {}",
            at(&first.0),
            at(&first.1),
            at(&second.0),
            at(&second.1)
        );
        for (control, end) in rest {
            line.push_str(&format!("S{} {}", at(control), at(end)));
        }
        for (one, other) in path {
            for point in [one, other] {
                self.reach(point.x, point.y);
            }
        }
        let (control, end) = path.last().unwrap_or(second);
        let tip = |is_drawn: bool, tip: &Point, from: &Point| {
            is_drawn.then(|| ((tip.x, tip.y), (tip.y - from.y).atan2(tip.x - from.x)))
        };
        let tips = [tip(head.0, &first.0, &first.1), tip(head.1, end, control)];
        let drawn = edge.draw(&line, tips.into_iter().flatten());
        self.lines.push_str(&drawn.into_string());
    }

    fn create_clip(&mut self, _: Point, _: Point, _: usize) -> ClipHandle {
        0
    }
}
