// Streamlit's text areas send their text with Ctrl + Enter: here Enter is enough (Shift + Enter begins a line).

function sendWithEnter(event) {
  if (
    event.key !== "Enter" ||
    event.shiftKey ||
    event.ctrlKey ||
    event.isComposing ||
    !event.target.matches?.(".stTextArea textarea")
  )
    return;
  event.preventDefault();
  event.stopPropagation();
  event.target.dispatchEvent(
    new KeyboardEvent("keydown", {
      key: "Enter",
      code: "Enter",
      keyCode: 13,
      ctrlKey: true,
      bubbles: true,
      cancelable: true,
    }),
  );
}

export default function () {
  window.addEventListener("keydown", sendWithEnter, true);
  return () => window.removeEventListener("keydown", sendWithEnter, true);
}
