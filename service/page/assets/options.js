// The options of an extraction, as set in their dialog.
import { at } from "./dom.js";

const NUMBERS = ["max_tokens", "temperature", "seed"];

/** The options that differ from the defaults. */
export function readOptions() {
  const found = {};
  for (const name of NUMBERS) {
    const field = at(`option-${name}`);
    if (field.value !== "") found[name] = Number(field.value);
  }
  const grounding = at("option-grounding").value;
  if (grounding !== "off") found.grounding = grounding;
  if (at("option-nulls").checked) found.not_stated = "null";
  return found;
}
