// The page of `guard audit --format html` and of `guard view`: plain JavaScript, no library. Every text of specs and traces
// goes through `textContent`, and the content security policy of the page allows no other script and no address but its own.
const data = JSON.parse(document.getElementById("data").textContent);
const properties = data.properties, schema = data.schema;
const traces = data.traces;
const main = document.getElementById("main");
// Fields of a trace as it is written: a list is shorter than an object with names.
const NAME = 0, FILE = 1, LINE = 2, EVENTS = 3, CODES = 4, FOUND = 5, DETAIL = 6, PROBLEMS = 7;
const WORDS = { s: "satisfied", v: "violated", p: "presumably satisfied", o: "presumably violated", u: "unknown", "-": "not judged" };
const CLASSES = { s: "good", p: "good", v: "violated", o: "open", u: "unknown", "-": "" };
const SIGNS = { s: "✓", p: "✓", v: "✗", o: "…", u: "?", "-": " " };
const SEVERITIES = ["low", "medium", "high", "critical"];
const ROW = 44;

/** Makes an element. Children are elements or texts; attributes that are null are left out. */
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  set(made, attributes);
  for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
  return made;
}
function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(made, attributes);
  made.append(...children);
  return made;
}
const count = (n) => n.toLocaleString("en");
const many = (n, one, more) => `${count(n)} ${n === 1 ? one : more}`;
/** The name of a file without its folders. */
const last = (path) => path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
/** The file of a trace; the rows of a server have its name, those in the page its number. */
const fileOf = (trace) => (typeof trace[FILE] === "string" ? trace[FILE] : data.files[trace[FILE]]);
/** The first sentence of a comment. */
const sentence = (text) => text.split(/(?<=[.!?])\s/)[0].trim();
const percent = (share) => `${(share * 100).toFixed(1)} %`;

// Parts that can be closed. On a narrow screen those that a reader seldom needs are closed at first, which keeps the page short;
// what a reader opens or closes stays so.
const narrow = matchMedia("(max-width: 40rem)");
const folds = new Map();
function fold(name, heading, open, ...children) {
  const made = el("details", { class: "fold", id: `fold-${name}`, open: folds.get(name) ?? open }, el("summary", {}, heading), ...children);
  made.firstChild.addEventListener("click", () => folds.set(name, !made.open));
  return made;
}

// What the address says is what the page shows: so every view can be shared.
const DEFAULTS = { q: "", property: "", severity: "", verdict: "", file: "", sort: "", trace: "", n: "", step: "" };
let state = read();
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const found = {};
  for (const name of Object.keys(DEFAULTS)) found[name] = given.get(name) ?? DEFAULTS[name];
  return found;
}
function go(change, replace) {
  state = { ...state, ...change };
  const told = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value !== "" && value !== null) told.set(name, value);
  const address = `#${told}`;
  if (address !== location.hash) history[replace ? "replaceState" : "pushState"](null, "", address);
  render();
}
