// Streamlit's text areas send their text with Ctrl + Enter, and Plotly's figures take every touch: here Enter is enough
// (Shift + Enter begins a line), and a swipe scrolls the page unless the figure's "Pan" is on.

function sendWithEnter(event) {
  if (event.key !== "Enter" || event.shiftKey || event.ctrlKey || event.isComposing || !event.target.matches?.(".stTextArea textarea")) return;
  event.preventDefault();
  event.stopPropagation();
  event.target.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, ctrlKey: true, bubbles: true, cancelable: true }));
}

function leaveTouch(event) {
  const figure = event.target.closest?.(".js-plotly-plot .draglayer")?.closest(".js-plotly-plot");
  if (figure && !figure.querySelector('.modebar-btn.active[data-val="pan"]')) event.stopImmediatePropagation();
}

export default function () {
  window.addEventListener("keydown", sendWithEnter, true);
  window.addEventListener("touchstart", leaveTouch, { capture: true, passive: true });
  return () => {
    window.removeEventListener("keydown", sendWithEnter, true);
    window.removeEventListener("touchstart", leaveTouch, { capture: true });
  };
}
