// The drawing component. The drawing code is a file of its own, which the browser reads once and keeps.

import { SCRIPTS } from "./constants.js";

const scripts = new URL(SCRIPTS, location.origin).href;

export default async function (call) {
  return (await import(scripts)).mount(call);
}
