// The component that draws: it hands each call to the scripts that its page has loaded, and waits for them at first.

export default function (call) {
  let end = null;
  const start = () => {
    end = window.pairlensMount(call);
  };
  if (window.pairlensMount) start();
  else window.addEventListener("pairlens", start, { once: true });
  return () => {
    window.removeEventListener("pairlens", start);
    end?.();
  };
}
