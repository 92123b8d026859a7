// The options of an extraction, as set in their dialog.
import { at } from "./dom.js";

const NUMBERS = ["max_tokens", "temperature", "seed"];
const CHOICES = ["grounding", "confidence"];

/** The options that differ from the defaults. */
export function readOptions() {
  const found = {};
  for (const name of NUMBERS) {
    const field = at(`option-${name}`);
    if (field.value !== "") found[name] = Number(field.value);
  }
  for (const name of CHOICES) {
    const field = at(`option-${name}`);
    if (!field.disabled && field.value !== "off") found[name] = field.value;
  }
  if (at("option-nulls").checked) found.not_stated = "null";
  return found;
}

/** Offer the choices that the server has; hide the others. */
export function offerOptions(known) {
  for (const name of CHOICES) {
    const field = at(`option-${name}`);
    field.disabled = !known.includes(name);
    field.closest("label").hidden = field.disabled;
  }
}
