// The page of `guard audit --format html` and of `guard view`: plain JavaScript, no library. Every text of specs and traces
// goes through `textContent`, and the content security policy of the page allows no other script and no address but its own.
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const properties = data.properties, schema = data.schema;
  let traces = data.traces;
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
    if (state.file && data.files[trace[FILE]] !== state.file) return false;
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
      text = `${trace[NAME]} ${data.files[trace[FILE]]} ${found.join(" ")} ${steps}`.toLowerCase();
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

  // The list: only the rows in sight exist.
  let drawn = "";
  const all = el("div", { class: "all", role: "presentation" });
  const rows = el("div", { class: "rows", role: "listbox", tabindex: "0", "aria-label": "Traces" }, all);
  rows.addEventListener("scroll", () => drawRows(false));
  rows.addEventListener("keydown", (event) => {
    const at = visible.indexOf(current());
    const page = Math.max(1, Math.floor(rows.clientHeight / ROW) - 1);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: visible.length - 1 };
    if (!(event.key in moves) || !visible.length) return;
    event.preventDefault();
    event.stopPropagation();
    open(visible[Math.min(visible.length - 1, Math.max(0, moves[event.key]))], true);
  });
  function open(place, replace) {
    go({ trace: traces[place][NAME], n: String(place), step: String(firstViolation(traces[place]) ?? "") }, replace);
    reveal(place);
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
    const at = visible.indexOf(place);
    if (at < 0) return;
    if (at * ROW < rows.scrollTop) rows.scrollTop = at * ROW;
    else if ((at + 1) * ROW > rows.scrollTop + rows.clientHeight) rows.scrollTop = (at + 1) * ROW - rows.clientHeight;
    drawRows(false);
  }
  /** The trace that the address names: by place if that has the name, else the first one of the name; without a name the first
   * one in sight that violates a property. */
  function current() {
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
    all.replaceChildren(...visible.slice(from, to).map((place, idx) => row(place, from + idx, place === open)));
    if (open >= 0 && visible.slice(from, to).includes(open)) rows.setAttribute("aria-activedescendant", `row${open}`);
    else rows.removeAttribute("aria-activedescendant");
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
      el("div", { class: "name" }, el("span", {}, trace[NAME]), el("span", { class: "quiet", title: `${data.files[trace[FILE]]}${line}` }, `${last(data.files[trace[FILE]])}${line}`)),
      el("span", { class: "steps" }, count(trace[EVENTS]), el("span", { class: "sr" }, " steps")),
      el("span", { class: `what ${{ v: "bad", u: "unknown", o: "open", s: "good" }[worst]}`, title: text }, `${SIGNS[worst]} ${text}`));
    made.style.transform = `translateY(${at * ROW}px)`;
    return made;
  }

  // A trace.
  const details = new Map();
  async function detail(place) {
    const trace = traces[place];
    const key = `${place} ${trace[NAME]}`;
    if (!details.has(key)) {
      const [number, line] = trace[DETAIL] || [];
      const node = number ? document.getElementById(`d${number}`) : null;
      if (node && (complete || node.nextSibling)) details.set(key, JSON.parse((await block(node))[line]));
      else if (data.live) details.set(key, await live.trace(place));
      else return null;
      if (details.size > 200) details.delete(details.keys().next().value);
    }
    return details.get(key);
  }
  const view = el("section", { "aria-label": "Trace", id: "trace" });
  let asked = 0;
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
      view.replaceChildren(el("h2", {}, "Trace"), el("p", { class: "quiet" }, state.trace ? `There is no trace ${state.trace}.` : "Select a trace to see its steps."));
      return;
    }
    let known = null, failed = null;
    try { known = await detail(place); } catch (error) { failed = String(error.message || error); }
    if (number !== asked) return;
    const trace = traces[place];
    const line = trace[LINE] ? `, line ${count(trace[LINE])}` : "";
    const parts = [
      el("div", { class: "head" }, el("h2", {}, trace[NAME]), neighbours(place)),
      el("p", { class: "quiet" }, `${data.files[trace[FILE]]}${line}; ${many(trace[EVENTS], "step", "steps")}`),
      chips(trace),
    ];
    parts.push(...reasons(trace, known));
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
    if (focus) { const again = document.getElementById(focus); if (again && view.contains(again)) again.focus({ preventScroll: true }); }
  }
  /** Buttons to the traces before and after, and on a narrow screen to the list, which is above. */
  function neighbours(place) {
    const at = visible.indexOf(place);
    const to = (next, label, sign) => el("button", { type: "button", id: `trace${sign === "▲" ? "before" : "after"}`, "aria-label": label, disabled: next < 0 || next >= visible.length, onclick: () => open(visible[next], true) }, sign);
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
      marked.size ? button("jump", "next marked step", null, () => jump(1)) : null,
      el("span", { class: "quiet keys" }, el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " step ", el("kbd", {}, "n"), " marked step ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " trace"));
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
    if (known.k.some((values) => values !== null)) {
      body.push(group("Tracks"));
      known.k.forEach((values, place) => {
        if (values === null) return;
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
    if (known.cut) out.push(el("p", { class: "quiet" }, known.cut));
    out.push(fold("around", el("h3", {}, "Around this step"), true, around(steps, at, move)));
    if (recorded.length) table.append(el("tbody", {}, el("tr", {}, el("td", { colspan: 2 }, el("details", {}, el("summary", {}, "as recorded"), fields("As recorded", recorded))))));
    out.push(fold("step", el("h3", {}, `Step ${step.i}`), true, ...(at > 0 ? [el("p", { class: "quiet" }, "• differs from the step before")] : []), step.f.length ? table : el("p", { class: "quiet" }, "No field of this step has a value.")));
    if (known.m.length) {
      out.push(fold("record", el("h3", {}, "Record"), !narrow.matches, el("table", { class: "fields" }, el("tbody", {}, known.m.map(([field, text]) =>
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
  function reasons(trace, known) {
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
      const to = one.at === null || !known ? null : el("button", { type: "button", class: "plain", onclick: () => go({ trace: trace[NAME], n: String(traces.indexOf(trace)), step: String(one.at) }, true) }, `step ${one.at}`);
      right.append(el("p", {}, el("strong", { class: { v: "bad", o: "open", u: "unknown" }[one.v] }, WORDS[one.v]), one.instance ? ` for ${one.instance}` : "", to ? " at " : one.at !== null ? ` at step ${one.at}` : "", to));
      if (one.message) right.append(el("p", {}, one.message));
      if (one.why.length) right.append(el("ul", {}, one.why.map((sentence) => el("li", {}, sentence))));
      if (one.final) right.append(el("p", { class: "quiet" }, one.final));
    }
    if (found.length > 20) right.append(el("p", { class: "quiet" }, `and ${many(found.length - 20, "more verdict", "more verdicts")}`));
    return [el("div", { class: "beside" }, left, right)];
  }
  /** What the names in the clause of a property stand for. */
  function meanings(property, place) {
    const parts = schema.atoms.filter((atom) => atom.p.includes(place) && atom.d !== atom.t).map((atom) => [atom.t, atom.d]);
    const read = `${property.source.join(" ")} ${parts.map(([, text]) => text).join(" ")}`.split(/[^\p{L}\p{N}_]+/u);
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

  // The properties, with rates and their intervals.
  function rate(property) {
    if (!property.rate) return el("span", { class: "quiet" }, "–");
    const [mean, low, high] = property.rate;
    const x = (share) => 4 + share * 136;
    const told = `${percent(mean)}, 95 % interval ${percent(low)} to ${percent(high)}`;
    return svg("svg", { class: "rate", viewBox: "0 0 144 19", role: "img", "aria-label": told },
      svg("line", { class: "axis", x1: 4, x2: 140, y1: 10, y2: 10 }),
      svg("path", { class: "whisker", d: `M${x(low)} 6V14M${x(low)} 10H${x(high)}M${x(high)} 6V14` }),
      svg("circle", { class: "dot", cx: x(mean), cy: 10, r: 3.5 }));
  }
  function overview() {
    const columns = [
      ["satisfied", (c) => c.satisfied + c.presumably_satisfied, "the trace does what the property asks"],
      ["violated", (c) => c.violated, "no continuation can repair it"],
      ["open", (c) => c.presumably_violated, "something is still owed when the recording ends"],
      ["unknown", (c) => c.unknown, "missing data decides"],
      ["vacuous", (c) => c.vacuous, "of the satisfied ones: what the property is about never happened"],
    ];
    const head = el("tr", {}, el("th", { scope: "col" }, "property"), el("th", { scope: "col" }, "severity"), columns.map(([name, , told]) => el("th", { scope: "col", class: "count", title: told }, name)), el("th", { scope: "col" }, "violated, with 95 % interval"), el("th", { scope: "col", class: "count" }, "rate"));
    const order = properties.map((_, place) => place).sort((a, b) => properties[b].counts.violated - properties[a].counts.violated || a - b);
    const lines = order.map((place) => {
      const property = properties[place];
      const text = property.rate ? `${percent(property.rate[0])} [${percent(property.rate[1])}, ${percent(property.rate[2])}]` : "–";
      return el("tr", {},
        el("th", { scope: "row" }, el("button", { type: "button", class: "plain", onclick: () => { go({ property: property.name, verdict: property.counts.violated ? "violated" : "", step: "" }, false); document.getElementById("h-traces").scrollIntoView(); } }, property.name), property.doc ? el("div", { class: "says" }, sentence(property.doc)) : null),
        el("td", {}, property.severity),
        columns.map(([name, of]) => el("td", { class: `count${name === "violated" && of(property.counts) ? " bad" : ""}${of(property.counts) ? "" : " none"}`, "data-name": name }, count(of(property.counts)))),
        el("td", {}, rate(property)), el("td", { class: "count share" }, text));
    });
    return el("section", { "aria-labelledby": "h-properties" }, el("h2", { id: "h-properties" }, "Properties"),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of properties" }, el("table", { class: "properties" }, el("thead", {}, head), el("tbody", {}, lines))),
      el("p", { class: "quiet" }, "Numbers of traces. Select a property to see its traces."),
      fold("columns", "What the columns mean", false, el("dl", { class: "means" }, columns.flatMap(([name, , told]) => [el("dt", {}, name), el("dd", {}, told)]))));
  }
  function plots() {
    const bins = Math.min(60, traces.length);
    if (!traces.some((trace) => trace[CODES].includes("v"))) return null;
    // Of a few traces the list says as much.
    const isShown = traces.length >= 10;
    const heights = new Array(bins).fill(0), sizes = new Array(bins).fill(0);
    traces.forEach((trace, place) => {
      const bin = Math.min(bins - 1, Math.floor((place * bins) / traces.length));
      sizes[bin]++;
      if (trace[CODES].includes("v")) heights[bin]++;
    });
    const width = 480, tall = 130, floor = 108;
    const shares = heights.map((height, bin) => height / Math.max(1, sizes[bin]));
    const top = Math.max(...shares);
    const bars = shares.map((share, bin) => {
      const high = (share / top) * 90;
      const bar = svg("rect", { class: "bar", x: 46 + bin * (width - 52) / bins, y: floor - high, width: Math.max(1, (width - 52) / bins - 1), height: high });
      const title = svg("title", {});
      title.textContent = `${count(heights[bin])} of ${count(sizes[bin])} traces`;
      bar.append(title);
      return bar;
    });
    const label = (x, y, text, anchor) => { const made = svg("text", { x, y, "text-anchor": anchor }); made.textContent = text; return made; };
    const over = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `Share of violating traces in the order in which they were read, in ${bins} groups; at most ${percent(top)}` },
      svg("line", { class: "axis", x1: 46, x2: width - 6, y1: floor, y2: floor }), ...bars,
      label(41, floor, "0", "end"), label(41, floor - 82, `${Math.round(top * 100)} %`, "end"), label(46, floor + 15, "first trace", "start"), label(width - 6, floor + 15, `trace ${count(traces.length)}`, "end"));
    const often = properties.map((_, place) => place).filter((place) => properties[place].counts.violated > 0)
      .sort((a, b) => properties[b].counts.violated - properties[a].counts.violated).slice(0, 10);
    const together = often.map(() => often.map(() => 0));
    for (const trace of traces) {
      if (!trace[CODES].includes("v")) continue;
      often.forEach((a, i) => { if (trace[CODES][a] === "v") often.forEach((b, j) => { if (trace[CODES][b] === "v") together[i][j]++; }); });
    }
    const matrix = el("table", { class: "matrix" }, el("caption", { class: "sr" }, "Traces that violate both properties"),
      el("thead", {}, el("tr", {}, el("td", {}), often.map((_, place) => el("th", { scope: "col", class: "count" }, String(place + 1))))),
      el("tbody", {}, often.map((a, i) => el("tr", {}, el("th", { scope: "row" }, `${i + 1} ${properties[a].name}`), often.map((b, j) => {
        const cell = el("td", { class: `count${i === j ? "" : together[i][j] ? " bad" : " quiet"}` }, count(together[i][j]));
        return cell;
      })))));
    if (!isShown && often.length < 2) return null;
    return el("section", { "aria-labelledby": "h-violations" }, fold("violations", el("h2", { id: "h-violations" }, "Violations"), !narrow.matches, el("div", { class: "plots" },
      isShown ? el("div", {}, el("h3", {}, "Over the traces"), over) : null,
      often.length > 1 ? el("div", {}, el("h3", {}, "Violated together"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of properties that are violated together" }, matrix)) : null)));
  }

  // Controls.
  const controls = {};
  function select(name, label, options) {
    const made = el("select", { onchange: () => go({ [name]: made.value }, true) }, options.map(([value, text]) => el("option", { value }, text)));
    controls[name] = made;
    return el("label", {}, label, made);
  }
  const search = el("input", { type: "search", placeholder: "name, file, message, contents" });
  let typing = 0;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => go({ q: search.value }, true), 120); });
  const status = el("p", { class: "quiet", role: "status", "aria-live": "polite" });
  const voice = el("p", { class: "sr", role: "status", "aria-live": "polite" });
  function announce(text) { voice.textContent = text; }
  function heads() {
    const button = (name, text) => {
      const made = el("button", { type: "button", onclick: () => go({ sort: state.sort === name ? `-${name}` : state.sort === `-${name}` ? "" : name }, true) }, text);
      controls[`sort-${name}`] = made;
      return made;
    };
    return el("div", { class: "heads", role: "group", "aria-label": "Order" }, button("name", "trace"), button("steps", "steps"), button("verdict", "verdict"));
  }
  let keys = null;
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.closest("input, select, textarea")) return;
    const at = visible.indexOf(current());
    if (event.key === "j" || event.key === "k") {
      const to = Math.min(visible.length - 1, Math.max(0, at + (event.key === "j" ? 1 : -1)));
      if (visible.length) open(visible[to], true);
    } else if (event.key === "/") search.focus();
    else if (!keys || current() < 0) return;
    else if (event.key === "ArrowRight") keys.move(keys.at() + 1);
    else if (event.key === "ArrowLeft") keys.move(keys.at() - 1);
    else if (event.key === "Home" && !event.target.closest(".rows")) keys.move(0);
    else if (event.key === "End" && !event.target.closest(".rows")) keys.move(keys.last);
    else if (event.key === "n") keys.jump(1);
    else if (event.key === "N") keys.jump(-1);
    else return;
    event.preventDefault();
  });
  function render() {
    search.value = state.q;
    for (const name of ["property", "severity", "verdict", "file"]) if (controls[name]) controls[name].value = state[name];
    for (const name of Object.keys(ORDERS)) {
      const button = controls[`sort-${name}`];
      button.removeAttribute("data-sorted");
      if (state.sort === name) button.setAttribute("data-sorted", "down");
      if (state.sort === `-${name}`) button.setAttribute("data-sorted", "up");
    }
    if (state.q && !contents) readContents();
    choose();
    const waiting = state.q && !contents ? "; reading the contents …" : "";
    status.textContent = `${count(visible.length)} of ${many(traces.length, "trace", "traces")}${data.cut ? `; ${data.cut}` : ""}${waiting}`;
    drawRows(false);
    keys = null;
    drawTrace();
  }
  function theme() {
    const order = ["", "light", "dark"];
    const button = el("button", { type: "button", class: "theme" }, "Theme: system");
    button.addEventListener("click", () => {
      const next = order[(order.indexOf(document.documentElement.dataset.theme || "") + 1) % 3];
      if (next) document.documentElement.dataset.theme = next; else delete document.documentElement.dataset.theme;
      button.textContent = `Theme: ${next || "system"}`;
    });
    return button;
  }

  // `guard view`: traces on demand, and a text of the spec that may be changed.
  const live = {
    async ask(path, body) {
      const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", body, cache: "no-store" });
      const found = await answer.json();
      if (!answer.ok) throw new Error(found.error || `the server answered ${answer.status}`);
      return found;
    },
    trace(place) { return live.ask(`trace/${place}`); },
  };
  function editor() {
    const text = el("textarea", { id: "spec", spellcheck: "false", autocomplete: "off", "aria-describedby": "checked" });
    text.value = data.live.spec;
    const told = el("div", { id: "checked", role: "status", "aria-live": "polite" });
    let waiting = 0, number = 0;
    async function check() {
      const mine = ++number;
      told.replaceChildren(el("p", { class: "quiet" }, "checking …"));
      let found;
      try { found = await live.ask("check", text.value); } catch (error) { found = { error: String(error.message || error) }; }
      if (mine !== number) return;
      const parts = [];
      if (found.error) parts.push(el("p", { class: "bad" }, found.error));
      if (found.changes) {
        parts.push(el("p", {}, found.changes.length ? `Verdicts that change on ${many(found.traces, "trace", "traces")}:` : `No verdict changes on ${many(found.traces, "trace", "traces")}.`));
        for (const change of found.changes) {
          parts.push(el("p", {}, el("strong", {}, change.property || "decisions"), ` ${change.change.replaceAll("_", " ")}: ${many(change.traces, "trace", "traces")}`),
            el("ul", {}, change.examples.map((one) => el("li", {}, el("button", { type: "button", class: "plain", onclick: () => {
              const place = traces.findIndex((trace) => trace[NAME] === one.trace && trace[LINE] === one.line);
              if (place >= 0) { go({ trace: one.trace, n: String(place), step: one.at === null ? "" : String(one.at) }, false); view.scrollIntoView(); }
            } }, one.trace), ` ${one.new.replaceAll("_", " ")}, was ${one.old.replaceAll("_", " ")}`))));
        }
      }
      if (found.diagnostics) parts.push(el("pre", { tabindex: "0", "aria-label": "Diagnostics" }, found.diagnostics));
      told.replaceChildren(...parts);
    }
    text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(check, 350); });
    return el("section", { "aria-labelledby": "h-spec" }, el("h2", { id: "h-spec" }, "Spec"),
      el("p", { class: "quiet" }, "Changes are checked as you type and judged on the traces. Nothing is written."),
      el("label", { for: "spec", class: "sr" }, "Text of the spec"), text, told);
  }

  const start = () => {
    document.getElementById("controls").append(theme());
    const files = data.files.map((file) => [file, file]);
    const filters = el("div", { class: "filters", role: "search" },
      el("label", {}, "Search", search),
      select("property", "Property", [["", "all"], ...properties.map((property) => [property.name, property.name])]),
      select("severity", "Severity", [["", "all"], ...SEVERITIES.map((one) => [one, `${one} or higher, violated`])]),
      select("verdict", "Verdict", [["", "all"], ["violated", "violated"], ["open", "open"], ["unknown", "unknown"], ["satisfied", "satisfied"]]),
      files.length > 1 ? select("file", "File", [["", "all"], ...files]) : null,
      el("button", { type: "button", onclick: () => go({ ...DEFAULTS, trace: state.trace, n: state.n, step: state.step }, false) }, "Clear filters"));
    const list = el("div", { class: "list" }, heads(), rows, status);
    const problems = data.problems.length ? el("section", { "aria-labelledby": "h-data", id: "data-problems" },
      fold("problems", el("h2", { id: "h-data" }, `${many(data.problems.length + data.more_problems, "problem", "problems")} with the data`), !narrow.matches && data.problems.length < 6,
        el("ul", {}, data.problems.map((problem) => el("li", {}, problem))), data.more_problems ? el("p", { class: "quiet" }, `and ${many(data.more_problems, "more problem", "more problems")}`) : null)) : null;
    main.replaceChildren(...[overview(), plots(),
      el("section", { "aria-labelledby": "h-traces" }, el("h2", { id: "h-traces" }, "Traces"), filters, el("div", { class: "work" }, list, view)),
      data.live ? editor() : null, problems, voice].filter(Boolean));
    render();
    reveal(current());
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
  };
  addEventListener("hashchange", () => { state = read(); render(); reveal(current()); });
  addEventListener("popstate", () => { state = read(); render(); reveal(current()); });
  addEventListener("resize", () => { drawn = ""; drawRows(false); });
  // What is closed on the screen is printed.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.fold:not([open])")];
    for (const one of closed) one.open = true;
    drawn = "";
    drawRows(true);
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
    drawn = "";
    drawRows(false);
  });
  start();
})();
