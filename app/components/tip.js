// The tooltip of a mark under the pointer.

import { html } from "./create.js";
import { refill } from "./elements.js";

export class Tip {
  element = html("div.tip.screen", { role: "tooltip", hidden: true });

  hide() {
    this.element.hidden = true;
  }

  // Next to a point of the window, and within it.
  show({ clientX, clientY }, ...children) {
    const { element } = this;
    element.hidden = false;
    refill(element, children);
    const { width, height } = element.getBoundingClientRect();
    const below = clientY + 16 + height <= window.innerHeight;
    element.style.left = `${Math.max(4, Math.min(clientX + 14, window.innerWidth - width - 8))}px`;
    element.style.top = `${below ? clientY + 16 : clientY - height - 12}px`;
  }
}
