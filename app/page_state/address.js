// When Back is pressed twice, the answer to the first press comes after the second one. Streamlit would take its page
// for a new one and step to it: after Back, only a link leads to another page.
function keepBack() {
  if (window.pairlensKeepsBack) return;
  window.pairlensKeepsBack = true;
  let back = null;
  window.addEventListener("popstate", () => {
    back = window.location.pathname;
  });
  window.addEventListener(
    "click",
    (event) => {
      if (/** @type {Element} */ (event.target).closest?.("a")) back = null;
    },
    true,
  );
  const push = window.history.pushState;
  window.history.pushState = function (state, title, url) {
    const path = new URL(url ?? "", window.location.href).pathname;
    if (back === null || path === back) push.call(window.history, state, title, url);
  };
}

// On a phone the menu lies over the page: it goes when a page was chosen in it, and is not there on arrival.
const NARROWEST = 768; // Streamlit's own measure of a phone
function leaveMenu() {
  if (window.pairlensLeavesMenu || window.innerWidth >= NARROWEST) return;
  window.pairlensLeavesMenu = true;
  const close = () =>
    /** @type {HTMLElement} */ (document.querySelector('[data-testid="stSidebarCollapseButton"] button'))?.click();
  const open = () => document.querySelector('[data-testid="stSidebar"][data-collapsed="false"]');
  if (open()) close();
  document.addEventListener("click", (event) => {
    if (
      window.innerWidth < NARROWEST &&
      /** @type {Element} */ (event.target).closest?.('[data-testid="stSidebarNav"] a')
    )
      close();
  });
}

export default function ({ data }) {
  keepBack();
  leaveMenu();
  if (data.query === undefined) return;
  const now = new URL(window.location.href);
  // What has been chosen since is in the address already.
  if (now.searchParams.toString() !== new URLSearchParams(data.seen).toString()) return;
  window.history.replaceState(window.history.state, "", `${now.pathname}?${data.query}`);
}
