//! The signals that end a process: a hook denies, and a server saves its state.
//!
//! Claude Code takes an end by a signal for "go on", so the first process of a hook ends with the code that denies. The process
//! that judges ends by the signal, which the first one reports. SIGKILL cannot be caught. SIGSEGV, SIGILL and SIGFPE are those of
//! faults, of which Rust turns a stack that is too small into SIGABRT. SIGPIPE is ignored: a closed pipe is an error of writing.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGCHLD, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP,
    SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag::{register, register_conditional_default, register_conditional_shutdown};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use super::failure::code;

/// The signals that end a process, and that it may catch.
const ENDING: [i32; 15] = [
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
];

/// Whether the process is the first one, and whether it is the one that judges.
static WAITS: AtomicBool = AtomicBool::new(true);
static JUDGES: AtomicBool = AtomicBool::new(false);

/// Makes each signal that can be caught end the process with the code that denies a call.
///
/// # Errors
/// The system does not let a signal be caught.
pub(super) fn deny() -> io::Result<()> {
    hear_children()?;
    for signal in ENDING {
        register_conditional_shutdown(signal, i32::from(code::HOOK_DENIES), &WAITS)?;
        register_conditional_default(signal, &JUDGES)?;
    }
    Ok(())
}

/// Lets the process wait for its children. Who started it may have ignored SIGCHLD, and then a child that ends is gone at once.
///
/// # Errors
/// The system does not let the signal be caught.
pub(super) fn hear_children() -> io::Result<()> {
    register(SIGCHLD, Arc::default()).map(drop)
}

/// Makes signals end the process, which is the one that judges, as they usually do.
pub(super) fn end() {
    JUDGES.store(true, Ordering::SeqCst);
    WAITS.store(false, Ordering::SeqCst);
}

/// Calls `save` at the first signal that a person or a supervisor ends a process with, and then ends the process as the signal
/// does. A second one ends it at once.
///
/// # Errors
/// The signals cannot be caught, or no thread can be started.
pub(super) fn save_before_end(save: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    let mut save = Some(save);
    let watch = move || {
        for signal in signals.forever() {
            let end = move || drop(emulate_default_handler(signal));
            let Some(save) = save.take() else {
                return end();
            };
            let saving = move || {
                save();
                end();
            };
            if std::thread::Builder::new().spawn(saving).is_err() {
                end();
            }
        }
    };
    std::thread::Builder::new().spawn(watch).map(drop)
}
