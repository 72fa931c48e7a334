// The last line: facts about the model, and the button that copies a link to the current view.

import { html, linkButton } from "./elements.js";

export function footerOf(texts, copy) {
  if (!texts.length && !copy) return null;
  return html(
    "footer.small.wraps",
    texts.map((text) => html("span", text)),
    copy,
  );
}

// The address, which has everything that the page shows.
export function copyButton() {
  const copy = linkButton("Copy link", "Copy a link to this page with its selection", () => copyLink(copy));
  return copy;
}

async function copyLink(button) {
  const link = window.location.href;
  try {
    await navigator.clipboard.writeText(link);
    button.textContent = "Link copied";
  } catch {
    const field = html("input.by-hand", { readonly: true, "aria-label": "Link to copy by hand", value: link });
    button.after(field);
    field.select();
  }
  setTimeout(() => {
    button.textContent = "Copy link";
  }, 2500);
}
