// How Streamlit calls a view: once for each run of the page, with its data. A view has start, update and end.

function mounted(View) {
  const views = new WeakMap();
  return ({ parentElement, data, setStateValue }) => {
    const root = parentElement.querySelector(".pairlens");
    if (!views.has(root)) views.set(root, new View(root));
    const view = views.get(root);
    view.start();
    view.update(data, setStateValue);
    return () => view.end();
  };
}
