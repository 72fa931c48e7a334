import { html } from "../../../../app/components/create.js";
import { PANELS } from "../../../../app/components/view.js";

PANELS.word_length = {
  make: (view, record) => ({ element: html("p", {}, record.letters.join(" ")), draw() {} }),
};
