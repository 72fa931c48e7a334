// The drawing component. Its code is a separate file, which the browser loads once and caches.

import { SCRIPTS } from "./constants.js";

const scripts = new URL(SCRIPTS, location.origin).href;

export default async function (call) {
  return (await import(scripts)).mount(call);
}
