// Scripts import "./constants.js", which the server writes: here it is made of the environment's CONSTANTS.
import { register } from "node:module";

const text = Object.entries(JSON.parse(process.env.CONSTANTS))
  .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
  .join("\n");
const url = `data:text/javascript,${encodeURIComponent(text)}`;
const hooks = `export const resolve = (name, context, next) =>
  name.endsWith("/constants.js") ? { url: ${JSON.stringify(url)}, shortCircuit: true } : next(name, context);`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
