// How Streamlit calls a view: once for each run of the page, with its data.

const views = new WeakMap();

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector(".pairlens");
  if (!views.has(root)) views.set(root, new VIEWS[data.view](root));
  const view = views.get(root);
  view.start();
  view.update(data, setStateValue);
  return () => view.end();
}
