import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bars,
  codeIn,
  fate,
  guesses,
  outcome,
  pause,
  question,
  shownCode,
  taught,
  verdict,
  viewOf,
} from "../../app/rooms/sentences.js";

const plain = (text) => text.replaceAll("\u00a0", " ");
const classes = ["entailment", "neutral", "contradiction"].map((name) => ({ name, title: name }));
const asked = { id: 3, kind: "guess", roles: ["premise", "hypothesis"], classes, word: null, mine: "" };
const counts = [4, 12, 9].map((count, i) => ({ value: classes[i].name, title: classes[i].name, count }));
const revealed = { counts, answer: "contradiction", chance: 0.83, people: "neutral" };
const tokens = [
  ["A", "man", "plays"],
  ["A", "woman", "sings"],
];
const word = { ...asked, roles: ["premise", "hypothesis"], word: { side: 1, index: 1, tokens } };

test("a code is read as people type and paste it", () => {
  const typed = ["K7QF-M2XN", "k7qfm2xn", " k7qf m2xn ", "http://10.0.0.7:8501/lens/room/K7QF-M2XN"];
  assert.deepEqual([...new Set(typed.map(shownCode))], ["K7QF-M2XN"]);
  assert.deepEqual(["", "K7QF", "K7QF-M2XNA", "<b>QF-M2X", "Ä7QF-M2XN"].map(shownCode), ["", "", "", "", ""]);
  const paths = ["/room/K7QF-M2XN", "/lens/room/k7qfm2xn", "/room/", "/lens/room/", "/"];
  assert.deepEqual(paths.map(codeIn), ["K7QF-M2XN", "k7qfm2xn", "", "", ""]);
});

test("phones ask every two seconds, later after failures, and never all at once", () => {
  assert.deepEqual([0, 1, 2, 3, 9].map((failures) => pause(failures, 0, 0.5)), [2000, 4000, 8000, 15000, 15000]);
  assert.deepEqual([pause(0, 0, 0), pause(0, 0, 1)].map(Math.round), [1600, 2400]);
  assert.ok(pause(1, 12, 0) >= 12000, "not before the server’s Retry-After");
});

test("only another phase or round is another view", () => {
  const open = { phase: "open", room: "K7QF-M2XN", nickname: "", muted: false };
  const views = [{ ...open, round: null }, { ...open, round: asked }, { ...open, round: { ...asked, id: 4 } }];
  assert.deepEqual(views.map(viewOf), ["waiting", "guess 3", "guess 4"]);
  assert.equal(viewOf({ ...open, muted: true, round: { ...asked, mine: "neutral", revealed } }), "guess 3");
  assert.equal(viewOf({ phase: "join", room: "K7QF-M2XN", needs_word: true }), "join");
});

test("a guess is revealed with the model's answer, people's, and the own one", () => {
  const said = (mine) => plain(outcome({ ...asked, mine, revealed }));
  assert.equal(said("neutral"), "The model says contradiction (83 %). People say neutral. You guessed neutral.");
  assert.equal(said("contradiction"), "The model says contradiction (83 %). People say neutral. You guessed it.");
  assert.equal(said(""), "The model says contradiction (83 %). People say neutral.");
  assert.equal(question(asked), "What does the model say?");
  const rows = bars(revealed, "neutral");
  assert.deepEqual(
    rows.map(({ title, tags }) => [title, ...tags]),
    [["entailment"], ["neutral", "people", "you"], ["contradiction", "model"]],
  );
  assert.deepEqual([rows[1].share, guesses(counts), guesses([{ count: 1 }])], [1, "25 guesses", "1 guess"]);
});

test("a word is asked about by its sentence, and told by the other one", () => {
  assert.equal(question(word), "Which word of the premise does “woman” look at?");
  const found = { counts: [], answer: "1", chance: 0.62, people: "" };
  assert.equal(plain(outcome({ ...word, mine: "2", revealed: found })), "In the model it looks at “man” (62 %). You guessed “plays”.");
});

test("of many answers only those that matter have bars, the most frequent first", () => {
  const many = Array.from({ length: 300 }, (_, i) => ({ value: `${i}`, title: `class ${i}`, count: i === 7 ? 3 : 0 }));
  const rows = bars({ counts: many, answer: "250", chance: null, people: "" }, "9");
  assert.deepEqual(rows.map(({ value }) => value), ["7", "9", "250"]);
});

test("a pair's verdict, and what becomes of it", () => {
  const sent = { label: "neutral", verdict: "entailment", chance: 0.97, fooled: true, status: "checking" };
  assert.equal(plain(verdict(sent, classes)), "It says entailment (97 %): you fooled it.");
  const right = { ...sent, verdict: "neutral", fooled: false, status: "right" };
  assert.equal(plain(verdict(right, classes)), "It says neutral (97 %): it agrees with you.");
  assert.deepEqual([fate(sent), fate(right)], ["Two classmates check it.", ""]);
});

test("the result of teaching is given in whole pairs", () => {
  assert.equal(
    taught({ taught: 1, held_back: 5, before: 0, after: 4 }),
    "The model learned from 1 pair of this class. Of 5 other pairs, which it did not see, it had 0 right before, and has 4 now.",
  );
});
