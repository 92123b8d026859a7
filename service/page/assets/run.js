// One extraction while it is written: the partial value, then the result or the error.
import { postEvents, Refusal } from "./api.js";
import { put } from "./pointers.js";
import { PENDING } from "./tree.js";

let count = 0;

export class Run {
  /** `text` is that of the document; `label` names the schema for people. */
  constructor(body, text, label) {
    count += 1;
    this.number = count;
    this.body = body;
    this.text = text;
    this.label = label;
    this.data = PENDING;
    this.result = null;
    this.error = null;
    this.stopping = new AbortController();
    this.begun = performance.now();
    this.seconds = 0;
  }

  get isOpen() {
    return !this.result && !this.error;
  }

  /** Send the request; `changed` is called after each event. Ends with a result or an error, and does not throw. */
  async start(changed) {
    try {
      const events = postEvents("/v1/extract", { ...this.body, stream: true }, { signal: this.stopping.signal });
      for await (const event of events) {
        this.take(event);
        changed();
      }
      if (this.isOpen) throw new Error("The connection ended before the answer did.");
    } catch (error) {
      const stopped = { code: "stopped", message: "You stopped this extraction." };
      this.error = error.name === "AbortError" ? new Refusal(stopped, 0) : error;
    }
    this.seconds = (performance.now() - this.begun) / 1000;
    changed();
  }

  take(event) {
    if (event.type === "error") throw new Refusal(event.error, 200);
    if (event.type === "field.started") {
      const empty = { object: {}, array: [] }[event.kind] ?? PENDING;
      this.data = put(this.data, event.pointer, empty);
    } else if (event.type === "field.completed") {
      this.data = put(this.data, event.pointer, event.value);
    } else if (event.type === "object.completed") {
      this.result = event.result;
      this.data = event.result.data;
    }
  }

  stop() {
    this.stopping.abort();
  }

  /** What a `ResultView` shows. */
  get shown() {
    const { fields = {}, warnings = [] } = this.result ?? {};
    return { data: this.data, text: this.text, fields, warnings };
  }
}
