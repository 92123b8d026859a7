// The tokens of one value: how probable each was, and for the chosen one what the schema allowed in its place.
import { el } from "./dom.js";
import { percent } from "./tree.js";

/** The elements that show `tokens`; none if there are none. */
export function tokenView(tokens) {
  if (!tokens?.length) return [];
  const choices = el("div", { class: "token-choices", role: "status" });
  const buttons = tokens.map((token, index) =>
    el(
      "button",
      { type: "button", class: `token ${level(token)}`, title: `Probability ${percent(token.probability)}`, on: { click: () => choose(index) } },
      visible(token.text),
    ),
  );
  const choose = (index) => {
    buttons.forEach((button, at) => button.setAttribute("aria-pressed", String(at === index)));
    choices.replaceChildren(...explained(tokens[index]));
  };
  // The token that the model was least sure of is what a reader looks for.
  choose(tokens.reduce((least, token, index) => (token.probability < tokens[least].probability ? index : least), 0));
  const row = el("div", { class: "tokens", role: "group", "aria-label": "Tokens of the value" }, buttons);
  return [el("h4", {}, "Token by token"), row, choices];
}

function explained(token) {
  const removed = token.masked ?? 0;
  if (!token.alternatives.length) {
    return [el("p", { class: "faint" }, "The schema left no choice here.")];
  }
  const rows = token.alternatives.map((one) =>
    el(
      "li",
      one.text === token.text ? { class: "taken" } : {},
      el("code", {}, visible(one.text)),
      el("meter", { min: 0, max: 1, value: one.probability, "aria-label": `Probability of ${visible(one.text)}` }),
      el("span", {}, percent(one.probability)),
    ),
  );
  return [
    el("p", { class: "faint" }, "What the schema allowed here, the likeliest first:"),
    el("ol", { class: "alternatives" }, rows),
    el("p", { class: "faint" }, removed > 0 ? `The schema took away ${percent(removed)} of the model's own probability.` : "The schema took nothing away."),
  ];
}

function level(token) {
  if (!token.alternatives.length) return "forced";
  if (token.probability >= 0.9) return "high";
  return token.probability >= 0.6 ? "middle" : "low";
}

// White space and control characters would not be seen in a button.
function visible(text) {
  return text.replaceAll(" ", "\u2423").replaceAll("\n", "\u21b5").replaceAll("\t", "\u21e5") || "\u2205";
}
