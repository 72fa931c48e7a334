// The base of all views: builds its parts from the data, stores the selection, draws it at once and then informs the
// server. Panels and views register themselves here, so that no list of them is needed.

import { html } from "./create.js";
import { hostOf, refill, treeOf } from "./elements.js";

const SMALL_SCREEN = 1600; // pixels; as in page_style.py

/**
 * How a kind of record is drawn: its panel's `place` on the page (main, by default; see pair.js), which records of these
 * `kinds` share a panel (by default, each record has one), and the function that makes a panel. A panel that `asks` the
 * server belongs to no record.
 * @template {import("./evidence.js").PanelData} Data
 * @typedef {{ place?: "main" | "beside" | "what-if" | "how-sure" | "details", kinds?: string[],
 *   read?: (records: import("./evidence.js").EvidenceRecord[],
 *     explanation: import("./evidence.js").Explanation) => Data[],
 *   asks?: (explanation: import("./evidence.js").Explanation, why: import("./payloads").Why) => boolean,
 *   make: (view: import("./pair.js").PairView, data: Data) => import("./panel.js").Panel }} PanelKind
 */
/**
 * By kind of record, or by the name of an answer.
 * @typedef {import("./payloads").Records} Records
 * @type {{ [Kind in keyof Records]?: PanelKind<Records[Kind]> } &
 *   Record<string, PanelKind<import("./evidence.js").PanelData>>}
 */
export const PANELS = {};
/** @type {Record<string, (root: HTMLElement) => Pick<View, "start" | "update" | "end">>} by the page's name */
export const VIEWS = {};

/**
 * @typedef {import("./payloads").Frame & { drawing: string, turn: number, id: string | undefined }} Around every page
 */

/**
 * A subclass has build (its elements) and, as needed, take (the selection in new data), arrange (a new width),
 * draw, and link (the parameters of a copied link).
 * @template Data the page's data, declared in payloads.d.ts
 */
export class View {
  static crowded = false; // whether a matrix is next to other parts, so that large type is reduced
  static narrow = 640; // pixels at normal type size; below it, parts are stacked

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Data & Around} */
    this.data = null;
    this.turn = 0;
    this.left = false;
    this.type = 1;
    this.watch = new ResizeObserver(() => this.fit());
  }

  /** @param {Data & Around} data */
  take(data) {} // eslint-disable-line no-unused-vars

  /** @param {number} width in pixels */
  arrange(width) {} // eslint-disable-line no-unused-vars

  // Whether figures are saved in one place.
  get gathers() {
    return false;
  }

  /** @returns {import("./create.js").Child} */
  build() {
    return [];
  }

  draw() {}

  // Safe to call again: Streamlit may clean up after one call of the module and continue with a later one.
  start() {
    this.ended?.abort();
    this.ended = new AbortController();
    if (this.leave?.signal.aborted ?? true) this.leave = new AbortController();
    this.watch.observe(this.root);
    // Elements above grow as they are drawn and move this view without changing its size.
    const page = hostOf(this.root)?.closest('[data-testid="stMainBlockContainer"]');
    if (page) this.watch.observe(page);
    const { signal } = this.ended;
    this.listen((target, name, act, capture = false) => target.addEventListener(name, act, { signal, capture }));
  }

  // Events that a view handles while it is on the page; `on` adds a listener until then.
  listen(on) {
    on(window, "resize", () => this.fit());
    on(window, "click", (event) => this.follow(event), true);
    for (const name of ["beforeprint", "afterprint"])
      on(window, name, () => this.root.classList.toggle("printing", name === "beforeprint"));
    on(this.root, "fullscreenchange", () => {
      this.enlarge();
      if (this.data) this.refit();
    });
  }

  end() {
    this.watch.disconnect();
    this.ended.abort();
    clearTimeout(this.pending);
    // Streamlit also ends a replaced call; on another page the view is removed, and its questions with it.
    setTimeout(() => this.root.isConnected || this.leave.abort());
  }

  // Nothing is sent after a click on a link to another page: the server would redraw this page and lose the click.
  follow({ target, button, ctrlKey, metaKey, shiftKey }) {
    const link = button || ctrlKey || metaKey || shiftKey ? null : target.closest?.("a[href]:not([target=_blank])");
    const { origin, pathname } = window.location;
    if (link?.origin === origin && link.pathname !== pathname) this.left = true;
  }

  // New data from the server. With an unchanged drawing they contain only fetched values, or a selection made
  // elsewhere.
  update(data, setStateValue) {
    this.setStateValue = setStateValue;
    this.left = false;
    const same = this.data && this.data.drawing === data.drawing;
    const stale = this.data && this.data.id === data.id && data.turn < this.turn;
    this.data = data;
    this.enlarge();
    if (!stale) {
      this.take(data);
      this.turn = Math.max(this.turn, data.turn || 0);
    }
    if (same) {
      if (!stale) this.draw();
      return;
    }
    const parts = this.build();
    const facts = data.footer.map((text) => html("span", text));
    refill(this.root, parts, facts.length > 0 && html("footer.small.wraps", facts));
    // Drawn first: parts grow as they are drawn (a selected word's menu), and those below take the remaining room;
    // again once the page's fonts are loaded.
    this.draw();
    this.refit();
    if (document.fonts.status !== "loaded") document.fonts.ready.then(() => requestAnimationFrame(() => this.refit()));
  }

  // Large type for projectors and full screen; smaller if a matrix has to fit on a small screen.
  enlarge() {
    const large = Boolean(this.data?.projector || this.onWholeScreen);
    const { crowded } = /** @type {typeof View} */ (this.constructor);
    const compact = large && crowded && window.innerWidth < SMALL_SCREEN;
    this.type = compact ? 1.25 : large ? 1.5 : 1;
    this.root.classList.toggle("projector", large);
    this.root.classList.toggle("compact", compact);
  }

  get onWholeScreen() {
    return Boolean(treeOf(this.root).fullscreenElement);
  }

  wholeScreen() {
    if (this.onWholeScreen) this.root.ownerDocument.exitFullscreen();
    else this.root.requestFullscreen?.();
  }

  refit() {
    this.fitted = null;
    this.fit();
  }

  // `wait`: milliseconds during which a newer selection replaces this one.
  send(selection, wait = 0) {
    this.turn += 1;
    clearTimeout(this.pending);
    const message = { id: this.data.id, ...selection, turn: this.turn };
    const send = () => this.left || this.setStateValue("selection", message);
    if (wait) this.pending = setTimeout(send, wait);
    else send();
  }

  // The page without its sidebar. None in a saved file.
  get main() {
    return hostOf(this.root)?.closest('[data-testid="stMain"]');
  }

  // Its top position on the page, regardless of scrolling.
  get top() {
    return Math.round(this.root.getBoundingClientRect().top + (this.main?.scrollTop ?? window.scrollY));
  }

  fit() {
    const width = this.root.clientWidth;
    const size = [width, window.innerHeight, this.top].join();
    if (!width || !this.data || this.fitted === size) return;
    this.fitted = size;
    this.enlarge();
    const { narrow } = /** @type {typeof View} */ (this.constructor);
    this.root.classList.toggle("narrow", width < narrow * this.type);
    this.arrange(width);
  }
}
