// One queue per page, answers in lines, and every failure as one sentence.

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { ask, askAtOnce, lines, Queue, Refusal } from "../../app/components/ask.js";

const { fetch } = globalThis;
afterEach(() => {
  globalThis.fetch = fetch;
});
const never = new AbortController().signal;
const streamed = (...chunks) =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
const answers = (body, status = 200, type = "application/x-ndjson") => {
  const headers = { "Content-Type": type };
  globalThis.fetch = async () => new Response(body, { status, headers });
};

test("no more than three jobs run at a time, and an urgent one is next", async () => {
  const queue = new Queue(3);
  const [started, ends] = [[], []];
  const job = (name) => () => {
    started.push(name);
    return new Promise((resolve) => ends.push(() => resolve(name)));
  };
  const all = ["a", "b", "c", "d", "e"].map((name) => queue.run(job(name), never));
  all.push(queue.run(job("urgent"), never, true), queue.run(job("urgent too"), never, true));
  assert.deepEqual(started, ["a", "b", "c"]);
  while (ends.length) {
    ends.shift()();
    await new Promise(setImmediate);
  }
  assert.deepEqual(started, ["a", "b", "c", "urgent", "urgent too", "d", "e"]);
  assert.deepEqual(await Promise.all(all), ["a", "b", "c", "d", "e", "urgent", "urgent too"]);
});

test("a job that fails frees its place, and one that is aborted while it waits never runs", async () => {
  const queue = new Queue(1);
  const controller = new AbortController();
  const failing = queue.run(() => Promise.reject(new Error("broken")), never);
  const ran = [];
  const left = queue.run(async () => ran.push("left"), controller.signal);
  controller.abort(new Error("gone"));
  await assert.rejects(failing, /broken/);
  await assert.rejects(left, /gone/);
  await queue.run(async () => ran.push("next"), never);
  assert.deepEqual(ran, ["next"]);
});

test("what follows a drag does not wait for the three that are computed", async () => {
  const ends = [];
  const answered = () => new Response('{"answer": "slow"}', { headers: { "Content-Type": "application/x-ndjson" } });
  globalThis.fetch = () => new Promise((resolve) => ends.push(() => resolve(answered())));
  const slow = ["why", "reason", "preview"].map((kind) => ask(kind, {}, never));
  answers('{"answer": "quick"}');
  assert.equal(await askAtOnce("preview", {}, never), "quick");
  for (const end of ends) end();
  assert.deepEqual(await Promise.all(slow), ["slow", "slow", "slow"]);
});

test("lines may be cut anywhere, inside of a letter too", async () => {
  const bytes = new TextEncoder().encode('{"a":"é"}\n\n{"b":2}');
  const cut = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  const read = [];
  for await (const value of lines(cut)) read.push(value);
  assert.deepEqual(read, [{ a: "é" }, { b: 2 }]);
});

test("progress and parts arrive before the answer", async () => {
  answers(streamed('{"progress":[1,4]}\n{"prog', 'ress":[3,4]}\n{"part":[7]}\n{"answer":{"kind":"effects"}}\n'));
  const [told, parts] = [[], []];
  const progress = (done, of) => told.push([done, of]);
  const answer = await ask("why", { first: "A dog" }, never, progress, (part) => parts.push(part));
  assert.deepEqual(parts, [[7]]);
  assert.deepEqual(told, [
    [1, 4],
    [3, 4],
  ]);
  assert.deepEqual(answer, { kind: "effects" });
});

test("every failure is one sentence", async () => {
  const refused = (sentence) => (error) => error instanceof Refusal && error.message === sentence;
  answers('{"error":"The premise is empty."}', 422);
  await assert.rejects(ask("explain", {}, never), refused("The premise is empty."));
  answers("<h1>Bad gateway</h1>", 502, "text/html");
  await assert.rejects(ask("explain", {}, never), refused("The server answered with status 502."));
  answers(streamed('{"progress":[1,4]}\n'));
  await assert.rejects(ask("why", {}, never), refused("The server ended its answer early."));
  answers(streamed('{"error":"Out of memory."}\n'));
  await assert.rejects(ask("why", {}, never), refused("Out of memory."));
  globalThis.fetch = async () => {
    throw new TypeError("failed to fetch");
  };
  await assert.rejects(ask("why", {}, never), refused("The server does not answer (failed to fetch)."));
});

test("an aborted question does not count as a server failure", async () => {
  globalThis.fetch = (_, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const controller = new AbortController();
  const asked = ask("why", {}, controller.signal);
  controller.abort();
  await assert.rejects(asked, { name: "AbortError" });
});

test("a request that is one too many is sent again until it is answered or aborted", async () => {
  const [controller, statuses] = [new AbortController(), [429, 429, 200]];
  globalThis.fetch = async (_, { signal }) => {
    signal.throwIfAborted();
    const headers = { "Content-Type": "application/json", "Retry-After": "0.001" };
    return new Response('{"answer": 1}', { status: statuses.shift() ?? 429, headers });
  };
  assert.equal(await ask("why", {}, never), 1);
  const waiting = ask("why", {}, controller.signal);
  controller.abort(new Error("gone"));
  await assert.rejects(waiting, /gone/);
});
