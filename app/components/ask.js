// Questions to the server's API. Browsers open six connections per origin, so a page sends three questions at a time.

import { API } from "./constants.js";
import { html } from "./create.js";
import { linkButton, refill } from "./elements.js";

const AT_ONCE = 3;
const URGENT = ["explain", "change"]; // overtake waiting questions

// Runs up to `limit` jobs at a time; an urgent job overtakes waiting jobs.
export class Queue {
  running = 0;
  waiting = [];

  constructor(limit) {
    this.limit = limit;
  }

  /**
   * Resolves to the job's result; rejects when `signal` aborts, even before the job starts.
   * @template Result
   * @param {() => Promise<Result>} job
   * @param {AbortSignal} signal
   * @param {boolean} [urgent]
   * @returns {Promise<Result>}
   */
  run(job, signal, urgent = false) {
    return new Promise((resolve, reject) => {
      const entry = { job, resolve, reject, urgent };
      const place = urgent ? this.waiting.findIndex((other) => !other.urgent) : -1;
      this.waiting.splice(place < 0 ? this.waiting.length : place, 0, entry);
      signal.addEventListener("abort", () => {
        this.waiting = this.waiting.filter((other) => other !== entry);
        reject(signal.reason);
      });
      this.next();
    });
  }

  next() {
    while (this.running < this.limit && this.waiting.length) {
      const { job, resolve, reject } = this.waiting.shift();
      this.running += 1;
      job()
        .then(resolve, reject)
        .finally(() => {
          this.running -= 1;
          this.next();
        });
    }
  }
}

const QUEUE = new Queue(AT_ONCE);

// The values of an NDJSON stream, one per line. Safari has no `for await` over a stream.
export async function* lines(stream) {
  const [reader, decoder] = [stream.getReader(), new TextDecoder()];
  let rest = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const parts = (rest + decoder.decode(chunk.value, { stream: true })).split("\n");
    rest = parts.pop();
    yield* parts.filter(Boolean).map((line) => JSON.parse(line));
  }
  if (rest) yield JSON.parse(rest);
}

// An error with a readable sentence.
export class Refusal extends Error {}

/**
 * The answer of `/api/<kind>` to `body`. Rejects with a Refusal (one sentence), or with the signal's reason.
 * @param {string} kind
 * @param {object} body
 * @param {AbortSignal} signal
 * @param {(done: number, of: number) => void} [progress]
 * @param {(part: any) => void} [soFar] receives the part of the answer that is known, as often as the server sends it
 */
export function ask(kind, body, signal, progress = () => {}, soFar = () => {}) {
  if (signal.aborted) return Promise.reject(signal.reason);
  return QUEUE.run(() => answer(kind, body, signal, progress, soFar), signal, URGENT.includes(kind));
}

// Like `ask`, but outside the queue: the response to a drag cannot wait for a running computation.
export const askAtOnce = (kind, body, signal) => answer(kind, body, signal);

// On a small machine the server's work on an answer would delay the page's painting. A hidden page is not painted.
const painted = () =>
  new Promise((done) => (document.hidden ? done(null) : requestAnimationFrame(() => setTimeout(done))));

// The server answers only a few requests of a browser at a time (429): further tabs wait here.
async function fetched(kind, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal };
  for (;;) {
    const response = await fetch(`${API}/${kind}`, request).catch((error) => {
      if (signal.aborted) throw signal.reason;
      throw new Refusal(`The server does not answer (${error.message}).`);
    });
    if (response.status !== 429) return response;
    await new Promise((done) => setTimeout(done, 1000 * Number(response.headers.get("Retry-After") ?? 1)));
  }
}

async function answer(kind, body, signal, progress = null, soFar = null) {
  const response = await fetched(kind, body, signal);
  if (!response.headers.get("Content-Type")?.includes("json"))
    throw new Refusal(`The server answered with status ${response.status}.`);
  for await (const line of lines(response.body)) {
    if (line.progress) progress?.(line.progress[0], line.progress[1]);
    else if (line.part) soFar?.(line.part);
    else if (line.error) throw new Refusal(line.error);
    else return line.answer;
  }
  throw new Refusal("The server ended its answer early.");
}

/**
 * @typedef {import("./payloads").Answers} Answers
 * @typedef {{ word?: { side: number, index: number }, [field: string]: import("./payloads").Json }} Question the body of a request
 */
/**
 * @template {string} Kind
 * @typedef {Kind extends keyof Answers ? Answers[Kind] : import("./payloads").Json} AnswerTo
 */
/**
 * One answer that a panel waits for: requested again when the question changes, with its progress, a stop button,
 * and the reason if there is none.
 * @template {string} Kind
 */
export class Answer {
  /** @type {AnswerTo<Kind> | null} */
  value = null;
  /** @type {AnswerTo<Kind> | null} what is known of it while it is computed */
  part = null;
  problem = "";
  stopped = false;
  asked = null; // the question as text
  /** @type {Question | null} */
  body = null;
  /** @type {AbortSignal | undefined} */
  leave = undefined;

  /**
   * @param {Kind} kind of question
   * @param {string} text shown during the computation
   * @param {string} noun names the result in the buttons' labels
   * @param {() => void} changed called after every change
   */
  constructor(kind, text, noun, changed) {
    this.kind = kind;
    this.changed = changed;
    this.bar = html("progress");
    this.text = html("span", text);
    this.element = html("span.soft.screen");
    this.working = [
      html("label.soft", this.text, " ", this.bar),
      " ",
      linkButton("Stop", `Stop computing ${noun}`, () => this.stop()),
    ];
    this.offer = ["Computation stopped. ", linkButton("Compute", `Compute ${noun}`, () => this.again())];
  }

  /**
   * Sends this question unless it equals the last one; null sends nothing.
   * @param {Question | null} body
   * @param {AbortSignal} [leave] aborts when the page is left
   */
  ask(body, leave) {
    const asked = body && JSON.stringify(body);
    if (asked === this.asked) return;
    this.controller?.abort();
    Object.assign(this, { asked, body, leave, value: null, part: null, problem: "", stopped: false });
    if (body) this.begin();
    else this.draw();
  }

  begin() {
    const controller = (this.controller = new AbortController());
    const signal = this.leave ? AbortSignal.any([controller.signal, this.leave]) : controller.signal;
    this.bar.removeAttribute("value");
    const progress = (done, of) => {
      if (!of) return;
      this.bar.max = of;
      this.bar.value = done;
    };
    const soFar = (part) => {
      if (controller !== this.controller || this.stopped) return;
      this.part = part;
      this.changed();
    };
    const { kind, body } = this;
    painted()
      .then(() => ask(kind, body, signal, progress, soFar))
      .then(
        (value) => this.arrived(controller, { value }),
        (error) => signal.aborted || this.arrived(controller, { problem: error.message }),
      );
    this.draw();
  }

  arrived(controller, news) {
    if (controller !== this.controller) return;
    Object.assign(this, news);
    this.draw();
    this.changed();
  }

  stop() {
    this.controller.abort();
    this.stopped = true;
    this.draw();
  }

  again() {
    this.stopped = false;
    this.begin();
  }

  // Changes the text shown during the computation.
  say(text) {
    this.text.textContent = text;
  }

  get state() {
    if (this.problem) return "problem";
    if (this.stopped) return "stopped";
    return this.asked && this.value === null ? "working" : "";
  }

  // The buttons stay the same elements during the computation, so that they keep the keyboard focus.
  draw() {
    const { state } = this;
    if (state === this.drawn && state !== "problem") return;
    this.drawn = state;
    refill(this.element, { problem: this.problem, stopped: this.offer, working: this.working }[state] ?? []);
  }
}
