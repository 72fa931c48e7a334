// What the scripts tell each other by way of the page.

interface Window {
  /** Draws one call of the component "pairlens": mount.js sets it, loader.js calls it. */
  pairlensMount?: (call: object) => () => void;
  /** That address.js listens already. */
  pairlensKeepsBack?: boolean;
  pairlensLeavesMenu?: boolean;
}
