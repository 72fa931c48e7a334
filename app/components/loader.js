// The drawing component. Its code is a separate file, which the browser loads once and caches.

import { SCRIPTS } from "./constants.js";

const ATTEMPTS = 5;
const PAUSE = 1000; // milliseconds
const address = new URL(SCRIPTS, location.origin).href;
let scripts = null;

async function read(attempt = 1) {
  try {
    // A browser never asks again for a module that it could not get: each attempt has another address.
    return await import(attempt === 1 ? address : `${address}?${attempt}`);
  } catch {
    if (attempt === ATTEMPTS)
      throw new Error("the drawing cannot be fetched: check the connection, then reload the page");
    await new Promise((after) => setTimeout(after, PAUSE));
    return read(attempt + 1);
  }
}

export default async function (call) {
  scripts ??= read();
  return (await scripts).mount(call);
}
