// Reads JSON text: the place of its first error, or the line on which the value at each pointer begins.
import { child } from "./pointers.js";

const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** An error at an offset of the text. */
export class JsonFault extends Error {
  constructor(message, offset, text) {
    const before = text.slice(0, offset).split("\n");
    super(`Line ${before.length}, column ${before.at(-1).length + 1}: ${message}`);
    this.line = before.length;
  }
}

/** Read `text`. Returns its value and the line of each pointer; throws `JsonFault`. */
export function readJson(text) {
  const reader = new Reader(text);
  reader.space();
  reader.value("", 0);
  reader.space();
  if (reader.offset < text.length) reader.fail("the text should end here");
  return { value: JSON.parse(text), lines: reader.lines };
}

class Reader {
  constructor(text) {
    this.text = text;
    this.offset = 0;
    this.lines = new Map();
    this.line = 1;
  }

  fail(message) {
    throw new JsonFault(message, this.offset, this.text);
  }

  space() {
    for (; this.offset < this.text.length; this.offset += 1) {
      const character = this.text[this.offset];
      if (character === "\n") this.line += 1;
      else if (character !== " " && character !== "\t" && character !== "\r") return;
    }
  }

  take(pattern) {
    pattern.lastIndex = this.offset;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.offset = pattern.lastIndex;
    return found[0];
  }

  value(pointer, depth) {
    if (depth > 200) this.fail("this is nested too deeply");
    this.lines.set(pointer, this.line);
    const first = this.text[this.offset];
    if (first === "{") this.members(pointer, depth);
    else if (first === "[") this.items(pointer, depth);
    else if (first === undefined) this.fail("a value is missing at the end");
    else if (this.take(first === '"' ? STRING : SCALAR) === null) {
      this.fail(first === '"' ? "this text has no end, or a character that must be escaped" : "this is no JSON value");
    }
  }

  members(pointer, depth) {
    const names = new Set();
    this.list("}", () => {
      const line = this.line;
      const start = this.offset;
      const raw = this.take(STRING);
      if (raw === null) this.fail("the name of a member should be here, in double quotes");
      const name = JSON.parse(raw);
      if (names.has(name)) {
        this.offset = start;
        this.fail(`the name ${raw} is here twice`);
      }
      names.add(name);
      this.space();
      if (this.text[this.offset] !== ":") this.fail("a colon is missing");
      this.offset += 1;
      this.space();
      this.value(child(pointer, name), depth + 1);
      this.lines.set(child(pointer, name), line);
    });
  }

  items(pointer, depth) {
    let index = 0;
    this.list("]", () => {
      this.value(child(pointer, index), depth + 1);
      index += 1;
    });
  }

  list(closing, readOne) {
    this.offset += 1;
    this.space();
    if (this.text[this.offset] === closing) {
      this.offset += 1;
      return;
    }
    for (;;) {
      readOne();
      this.space();
      const next = this.text[this.offset];
      if (next !== "," && next !== closing) this.fail(`a comma or ${closing} is missing`);
      this.offset += 1;
      if (next === closing) return;
      this.space();
    }
  }
}
