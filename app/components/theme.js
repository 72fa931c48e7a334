// Tells the server when the theme changes: the element's ground then passes over to the other theme's.

export default function ({ parentElement, setTriggerValue }) {
  parentElement.querySelector("i").ontransitionend = () => setTriggerValue("theme", true);
}
