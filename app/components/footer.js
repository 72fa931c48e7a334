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

// `parameters` is called when the link is copied, so that it includes a selection that the URL does not have yet.
export function copyButton(parameters) {
  const copy = linkButton("Copy link", "Copy a link to this page with its selection", () =>
    copyLink(copy, linkOf(parameters())),
  );
  return copy;
}

function linkOf(parameters) {
  const url = new URL(window.location.href);
  url.search = "";
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.toString();
}

async function copyLink(button, link) {
  button.dataset.link = link;
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
