// Reads the data of panels from an explanation in the JSON form of core/evidence.

/**
 * @typedef {import("./payloads").Explanation} Explanation
 * @typedef {import("./payloads").EvidenceRecord} EvidenceRecord
 * @typedef {import("./payloads").Records} Records by kind
 * @typedef {import("./payloads").Drawn["pair"]} Page what a page of a pair draws
 * @typedef {{ row?: number | null, column?: number | null }} Part words of the sentences along the rows and the columns
 * @typedef {ReturnType<typeof sideOf>} SideOfPair a sentence as the pair's view draws it
 * @typedef {EvidenceRecord | EvidenceRecord[]} PanelData the records of a panel
 */

/** @param {Explanation} explanation */
export const sentences = ({ first, contexts }) => [first, ...contexts].filter(({ role }) => role);

/**
 * @param {Explanation} explanation
 * @param {string} role
 */
export const sentenceOf = (explanation, role) => sentences(explanation).find((side) => side.role === role);

/** @param {import("./payloads").Sentence} sentence */
export const tokensOf = ({ tokens }) => tokens.map(({ text }) => text);

/**
 * The first record of a kind that `fits`.
 * @template {keyof Records} Kind
 * @param {Explanation} explanation
 * @param {Kind} kind
 * @param {(record: Records[Kind]) => boolean} [fits]
 */
export const recordOf = ({ evidence }, kind, fits = () => true) => recordsOf(evidence, kind).find(fits);

/**
 * @template {keyof Records} Kind
 * @param {EvidenceRecord[]} records
 * @param {Kind} kind
 */
export const recordsOf = (records, kind) =>
  records.filter(/** @returns {record is Records[Kind]} */ (record) => record.kind === kind);

/**
 * @param {EvidenceRecord} record
 * @returns {record is import("./payloads").AttentionMap}
 */
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

/**
 * The words of an explanation's sentence in the form that the pair's view draws.
 * @param {Explanation} explanation
 * @param {string} role
 * @param {string} axis
 * @param {{ unread?: string, negatable?: Record<string, number[]> }} more
 */
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
 * @param {import("./payloads").Why} [why] the page's questions
 */
export function panelsOf(explanation, panels, why) {
  const kinds = explanation.evidence.map(({ kind }) => kind);
  const own = (name) => panels[name].kinds ?? [name];
  const first = (name) => kinds.findIndex((kind) => own(name).includes(kind));
  const asking = Object.keys(panels).filter((name) => panels[name].asks && why);
  const drawing = Object.keys(panels).filter((name) => first(name) >= 0);
  drawing.sort((a, b) => first(a) - first(b));
  return [...asking, ...drawing].flatMap((name) => {
    const { place = "main", read = (records) => records, asks } = panels[name];
    const records = explanation.evidence.filter(({ kind }) => own(name).includes(kind));
    try {
      if (asks) return asks(explanation, why) ? [{ kind: name, place, data: null, fault: null }] : [];
      const all = read(records, explanation);
      return all.map((data) => ({ kind: name, place, data, fault: null }));
    } catch (fault) {
      return [{ kind: name, place, data: [], fault }]; // told in the panel's place
    }
  });
}
