// The schema: chosen by name, written, or inferred from an example; explained by the server while it is written.
import { getJson, postJson } from "./api.js";
import { at, debounced, el } from "./dom.js";
import { Editor } from "./editor.js";
import { inferSchema } from "./infer.js";
import { JsonFault, readJson } from "./places.js";
import { causes, problemView } from "./problem-view.js";

const OWN = "own";

export class SchemaPane {
  /** `onNamed` hears of the catalogue entry that was chosen. */
  constructor(onNamed) {
    this.onNamed = onNamed;
    this.catalogue = new Map();
    this.read = null;
    this.asked = null;
    this.editor = new Editor(at("schema"), () => { at("schema-name").value = OWN; this.changed(); });
    this.explainSoon = debounced(350, () => this.explain());
    at("schema-name").addEventListener("change", () => this.choose(at("schema-name").value));
    at("format-schema").addEventListener("click", () => this.format());
    at("infer").addEventListener("click", () => { at("infer-fault").replaceChildren(); at("infer-dialog").showModal(); });
    at("infer-form").addEventListener("submit", (event) => this.infer(event));
  }

  /** What a request gives as its schema: the chosen name, or the value of the text. Throws `JsonFault`. */
  get schema() {
    const name = at("schema-name").value;
    if (name !== OWN) return name.replace(/^registry:/, "");
    return readJson(this.editor.text).value;
  }

  /** A name for people: that of the entry, or the title of the schema. */
  get label() {
    const name = at("schema-name").value;
    return name === OWN ? (this.read?.value?.title ?? "own schema") : name;
  }

  /** Fill the list of names. */
  async load(catalogue) {
    this.catalogue = new Map(catalogue.map((entry) => [entry.name, entry]));
    const select = at("schema-name");
    select.replaceChildren(
      el("option", { value: OWN }, "Own schema"),
      el("optgroup", { label: "Catalogue" }, catalogue.map((entry) => el("option", { value: entry.name }, entry.title))),
    );
    const registered = await registeredSchemas();
    if (registered.length) {
      const options = registered.map(({ reference }) => el("option", { value: `registry:${reference}` }, reference));
      select.append(el("optgroup", { label: "Registry" }, options));
    }
  }

  /** Take the schema of a name. */
  async choose(name) {
    at("schema-name").value = name;
    if (name === OWN) return;
    const entry = this.catalogue.get(name);
    try {
      this.write(entry ? entry.schema : (await getJson(`/v1/schemas/${encodeURIComponent(name.slice(9))}`)).schema);
    } catch (error) {
      at("explain").replaceChildren(problemView(error));
    }
    if (entry) this.onNamed(entry);
  }

  write(schema) {
    this.editor.text = JSON.stringify(schema, null, 2);
    this.changed();
  }

  changed() {
    try {
      this.read = readJson(this.editor.text);
      this.editor.mark(0);
      this.explainSoon();
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      this.read = null;
      this.asked?.abort();
      this.editor.mark(error.line);
      at("explain").replaceChildren(state("bad", "No JSON"), el("p", {}, error.message));
    }
  }

  format() {
    if (this.read) this.editor.text = JSON.stringify(this.read.value, null, 2);
    this.changed();
  }

  async explain() {
    if (!this.read) return;
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    try {
      const report = await postJson("/v1/schemas/explain", { schema: this.read.value }, { signal: asked.signal });
      this.show(report);
    } catch (error) {
      if (error.name !== "AbortError") at("explain").replaceChildren(problemView(error));
    }
  }

  show(report) {
    const toLine = (pointer) => this.goTo(pointer);
    at("explain").replaceChildren(...(report.enforced ? accepted(report) : refused(report, toLine)));
  }

  /** Go to the line of a pointer into a request or a schema, or of what contains it. */
  goTo(pointer) {
    const lines = this.read?.lines ?? new Map();
    for (let known = pointer.replace(/^\/schema(?=\/|$)/, ""); ; known = known.slice(0, known.lastIndexOf("/"))) {
      if (lines.has(known)) return this.editor.goTo(lines.get(known));
      if (!known) return undefined;
    }
  }

  infer(event) {
    if (event.submitter?.value !== "infer") return;
    event.preventDefault();
    try {
      this.write(inferSchema(readJson(at("infer-example").value).value));
      at("schema-name").value = OWN;
      at("infer-dialog").close();
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      at("infer-fault").replaceChildren(el("p", { class: "notice bad" }, error.message));
    }
  }
}

async function registeredSchemas() {
  try {
    return (await getJson("/v1/schemas?limit=1000")).data;
  } catch (error) {
    if (error.status === 404 || error.status === 401 || error.status === 503) return []; // none are kept, or none are shown yet
    throw error;
  }
}

function state(kind, label) {
  return el("span", { class: `state ${kind}` }, label);
}

function accepted(report) {
  const keywords = new Set(report.keywords.filter((keyword) => keyword.tier).map((keyword) => keyword.keyword));
  const loose = report.keywords.filter((keyword) => keyword.unknown);
  return [
    el("div", { class: "explained" }, state("good", "Enforced"), el("span", {}, `shortest ${report.least_tokens} tokens`), el("span", {}, `typical ${report.typical_tokens}`), el("span", {}, `${keywords.size} keywords`)),
    loose.length ? causes(loose.map((k) => ({ pointer: k.pointer, reason: `${k.keyword} is unknown and has no effect.`, hint: k.hint })), null) : null,
    report.shortest ? el("details", {}, el("summary", {}, "Shortest document it allows"), el("pre", {}, report.shortest)) : null,
  ].filter(Boolean);
}

function refused(report, toLine) {
  return [
    el("div", { class: "explained" }, state("bad", "Refused"), el("code", {}, report.code)),
    el("p", {}, report.message),
    causes(report.refusals, toLine),
  ].filter(Boolean);
}
