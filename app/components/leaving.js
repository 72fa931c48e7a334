// Whether a person is on the way to another page. What the scripts then still sent would be for the page that is left, and
// the server would take it, with the click, for a wish to stay: the click is lost, or the new page is drawn upon the old.

const LONGEST = 5000; // milliseconds until a page that has not come is not awaited any more

let left = null; // from which path, and when

window.addEventListener(
  "click",
  (event) => {
    const aside = event.button || event.ctrlKey || event.metaKey || event.shiftKey; // into another tab
    const link = aside ? null : /** @type {any} */ (event.target).closest?.("a");
    const { pathname, origin } = window.location;
    if (link?.href && link.target !== "_blank" && link.origin === origin && link.pathname !== pathname)
      left = { pathname, at: performance.now() };
  },
  true,
);

export function leaving() {
  return left?.pathname === window.location.pathname && performance.now() - left.at < LONGEST;
}
