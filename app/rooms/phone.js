// A phone in a room: polls the state, and sends what its student does, however often the network fails.

import { closedView, codeView, joinView, waitingView } from "./entry.js";
import { say } from "./parts.js";
import { breakView, guessView, teachView } from "./rounds.js";
import { codeIn, pause, shownCode, viewOf } from "./sentences.js";

/** @import { Round, State, View } from "./room" */

const PATIENCE = 15_000; // milliseconds until a request counts as lost
const LOST = "No connection: your text is kept. Retrying…";
const MUTED = "The lecturer has muted this phone.";

/** The server refuses a request, or does not answer (`lost`). */
class Refused extends Error {
  /** @param {string} sentence @param {number} status @param {number} wait seconds until it may be sent again */
  constructor(sentence, status = 0, wait = 0) {
    super(sentence);
    this.status = status;
    this.wait = wait;
    this.lost = status === 0 || status > 500; // a server that fails at a request fails at it again
  }
}

export class Phone {
  /** @param {string} code */
  constructor(code) {
    this.code = code;
    this.muted = false;
    this.drafts = new Map();
    this.shown = this.greeting = this.trouble = "";
    /** @type {View<State | Round> | null} */
    this.view = null;
    this.actions = 0; // begun and ended: a state that was asked for before the last one is out of date
    this.failures = 0;
    this.inside = false;
    this.wake = new Set();
    for (const event of ["online", "pageshow"]) addEventListener(event, () => this.hurry());
    document.addEventListener("visibilitychange", () => this.hurry());
  }

  /** What is typed in a round, kept while another one is shown. */
  draft(id, first) {
    if (!this.drafts.has(id)) this.drafts.set(id, first);
    return this.drafts.get(id);
  }

  /** Polls the state while the page is open. */
  async follow() {
    for (;;) {
      let wait = 0;
      if (!document.hidden) wait = await this.look();
      if (wait < 0) return;
      await this.sleep(document.hidden ? Infinity : pause(this.failures, wait, Math.random()));
    }
  }

  // Returns the seconds that the server wants it to wait; -1 at the end.
  async look() {
    const before = this.actions;
    try {
      const state = await this.ask("state");
      this.found();
      if (before === this.actions) this.show(state);
      return state.phase === "closed" ? -1 : 0;
    } catch (refused) {
      if (refused.status === 404) {
        this.found();
        this.show(
          this.inside ? { phase: "closed", room: shownCode(this.code) } : { phase: "code", error: refused.message },
        );
        return -1;
      }
      this.missed(refused);
      return refused.wait;
    }
  }

  /** Sends what the student does, until there is a connection. Raises Refused. */
  async post(path, body) {
    this.actions += 1;
    try {
      for (;;) {
        try {
          const answer = await this.ask(path, body);
          this.found();
          return answer;
        } catch (refused) {
          if (!refused.lost) throw refused;
          this.missed(refused);
          await this.sleep(pause(this.failures, refused.wait, Math.random()));
        }
      }
    } finally {
      this.actions += 1;
      this.hurry();
    }
  }

  // One request. Raises Refused.
  async ask(path, body = null) {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), PATIENCE);
    const sent = body && { method: "POST", body: JSON.stringify(body) };
    let response, answer;
    try {
      const address = `./${this.code}/${path}`;
      response = await fetch(address, { cache: "no-store", signal: ended.signal, ...sent });
      answer = await response.json();
    } catch {
      if (!response || response.ok) throw new Refused(LOST);
    } finally {
      clearTimeout(timer);
    }
    if (!response.ok) {
      const sentence = answer?.error ?? "The server refused this: shorten it, or load the page again.";
      throw new Refused(sentence, response.status, Number(response.headers.get("Retry-After")) || 0);
    }
    return answer;
  }

  async sleep(milliseconds) {
    let settle, timer;
    await new Promise((done) => {
      settle = done;
      this.wake.add(done);
      if (milliseconds < Infinity) timer = setTimeout(done, milliseconds);
    });
    clearTimeout(timer);
    this.wake.delete(settle);
  }

  hurry() {
    for (const done of this.wake) done();
  }

  found() {
    this.failures = 0;
    this.trouble = "";
    this.tell();
  }

  missed(refused) {
    this.failures += 1;
    this.trouble = refused.lost ? LOST : refused.message;
    this.tell();
  }

  tell() {
    const line = document.getElementById("line");
    say(line, this.trouble || (this.muted ? MUTED : this.greeting));
    line.classList.toggle("lost", Boolean(this.trouble) || this.muted);
  }

  /** @param {State} state */
  show(state) {
    const open = state.phase === "open" ? state : null;
    this.inside = this.inside || open !== null;
    this.muted = open?.muted ?? false;
    this.greeting = open ? (open.nickname ? `You are ${open.nickname}.` : "You are in.") : "";
    this.tell();
    if (state.phase !== "code") say(document.getElementById("room"), `Room ${state.room}`);
    if (viewOf(state) !== this.shown) this.change(state);
    this.view.update(open?.round ?? state);
  }

  // Draws another view. The focus, if it would be lost, moves to its heading; a screen reader says the heading.
  change(state) {
    const first = this.shown === "";
    this.shown = viewOf(state);
    const place = document.getElementById("view");
    const held = place.contains(document.activeElement);
    this.view = this.viewFor(state);
    place.replaceChildren(this.view.element);
    const title = place.querySelector("h1");
    if (held) title.focus();
    else if (!first) say(document.getElementById("news"), title.textContent);
  }

  /** @param {State} state @returns {View<State | Round>} */
  viewFor(state) {
    if (state.phase === "code") return codeView(state.error, this.code);
    if (state.phase === "join") return joinView(this);
    if (state.phase === "closed") return closedView();
    const { round } = state;
    if (!round) return waitingView();
    if (round.kind === "guess") return guessView(this, round);
    return round.kind === "break" ? breakView(this, round) : teachView();
  }
}

const phone = new Phone(codeIn(location.pathname));
if (phone.code) phone.follow();
else phone.show({ phase: "code", error: "" });
