// Reads the data of panels from an explanation in the JSON form of core/evidence.

/**
 * @typedef {{ text: string, start: number, end: number, unknown: boolean }} Token
 * @typedef {{ role: string, text: string, tokens: Token[], truncated: number, line_starts: number[] }} Sentence
 * @typedef {{ model: string, title: string, first: Sentence, contexts: Sentence[], judged: string, labels: string[],
 *   logits: number[], probabilities: number[], evidence: any[], warnings: string[], milliseconds: number,
 *   answer?: string }} Explanation as core/evidence/explanation.py has it
 */

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

export const isWordMap = (record) => record.kind === "attention_map" && record.of_words;

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
    lines: sentence.line_starts,
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
