// Streamlit's text areas submit on Ctrl + Enter. The filter map's submit on Enter, too (Shift + Enter starts a new
// line).

window.addEventListener(
  "keydown",
  (event) => {
    const { key, shiftKey, ctrlKey, isComposing } = event;
    const target = /** @type {HTMLElement} */ (event.target);
    if (key !== "Enter" || shiftKey || ctrlKey || isComposing) return;
    if (!target.matches?.('[class*="st-key-map-text"] textarea')) return;
    event.preventDefault();
    event.stopPropagation();
    const pressed = { key, code: key, keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true };
    target.dispatchEvent(new KeyboardEvent("keydown", pressed));
  },
  true,
);
