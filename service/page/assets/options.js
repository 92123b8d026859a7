// The options of an extraction, as set in their dialog.
import { at } from "./dom.js";

const NUMBERS = ["max_tokens", "temperature", "seed"];
const ALTERNATIVES = 5; // legal tokens that the details of a value show at each place
const REPORTS = ["grounding", "confidence"];

/** The options that differ from the defaults. */
export function readOptions() {
  const found = {};
  for (const name of NUMBERS) {
    const field = at(`option-${name}`);
    if (field.value !== "") found[name] = Number(field.value);
  }
  for (const name of REPORTS) {
    const { value } = at(`option-${name}`);
    if (value !== "off") found[name] = value;
  }
  if (found.confidence) found.token_alternatives = ALTERNATIVES;
  if (at("option-windows").checked) found.long_documents = "windows";
  if (at("option-nulls").checked) found.not_stated = "null";
  return found;
}
