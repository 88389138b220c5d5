//! The signals that end a hook.
//!
//! Claude Code takes an end by a signal for "go on", so the first process of a hook ends with the code that denies. The process
//! that judges ends by the signal, which the first one reports. SIGKILL cannot be caught. SIGSEGV, SIGILL and SIGFPE are those of
//! faults, of which Rust turns a stack that is too small into SIGABRT. SIGPIPE is ignored: a closed pipe is an error of writing.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGHUP, SIGINT, SIGIO, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1,
    SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::flag::{register_conditional_default, register_conditional_shutdown};

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
    for signal in ENDING {
        register_conditional_shutdown(signal, i32::from(code::HOOK_DENIES), &WAITS)?;
        register_conditional_default(signal, &JUDGES)?;
    }
    Ok(())
}

/// Makes signals end the process, which is the one that judges, as they usually do.
pub(super) fn end() {
    JUDGES.store(true, Ordering::SeqCst);
    WAITS.store(false, Ordering::SeqCst);
}
