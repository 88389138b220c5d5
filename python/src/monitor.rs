//! Live traces.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use guard_cli::cli::embedded::{Embedded, EmbeddedOptions};
use guard_lang::Ruling;
use guard_lang::monitor::Request;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raised;
use crate::events;
use crate::model::Model;
use crate::spec::Spec;

/// Follows live traces and decides about actions before they run.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Monitor {
    process: u32,
    /// `None` once it was closed.
    monitor: Mutex<Option<Embedded>>,
}

/// The decision of a monitor.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Decision {
    decision: guard_lang::Decision,
    /// The monitor and the event of a proposal.
    proposed: Option<(Py<Monitor>, String)>,
}

impl Monitor {
    /// Does something with the monitor, without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Embedded) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        if self.process != std::process::id() {
            let message =
                "the monitor belongs to the process that made it; make another one after a fork";
            return Err(raised(py, "MonitorError", (message,)));
        }
        let done = py.detach(|| {
            // A panic while the monitor was locked: its state is not known.
            let poisoned = |_| "the monitor failed before".to_owned();
            let mut held: MutexGuard<'_, Option<Embedded>> =
                self.monitor.lock().map_err(poisoned)?;
            work(held.as_mut().ok_or("the monitor is closed")?)
        });
        done.map_err(|why| raised(py, "MonitorError", (why,)))
    }

    /// Returns the decision on an action; if it carries a proposal, it can be committed and abandoned itself.
    fn asked(
        slf: &Bound<'_, Self>,
        request: Request,
        event: &Bound<'_, PyAny>,
    ) -> PyResult<Decision> {
        let (decision, event) = slf.get().decide(slf.py(), request, event)?;
        let proposed = decision.proposal.is_some();
        Ok(Decision {
            decision,
            proposed: proposed.then(|| (slf.clone().unbind(), event)),
        })
    }

    fn decide(
        &self,
        py: Python<'_>,
        request: Request,
        event: &Bound<'_, PyAny>,
    ) -> PyResult<(guard_lang::Decision, String)> {
        let mut bytes = Vec::with_capacity(256);
        events::write(&mut bytes, event)?;
        if bytes.first() != Some(&b'{') {
            return Err(PyValueError::new_err("expected a dict as event"));
        }
        let event = String::from_utf8(bytes)?;
        self.with(py, |monitor| {
            let decision = monitor.request(request, &event)?;
            Ok((decision, event))
        })
    }
}

#[pymethods]
impl Monitor {
    #[new]
    #[pyo3(signature = (spec, models, snapshot, journal, log, key, allow_readable_secrets, relaxed, redact, no_clock))]
    #[allow(clippy::too_many_arguments, reason = "the options of the Python class")]
    fn new(
        py: Python<'_>,
        spec: &Spec,
        models: Vec<PyRef<'_, Model>>,
        snapshot: Option<PathBuf>,
        journal: Option<PathBuf>,
        log: Option<PathBuf>,
        key: Option<PathBuf>,
        allow_readable_secrets: bool,
        relaxed: bool,
        redact: bool,
        no_clock: bool,
    ) -> PyResult<Monitor> {
        let spec = spec.get(py)?;
        let models = models.iter().map(|model| {
            let model = &model.model;
            (model.header.model.to_string(), model.clone())
        });
        let options = EmbeddedOptions {
            models: models.collect(),
            snapshot,
            journal,
            log,
            key,
            allow_readable_secrets,
            relaxed,
            redact,
            no_clock,
        };
        let opened = py.detach(|| Embedded::open(&spec, options));
        let monitor = opened.map_err(|why| raised(py, "MonitorError", (why,)))?;
        Ok(Monitor {
            process: std::process::id(),
            monitor: Mutex::new(Some(monitor)),
        })
    }

    fn propose(slf: &Bound<'_, Self>, event: &Bound<'_, PyAny>) -> PyResult<Decision> {
        Monitor::asked(slf, Request::Propose, event)
    }

    fn act(slf: &Bound<'_, Self>, event: &Bound<'_, PyAny>) -> PyResult<Decision> {
        Monitor::asked(slf, Request::Act, event)
    }

    fn observe(&self, py: Python<'_>, event: &Bound<'_, PyAny>) -> PyResult<Decision> {
        Ok(self.decide(py, Request::Observe, event)?.0.into())
    }

    fn commit(
        &self,
        py: Python<'_>,
        proposal: u64,
        event: &Bound<'_, PyAny>,
    ) -> PyResult<Decision> {
        Ok(self.decide(py, Request::Commit(proposal), event)?.0.into())
    }

    fn abandon(&self, py: Python<'_>, proposal: u64) -> PyResult<Decision> {
        let decided = self.with(py, |monitor| {
            monitor.request(Request::Abandon(proposal), "")
        });
        Ok(decided?.into())
    }

    fn end(&self, py: Python<'_>, trace: &str) -> PyResult<Decision> {
        Ok(self.with(py, |monitor| monitor.end(trace))?.into())
    }

    fn tick(&self, py: Python<'_>) -> PyResult<Vec<Decision>> {
        let decisions = self.with(py, Embedded::tick)?;
        Ok(decisions.into_iter().map(Decision::from).collect())
    }

    /// The state of all traces and proposals; equal states have equal bytes.
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.with(py, |monitor| monitor.state())?;
        Ok(PyBytes::new(py, &state))
    }

    /// Goes on from a state of a monitor of the same spec, in place of its own.
    fn restore(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        self.with(py, |monitor| monitor.restore(state))
    }

    #[getter]
    fn resumed(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |monitor| Ok(monitor.resumed()))
    }

    /// Saves the state and closes the files. A forked process leaves them alone.
    fn close(&self, py: Python<'_>) {
        if self.process == std::process::id() {
            py.detach(|| {
                if let Ok(mut held) = self.monitor.lock()
                    && let Some(mut monitor) = held.take()
                {
                    monitor.close();
                }
            });
        }
    }
}

impl From<guard_lang::Decision> for Decision {
    fn from(decision: guard_lang::Decision) -> Decision {
        Decision {
            decision,
            proposed: None,
        }
    }
}

#[pymethods]
impl Decision {
    #[getter]
    fn ruling(&self) -> &'static str {
        self.decision.ruling.as_str()
    }

    #[getter]
    fn allowed(&self) -> bool {
        self.decision.ruling < Ruling::Ask
    }

    #[getter]
    fn asks(&self) -> bool {
        self.decision.ruling == Ruling::Ask
    }

    #[getter]
    fn denied(&self) -> bool {
        self.decision.ruling.denies()
    }

    #[getter]
    fn reason(&self) -> String {
        self.decision.reason()
    }

    #[getter]
    fn trace(&self) -> Option<&str> {
        self.decision.trace.as_deref()
    }

    #[getter]
    fn step(&self) -> Option<u32> {
        self.decision.step
    }

    #[getter]
    fn proposal(&self) -> Option<u64> {
        self.decision.proposal
    }

    #[getter]
    fn errors(&self) -> Vec<String> {
        self.decision.errors.clone()
    }

    #[getter]
    fn notes(&self) -> Vec<String> {
        self.decision.notes.clone()
    }

    #[getter]
    fn owed(&self) -> Vec<String> {
        self.decision.owed.clone()
    }

    #[getter]
    fn verdicts(&self) -> Vec<(String, &'static str)> {
        let verdicts = self.decision.verdicts.iter();
        verdicts
            .map(|(name, verdict)| (name.to_string(), verdict.as_str()))
            .collect()
    }

    fn json(&self) -> String {
        self.decision.to_json()
    }

    /// Records that the proposed action has happened: with this outcome, or as it was proposed.
    #[pyo3(signature = (event=None))]
    fn commit(&self, py: Python<'_>, event: Option<&Bound<'_, PyAny>>) -> PyResult<Decision> {
        let (monitor, proposed, number) = self.proposed(py)?;
        let monitor = monitor.get();
        match event {
            Some(event) => monitor.commit(py, number, event),
            None => {
                let decided = monitor.with(py, |monitor| {
                    monitor.request(Request::Commit(number), proposed)
                });
                Ok(decided?.into())
            }
        }
    }

    /// Records that the proposed action will not happen.
    fn abandon(&self, py: Python<'_>) -> PyResult<Decision> {
        let (monitor, _, number) = self.proposed(py)?;
        monitor.get().abandon(py, number)
    }

    fn __repr__(&self) -> String {
        format!("<Decision {}>", self.decision.to_json())
    }
}

impl Decision {
    fn proposed(&self, py: Python<'_>) -> PyResult<(&Py<Monitor>, &str, u64)> {
        match (&self.proposed, self.decision.proposal) {
            (Some((monitor, event)), Some(number)) => Ok((monitor, event, number)),
            _ => {
                let message = "only a proposal that is not denied can be committed or abandoned";
                Err(raised(py, "MonitorError", (message,)))
            }
        }
    }
}
