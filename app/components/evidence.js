// Reads the data of panels from an explanation in the JSON form of core/evidence.

/**
 * @typedef {{ text: string, start: number, end: number, unknown: boolean }} Token
 * @typedef {{ role: string, text: string, tokens: Token[], truncated: number }} Sentence
 * @typedef {{ model: string, title: string, first: Sentence, contexts: Sentence[], judged: string, labels: string[],
 *   logits: number[], probabilities: number[], evidence: any[], warnings: string[], milliseconds: number,
 *   answer?: string }} Explanation as core/evidence/explanation.py has it
 */

export const NO_WORD = "(no word)"; // the null word
export const SPECIAL = "special tokens"; // the column of a transformer's pieces outside all words
const WORD_UNITS = ["words", "final state", "similarity"]; // units of maps whose columns are words
const CROSSES = 0.5; // smallest degree of crossing at which a word is named

/** @param {Explanation} explanation */
export const sentences = ({ first, contexts }) => [first, ...contexts].filter(({ role }) => role);

/**
 * @param {Explanation} explanation
 * @param {string} role
 */
export const sentenceOf = (explanation, role) => sentences(explanation).find((side) => side.role === role);

/** @param {Sentence} sentence */
export const tokensOf = ({ tokens }) => tokens.map(({ text }) => text);

/** @param {string} kind */
export const recordOf = (explanation, kind) => explanation.evidence.find((record) => record.kind === kind);

// The first token of each non-empty line. Positions count code points, as in Python.
export function lineStarts({ text, tokens }) {
  if (!text.includes("\n")) return tokens.length ? [0] : [];
  const letters = Array.from(text);
  const lines = tokens.map(({ start }) => letters.slice(0, start).filter((letter) => letter === "\n").length);
  return lines.flatMap((line, i) => (i === 0 || line !== lines[i - 1] ? [i] : []));
}

export const isWordMap = ({ kind, units }) => kind === "attention_map" && WORD_UNITS.includes(units);

// The rows that cross this one, strongest first.
export function crossingRows({ crossed_by: crossed }, row) {
  const across = crossed?.[row] ?? [];
  const rows = [...across.keys()].filter((k) => across[k] >= CROSSES);
  return rows.sort((a, b) => across[b] - across[a]);
}

// A selection as links write it: x6 (6th word of the rows), y14 (14th of the columns), x6y14 (their cell), or none.
export const selectionName = ({ row = null, column = null }) =>
  [row !== null && `x${row + 1}`, column !== null && `y${column + 1}`].filter(Boolean).join("") || "none";

export function selectionOf(name) {
  const [row, column] = ["x", "y"].map((axis) => name?.match(`${axis}(\\d+)`)?.[1] ?? null);
  return { row: row && row - 1, column: column && column - 1 };
}

// Classes with their styles, but with other probabilities.
export const withChances = (classes, probabilities) =>
  classes.map((one, i) => ({
    ...one,
    p: probabilities[i],
    said: one.said && one.said.replace(/^[−-]?[\d.]+/, probabilities[i].toFixed(2).replace("-", "\u2212")),
  }));

// The words of an explanation's sentence in the form that the pair's view draws.
function sideOf(explanation, role, axis, { unread = "", negatable = {} }) {
  const sentence = sentenceOf(explanation, role);
  return {
    role,
    axis,
    tokens: tokensOf(sentence),
    unknown: sentence.tokens.flatMap(({ unknown }, i) => (unknown ? [i] : [])),
    truncated: sentence.truncated,
    lines: lineStarts(sentence),
    judged: [role, "both"].includes(explanation.judged),
    read: role !== unread,
    negatable: negatable[role] ?? [],
  };
}

/**
 * Both sentences in reading order. `axes`: the roles along the rows and the columns of the page's selection; a text that
 * attends to itself is on both axes.
 * @param {Explanation} explanation
 * @param {[string, string]} axes
 * @param {{ unread?: string, negatable?: Record<string, number[]> }} [more]
 */
export function sidesOf(explanation, [row, column], more = {}) {
  if (row === column) return ["column", "row"].map((axis) => sideOf(explanation, row, axis, more));
  return sentences(explanation).map(({ role }) => sideOf(explanation, role, role === row ? "row" : "column", more));
}

/**
 * The data of the panels that query an explanation, and of those that draw it, in the order of their first records.
 * @param {Explanation} explanation
 * @param {typeof import("./view.js").PANELS} panels
 * @param {any} page the page's drawing settings; `why`: its question about the pair
 */
export function panelsOf(explanation, panels, page) {
  const kinds = explanation.evidence.map(({ kind }) => kind);
  const own = (name) => panels[name].kinds ?? [name];
  const first = (name) => kinds.findIndex((kind) => own(name).includes(kind));
  const asking = Object.keys(panels).filter((name) => panels[name].asks && page.why);
  const drawing = Object.keys(panels).filter((name) => first(name) >= 0);
  drawing.sort((a, b) => first(a) - first(b));
  return [...asking, ...drawing].flatMap((name) => {
    const { place = "main", read = (records) => records, asks } = panels[name];
    const records = explanation.evidence.filter(({ kind }) => own(name).includes(kind));
    try {
      const all = asks ? asks(explanation, page) : read(records, explanation, page);
      return all.map((data) => ({ kind: name, place, data, fault: null }));
    } catch (fault) {
      return [{ kind: name, place, data: {}, fault }]; // told in the panel's place
    }
  });
}
