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
  const { over: groups, often, together } = data.violations;
  if (!often.length) return null;
  // Of a few traces the list says as much.
  const all = groups.reduce((sum, [, size]) => sum + size, 0), bins = groups.length, isShown = all >= 10;
  if (!isShown && often.length < 2) return null;
  const width = 480, tall = 130, floor = 108;
  const shares = groups.map(([height, size]) => height / Math.max(1, size));
  const top = Math.max(...shares) || 1;
  const bars = shares.map((share, bin) => {
    const high = (share / top) * 90;
    const bar = svg("rect", { class: "bar", x: 46 + bin * (width - 52) / bins, y: floor - high, width: Math.max(1, (width - 52) / bins - 1), height: high });
    const title = svg("title", {});
    title.textContent = `${count(groups[bin][0])} of ${count(groups[bin][1])} traces`;
    bar.append(title);
    return bar;
  });
  const label = (x, y, text, anchor) => { const made = svg("text", { x, y, "text-anchor": anchor }); made.textContent = text; return made; };
  const over = svg("svg", { class: "plot", viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": `Share of violating traces in the order in which they were read, in ${bins} groups; at most ${percent(top)}` },
    svg("line", { class: "axis", x1: 46, x2: width - 6, y1: floor, y2: floor }), ...bars,
    label(41, floor, "0", "end"), label(41, floor - 82, `${Math.round(top * 100)} %`, "end"), label(46, floor + 15, "first trace", "start"), label(width - 6, floor + 15, `trace ${count(all)}`, "end"));
  const matrix = el("table", { class: "matrix" }, el("caption", { class: "sr" }, "Traces that violate both properties"),
    el("thead", {}, el("tr", {}, el("td", {}), often.map((_, place) => el("th", { scope: "col", class: "count" }, String(place + 1))))),
    el("tbody", {}, often.map((a, i) => el("tr", {}, el("th", { scope: "row" }, `${i + 1} ${properties[a].name}`), often.map((b, j) => {
      const cell = el("td", { class: `count${i === j ? "" : together[i][j] ? " bad" : " quiet"}` }, count(together[i][j]));
      return cell;
    })))));
  return el("section", { "aria-labelledby": "h-violations" }, fold("violations", el("h2", { id: "h-violations" }, "Violations"), !narrow.matches, el("div", { class: "plots" },
    isShown ? el("div", {}, el("h3", {}, "Over the traces"), el("p", { class: "quiet" }, "Share of the traces that violate a property, in the order in which they were read"), over) : null,
    often.length > 1 ? el("div", {}, el("h3", {}, "Violated together"), el("p", { class: "quiet" }, "Numbers of traces that violate both properties"), el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of properties that are violated together" }, matrix)) : null)));
}
