import assert from "node:assert/strict";
import { test } from "node:test";
import { gridStep, heaviest, reach } from "../../app/components/elements.js";
import { capital, exactPercent, percent, plural, shorten, signed, the } from "../../app/components/wording.js";
import { headline, likeliest, named, numberOf } from "../../app/components/shares.js";

const plain = (text) => text.replaceAll("\u00a0", " ");

test("a share has the digits that it deserves", () => {
  const shares = [0, 0.0004, 0.046, 0.46, 0.994, 0.996, 0.9996, 1].map(percent).map(plain);
  assert.deepEqual(shares, ["0 %", "< 0.1 %", "4.6 %", "46 %", "99 %", "99.6 %", "> 99.9 %", "100 %"]);
  assert.equal(plain(exactPercent(0.12345)), "12.35 %");
});

test("a signed number has a minus sign, and zero none", () => {
  assert.deepEqual(
    [-1.25, 1.25, -0.0001].map((value) => signed(value, 2)),
    ["\u22121.25", "+1.25", "0.00"],
  );
});

test("words are made of roles and counts", () => {
  assert.deepEqual([the("premise"), the("text 2")], ["the premise", "text 2"]);
  assert.deepEqual([plural(1, "word", "words"), plural(2, "word", "words")], ["1 word", "2 words"]);
  assert.deepEqual([shorten("🐕🐕🐕", 3), shorten("🐕🐕🐕", 2)], ["🐕🐕🐕", "🐕…"]);
  assert.equal(capital("dog"), "Dog");
});

test("arrow keys stay in the grid", () => {
  const press = (key, place, modifiers = {}) => gridStep({ key, preventDefault() {}, ...modifiers }, place, [3, 4]);
  assert.deepEqual(press("ArrowDown", [0, 0]), [1, 0]);
  assert.deepEqual(press("ArrowUp", [0, 0]), [0, 0]);
  assert.deepEqual(press("ArrowRight", [3, 4]), [3, 4]);
  assert.deepEqual(
    [press("End", [1, 1]), press("End", [1, 1], { ctrlKey: true })],
    [
      [1, 4],
      [3, 4],
    ],
  );
  assert.equal(press("a", [0, 0]), null);
});

test("one element of several is in the tab order, and the heaviest of numbers has a place", () => {
  const elements = [{}, {}, {}];
  reach(elements, elements[1]);
  assert.deepEqual(elements, [{ tabIndex: -1 }, { tabIndex: 0 }, { tabIndex: -1 }]);
  assert.equal(heaviest([0.1, 0.7, 0.2]), 1);
});

test("a headline names the likeliest class, of a ranker the share of the answer alone", () => {
  const classes = [
    { label: "not an answer", p: 0.9 },
    { label: "answer", p: 0.1, score: true },
  ];
  assert.equal(plain(headline(named(classes))), "Score as an answer: 10 %");
  assert.equal(
    plain(
      headline(
        named([
          { label: "neutral", p: 0.6 },
          { label: "entailment", p: 0.4 },
        ]),
      ),
    ),
    "Neutral, 60 %",
  );
  assert.equal(numberOf({ said: "3.2", p: 0.5 }), "3.2");
});

test("of three hundred classes the likeliest are listed, and the others together", () => {
  const few = Array.from({ length: 20 }, (_, i) => ({ label: `${i}`, p: 0.05 }));
  assert.deepEqual(likeliest(few), { listed: few, others: 0, rest: 0 });
  const many = Array.from({ length: 300 }, (_, i) => ({ label: `${i}`, p: i === 200 ? 0.402 : 0.002 }));
  const { listed, others, rest } = likeliest(many);
  assert.deepEqual([listed.length, listed[0].label, others], [8, "200", 292]);
  assert.ok(Math.abs(rest - 0.584) < 1e-9);
});
