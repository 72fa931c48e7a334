// Keeps an annotator's changes in this tab until the page of the same session shows them, and asks the server about the
// others: changes from another session, which may be lost with their server; changes on a row that is no longer open; and
// changes that, once the page is at rest, no widget shows, because Streamlit dropped the click.

const KEY = "pairlens unsaved";
const REST = 1000; // milliseconds, more than a click takes to reach the server
const EDITED = "input, textarea, [contenteditable=true]";
let left = new AbortController();

export default function ({ data, setTriggerValue }) {
  const { session, file, places } = data;
  const controls = places.flatMap(({ name, marks, controls }) =>
    controls.map((one) => ({ ...one, place: name, now: marks[one.mark] })),
  );
  const own = (one) => one.session === session && one.file === file;
  const open = (one) => places.find(({ name }) => name === one.place);
  const waits = (one) => open(one).marks[one.mark] !== one.value;
  const shown = (one) => {
    const { at } = controls.find(({ place, mark }) => place === one.place && mark === one.mark) ?? {};
    const found = at && document.querySelector(at);
    const box = found?.querySelector("input");
    const value = box ? box.checked : found?.ariaPressed ? found.ariaPressed === "true" : found?.value;
    return value === one.value;
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
  const ask = (lost) => {
    keep(kept().filter((one) => !lost.some(({ place, mark }) => place === one.place && mark === one.mark)));
    if (lost.length) setTriggerValue("lost", lost);
  };
  try {
    keep(kept().filter((one) => !own(one) || !open(one) || waits(one)));
    ask(kept().filter((one) => !own(one) || !open(one)));
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
    if (control) set(control, control.value);
  });
  const app = document.querySelector("[data-test-connection-state]");
  let rest;
  const changed = (records) => {
    clearTimeout(rest);
    if (app.dataset.testConnectionState !== "CONNECTED" || !kept().length) return;
    // Streamlit connects again without a new drawing: request it.
    if (records.some(({ attributeName }) => attributeName === "data-test-connection-state"))
      setTriggerValue("connected", true);
    else if (app.dataset.testScriptState === "notRunning")
      rest = setTimeout(() => ask(kept().filter((one) => own(one) && waits(one) && !shown(one))), REST);
  };
  const states = new MutationObserver(changed);
  states.observe(app, { attributeFilter: ["data-test-connection-state", "data-test-script-state"] });
  changed([]);
  left.signal.addEventListener("abort", () => {
    clearTimeout(rest);
    states.disconnect();
  });
  return () => left.abort();
}
