//! Logs of Inspect AI as archives: `tests/formats/delegated.eval` was written by the package from `inspect/delegated.json`.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::support::cli::{Folder, Run};
use flate2::write::DeflateEncoder;

const SPEC: &str = r#"use std.agent

property looked = never (kind == "call" and tool == "look_up")
property answered = forall c: always (kind == "call" and call == c -> eventually (kind == "result" and call == c))
property alone = never (agent != null)
"#;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/formats")
        .join(name)
}

fn folder() -> Folder {
    Folder::new(&[("a.guard", SPEC)])
}

/// The members of an archive, as they are stored.
struct Member {
    name: String,
    method: u16,
    flags: u16,
    crc: u32,
    packed: Vec<u8>,
    /// Where the directory says that it begins, if not where it does.
    at: Option<u32>,
}

fn member(name: &str, text: &[u8]) -> Member {
    let mut crc = flate2::Crc::new();
    crc.update(text);
    Member {
        name: name.into(),
        method: 0,
        flags: 0,
        crc: crc.sum(),
        packed: text.to_vec(),
        at: None,
    }
}

fn deflated(name: &str, text: &[u8]) -> Member {
    let mut encoder = DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text).unwrap();
    Member {
        method: 8,
        packed: encoder.finish().unwrap(),
        ..member(name, text)
    }
}

fn zstandard(name: &str, text: &[u8]) -> Member {
    // Two frames, as Inspect writes them for large samples.
    let half = text.len() / 2;
    let frames = [&text[..half], &text[half..]].map(|half| zstd::encode_all(half, 0).unwrap());
    Member {
        method: 93,
        packed: frames.concat(),
        ..member(name, text)
    }
}

/// Writes an archive; `wide` as if it were longer than four gigabytes.
fn archive(members: &[Member], wide: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    let n16 = |number: usize| u16::try_from(number).unwrap().to_le_bytes();
    let n32 = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    for member in members {
        let at = member.at.map_or(file.len(), |at| at as usize);
        let mut common = Vec::new();
        common.extend([45, 0]);
        common.extend(member.flags.to_le_bytes());
        common.extend(member.method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(member.crc.to_le_bytes());
        let size = if wide {
            [0xff; 4]
        } else {
            n32(member.packed.len())
        };
        common.extend(size);
        common.extend(size);
        common.extend(n16(member.name.len()));
        file.extend(b"PK\x03\x04");
        file.extend(&common);
        file.extend([4, 0]);
        file.extend(member.name.as_bytes());
        file.extend([7, 7, 0, 0]);
        file.extend(&member.packed);
        let mut extra = Vec::new();
        if wide {
            extra.extend([9, 0, 1, 0, 5, 1, 0, 24, 0]);
            for number in [member.packed.len(), member.packed.len(), at] {
                extra.extend((number as u64).to_le_bytes());
            }
        }
        directory.extend(b"PK\x01\x02\x2d\0");
        directory.extend(&common);
        directory.extend(n16(extra.len()));
        directory.extend([0; 10]);
        directory.extend(if wide { [0xff; 4] } else { n32(at) });
        directory.extend(member.name.as_bytes());
        directory.extend(extra);
    }
    let start = file.len();
    file.extend(&directory);
    if wide {
        let end = file.len() as u64;
        file.extend(b"PK\x06\x06");
        file.extend(44u64.to_le_bytes());
        file.extend([45, 0, 45, 0]);
        file.extend([0; 8]);
        for number in [members.len(), members.len(), directory.len(), start] {
            file.extend((number as u64).to_le_bytes());
        }
        file.extend(b"PK\x06\x07\0\0\0\0");
        file.extend(end.to_le_bytes());
        file.extend([1, 0, 0, 0]);
    }
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(n16(members.len()));
    file.extend(n16(members.len()));
    file.extend(n32(directory.len()));
    file.extend(if wide { [0xff; 4] } else { n32(start) });
    file.extend([5, 0]);
    file.extend(b"words");
    file
}

fn start() -> Member {
    member(
        "_journal/start.json",
        br#"{"version":2,"eval":{"task":"t","model":"m"},"plan":{}}"#,
    )
}

/// A sample that calls a tool.
fn sample(id: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"{id}","epoch":1,"messages":[],"events":[
 {{"event":"tool","id":"1","function":"look_up","arguments":{{}},"result":"r","timestamp":"2026-01-01T00:00:00+00:00"}}]}}"#
    )
    .into_bytes()
}

fn audit(bytes: &[u8]) -> Run {
    let folder = folder();
    folder.write("log.eval", bytes);
    folder.guard(&["audit", "a.guard", "log.eval", "--format", "json"])
}

/// Whether a problem says this.
fn said_in(run: &Run, said: &str) -> bool {
    run.out.contains(said) || run.err.contains(said)
}

fn traces(run: &Run) -> Vec<String> {
    let lines = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &serde_json::Value| line["type"] == "trace")
        .map(|line| line["trace"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_archive_is_read_like_the_log_as_json() {
    let folder = folder();
    let [zip, json] = ["delegated.eval", "inspect/delegated.json"].map(fixture);
    let events = |path: &Path| folder.guard(&["events", path.to_str().unwrap()]);
    let (zip, json) = (events(&zip), events(&json));
    assert_eq!((zip.code, json.code), (0, 0), "{}", zip.err);
    assert_eq!(zip.out, json.out);
    assert!(zip.out.contains(r#""agent":"helper""#), "{}", zip.out);
    // A folder is searched for logs, a stream is held in memory.
    folder.write(
        "logs/x.eval",
        std::fs::read(fixture("delegated.eval")).unwrap(),
    );
    let found = folder.guard(&["audit", "a.guard", "logs"]);
    assert_eq!(found.code, 1, "{}{}", found.out, found.err);
}

#[test]
fn every_way_to_store_a_member_is_read() {
    let text = sample("a");
    for wide in [false, true] {
        for store in [member, deflated, zstandard] {
            let run = audit(&archive(
                &[start(), store("samples/a_epoch_1.json", &text)],
                wide,
            ));
            assert_eq!(run.code, 1, "{}{}", run.out, run.err);
            assert_eq!(traces(&run), ["a_epoch_1"]);
        }
    }
}

/// Damage to one member is a problem that names it, and the other samples are judged.
#[test]
fn a_damaged_member_hides_no_other() {
    let [a, b] = ["a", "b"].map(sample);
    let (good, bad) = ("samples/b_epoch_1.json", "samples/a_epoch_1.json");
    let with = |change: fn(&mut Member)| {
        let mut damaged = deflated(bad, &a);
        change(&mut damaged);
        damaged
    };
    let zeros = vec![b' '; 40 << 20];
    let summaries = br#"[{"id":"b","epoch":1},{"id":"a","epoch":1,"scores":{}}]"#;
    let rows: [(Vec<Member>, &str); 9] = [
        (vec![with(|it| it.crc ^= 1)], "checksum"),
        (vec![with(|it| it.flags = 1)], "is encrypted"),
        (vec![with(|it| it.method = 12)], "the unknown method 12"),
        (vec![with(|it| it.at = Some(1))], "is cut off"),
        (vec![with(|it| it.at = Some(u32::MAX - 1))], "is cut off"),
        (
            vec![with(|it| it.packed.truncate(20))],
            "cannot be decompressed",
        ),
        (vec![deflated(bad, &zeros)], "limits `decompressed_bytes`"),
        (vec![member("summaries.json", summaries)], "is missing"),
        (
            vec![
                with(|it| it.crc ^= 1),
                Member {
                    name: "samples/../c.json".into(),
                    ..with(|it| it.crc ^= 1)
                },
            ],
            "1 more could not be read",
        ),
    ];
    for (damaged, said) in rows {
        let mut members = vec![start(), deflated(good, &b)];
        members.extend(damaged);
        let run = audit(&archive(&members, false));
        assert_eq!(
            traces(&run),
            ["b_epoch_1"],
            "{said}: {}{}",
            run.out,
            run.err
        );
        assert_eq!(run.code, 1, "{said}: {}{}", run.out, run.err);
        assert!(said_in(&run, said), "{said}: {}{}", run.out, run.err);
    }
}

/// Entries that share their compressed bytes are small in the file and large together.
#[test]
fn entries_that_overlap_are_bounded_together() {
    let long = vec![b' '; 3 << 20];
    let first = deflated("samples/0.json", &long);
    let at = 34 + "_journal/start.json".len() + start().packed.len();
    let mut members = vec![start(), first];
    for n in 1..40 {
        let again = deflated(&format!("samples/{n}.json"), &long);
        members.push(Member {
            at: Some(u32::try_from(at).unwrap()),
            ..again
        });
    }
    let bytes = archive(&members, false);
    let run = audit(&bytes);
    assert_eq!(run.code, 3, "{}{}", run.out, run.err);
    assert!(said_in(&run, "`expansion`"), "{}{}", run.out, run.err);
}

#[test]
fn what_is_no_log_is_refused() {
    let rows: [(Vec<u8>, &str); 4] = [
        (archive(&[], false), "not a log of Inspect"),
        (
            archive(&[member("a.txt", b"x")], false),
            "not a log of Inspect",
        ),
        (
            archive(&[member("header.json", b"{\"version\":")], false),
            "not valid JSON",
        ),
        (b"PK\x03\x04 and nothing else".to_vec(), "no directory"),
    ];
    for (bytes, said) in rows {
        let run = audit(&bytes);
        assert_eq!(run.code, 3, "{}{}", run.out, run.err);
        assert!(said_in(&run, said), "{said}: {}{}", run.out, run.err);
    }
}

/// A sample that is stored twice was written anew: the last one counts. A newer version is noted, and names are only text.
#[test]
fn samples_are_those_of_the_directory() {
    let twice = "samples/a_epoch_1.json";
    let later = member(
        "header.json",
        br#"{"version":3,"eval":{"task":"t","model":"m"},"results":{"x":NaN}}"#,
    );
    let odd = "samples/../../etc/\u{1b}[31m.json";
    let members = [
        member(
            "_journal/start.json",
            br#"{"version":3,"eval":{"task":"t","model":"m"}}"#,
        ),
        later,
        member(twice, b"{}"),
        member(twice, &sample("a")),
        member(odd, &sample("\\u001b[31m")),
        member("samples/other.txt", b"not a sample"),
    ];
    let run = audit(&archive(&members, false));
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert_eq!(traces(&run), ["a_epoch_1", "\u{1b}[31m_epoch_1"]);
    assert!(
        said_in(&run, "version of the log is not known"),
        "{}",
        run.err
    );
    assert!(!run.err.contains('\u{1b}'), "{:?}", run.err);
}

/// Wherever a log is cut off or changed, something is reported, and nothing else happens.
#[test]
fn truncated_and_changed_logs_are_survived() {
    let bytes = std::fs::read(fixture("delegated.eval")).unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 12) {
        let run = audit(&bytes[..cut]);
        assert_eq!(run.code, 3, "{cut}: {}{}", run.out, run.err);
        let mut changed = bytes.clone();
        changed[cut] ^= 0x55;
        let run = audit(&changed);
        assert!(
            [1, 3].contains(&run.code),
            "{cut}: {} {}",
            run.code,
            run.err
        );
    }
}

/// What a sample says twice, leaves out or ties in a ring.
#[test]
fn odd_samples_are_read() {
    let log = |sample: &str| {
        format!(r#"{{"version":2,"eval":{{"task":"t","model":"m"}},"samples":[{sample}]}}"#)
    };
    let run = |sample: &str| {
        let folder = folder();
        folder.write("log.json", log(sample));
        let run = folder.guard(&["events", "log.json"]);
        (run.code, run.out, run.err)
    };
    let ring = r#"{"id":1,"epoch":2,"events":[
        {"event":"span_begin","id":"x","parent_id":"y","type":"agent","name":"X"},
        {"event":"span_begin","id":"y","parent_id":"x","type":"agent","name":"Y"},
        {"event":"tool","id":"1","function":"f","arguments":{},"result":"","span_id":"x"}]}"#;
    let (code, out, err) = run(ring);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(r#""id":"1_epoch_2""#), "{out}");
    let missing = r#"{"id":"a","epoch":1,"events":[{"event":"tool","id":"1","function":"f","arguments":{"x":"attachment://no"},"result":""}]}"#;
    let (code, _, err) = run(missing);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("attachment `no` is not in the sample"),
        "{err}"
    );
    let ranges = r#"{"id":"a","epoch":1,"events_data":{"messages":[{"role":"user","content":"hi"}],"calls":[]},
        "events":[{"event":"model","input":[],"input_refs":[[0,1],[0,99],"x",[1,0]],"output":{"choices":[]}}]}"#;
    let (code, out, err) = run(ranges);
    assert_eq!(code, 3, "{err}");
    assert_eq!(out.matches(r#""text":"hi""#).count(), 1, "{out}");
    assert_eq!(err.matches("is not a range").count(), 2, "{err}");
    let (code, _, err) = run(r#""text""#);
    assert!(err.contains("samples that are not objects"), "{code} {err}");
}
