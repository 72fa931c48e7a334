// Parts of a phone's page: a pair, classes to choose from, bars. Typed text is set through text nodes only.

import { html } from "../components/create.js";
import { capital } from "../components/wording.js";
import { FEW } from "./sentences.js";

/** The heading of a view, which the keyboard focus can move to. @param {string} text */
export const heading = (text) => html("h1", { tabindex: "-1" }, text);

/** @param {string[]} roles @param {import("../components/create.js").Child[]} texts */
export const pair = (roles, texts) =>
  html(
    "dl.pair",
    roles.map((role, side) => [html("dt", capital(role)), html("dd", { dir: "auto" }, texts[side])]),
  );

/** Sets a text only if it is another one: a screen reader says it again. @param {HTMLElement} node @param {string} text */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Marks a button whose request is on its way: a disabled one would lose the focus. Returns whether it was one. */
export function isBusy(button, busy) {
  const was = button.getAttribute("aria-disabled") === "true";
  button.setAttribute("aria-disabled", String(busy));
  return was;
}

/** @param {HTMLElement} node @param {[string, string]} colours */
function colour(node, colours) {
  if (colours) node.style.setProperty("--class", `light-dark(${colours})`);
}

let groups = 0;

/**
 * Classes to choose one from.
 * @param {string} legend
 * @param {import("./room").Class[]} classes
 * @param {(name: string) => void} choose
 */
export function choice(legend, classes, choose) {
  return classes.length > FEW ? list(legend, classes, choose) : options(legend, classes, choose);
}

function options(legend, classes, choose) {
  groups += 1;
  const inputs = classes.map(({ name }) =>
    html("input", { type: "radio", name: `choice${groups}`, value: name, onchange: () => chosen(name, true) }),
  );
  const lines = classes.map(({ title, colours }, i) => {
    const line = html("label.option", inputs[i], html("span", { dir: "auto" }, title));
    colour(line, colours);
    return line;
  });
  function chosen(name, told) {
    inputs.forEach((input, i) => {
      input.checked = input.value === name;
      lines[i].classList.toggle("chosen", input.checked);
    });
    if (told) choose(name);
  }
  const element = html("fieldset", html("legend", legend), lines);
  return {
    element,
    set: (name) => chosen(name, false),
    get: () => inputs.find(({ checked }) => checked)?.value ?? "",
  };
}

function list(legend, classes, choose) {
  const select = html(
    "select",
    { onchange: () => choose(select.value) },
    html("option", { value: "" }, "Choose one"),
    classes.map(({ name, title }) => html("option", { value: name }, title)),
  );
  const element = html("fieldset", html("label", legend, select));
  return { element, set: (name) => (select.value = name), get: () => select.value };
}

/**
 * The words of a text to choose one from.
 * @param {string} legend
 * @param {string[]} tokens
 * @param {(position: string) => void} choose
 */
export function words(legend, tokens, choose) {
  const buttons = tokens.map((token, i) =>
    html("button", { "aria-pressed": false, onclick: () => chosen(String(i), true) }, token),
  );
  function chosen(position, told) {
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(String(i) === position)));
    if (told) choose(position);
  }
  const element = html("fieldset", html("legend", legend), html("div.words", { dir: "auto" }, buttons));
  return { element, set: (position) => chosen(position, false) };
}

/**
 * @param {{ title: string, count: number, share: number, tags: string[], value: string }[]} rows
 * @param {import("./room").Class[]} classes
 */
export const barList = (rows, classes) =>
  html(
    "ul.bars",
    rows.map(({ title, count, share, tags, value }) => {
      const bar = html("i");
      bar.style.setProperty("inline-size", `${100 * share}%`);
      const name = html(
        "span",
        html("bdi", title),
        tags.map((tag) => [" ", html("span.tag", tag)]),
      );
      const line = html("li", html("div.title", name, html("span.count", count)), html("div.track", bar));
      colour(line, classes.find((one) => one.name === value)?.colours);
      return line;
    }),
  );
