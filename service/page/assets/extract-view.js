// The view that extracts: document, schema and options in; the answer as it is written, its sources and its figures.
import { apiKey } from "./api.js";
import { budgetLine } from "./budget.js";
import { DocumentPane } from "./document-pane.js";
import { at } from "./dom.js";
import { readOptions } from "./options.js";
import { JsonFault } from "./places.js";
import { problemView } from "./problem-view.js";
import { asCurl, asPython, requestBody } from "./request.js";
import { ResultView } from "./result-view.js";
import { Run } from "./run.js";
import { saveAsPage } from "./save.js";
import { SchemaPane } from "./schema-pane.js";
import { PENDING } from "./tree.js";

export class ExtractView {
  /** `onRun` hears of every run that ended with a result. */
  constructor(onRun) {
    this.onRun = onRun;
    this.run = null;
    this.frame = 0;
    this.document = new DocumentPane((error) => this.fault(error));
    this.schema = new SchemaPane((entry) => this.takeSample(entry));
    this.samples = new Set([""]);
    this.view = new ResultView({
      tree: at("tree"),
      text: at("sources"),
      pages: this.document.pages,
      detail: at("detail"),
      onFocus: (pointer) => { at("lit-pointer").textContent = pointer ?? ""; },
    });
    at("run").addEventListener("click", () => (this.run?.isOpen ? this.run.stop() : this.start()));
    document.addEventListener("keydown", (event) => this.key(event));
    at("copy").addEventListener("change", (event) => this.copy(event.target));
    at("save").addEventListener("click", () => this.save());
    for (const button of document.querySelectorAll("[data-form]")) {
      button.addEventListener("click", () => this.form(button.dataset.form));
    }
    this.form("tree");
  }

  /** A sample document is put in place of another sample, never of the user's text. */
  takeSample(entry) {
    if (!this.samples.has(this.document.text)) return;
    this.samples.add(entry.sample);
    this.document.text = entry.sample;
  }

  /** The body of the request as it stands. Throws `JsonFault`. */
  body(schema = this.schema.schema) {
    return requestBody(schema, this.document.source, readOptions(), at("instructions").value.trim());
  }

  async start() {
    let body;
    try {
      body = this.body();
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      return this.fault(new Error(`The schema is no JSON. ${error.message}`));
    }
    if (!this.document.text.trim()) return this.fault(new Error("There is no document. Paste a text or open a file."));
    this.run = new Run(body, this.document.text, this.schema.label);
    this.setBusy(true);
    this.show();
    const run = this.run;
    await run.start(() => this.showSoon());
    if (run !== this.run) return undefined;
    this.setBusy(false);
    this.show();
    if (run.result) this.finish(run);
    return undefined;
  }

  finish(run) {
    if (Object.values(run.result.fields ?? {}).some((report) => report.span)) this.document.showSources();
    at("announce").textContent = `Extraction finished in ${run.seconds.toFixed(1)} seconds.`;
    this.onRun(run);
  }

  setBusy(busy) {
    at("run").classList.toggle("busy", busy);
    at("run-label").textContent = busy ? "Stop" : "Extract";
    at("tree").setAttribute("aria-busy", String(busy));
    for (const id of ["copy", "save"]) at(id).disabled = busy || !this.run?.result;
  }

  // Events come faster than a screen shows them.
  showSoon() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.show());
  }

  show() {
    cancelAnimationFrame(this.frame);
    const { run } = this;
    at("result-empty").hidden = true;
    this.view.show(run.shown);
    at("lit-pointer").textContent = "";
    at("tree").classList.toggle("none", Boolean(run.error) && run.data === PENDING);
    at("json").textContent = run.result ? JSON.stringify(run.result.data, null, 2) : "";
    at("problem").replaceChildren(...(run.error ? [problemView(run.error, (pointer) => this.schema.goTo(pointer))] : []));
    at("budget").replaceChildren(...(run.result ? budgetLine(run) : []));
    const general = (run.result?.warnings ?? []).length;
    at("warning-count").textContent = general ? `${general} ${general === 1 ? "warning" : "warnings"}` : "";
  }

  fault(error) {
    at("problem").replaceChildren(problemView(error));
  }

  form(name) {
    at("tree").hidden = name !== "tree";
    at("json").hidden = name !== "json";
    for (const button of document.querySelectorAll("[data-form]")) {
      button.setAttribute("aria-pressed", String(button.dataset.form === name));
    }
  }

  key(event) {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || at("view-extract").hidden) return;
    event.preventDefault();
    if (!this.run?.isOpen) this.start();
  }

  async copy(select) {
    const { body, result } = this.run;
    const texts = {
      curl: () => asCurl(body, location.origin, Boolean(apiKey.get())),
      python: () => asPython(body, this.run.text, location.origin),
      json: () => `${JSON.stringify(result.data, null, 2)}\n`,
    };
    const text = texts[select.value]();
    select.value = "";
    at("copied").value = text;
    let note = "Copied.";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      note = "The browser does not let this page copy. Select the text and copy it.";
    }
    at("copied-note").textContent = note;
    at("copy-dialog").showModal();
  }

  async save() {
    try {
      await saveAsPage([{ id: this.run.label, model: this.run.result.model, ...this.run.shown }], `${this.run.label} · Intaglio`);
    } catch (error) {
      this.fault(error);
    }
  }
}
