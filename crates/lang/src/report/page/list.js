// Filters and order.
const byName = new Map(properties.map((property, place) => [property.name, place]));
let visible = [];
function matches(trace) {
  const codes = trace[CODES];
  const places = [];
  for (let place = 0; place < properties.length; place++) {
    if (state.property && byName.get(state.property) !== place) continue;
    if (state.severity && SEVERITIES.indexOf(properties[place].severity) < SEVERITIES.indexOf(state.severity)) continue;
    places.push(place);
  }
  if (!places.length) return false;
  const wanted = { violated: "v", open: "o", unknown: "u", satisfied: "sp" }[state.verdict];
  if (wanted) {
    const has = (place) => wanted.includes(codes[place]);
    if (state.verdict === "satisfied" ? !places.every(has) : !places.some(has)) return false;
  } else if (state.severity && !places.some((place) => codes[place] === "v")) return false;
  if (state.file && fileOf(trace) !== state.file) return false;
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((word) => textOf(trace).includes(word));
}
// The steps lie in the page as compressed blocks of lines, one for each trace.
const blocks = new Map();
async function unpacked(node) {
  if (typeof DecompressionStream === "undefined") throw new Error("This browser cannot decompress the steps. Use a newer one, or guard view.");
  const bytes = Uint8Array.from(atob(node.textContent), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(stream).text()).split("\n");
}
function block(node) {
  if (!blocks.has(node.id)) blocks.set(node.id, unpacked(node));
  return blocks.get(node.id);
}
/** The lines of all blocks by name, once a search has asked for them. */
let contents = null, reading = false;
function readContents() {
  if (reading || !complete) return;
  reading = true;
  const nodes = [...document.querySelectorAll("script.steps")];
  Promise.all(nodes.map(async (node) => [node.id, await block(node)])).then((all) => {
    contents = new Map(all);
    texts = new WeakMap();
    shown = "";
    render();
  }, (error) => announce(String(error.message || error)));
}
let texts = new WeakMap();
function textOf(trace) {
  let text = texts.get(trace);
  if (text === undefined) {
    const found = trace[FOUND].map((one) => `${properties[one.p].name} ${one.message || ""} ${one.instance || ""} ${one.why.join(" ")}`);
    const [number, line] = trace[DETAIL] || [];
    const steps = number && contents ? contents.get(`d${number}`)[line] : "";
    text = `${trace[NAME]} ${fileOf(trace)} ${found.join(" ")} ${steps}`.toLowerCase();
    texts.set(trace, text);
  }
  return text;
}
const violations = (trace) => { let n = 0; for (const code of trace[CODES]) if (code === "v") n++; return n; };
const ORDERS = {
  name: (a, b) => (a[NAME] < b[NAME] ? -1 : a[NAME] > b[NAME] ? 1 : 0),
  steps: (a, b) => b[EVENTS] - a[EVENTS],
  verdict: (a, b) => violations(b) - violations(a),
};
let shown = "";
function choose() {
  if (data.live) return served.choose();
  const key = JSON.stringify([state.q, state.property, state.severity, state.verdict, state.file, state.sort, traces.length]);
  if (key === shown) return;
  shown = key;
  visible = [];
  traces.forEach((trace, place) => { if (matches(trace)) visible.push(place); });
  const order = ORDERS[state.sort.replace(/^-/, "")];
  if (order) {
    const sign = state.sort.startsWith("-") ? -1 : 1;
    visible.sort((a, b) => sign * order(traces[a], traces[b]) || a - b);
  }
  rows.scrollTop = 0;
  drawn = "";
  announce(`${many(visible.length, "trace", "traces")} shown`);
}
/** The place of a trace in the list, or -1. */
function indexOf(place) { return data.live ? served.index.get(place) ?? -1 : visible.indexOf(place); }

// The list: only the rows in sight exist.
let drawn = "";
const all = el("div", { class: "all", role: "presentation" });
const rows = el("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "Traces" }, all);
rows.addEventListener("scroll", () => drawRows(false));
rows.addEventListener("keydown", (event) => {
  const at = indexOf(current());
  const page = Math.max(1, Math.floor(rows.clientHeight / ROW) - 1);
  const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: visible.length - 1 };
  if (!(event.key in moves) || !visible.length) return;
  event.preventDefault();
  event.stopPropagation();
  openAt(Math.min(visible.length - 1, Math.max(0, moves[event.key])), true);
});
function open(place, replace) {
  go({ trace: traces[place][NAME], n: String(place), step: String(firstViolation(traces[place]) ?? "") }, replace);
  reveal(place);
}
/** Opens the trace at a place in the list, which the server may have to send. */
async function openAt(at, replace) {
  if (visible[at] === undefined && data.live) await served.part(at);
  if (visible[at] !== undefined) open(visible[at], replace);
}
/** Opens a trace that was pointed at: on a narrow screen it is below the list. */
function choosing(place) {
  open(place, false);
  if (narrow.matches) view.scrollIntoView();
}
function firstViolation(trace) {
  const first = trace[FOUND].find((one) => one.v === "v" && one.at !== null && (!state.property || properties[one.p].name === state.property))
    || trace[FOUND].find((one) => one.v === "v" && one.at !== null);
  return first ? first.at : undefined;
}
function reveal(place) {
  const at = indexOf(place);
  if (at < 0) return;
  if (at * ROW < rows.scrollTop) rows.scrollTop = at * ROW;
  else if ((at + 1) * ROW > rows.scrollTop + rows.clientHeight) rows.scrollTop = (at + 1) * ROW - rows.clientHeight;
  drawRows(false);
}
/** The trace that the address names: by place if that has the name, else the first one of the name; without a name the first
 * one in sight that violates a property. */
function current() {
  if (data.live) return served.current();
  if (!state.trace) return visible.find((place) => violations(traces[place]) > 0) ?? -1;
  const place = Number(state.n);
  if (state.n !== "" && traces[place] && traces[place][NAME] === state.trace) return place;
  return traces.findIndex((trace) => trace[NAME] === state.trace);
}
function drawRows(everything) {
  all.style.height = `${visible.length * ROW}px`;
  const from = everything ? 0 : Math.max(0, Math.floor(rows.scrollTop / ROW) - 4);
  const to = everything ? Math.min(visible.length, 500) : Math.min(visible.length, from + Math.ceil(rows.clientHeight / ROW) + 9);
  const open = current();
  const key = `${from} ${to} ${open} ${visible.length} ${shown}`;
  if (key === drawn) return;
  drawn = key;
  const places = Array.from({ length: to - from }, (_, idx) => visible[from + idx]);
  const missing = places.indexOf(undefined);
  if (missing >= 0) served.part(from + missing);
  all.replaceChildren(...places.map((place, idx) => (place === undefined ? waitingRow(from + idx) : row(place, from + idx, place === open))));
  if (open >= 0 && places.includes(open)) rows.setAttribute("aria-activedescendant", `row${open}`);
  else rows.removeAttribute("aria-activedescendant");
}
/** The row of a trace that the server has not sent yet. */
function waitingRow(at) {
  const made = el("div", { class: "row quiet", role: "option", "aria-selected": "false", "aria-setsize": visible.length, "aria-posinset": at + 1 }, "…");
  made.style.transform = `translateY(${at * ROW}px)`;
  return made;
}
function row(place, at, selected) {
  const trace = traces[place];
  const codes = trace[CODES];
  const bad = violations(trace);
  const worst = bad ? "v" : codes.includes("u") ? "u" : codes.includes("o") ? "o" : "s";
  const text = { v: bad === 1 ? properties[codes.indexOf("v")].name : many(bad, "violation", "violations"), u: "unknown", o: "open", s: "satisfied" }[worst];
  const line = trace[LINE] ? `:${trace[LINE]}` : "";
  const made = el("div",
    { class: "row", role: "option", id: `row${place}`, "aria-selected": String(selected), "aria-setsize": visible.length, "aria-posinset": at + 1, onclick: () => choosing(place) },
    el("div", { class: "name" }, el("span", {}, trace[NAME]), el("span", { class: "quiet", title: `${fileOf(trace)}${line}` }, `${last(fileOf(trace))}${line}`)),
    el("span", { class: "steps" }, count(trace[EVENTS]), el("span", { class: "sr" }, " steps")),
    el("span", { class: `what ${{ v: "bad", u: "unknown", o: "open", s: "good" }[worst]}`, title: text }, `${SIGNS[worst]} ${text}`));
  made.style.transform = `translateY(${at * ROW}px)`;
  return made;
}
