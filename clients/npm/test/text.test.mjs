// The text of values: `texts.json` has those that the other clients read too.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { textOf } from "@guard-lang/client";

const cases = JSON.parse(readFileSync(new URL("texts.json", import.meta.url), "utf8"));

test("all the text of values", () => {
  for (const { value, text, holds } of cases) {
    const found = textOf(value);
    if (text === undefined) assert.ok(found.includes(holds), JSON.stringify([value, found]));
    else assert.equal(found, text);
  }
});

test("values without a text that is known", () => {
  const cycle = [];
  cycle.push(cycle);
  for (const value of [cycle, new Map(), new Set(), new Response("x"), () => 1, Symbol("x"), Promise.resolve(), [].values()]) {
    assert.ok(Number.isNaN(textOf(value)), String(value));
  }
  assert.equal(textOf(Object.create(null)), "");
  assert.equal(textOf(new Date(0)), "1970-01-01T00:00:00.000Z");
});
