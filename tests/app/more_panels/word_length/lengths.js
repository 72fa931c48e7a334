import { html } from "../../../../app/components/elements.js";
import { PANELS } from "../../../../app/components/view.js";

PANELS.word_length = (view, data) => ({ element: html("p", {}, data.letters.join(" ")), draw() {} });
