// What the scripts tell each other by way of the page.

interface Window {
  /** That address.js listens already. */
  pairlensKeepsBack?: boolean;
  pairlensLeavesMenu?: boolean;
}
