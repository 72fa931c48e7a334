// Keeps clicks on tags in this tab until a drawing of the same session shows them; what another session's drawing finds
// here was lost with its server.

const KEY = "pairlens unsaved tags";
const EDITED = "input, textarea, [contenteditable=true]";

export default function ({ data, setTriggerValue }) {
  const { session, file, row, tags, given } = data;
  const kept = () => JSON.parse(sessionStorage.getItem(KEY)) ?? [];
  const keep = (clicks) => sessionStorage.setItem(KEY, JSON.stringify(clicks));
  const here = (click) => click.file === file && click.row === row;
  const left = new AbortController();
  const listen = (event, act) => document.addEventListener(event, act, { capture: true, signal: left.signal });
  const clicked = (tag, on) => {
    if (!tag) return;
    const others = kept().filter((click) => !here(click) || click.tag !== tag);
    keep([...others, { session, file, row, tag, on }]);
  };
  try {
    const clicks = kept();
    const lost = clicks.filter((click) => click.session !== session);
    keep(clicks.filter((click) => click.session === session && here(click) && given.includes(click.tag) !== click.on));
    if (lost.length) setTriggerValue("lost", lost);
  } catch {
    return; // storage is switched off
  }
  listen("click", ({ target }) => {
    const pill = target.closest?.(`.${data.pills} button`);
    if (!pill) return;
    const place = [...pill.parentElement.querySelectorAll("button")].indexOf(pill);
    clicked(tags[place], pill.ariaPressed !== "true");
  });
  listen("keydown", (event) => {
    const typed = event.composedPath()[0].closest?.(EDITED);
    if (typed || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
    const tag = tags[event.key - 1];
    clicked(tag, !given.includes(tag));
  });
  // Streamlit connects again without a new drawing: request it.
  const app = document.querySelector("[data-test-connection-state]");
  const connection = new MutationObserver(() => {
    if (app.dataset.testConnectionState === "CONNECTED" && kept().length) setTriggerValue("connected", true);
  });
  connection.observe(app, { attributeFilter: ["data-test-connection-state"] });
  return () => {
    left.abort();
    connection.disconnect();
  };
}
