// Files of AWS CloudFormation Guard have the ending `.guard` too. What a file is shows in its lines, as it does to
// `guard check`: a line that only Guard has makes it one, and then a line that only the other language has.

const OURS =
  /^(event \{|trace \{|predicate |property |track |unsafe |use std|template |abstraction |enforce |requirement |system |component |compose )/;
const THEIRS = /^(AWS::|let [^=]*=\s*Resources[.[]|rule [A-Za-z0-9_]+\s*(\([^)]*\))?\s*(when |\{))/;
const LINES = 1000;

/** Whether a text is a rule file of CloudFormation Guard. */
export function isCloudFormation(text: string): boolean {
  let theirs = false;
  for (const line of text.split("\n", LINES).map((line) => line.trim())) {
    if (OURS.test(line) || (line.startsWith("rule ") && line.includes(":") && line.includes(" then "))) {
      return false;
    }
    theirs ||= THEIRS.test(line);
  }
  return theirs;
}
