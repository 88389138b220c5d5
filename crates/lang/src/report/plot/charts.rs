//! Charts with axes: curves with a band, reliability diagrams, ROC curves, drift.

use maud::{Markup, html};

use super::{Picture, breadth, label, px, share, text};

/// A point of a curve, with an interval if there is one.
#[derive(Clone, Copy, Debug)]
pub struct CurvePoint {
    /// The position on the horizontal axis.
    pub x: f64,
    /// The value.
    pub y: f64,
    /// The ends of the interval.
    pub band: Option<(f64, f64)>,
}

/// The meaning of the number of steps of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Horizon {
    /// Something happens within so many steps.
    Within,
    /// Something lasts for so many steps.
    For,
}

/// A group of forecasts of similar risk.
#[derive(Clone, Copy, Debug)]
pub struct ReliabilityBin {
    /// The mean predicted risk.
    pub predicted: f64,
    /// The proportion in which the event happened.
    pub observed: f64,
    /// The interval of that proportion.
    pub interval: (f64, f64),
    /// The number of forecasts.
    pub forecasts: u64,
}

/// A threshold on a ROC curve.
#[derive(Clone, Debug)]
pub struct RocPoint {
    /// The threshold.
    pub threshold: f64,
    /// The proportion of good runs with a warning.
    pub false_alarms: f64,
    /// The proportion of bad runs with a warning.
    pub detected: f64,
    /// The rule that selected it, if any.
    pub rule: Option<String>,
}

/// A state whose next steps are compared with those of a model.
#[derive(Clone, Debug)]
pub struct DriftRow {
    /// The state.
    pub state: String,
    /// The probability of so large a difference if nothing changed.
    pub p: f64,
    /// Whether it differs, corrected for testing all states.
    pub differs: bool,
}

/// A part of a picture with axes.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    x: f64,
    y: f64,
}

impl Area {
    /// Returns the position of a value in the picture.
    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let part = |value: f64, end: f64| (value / end).clamp(0.0, 1.0);
        (
            self.left + part(x, self.x) * self.width,
            self.top + (1.0 - part(y, self.y)) * self.height,
        )
    }

    /// Returns points as an attribute.
    fn points(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let texts: Vec<String> = points
            .into_iter()
            .map(|point| {
                let (x, y) = self.at(point);
                format!("{},{}", px(x), px(y))
            })
            .collect();
        texts.join(" ")
    }

    /// Draws title, axes, and lines at round values.
    fn frame(&self, title: &str, x_axis: &str, y_axis: &str) -> Markup {
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let middle = self.top + self.height / 2.0;
        let quarters = |end: f64, each: f64| {
            (0..=4)
                .map(move |n| f64::from(n) * each)
                .filter(move |at| *at <= end)
        };
        // Steps are whole numbers.
        let across = if self.x > 1.0 {
            (self.x / 4.0).ceil()
        } else {
            0.25 * self.x
        };
        html! {
            (text((8.0, 18.0), "start", Some("head"), &label(title, (self.width / 6.5) as usize)))
            @for value in quarters(self.y, 0.25 * self.y) {
                @let (_, y) = self.at((0.0, value));
                line class="grid" x1=(px(self.left)) y1=(px(y)) x2=(px(right)) y2=(px(y)) {}
                (text((self.left - 6.0, y + 4.0), "end", Some("quiet"), &share(value)))
            }
            @for value in quarters(self.x, across) {
                @let (x, _) = self.at((value, 0.0));
                (text((x, bottom + 16.0), "middle", Some("quiet"), &share(value)))
            }
            (text((self.left + self.width / 2.0, bottom + 34.0), "middle", None, x_axis))
            text text-anchor="middle" transform={ "translate(14 " (px(middle)) ") rotate(-90)" } { (y_axis) }
        }
    }

    fn diagonal(&self) -> Markup {
        let ((x1, y1), (x2, y2)) = (self.at((0.0, 0.0)), self.at((self.x, self.y)));
        html! { line class="diagonal" x1=(px(x1)) y1=(px(y1)) x2=(px(x2)) y2=(px(y2)) {} }
    }
}

const fn unit() -> Area {
    Area {
        left: 56.0,
        top: 34.0,
        width: 280.0,
        height: 280.0,
        x: 1.0,
        y: 1.0,
    }
}

/// Draws a probability over steps, with its intervals as a band.
pub fn curve(of: &str, horizon: Horizon, points: &[CurvePoint]) -> Picture {
    let (what, word) = match horizon {
        Horizon::Within => ("The probability of the event", "within"),
        Horizon::For => ("The probability that it holds", "for"),
    };
    let title = &format!("{of}, {word} so many steps");
    let last = points.iter().map(|point| point.x).fold(1.0, f64::max);
    let ends = points
        .iter()
        .map(|point| point.band.map_or(point.y, |(_, high)| high));
    let area = Area {
        left: 56.0,
        top: 34.0,
        width: 420.0,
        height: 220.0,
        x: last,
        y: above(ends.fold(0.0, f64::max)),
    };
    let band: Vec<(f64, (f64, f64))> = points
        .iter()
        .filter_map(|point| Some((point.x, point.band?)))
        .collect();
    let upper = band.iter().map(|(x, (_, high))| (*x, *high));
    let lower = band.iter().rev().map(|(x, (low, _))| (*x, *low));
    let body = html! {
        (area.frame(title, "steps", "probability"))
        polygon class="band" points=(area.points(upper.chain(lower))) {}
        polyline class="line" points=(area.points(points.iter().map(|point| (point.x, point.y)))) {}
        @if let Some(end) = points.last() {
            @let (x, y) = area.at((end.x, end.y));
            circle class="dot" cx=(px(x)) cy=(px(y)) r="3.5" {}
            (text((x - 4.0, y - 8.0), "end", None, &share(end.y)))
        }
    };
    let end = points.last().map_or_else(String::new, |end| {
        format!(" It is {} {word} {} steps.", share(end.y), end.x)
    });
    let shaded = if band.is_empty() {
        ""
    } else {
        " Shaded: its interval."
    };
    let row = |point: &CurvePoint| {
        let ends = point.band.map(|(low, high)| [share(low), share(high)]);
        let [low, high] = ends.unwrap_or_default();
        vec![point.x.to_string(), share(point.y), low, high]
    };
    Picture {
        width: 500.0,
        height: 306.0,
        body: body.into_string(),
        title: title.to_owned(),
        description: format!("{what} {word} so many steps.{end}{shaded}"),
        is_described: false,
        table: (
            vec!["steps", "probability", "at least", "at most"],
            points.iter().map(row).collect(),
        ),
    }
}

/// Draws predicted risks against observed proportions, with intervals.
pub fn reliability(title: &str, bins: &[ReliabilityBin]) -> Picture {
    let area = unit();
    let most = bins
        .iter()
        .map(|bin| bin.forecasts)
        .max()
        .unwrap_or(1)
        .max(1);
    let body = html! {
        (area.frame(title, "predicted risk", "observed share"))
        (area.diagonal())
        @for bin in bins {
            @let (x, y) = area.at((bin.predicted, bin.observed));
            @let (_, low) = area.at((0.0, bin.interval.0));
            @let (_, high) = area.at((0.0, bin.interval.1));
            @let whisker = format!("M{} {}h8m-4 0V{}m-4 0h8", px(x - 4.0), px(low), px(high));
            path class="whisker" d=(whisker) {}
            circle class="dot" cx=(px(x)) cy=(px(y)) r=(px(2.5 + 4.5 * (bin.forecasts as f64 / most as f64).sqrt())) {}
        }
    };
    let row = |bin: &ReliabilityBin| {
        let [predicted, observed] = [bin.predicted, bin.observed].map(share);
        let (low, high) = (share(bin.interval.0), share(bin.interval.1));
        vec![predicted, observed, low, high, bin.forecasts.to_string()]
    };
    Picture {
        width: 356.0,
        height: 366.0,
        body: body.into_string(),
        title: title.to_owned(),
        description: "On the dashed line, forecasts are right on average. Dots: groups of forecasts, larger ones with more \
                      forecasts. Bars: 95 % intervals."
            .to_owned(),
        is_described: false,
        table: (
            vec!["predicted", "observed", "at least", "at most", "forecasts"],
            bins.iter().map(row).collect(),
        ),
    }
}

/// Draws the proportion of detected bad runs over that of false alarms, with numbers at chosen thresholds.
pub fn roc(title: &str, under: (f64, (f64, f64)), points: &[RocPoint]) -> Picture {
    let area = unit();
    let mut line: Vec<(f64, f64)> = points
        .iter()
        .map(|point| (point.false_alarms, point.detected))
        .chain([(0.0, 0.0), (1.0, 1.0)])
        .collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    // Thresholds with the same rates share a dot.
    let mut chosen: Vec<((f64, f64), String)> = Vec::new();
    let mut notes: Vec<String> = Vec::new();
    for point in points {
        let Some(rule) = &point.rule else {
            continue;
        };
        let number = (notes.len() + 1).to_string();
        notes.push(label(
            &format!(
                "{number}: {} ({rule}): detected {}, false alarms {}",
                share(point.threshold),
                share(point.detected),
                share(point.false_alarms)
            ),
            110,
        ));
        let at = (point.false_alarms, point.detected);
        let near = |other: &(f64, f64)| (at.0 - other.0).abs() + (at.1 - other.1).abs() < 0.06;
        match chosen.iter_mut().find(|(other, _)| near(other)) {
            Some((_, numbers)) => numbers.push_str(&format!(",{number}")),
            None => chosen.push((at, number)),
        }
    }
    let (value, (low, high)) = under;
    let told = format!(
        "Area under the curve {}, 95 % interval {} to {}.",
        share(value),
        share(low),
        share(high)
    );
    let width = notes.iter().map(|note| breadth(note)).fold(356.0, f64::max);
    let body = html! {
        (area.frame(title, "false alarms", "detected"))
        (area.diagonal())
        polyline class="line" points=(area.points(line)) {}
        @for (at, numbers) in &chosen {
            @let (x, y) = area.at(*at);
            @let wide = 10.0 + 6.0 * numbers.len() as f64;
            rect class="bad" x=(px(x - wide / 2.0)) y=(px(y - 8.0)) width=(px(wide)) height="16" rx="8" {}
            (text((x, y + 4.0), "middle", Some("num"), numbers))
        }
        (text((8.0, 372.0), "start", Some("quiet"), &told))
        @for (place, note) in notes.iter().enumerate() {
            (text((8.0, 392.0 + 18.0 * place as f64), "start", None, note))
        }
    };
    let row = |point: &RocPoint| {
        let [threshold, detected, false_alarms] =
            [point.threshold, point.detected, point.false_alarms].map(share);
        vec![
            threshold,
            detected,
            false_alarms,
            point.rule.clone().unwrap_or_default(),
        ]
    };
    Picture {
        width: width + 16.0,
        height: 388.0 + 18.0 * notes.len() as f64,
        body: body.into_string(),
        title: title.to_owned(),
        description: format!("{told} The dashed line is a guess. Numbers: chosen thresholds."),
        is_described: false,
        table: (
            vec!["threshold", "detected", "false alarms", "chosen by"],
            points.iter().map(row).collect(),
        ),
    }
}

/// The greatest number of states in a drift chart.
const DRIFT: usize = 20;

/// Draws the orders of magnitude of `p` for the next steps of each state, smallest `p` first.
pub fn drift(title: &str, rows: &[DriftRow]) -> Picture {
    let mut order: Vec<&DriftRow> = rows.iter().collect();
    order.sort_by(|a, b| a.p.total_cmp(&b.p).then_with(|| a.state.cmp(&b.state)));
    let shown = order.get(..order.len().min(DRIFT)).unwrap_or_default();
    let magnitude = |row: &DriftRow| (-row.p.max(1e-300).log10()).max(0.0);
    let most = shown.iter().map(|row| magnitude(row)).fold(1.0, f64::max);
    let names: Vec<String> = shown.iter().map(|row| label(&row.state, 44)).collect();
    let left = names.iter().map(|name| breadth(name)).fold(60.0, f64::max) + 16.0;
    let body = html! {
        (text((8.0, 18.0), "start", Some("head"), &label(title, 70)))
        @for (place, (row, name)) in shown.iter().zip(&names).enumerate() {
            @let y = 34.0 + 22.0 * place as f64;
            @let long = 240.0 * magnitude(row) / most;
            @let told = if row.differs { format!("p = {:.1e}: differs", row.p) } else { format!("p = {}", share(row.p)) };
            (text((left - 8.0, y + 12.0), "end", None, name))
            rect class=(if row.differs { "bad" } else { "bar" }) x=(px(left)) y=(px(y)) width=(px(long.max(1.0))) height="16" {}
            (text((left + long + 6.0, y + 12.0), "start", Some("quiet"), &told))
        }
    };
    let differing = rows.iter().filter(|row| row.differs).count();
    let cut = match rows.len() > shown.len() {
        true => format!(" The {} most surprising are drawn.", shown.len()),
        false => String::new(),
    };
    Picture {
        width: left + 400.0,
        height: 44.0 + 22.0 * shown.len() as f64,
        body: body.into_string(),
        title: title.to_owned(),
        description: format!(
            "The next steps from {differing} of {} states differ, at a false discovery rate of 5 %. Longer bars: more \
             surprising if nothing changed.{cut}",
            rows.len()
        ),
        is_described: false,
        table: (
            vec!["state", "p", ""],
            order
                .iter()
                .map(|row| {
                    let differs = if row.differs { "differs" } else { "" };
                    vec![label(&row.state, 200), share(row.p), differs.to_owned()]
                })
                .collect(),
        ),
    }
}

/// Returns the least of 1, 2, 4 and 8 times a power of ten that is not below a share, at most 1.
fn above(share: f64) -> f64 {
    let unit = 10f64.powf(share.max(1e-12).log10().floor());
    let steps = [1.0, 2.0, 4.0, 8.0, 10.0].map(|times| times * unit);
    let fits = steps.into_iter().find(|step| *step >= share);
    fits.unwrap_or(1.0).min(1.0)
}
