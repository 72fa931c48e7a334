// How Streamlit calls a view, by way of loader.js: once per run of the page, with its data.

import { STYLE } from "./constants.js";
import { VIEWS } from "./view.js";

const views = new WeakMap();
const sheet = new CSSStyleSheet();
sheet.replaceSync(STYLE);

export function mount({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".pairlens");
  const tree = root.getRootNode();
  if (!tree.adoptedStyleSheets.includes(sheet)) tree.adoptedStyleSheets.push(sheet);
  if (!views.has(root)) views.set(root, VIEWS[data.view](root));
  const view = views.get(root);
  view.start();
  view.update({ ...JSON.parse(data.drawing), ...JSON.parse(data.moving), drawing: data.drawing }, setStateValue);
  return () => view.end();
}
