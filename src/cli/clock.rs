//! The time of live traces: that of the system clock when a history begins, and from then on the time that passes by a clock that
//! nobody sets.
//!
//! A system clock jumps: a machine wakes up with a wrong one, somebody sets it, a server corrects it. If events had its times, a jump
//! ahead and back would move events of the last seconds out of a window of a minute. So the time since the machine was started
//! decides how much time has passed; only across a restart of the machine it is the system clock again.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::value::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Clock {
    /// Use the system clock
    Wall,
    /// Use no clock: missing times stay missing, and only events advance deadlines
    None,
}

/// The time for the monitor. It never runs back, even relative to the times of an earlier process.
#[derive(Debug)]
pub(super) struct Time {
    clock: Clock,
    /// The time when the machine was started.
    origin: i128,
}

impl Time {
    /// Returns the time after an earlier process, of which the latest time is `before`, if it is known.
    pub(super) fn start(clock: Clock, before: Option<Instant>, witness: Option<&Witness>) -> Time {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall = attoseconds(wall.unwrap_or_default());
        let now = witness.and_then(Witness::now).unwrap_or(wall);
        let now = before.map_or(now, |before| now.max(before.0));
        Time {
            clock,
            origin: now - attoseconds(since_boot()),
        }
    }

    pub(super) fn now(&self) -> Option<Instant> {
        let now = self.origin + attoseconds(since_boot());
        (self.clock == Clock::Wall).then_some(Instant(now))
    }

    /// Returns what a later process needs to continue this time; `None` if the system does not tell one start from the next.
    pub(super) fn witness(&self) -> Option<Witness> {
        let since_boot = nanoseconds(attoseconds(since_boot()))?;
        Some(Witness {
            boot: boot()?.to_owned(),
            since_boot,
            origin: self.origin / NANOSECOND,
        })
    }
}

/// When a call was judged, by the clock of one run of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Witness {
    /// The run of the machine.
    boot: String,
    /// The time since its start, in nanoseconds.
    since_boot: u64,
    /// The time of the monitor at its start, in nanoseconds since 1970.
    #[serde(with = "text")]
    origin: i128,
}

impl Witness {
    /// Returns the time that has passed since, if the machine was not restarted.
    pub(super) fn elapsed(&self) -> Option<Duration> {
        let since = Duration::from_nanos(self.since_boot);
        self.is_of_this_boot()
            .then(|| since_boot().saturating_sub(since))
    }

    /// Returns the time that has passed since by the system clock, if the machine was restarted: nothing else tells it.
    pub(super) fn elapsed_across_restart(&self) -> Option<Duration> {
        let then = u64::try_from(self.origin + i128::from(self.since_boot)).ok()?;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        let elapsed = wall.checked_sub(Duration::from_nanos(then))?;
        (!self.is_of_this_boot()).then_some(elapsed)
    }

    fn now(&self) -> Option<i128> {
        self.is_of_this_boot()
            .then(|| self.origin * NANOSECOND + attoseconds(since_boot()))
    }

    fn is_of_this_boot(&self) -> bool {
        boot().is_some_and(|boot| boot == self.boot)
    }
}

/// Numbers of 128 bits as text: readers of flattened JSON take no larger number than 64 bits.
mod text {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &i128, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(number)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<i128, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Attoseconds in a nanosecond.
const NANOSECOND: i128 = Instant::SECOND / 1_000_000_000;

fn attoseconds(duration: Duration) -> i128 {
    i128::try_from(duration.as_nanos()).unwrap_or(i128::MAX / Instant::SECOND) * NANOSECOND
}

fn nanoseconds(attoseconds: i128) -> Option<u64> {
    u64::try_from(attoseconds / NANOSECOND).ok()
}

/// Returns the time since the machine was started, with the time that it slept where the system counts it.
fn since_boot() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    #[cfg(target_os = "linux")]
    let clock = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = ClockId::Monotonic;
    let since = clock_gettime(clock);
    let (seconds, nanos) = (u64::try_from(since.tv_sec), u32::try_from(since.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanos.unwrap_or(0))
}

/// Returns the name of this run of the machine.
fn boot() -> Option<&'static str> {
    static BOOT: OnceLock<Option<String>> = OnceLock::new();
    let read = || std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let boot = BOOT.get_or_init(|| read().map(|id| id.trim().to_owned()));
    boot.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i128 = 3600 * Instant::SECOND;

    #[test]
    fn the_time_never_runs_back() {
        let start = |before| Time::start(Clock::Wall, before, None);
        let wall = start(None).now().unwrap_or(Instant(0));
        // The system clock was set back by an hour since an earlier process used this time.
        let before = Instant(wall.0 + HOUR);
        let time = start(Some(before));
        let first = time.now().unwrap_or(Instant(0));
        assert!(before <= first && Some(first) <= time.now());
        assert_eq!(Time::start(Clock::None, Some(before), None).now(), None);
    }

    #[test]
    fn the_time_of_one_run_of_the_machine_goes_on_whatever_the_system_clock_says() {
        let wall = Time::start(Clock::Wall, None, None);
        let Some(mut witness) = wall.witness() else {
            return;
        };
        // An earlier process began when the system clock was an hour behind.
        witness.origin -= HOUR / NANOSECOND;
        let json = serde_json::to_string(&witness).unwrap_or_default();
        let read: Witness = serde_json::from_str(&json).unwrap_or_else(|_| witness.clone());
        let behind =
            |time: &Time| wall.now().unwrap_or(Instant(0)).0 - time.now().unwrap_or(Instant(0)).0;
        let time = Time::start(Clock::Wall, None, Some(&read));
        assert!((behind(&time) - HOUR).abs() < Instant::SECOND);
        assert!(
            read.elapsed()
                .is_some_and(|elapsed| elapsed < Duration::from_secs(60))
        );
        // Another run of the machine has the system clock only.
        witness.boot.push('x');
        let time = Time::start(Clock::Wall, None, Some(&witness));
        assert!(behind(&time).abs() < Instant::SECOND && witness.elapsed().is_none());
        let elapsed = witness
            .elapsed_across_restart()
            .map(|elapsed| elapsed.as_secs());
        assert!(elapsed.is_some_and(|elapsed| (3600..3660).contains(&elapsed)));
        assert!(read.elapsed_across_restart().is_none());
    }
}
