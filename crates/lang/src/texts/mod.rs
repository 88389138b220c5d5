//! Interpretation of texts as other programs do it: encodings, file paths, addresses, Unicode forms, notations of numbers.
//!
//! **Invariant:** a text that programs interpret in different ways has no value here, so that no text passes a rule with one
//! interpretation and is used by a program with another.

mod decode;
pub mod exact_names;
mod host;
mod number;
mod path;
mod unicode;

pub use decode::{Base64, base64, base64_readings, hex, url_decode};
pub use host::host;
pub use number::other_notations;
pub use path::{below, path};
pub use unicode::{folded, is_exact_name, normalize};

/// The greatest size in bytes of a text that a function may produce; a larger result has no value.
pub const MOST_BYTES: usize = 16 << 20;

/// The greatest length of a list that a function may produce; a longer result has no value.
pub const MOST_ITEMS: usize = 1 << 20;

/// A text that programs interpret in different ways, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// A path with an escape that, once decoded, changes which file it names.
    #[error(
        "the path names one file as it stands and another once `%` escapes are decoded: decode it first, or refuse it"
    )]
    EscapedPath,
    /// A path with a NUL byte.
    #[error("the path has a NUL byte, where many programs end it")]
    NulInPath,
    /// `...` or `.. `, which is a name on some systems and a parent folder on others.
    #[error("the path has a name of dots and spaces, which some systems read as `..`")]
    DotsInPath,
    /// An address where a path is expected.
    #[error("an address with a scheme, not the path of a file")]
    AddressAsPath,
    /// `C:name`: relative to the current folder of a drive.
    #[error("the path is relative to the current folder of a drive")]
    DrivePath,
    /// Two paths with different starting points.
    #[error(
        "the paths begin at different places (absolute, relative, `~`), so neither is known to lie below the other"
    )]
    OtherRoot,
    /// An address from which programs read different hosts.
    #[error("programs read different hosts in this address")]
    TwoHosts,
    /// An encoded text that decoders turn into different bytes.
    #[error(
        "decoders read different bytes in this text: some skip what others take for digits, or stop where others go on"
    )]
    TwoReadings,
    /// An address that cannot be parsed.
    #[error("not an address: its host or port is not valid")]
    NoAddress,
}
