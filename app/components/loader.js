// The drawing component: passes each call to the scripts that its page has loaded; the first calls wait for these.

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
