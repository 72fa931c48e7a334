// Keeps an annotator's changes in this tab until the page of the same session shows them. Changes that another session
// finds here were lost with their server.

const KEY = "pairlens unsaved";
const EDITED = "input, textarea, [contenteditable=true]";
let left = new AbortController();

export default function ({ data, setTriggerValue }) {
  const { session, file, places } = data;
  const controls = places.flatMap(({ name, marks, controls }) =>
    controls.map((one) => ({ ...one, place: name, now: marks[one.mark] })),
  );
  const waits = (one) => {
    const place = one.file === file && places.find(({ name }) => name === one.place);
    return place && place.marks[one.mark] !== one.value;
  };
  const kept = () => JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  const keep = (set) => sessionStorage.setItem(KEY, JSON.stringify(set));
  left.abort(); // a new drawing calls this again without leaving the last one
  left = new AbortController();
  const listen = (event, act) => document.addEventListener(event, act, { capture: true, signal: left.signal });
  const set = ({ place, mark, now }, value) => {
    const same = (one) => one.file === file && one.place === place && one.mark === mark;
    const before = kept();
    const after = value ?? !(before.find(same)?.value ?? now);
    keep([...before.filter((one) => !same(one)), { session, file, place, mark, value: after }]);
  };
  try {
    const before = kept();
    const lost = before.filter((one) => one.session !== session);
    keep(before.filter((one) => one.session === session && waits(one)));
    if (lost.length) setTriggerValue("lost", lost);
  } catch {
    return; // storage is switched off
  }
  listen("click", ({ target }) => {
    const pressed = target.closest?.("button, label");
    const control = controls.find(({ at }) => pressed?.matches(at));
    if (control) set(control, control.value);
  });
  listen("input", ({ target }) => {
    const control = controls.find(({ at }) => target.matches?.(at));
    if (control) set(control, target.value);
  });
  listen("keydown", (event) => {
    const typed = event.composedPath()[0].closest?.(EDITED);
    if (typed || event.ctrlKey || event.metaKey || event.altKey) return;
    const control = controls.find(({ key }) => key && key === event.key);
    if (control) set(control);
  });
  // Streamlit connects again without a new drawing: request it.
  const app = document.querySelector("[data-test-connection-state]");
  const connection = new MutationObserver(() => {
    if (app.dataset.testConnectionState === "CONNECTED" && kept().length) setTriggerValue("connected", true);
  });
  connection.observe(app, { attributeFilter: ["data-test-connection-state"] });
  left.signal.addEventListener("abort", () => connection.disconnect());
  return () => left.abort();
}
