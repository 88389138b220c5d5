//! Texts as other programs read them: encodings, paths of files, addresses, Unicode forms.
//!
//! **Invariant:** what programs read in more than one way has no value here, so that no rule is passed by a text that the
//! rule reads in one way and the program that acts on it in another.

mod decode;
mod host;
mod path;
mod unicode;

pub use decode::{base64, hex, url_decode};
pub use host::host;
pub use path::{below, path};
pub use unicode::normalize;

/// The largest text in bytes that a function may produce. Beyond it there is no value.
pub const MOST_BYTES: usize = 16 << 20;

/// The longest list that a function may produce. Beyond it there is no value.
pub const MOST_ITEMS: usize = 1 << 20;

/// A text that programs read in more than one way, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// A path with an escape that changes which file it names if it is decoded.
    #[error(
        "the path names one file as it stands and another once `%` escapes are decoded: decode it first, or refuse it"
    )]
    EscapedPath,
    /// A path with a NUL byte.
    #[error("the path has a NUL byte, where many programs end it")]
    NulInPath,
    /// `...` or `.. `: a name, or some folder above.
    #[error("the path has a name of dots and spaces, which some systems read as `..`")]
    DotsInPath,
    /// An address where a path is expected.
    #[error("an address with a scheme, not the path of a file")]
    AddressAsPath,
    /// `C:name`: relative to the current folder of a drive.
    #[error("the path is relative to the current folder of a drive")]
    DrivePath,
    /// Two paths that do not begin at the same place.
    #[error(
        "the paths begin at different places (absolute, relative, `~`), so neither is known to lie below the other"
    )]
    OtherRoot,
    /// An address that programs read as different hosts.
    #[error("programs read different hosts in this address")]
    TwoHosts,
    /// An address that cannot be parsed.
    #[error("not an address: its host or port is not valid")]
    NoAddress,
}
