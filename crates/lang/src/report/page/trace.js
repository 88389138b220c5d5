// A trace.
const details = new Map();
async function detail(place) {
  const trace = traces[place];
  const key = `${place} ${trace[NAME]}`;
  if (!details.has(key)) {
    const reading = stepsOf(place, trace);
    if (!reading) return null;
    details.set(key, reading);
    reading.catch(() => details.delete(key));
    if (details.size > 200) details.delete(details.keys().next().value);
  }
  return details.get(key);
}
/** Reads the steps of a trace from the page or the server; null if neither has them, or not yet. */
function stepsOf(place, trace) {
  const [number, line] = trace[DETAIL] || [];
  const node = number ? document.getElementById(`d${number}`) : null;
  if (node && (complete || node.nextSibling)) return block(node).then((lines) => JSON.parse(lines[line]));
  if (!data.live) return null;
  return live.ask(`trace/${place}`).then((found) => {
    trace[FOUND] = found.found;
    trace[PROBLEMS] = found.problems;
    return found;
  });
}
const view = el("section", { "aria-label": "Trace", id: "trace" });
let asked = 0;
// An address that was shared names what its reader is to see, which is shown when its steps are there: before, the page is short.
let shared = state.trace !== "";
// The steps of traces follow the script: those that are not parsed yet are drawn when all are.
let complete = document.readyState !== "loading";
document.addEventListener("DOMContentLoaded", () => {
  complete = true;
  render();
});
async function drawTrace() {
  const place = current();
  const number = ++asked;
  if (place < 0) {
    view.replaceChildren(el("h2", {}, "Trace"), el("p", { class: "quiet" }, data.live && !served.isKnown() ? "Reading the list …" : state.trace ? `There is no trace ${state.trace}.` : "Select a trace to see its steps."));
    return;
  }
  const trace = traces[place];
  let known = null, failed = null;
  const slow = setTimeout(() => { if (number === asked) view.replaceChildren(el("h2", {}, trace[NAME]), el("p", { class: "quiet" }, "Reading the trace …")); }, 250);
  try { known = await detail(place); } catch (error) { failed = String(error.message || error); }
  clearTimeout(slow);
  if (number !== asked) return;
  const line = trace[LINE] ? `, line ${count(trace[LINE])}` : "";
  const parts = [
    el("div", { class: "head" }, el("h2", {}, trace[NAME]), neighbours(place)),
    el("p", { class: "quiet" }, `${fileOf(trace)}${line}; ${many(trace[EVENTS], "step", "steps")}`),
    chips(trace),
  ];
  parts.push(...reasons(place, trace, known));
  if (failed) parts.push(el("p", { class: "bad" }, failed));
  if (known) parts.push(...stepping(place, trace, known));
  else if (!failed) parts.push(el("p", { class: "quiet" }, !complete ? "Reading the steps …" : data.redacted ? "Contents are left out (--redact)." : "The steps of this trace are beyond the size limit of the page; guard view shows every trace."));
  const problems = trace[PROBLEMS] || [];
  if (problems.length) parts.push(fold("trace-problems", el("h3", {}, `${many(problems.length, "problem", "problems")} with the data`), !narrow.matches && problems.length < 6, el("ul", {}, problems.map((problem) => el("li", {}, problem)))));
  const focus = document.activeElement && document.activeElement.id;
  const scrolled = view.querySelector(".strip") ? view.querySelector(".strip").scrollLeft : 0;
  view.replaceChildren(...parts);
  const strip = view.querySelector(".strip");
  if (strip) {
    strip.scrollLeft = scrolled;
    const here = strip.querySelector("thead .here");
    if (here) {
      const head = strip.querySelector("thead th").offsetWidth, left = here.offsetLeft - strip.scrollLeft;
      if (left < head || left > strip.clientWidth - 40) strip.scrollLeft = Math.max(0, here.offsetLeft - strip.clientWidth / 2);
    }
  }
  if (shared && (known || complete)) {
    shared = false;
    if (scrollY === 0) (narrow.matches ? view : document.getElementById("h-traces")).scrollIntoView();
  }
  if (focus) { const again = document.getElementById(focus); if (again && view.contains(again)) again.focus({ preventScroll: true }); }
}
/** Buttons to the traces before and after, and on a narrow screen to the list, which is above. */
function neighbours(place) {
  const at = indexOf(place);
  const to = (next, label, sign) => el("button", { type: "button", id: `trace${sign === "▲" ? "before" : "after"}`, "aria-label": label, disabled: next < 0 || next >= visible.length, onclick: () => openAt(next, true) }, sign);
  return el("div", { class: "neighbours" },
    el("button", { type: "button", id: "tolist", onclick: () => { document.getElementById("h-traces").scrollIntoView(); rows.focus({ preventScroll: true }); } }, "List"),
    to(at < 0 ? -1 : at - 1, "Previous trace", "▲"), to(at < 0 ? -1 : at + 1, "Next trace", "▼"));
}
/** The property whose clause is shown: that of the filter, else the first violated one, else the first one. */
function subject(trace) {
  const wanted = byName.get(state.property);
  if (wanted !== undefined) return wanted;
  const bad = [...trace[CODES]].findIndex((code) => code === "v");
  return bad >= 0 ? bad : Math.max(0, [...trace[CODES]].findIndex((code) => code === "u" || code === "o"));
}
function chips(trace) {
  const chosen = subject(trace);
  const made = [...trace[CODES]].map((code, place) => ({ code, place }))
    .filter(({ code }) => code !== "-")
    .sort((a, b) => "vuops".indexOf(a.code) - "vuops".indexOf(b.code) || a.place - b.place)
    .map(({ code, place }) => el("button", {
      type: "button", id: `chip${place}`, title: sentence(properties[place].doc) || null, class: `chip ${CLASSES[code]}`, "aria-pressed": String(place === chosen),
      onclick: () => {
        const found = trace[FOUND].find((one) => one.p === place && one.at !== null);
        go({ property: properties[place].name, ...(found ? { step: String(found.at) } : {}) }, true);
      },
    }, `${SIGNS[code]} ${properties[place].name}`, el("span", { class: "sr" }, `: ${WORDS[code]}`)));
  return el("div", { class: "chips", role: "group", "aria-label": "Verdicts" }, made);
}
const kinds = new Map();
function kindOf(step) {
  if (schema.kind === null) return null;
  const found = step.f.find(([field]) => field === schema.kind);
  return found ? found[1] : null;
}
function kindClass(kind) {
  if (kind === null) return "";
  if (!kinds.has(kind)) kinds.set(kind, `k${kinds.size % 8}`);
  return kinds.get(kind);
}
/** The columns in sight: a window around the step. */
const WINDOW = 120;
/** A step in the address: its number, and its place among the events of one message, which share it. */
function address(steps, place) {
  let before = 0;
  while (place > before && steps[place - before - 1].i === steps[place].i) before++;
  return before ? `${steps[place].i}.${before}` : String(steps[place].i);
}
function stepping(place, trace, known) {
  const steps = known.s;
  if (!steps.length) return [el("p", { class: "quiet" }, "The trace has no steps.")];
  let at = steps.findIndex((_, place) => address(steps, place) === state.step);
  if (at < 0) at = Math.max(0, steps.findIndex((step) => step.i === firstViolation(trace)));
  const found = trace[FOUND].filter((one) => one.v === "v");
  const marked = new Set(found.flatMap((one) => one.steps));
  const final = new Set(found.map((one) => one.at));
  const move = (to) => { const next = Math.min(steps.length - 1, Math.max(0, to)); go({ trace: trace[NAME], n: String(place), step: address(steps, next) }, true); };
  const jump = (sign) => {
    for (let to = at + sign; to >= 0 && to < steps.length; to += sign) if (final.has(steps[to].i) || marked.has(steps[to].i)) return move(to);
    return undefined;
  };
  const button = (id, text, label, act, off) => el("button", { type: "button", id, "aria-label": label, disabled: off, onclick: act }, text);
  const controls = el("div", { class: "stepper" },
    button("first", "|◀", "First step", () => move(0), at === 0),
    button("previous", "◀", "Previous step", () => move(at - 1), at === 0),
    el("span", {}, `Step ${steps[at].i} `, el("span", { class: "quiet" }, `(event ${count(at + 1)} of ${count(steps.length)})`)),
    button("next", "▶", "Next step", () => move(at + 1), at === steps.length - 1),
    button("last", "▶|", "Last step", () => move(steps.length - 1), at === steps.length - 1),
    marked.size ? button("jump", "next step of the violation", null, () => jump(1)) : null,
    el("span", { class: "quiet keys" }, el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " step; ", el("kbd", {}, "n"), " next step of the violation; ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " trace"));
  keys = { move, jump, at: () => at, last: steps.length - 1 };
  const from = Math.max(0, Math.min(at - WINDOW / 2, steps.length - WINDOW)), to = Math.min(steps.length, from + WINDOW);
  const columns = [];
  for (let column = from; column < to; column++) columns.push(column);
  const cell = (column, name, text, label) => {
    const made = el("td", { class: `${name}${column === at ? " here" : ""}`, title: label }, text);
    made.addEventListener("click", () => move(column));
    return made;
  };
  const line = (head, make, label) => el("tr", {}, el("th", { scope: "row", title: label || head }, head), columns.map(make));
  const group = (text) => el("tr", { class: "group" }, el("th", { scope: "colgroup", colspan: columns.length + 1 }, el("span", {}, text)));
  const body = [];
  if (schema.kind !== null) {
    body.push(line(schema.fields[schema.kind], (column) => {
      const kind = kindOf(steps[column]);
      return cell(column, kindClass(kind), kind === null ? "" : [...kind][0], `step ${steps[column].i}: ${kind}`);
    }));
  }
  const chosen = subject(trace);
  const related = schema.atoms.map((atom, place) => place).filter((place) => known.a[place] !== null);
  const own = related.filter((place) => schema.atoms[place].p.includes(chosen));
  const others = related.filter((place) => !schema.atoms[place].p.includes(chosen));
  const truth = (place) => line(schema.atoms[place].t, (column) => {
    const value = known.a[place][column];
    return cell(column, { 1: "t", 0: "n", "?": "u" }[value], { 1: "●", 0: "", "?": "?" }[value], `step ${steps[column].i}: ${{ 1: "true", 0: "false", "?": "unknown" }[value]}`);
  });
  if (own.length) body.push(group(`Conditions of ${properties[chosen].name}`), ...own.map(truth));
  const judged = properties.map((_, place) => place).filter((place) => known.w[place] && trace[CODES][place] !== "-");
  judged.sort((a, b) => (b === chosen) - (a === chosen));
  if (judged.length) {
    body.push(group("Verdict so far, or the state of the automaton"));
    for (const place of judged.slice(0, 24)) {
      body.push(line(properties[place].name, (column) => {
        const code = known.w[place][column];
        const number = known.q[place] ? known.q[place][column] : null;
        const why = found.some((one) => one.p === place && one.steps.includes(steps[column].i));
        const text = number === null ? SIGNS[code] : String(number);
        const told = number === null ? "" : `, state ${number}`;
        return cell(column, `${{ s: "s", p: "n", v: "v", o: "o", u: "u" }[code]}${why ? " why" : ""}`, text, `step ${steps[column].i}: ${WORDS[code]}${told}`);
      }));
    }
  }
  const times = schema.clock === null ? [] : steps.map((step) => (step.f.find(([field]) => field === schema.clock) || [])[1]);
  if (times.some((time) => time !== undefined)) {
    const first = secondsOf(times.find((time) => time !== undefined));
    body.push(group("Clock"), line(`${schema.fields[schema.clock]}, since the first step`, (column) => {
      const passed = secondsOf(times[column]) - first;
      return cell(column, "wide", times[column] === undefined ? "" : Number.isNaN(passed) ? times[column] : duration(passed), `step ${steps[column].i}: ${times[column] ?? "no time"}`);
    }));
  }
  // A track that is a condition by itself has its row there.
  const tracks = schema.tracks.map((_, track) => track).filter((track) => known.k[track] !== null && !related.some((place) => schema.atoms[place].t === schema.tracks[track]));
  if (tracks.length) {
    body.push(group("Tracks"));
    tracks.forEach((place) => {
      const values = known.k[place];
      const isTruth = values.every((value) => value === "true" || value === "false" || value === "?");
      body.push(line(schema.tracks[place], (column) => {
        const value = values[column];
        if (isTruth) return cell(column, { true: "t", false: "n", "?": "u" }[value], { true: "●", false: "", "?": "?" }[value], `step ${steps[column].i}: ${value}`);
        const changed = column > 0 && values[column - 1] !== value;
        return cell(column, `wide${changed ? " o" : ""}`, value, `step ${steps[column].i}: ${value}`);
      }));
    });
  }
  if (others.length) body.push(group("Other conditions"), ...others.map(truth));
  const head = el("tr", {}, el("th", { scope: "col" }, "step"), columns.map((column) => {
    const made = el("th", { scope: "col", class: `count${column === at ? " here" : ""}` }, steps[column].i % 5 === 0 || column === at ? String(steps[column].i) : el("span", { class: "sr" }, String(steps[column].i)));
    return made;
  }));
  const strip = el("div", { class: "strip", tabindex: "0", id: "strip", role: "region", "aria-label": "Steps, one column each" },
    el("table", {}, el("caption", { class: "sr" }, `Steps ${steps[from].i} to ${steps[to - 1].i}`), el("thead", {}, head), el("tbody", {}, body)));
  const present = [...new Set(steps.slice(from, to).map(kindOf).filter((kind) => kind !== null))];
  const signs = el("div", { class: "legend" },
    present.map((kind) => el("span", {}, el("i", { class: kindClass(kind) }), kind)),
    el("span", {}, el("i", { class: "t" }), "condition true"), el("span", {}, el("i", { class: "u" }), "unknown"), el("span", {}, "✗ or red: violated from here on; a number: the state of the property’s automaton; underlined: the violation is made of these steps"));
  const step = steps[at], before = at > 0 ? new Map(steps[at - 1].f) : new Map();
  const fields = (caption, pairs) => el("table", { class: "fields" }, el("caption", { class: "sr" }, caption), el("tbody", {}, pairs.map(([field, text]) =>
    el("tr", { class: before.get(field) !== text ? "changed" : null }, el("th", { scope: "row" }, schema.fields[field]), el("td", {}, value(text))))));
  const table = fields(`Fields of step ${step.i}`, step.f.filter(([field]) => !isRecorded(field)));
  const recorded = step.f.filter(([field]) => isRecorded(field));
  const told = schema.kind === null ? "" : `, ${kindOf(step)}`;
  announce(`step ${step.i}${told}`);
  const out = [controls, strip, fold("legend", "Legend", !narrow.matches, signs)];
  const varied = schema.atoms.filter((atom, number) => atom.p.includes(chosen) && known.a[number] === null);
  if (varied.length) out.push(el("p", { class: "quiet" }, `Without a row, since they are true or false for each value that the property is about: ${varied.map((atom) => atom.t).join(", ")}. The verdict names their values.`));
  if (known.cut) out.push(el("p", { class: "quiet" }, known.cut));
  out.push(fold("around", el("h3", {}, "Around this step"), true, around(steps, at, move)));
  if (recorded.length) table.append(el("tbody", {}, el("tr", {}, el("td", { colspan: 2 }, el("details", {}, el("summary", {}, "as recorded"), fields("As recorded", recorded))))));
  out.push(fold("step", el("h3", {}, `Step ${step.i}`), true, ...(at > 0 ? [el("p", { class: "quiet" }, "• differs from the step before")] : []), step.f.length ? table : el("p", { class: "quiet" }, "No field of this step has a value.")));
  const recordFields = known.m.filter(([, text]) => text !== "");
  if (recordFields.length) {
    out.push(fold("record", el("h3", {}, "Record"), !narrow.matches, el("table", { class: "fields" }, el("tbody", {}, recordFields.map(([field, text]) =>
      el("tr", {}, el("th", { scope: "row" }, schema.meta[field]), el("td", {}, value(text))))))));
  }
  return out;
}
/** The seconds of a time: a date, or a number of seconds. */
function secondsOf(time) { return /^-?[\d.]+s$/.test(time) ? parseFloat(time) : Date.parse(time) / 1000; }
/** A number of seconds in its largest unit. */
function duration(seconds) {
  const [size, unit] = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].find(([size]) => Math.abs(seconds) >= size) || [1, "s"];
  return `${Number((seconds / size).toFixed(1))} ${unit}`;
}
/** Whether a field repeats the whole step as the recording has it. */
function isRecorded(field) { return schema.fields[field] === "raw" || schema.fields[field] === "item"; }
/** The steps before and after, a line each, so that a reader need not step to see what was said. */
function around(steps, at, move) {
  const lines = [];
  for (let place = Math.max(0, at - 5); place < Math.min(steps.length, at + 4); place++) {
    const step = steps[place], kind = kindOf(step);
    const texts = step.f.filter(([field]) => field !== schema.kind && !isRecorded(field) && !["index", "call"].includes(schema.fields[field]));
    const told = texts.map(([, text]) => text.replace(/\s+/g, " ")).join("  ");
    lines.push(el("li", {}, el("button", { type: "button", class: `plain line${place === at ? " now" : ""}`, "aria-current": place === at ? "step" : null, onclick: () => move(place) },
      el("span", { class: "quiet" }, `${step.i} ${kind ?? ""} `), told.length > 300 ? `${told.slice(0, 300)}…` : told)));
  }
  return el("ol", { class: "around" }, lines);
}
/** A recorded value; long ones are folded. */
function value(text) {
  const shown = el("div", { class: "value" }, text.length > 600 ? `${text.slice(0, 600)}…` : text);
  if (text.length <= 600) return shown;
  const more = el("button", { type: "button", "aria-expanded": "false" }, `show all ${count(text.length)} characters`);
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") === "true";
    more.setAttribute("aria-expanded", String(!open));
    shown.textContent = open ? `${text.slice(0, 600)}…` : text;
    more.textContent = open ? `show all ${count(text.length)} characters` : "show less";
  });
  return el("div", {}, shown, more);
}
function reasons(number, trace, known) {
  const place = subject(trace);
  const property = properties[place];
  if (!property) return [];
  const found = trace[FOUND].filter((one) => one.p === place);
  const falses = found.flatMap((one) => one.parts);
  const clause = el("pre", { tabindex: "0", "aria-label": `Clause of ${property.name}` });
  clause.append(...highlighted(property.source.join("\n"), falses));
  const left = el("div", {},
    el("h3", {}, property.name),
    property.requirement ? el("p", {}, `“${property.requirement}”`) : null,
    property.doc ? el("p", {}, property.doc) : null,
    el("p", {}, el("span", { class: "quiet" }, "In words: "), property.words),
    clause,
    meanings(property, place),
    el("p", { class: "quiet" }, about(property)));
  const right = el("div", {}, el("h3", {}, "Verdict"));
  if (!found.length) right.append(el("p", {}, WORDS[trace[CODES][place]] || ""));
  for (const one of found.slice(0, 20)) {
    const to = one.at === null || !known ? null : el("button", { type: "button", class: "plain", onclick: () => go({ trace: trace[NAME], n: String(number), step: String(one.at) }, true) }, `step ${one.at}`);
    right.append(el("p", {}, el("strong", { class: { v: "bad", o: "open", u: "unknown" }[one.v] }, WORDS[one.v]), one.instance ? ` for ${one.instance}` : "", to ? " at " : one.at !== null ? ` at step ${one.at}` : "", to));
    if (one.message) right.append(el("p", {}, one.message));
    if (one.why.length) right.append(el("ul", {}, one.why.map((sentence) => el("li", {}, sentence)), since(one, known, (step) => go({ trace: trace[NAME], n: String(number), step }, true))));
    if (one.final) right.append(el("p", { class: "quiet" }, one.final));
  }
  if (found.length > 20) right.append(el("p", { class: "quiet" }, `and ${many(found.length - 20, "more verdict", "more verdicts")}`));
  return [el("div", { class: "beside" }, left, right)];
}
/** The names and other words in a text of a spec. */
function wordsOf(text) { return text.split(/[^\p{L}\p{N}_]+/u); }
/** For each track that decides a verdict: since which step it has had its value, which is where a reader looks next. */
function since(one, known, to) {
  const at = known && one.at !== null ? known.s.findIndex((step) => step.i === one.at) : -1;
  if (at < 0) return [];
  return schema.tracks.flatMap((name, track) => {
    const values = known.k[track];
    if (!values || !one.parts.some((text) => wordsOf(text).includes(name))) return [];
    let from = at;
    while (from > 0 && values[from - 1] === values[at]) from--;
    if (from === at && at > 0) return [];
    const where = from === 0 ? "the first step" : el("button", { type: "button", class: "plain", onclick: () => to(address(known.s, from)) }, `step ${known.s[from].i}`);
    return [el("li", {}, `\`${name}\` has been ${values[at]} since `, where)];
  });
}
/** What the names in the clause of a property stand for. */
function meanings(property, place) {
  const parts = schema.atoms.filter((atom) => atom.p.includes(place) && atom.d !== atom.t).map((atom) => [atom.t, atom.d]);
  const read = wordsOf(`${property.source.join(" ")} ${parts.map(([, text]) => text).join(" ")}`);
  schema.tracks.forEach((name, number) => { if (read.includes(name)) parts.push([name, `after each step: ${schema.updates[number]}`]); });
  if (!parts.length) return null;
  return fold("means", "What the names mean", !narrow.matches, el("dl", { class: "means" }, parts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])));
}
function about(property) {
  const parts = [`severity ${property.severity}`];
  if (property.catastrophic) parts.push("catastrophic");
  if (property.owner) parts.push(`owner ${property.owner}`);
  if (property.id) parts.push(`id ${property.id}`);
  if (property.cites.length) parts.push(`cites ${property.cites.join(", ")}`);
  parts.push(`${property.file}:${property.line}`);
  return parts.join("; ");
}
/** The text with each of these conditions marked where it stands. */
function highlighted(text, conditions) {
  const spans = [];
  for (const condition of new Set(conditions)) {
    if (condition.length < 2) continue;
    for (let at = text.indexOf(condition); at >= 0; at = text.indexOf(condition, at + condition.length)) spans.push([at, at + condition.length]);
  }
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const out = [];
  let at = 0;
  for (const [from, to] of spans) {
    if (from < at) continue;
    out.push(text.slice(at, from), el("mark", {}, text.slice(from, to)));
    at = to;
  }
  out.push(text.slice(at));
  return out;
}
