// What the scripts tell each other by way of the page.

interface Window {
  /** Plotly.js, which Streamlit loads with its first chart. */
  Plotly?: any;
  /** Draws one call of the component "pairlens": mount.js sets it, loader.js calls it. */
  pairlensMount?: (call: object) => () => void;
  /** Has the part of the page drawn that waits until the pair is on screen: address.js sets it, pair.js calls it. */
  pairlensGoOn?: () => void;
  /** That address.js listens already. */
  pairlensKeepsBack?: boolean;
  pairlensLeavesMenu?: boolean;
}
