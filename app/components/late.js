// What the server has computed since a page was drawn, so that the page need not be drawn again; more is asked for while
// the server still computes.

import { Channel } from "./channel.js";
import { html, linkButton, refill } from "./elements.js";
import { leaving } from "./leaving.js";
import { VIEWS } from "./view.js";

const AGAIN = 150; // milliseconds until the server is asked again
const LOST = 5000; // and until it is asked once more where it has not answered

class Late extends Channel {
  tell = null;
  pending = 0;
  turn = 0;

  update(data, tell) {
    this.tell = tell;
    super.update(data);
    this.askIn(AGAIN);
  }

  // Nothing is asked of a pair that is not drawn any more, until something has come of the next one. Streamlit would send
  // what two components say at once for one part of the page alone.
  end() {
    clearTimeout(this.pending);
  }

  // Ask again in so many milliseconds, while the server still computes.
  askIn(milliseconds) {
    clearTimeout(this.pending);
    const works = Object.keys(this.data?.working ?? {}).length > 0;
    if (works) this.pending = setTimeout(() => this.say({}), milliseconds);
  }

  // To the server: to go on, to stop or to begin again.
  say(what) {
    if (leaving()) return this.askIn(LOST);
    this.turn += 1;
    this.tell?.("selection", { ...what, turn: this.turn });
    this.askIn(LOST);
  }
}

export const LATE = new Late();

// Says how far something is, why there is nothing, or that it was stopped. Its buttons stay where they are while it goes
// on, so that the keyboard does not lose them.
export class Waiting {
  // `text`: what goes on; `what` is computed; `name`: of what is asked.
  constructor(text, what, name) {
    this.name = name;
    this.bar = html("progress");
    this.text = html("span", text);
    this.kind = null;
    this.parts = {
      working: [
        html("label.soft", this.text, " ", this.bar),
        " ",
        linkButton("Stop", `Stop computing ${what}`, () => LATE.say({ stop: name })),
      ],
      stopped: [
        "Stopped before it was done. ",
        linkButton("Compute", `Compute ${what}`, () => LATE.say({ again: true })),
      ],
    };
    this.element = html("span.soft.screen");
  }

  // What goes on, in other words.
  say(text) {
    this.text.textContent = text;
  }

  // `known`: whether there is nothing to wait for; `news`: what has come.
  draw(known, news) {
    const { name } = this;
    const problem = news?.problems[name];
    const kind = known ? "known" : problem ? "problem" : news?.stopped.includes(name) ? "stopped" : "working";
    const [done, of] = news?.working[name] ?? [0, 0];
    if (of) {
      this.bar.max = of;
      this.bar.value = done;
    }
    if (kind === this.kind) return;
    this.kind = kind;
    refill(this.element, kind === "problem" ? problem : (this.parts[kind] ?? []));
  }
}

VIEWS.late = () => LATE;
