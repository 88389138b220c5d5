//! Calibration as pictures.

use super::QueryCalibration;
use super::homogeneity::RowTest;
use super::roc::Point;
use crate::report::plot::{DriftRow, Picture, ReliabilityBin, RocPoint, drift, reliability, roc};

impl QueryCalibration {
    /// Returns the reliability diagram, and the ROC curve with the chosen thresholds, as far as the runs give them.
    pub(crate) fn pictures(&self) -> Vec<Picture> {
        let mut pictures = Vec::new();
        let bins: Vec<ReliabilityBin> = self
            .bins
            .iter()
            .filter(|bin| bin.forecasts > 0)
            .map(|bin| ReliabilityBin {
                predicted: bin.predicted,
                observed: bin.happened as f64 / bin.forecasts as f64,
                interval: bin.wilson,
                forecasts: bin.forecasts,
            })
            .collect();
        if !bins.is_empty() {
            pictures.push(reliability(&format!("{}: reliability", self.query), &bins));
        }
        let point = |point: &Point, rule: Option<&String>| RocPoint {
            threshold: point.threshold,
            false_alarms: point.false_alarms.share(),
            detected: point.detected.share(),
            rule: rule.cloned(),
        };
        if let Some(area) = self.area {
            let points = self.points.iter().map(|one| point(one, None));
            let chosen = self.choices.iter();
            let chosen = chosen.map(|choice| point(&choice.point, Some(&choice.rule)));
            let points: Vec<RocPoint> = points.chain(chosen).collect();
            let area = (area.value, area.interval);
            pictures.push(roc(&format!("{}: ROC", self.query), area, &points));
        }
        pictures
    }
}

/// Returns the picture of a comparison of rows; `None` if there are none.
pub(crate) fn drift_picture(title: &str, rows: &[RowTest]) -> Option<Picture> {
    let rows: Vec<DriftRow> = rows
        .iter()
        .map(|row| DriftRow {
            state: row.state.clone(),
            p: row.test.p,
            differs: row.differs,
        })
        .collect();
    (!rows.is_empty()).then(|| drift(title, &rows))
}
