// `guard view`: traces on demand, and a text of the spec that may be changed.
const live = {
  async ask(path, body) {
    const answer = await fetch(path, { method: body === undefined ? "GET" : "POST", body, cache: "no-store" });
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error || `the server answered ${answer.status}`);
    return found;
  },
};
// The list of `guard view`: the server filters and orders the traces, and the page has the rows that were in sight.
const served = {
  key: "", asked: "", named: null, found: -1, index: new Map(), waiting: new Set(),
  filters() { const { q, property, severity, verdict, file, sort } = state; return { q, property, severity, verdict, file, sort }; },
  name() { return `${state.n} ${state.trace}`; },
  number() { return /^\d+$/.test(state.n) ? Number(state.n) : null; },
  isKnown() { return this.key !== ""; },
  /** The trace that the address names. */
  current() {
    const place = this.number();
    if (state.trace && place !== null && traces[place] && traces[place][NAME] === state.trace) return place;
    return this.named === this.name() ? this.found : -1;
  },
  /** Asks for the rows of other filters, or for those around the trace that the address names. */
  choose() {
    const key = JSON.stringify(this.filters());
    if (key === this.key && (this.current() >= 0 || this.named === this.name())) return;
    const asked = `${key} ${this.name()}`;
    if (asked === this.asked) return;
    this.asked = asked;
    const find = { trace: state.trace, n: this.number() };
    this.ask(key === this.key || !this.isKnown() ? { find } : { find, from: 0 });
  },
  /** Asks for the rows from a place in the list on. */
  async part(from) {
    if (this.waiting.has(from)) return;
    this.waiting.add(from);
    await this.ask({ from });
    this.waiting.delete(from);
  },
  async ask(wanted) {
    const filters = this.filters(), key = JSON.stringify(filters), name = this.name();
    let told;
    try { told = await live.ask("list", JSON.stringify({ filters, ...wanted })); } catch (error) { status.textContent = String(error.message || error); return; }
    if (key !== JSON.stringify(this.filters())) return;
    if (key !== this.key) {
      this.key = key;
      this.index.clear();
      visible = [];
      visible.length = told.n;
      rows.scrollTop = 0;
      announce(`${many(told.n, "trace", "traces")} shown`);
    }
    told.rows.forEach((row, idx) => this.keep(row, told.from + idx));
    if (wanted.find) {
      this.named = name;
      this.found = told.found ? this.keep(told.found, told.at) : -1;
    }
    drawn = "";
    render();
    if (wanted.find && wanted.from === undefined) reveal(this.found);
  },
  keep([place, ...row], at) {
    traces[place] ??= [...row, []];
    if (at !== null) {
      visible[at] = place;
      this.index.set(place, at);
    }
    return place;
  },
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
      const judged = found.traces < data.live.traces ? `the first ${count(found.traces)} of ${many(data.live.traces, "trace", "traces")}, which is how far five seconds go` : many(found.traces, "trace", "traces");
      parts.push(el("p", {}, found.changes.length ? `Verdicts that change on ${judged}:` : `No verdict changes on ${judged}.`));
      for (const change of found.changes) {
        parts.push(el("p", {}, el("strong", {}, change.property || "decisions"), ` ${change.change.replaceAll("_", " ")}: ${many(change.traces, "trace", "traces")}`),
          el("ul", {}, change.examples.map((one) => el("li", {}, el("button", { type: "button", class: "plain", onclick: () => {
            go({ trace: one.trace, n: String(one.n ?? ""), step: String(one.at ?? "") }, false);
            view.scrollIntoView();
          } }, one.trace), ` ${one.new.replaceAll("_", " ")}, was ${one.old.replaceAll("_", " ")}`))));
      }
    }
    if (found.diagnostics) parts.push(el("pre", { tabindex: "0", "aria-label": "Diagnostics" }, found.diagnostics));
    told.replaceChildren(...parts);
  }
  text.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(check, 350); });
  return el("section", { "aria-labelledby": "h-spec" }, el("h2", { id: "h-spec" }, "Spec"),
    el("p", { class: "quiet" }, `Changes are checked as you type and judged on the traces. ${data.live.write ? "The file is written when you select Save." : "Nothing is written."}`),
    el("label", { for: "spec", class: "sr" }, "Text of the spec"), text, data.live.write ? saving(text) : null, told);
}
/** With `--write`: a button that saves the text, and then shows the page of it. */
function saving(text) {
  let known = text.value;
  const told = el("span", { id: "saved", role: "status", "aria-live": "polite" });
  const button = el("button", { type: "button", id: "save", disabled: true }, "Save");
  async function save() {
    const sent = text.value;
    button.disabled = true;
    told.className = "quiet";
    told.textContent = "saving, and judging the traces …";
    try {
      const found = await live.ask("save", JSON.stringify({ base: data.live.base, spec: sent }));
      known = sent;
      if (found.error) throw new Error(found.error);
      location.reload();
    } catch (error) {
      told.className = "bad";
      told.textContent = String(error.message || error);
      button.disabled = text.value === known;
    }
  }
  button.addEventListener("click", save);
  text.addEventListener("input", () => { button.disabled = text.value === known; told.textContent = ""; });
  addEventListener("beforeunload", (event) => { if (text.value !== known) event.preventDefault(); });
  return el("p", {}, button, " ", told);
}
