//! The English sentence of a violated requirement, with its position, is in every report of an audit.

use crate::support::cli::Folder;

const SPEC: &str = r#"event {
  kind: string
}

/// Read back: after a freeze, no payment.
@cites("payments policy, section 4")
requirement R7 "Once the account is frozen, no payment may be made." {
  formal never (kind == "freeze" and next eventually kind == "pay")
}
"#;
const RUNS: &str = "{\"id\":\"t1\",\"events\":[{\"kind\":\"freeze\"},{\"kind\":\"pay\"}]}\n{\"id\":\"t2\",\"events\":[{\"kind\":\"pay\"}]}\n";
const SENTENCE: &str = "Once the account is frozen, no payment may be made.";

fn audited(format: &str) -> String {
    let folder = Folder::new(&[("policy.guard", SPEC), ("runs.jsonl", RUNS)]);
    let run = folder.guard(&["audit", "policy.guard", "runs.jsonl", "--format", format]);
    assert_eq!(run.code, 1, "{}", run.err);
    run.out
}

#[test]
fn people_read_the_sentence_its_source_and_its_place() {
    let out = audited("human");
    assert!(out.contains(&format!("“{SENTENCE}”")), "{out}");
    assert!(out.contains("from payments policy, section 4"), "{out}");
    assert!(out.contains("policy.guard:8"), "{out}");
}

#[test]
fn json_lines_of_violations_name_it() {
    let out = audited("json");
    let lines: Vec<serde_json::Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let verdict = |trace: &str| {
        let mut all = lines.iter();
        all.find(|line| line["type"] == "verdict" && line["trace"] == trace)
            .unwrap()
    };
    assert_eq!(
        verdict("t1")["requirement"],
        serde_json::json!({
            "text": SENTENCE,
            "file": "policy.guard",
            "line": 8,
            "cites": ["payments policy, section 4"],
        })
    );
    assert!(verdict("t2").get("requirement").is_none());
}

#[test]
fn sarif_has_it_as_the_rule() {
    let out: serde_json::Value = serde_json::from_str(&audited("sarif")).unwrap();
    let run = &out["runs"][0];
    let rule = &run["tool"]["driver"]["rules"][0];
    assert_eq!(rule["shortDescription"]["text"], SENTENCE);
    let help = rule["help"]["text"].as_str().unwrap();
    assert!(help.contains("payments policy, section 4"), "{help}");
    let place = &run["results"][0]["relatedLocations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "policy.guard");
    assert_eq!(place["region"]["startLine"], 8);
}

#[test]
fn pages_and_junit_show_it() {
    let page = audited("html");
    let data = page
        .split_once("id=\"data\" type=\"application/json\">")
        .unwrap()
        .1;
    let data = data.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let property = &data["properties"][0];
    assert_eq!(property["requirement"], SENTENCE);
    assert_eq!(
        (&property["file"], &property["line"]),
        (&"policy.guard".into(), &8.into())
    );
    let cases = audited("junit");
    assert!(
        cases.contains(&format!(
            "<property name=\"requirement\" value=\"{SENTENCE}\"/>"
        )),
        "{cases}"
    );
    let failure = cases.split("<failure").nth(1).unwrap();
    assert!(failure.contains(&format!("“{SENTENCE}”")), "{cases}");
    assert!(failure.contains("policy.guard:8"), "{cases}");
}
