// The document: typed, pasted, dropped or opened as a file; with its marked sources once there is a result.
import { at } from "./dom.js";

const MAX_CHARACTERS = 1_000_000;

export class DocumentPane {
  constructor(onFault) {
    this.onFault = onFault;
    this.area = at("text");
    this.sources = at("sources");
    this.area.addEventListener("input", () => this.count());
    at("open-file").addEventListener("click", () => at("file").click());
    at("file").addEventListener("change", () => this.open(at("file").files[0]));
    for (const button of document.querySelectorAll("[data-shows]")) {
      button.addEventListener("click", () => this.shows(button.dataset.shows));
    }
    const pane = at("document-pane");
    pane.addEventListener("dragover", (event) => { event.preventDefault(); pane.classList.add("dropping"); });
    pane.addEventListener("dragleave", () => pane.classList.remove("dropping"));
    pane.addEventListener("drop", (event) => {
      event.preventDefault();
      pane.classList.remove("dropping");
      this.open(event.dataTransfer.files[0]);
    });
    this.count();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.count();
    this.shows("text");
  }

  /** Show the text to edit it, or its sources. */
  shows(what) {
    this.area.hidden = what !== "text";
    this.sources.hidden = what !== "sources";
    for (const button of document.querySelectorAll("[data-shows]")) {
      button.setAttribute("aria-pressed", String(button.dataset.shows === what));
    }
  }

  async open(file) {
    if (!file) return;
    try {
      this.text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      this.onFault(new Error(`${file.name} is not text in UTF-8.`));
    }
    at("file").value = "";
  }

  count() {
    const length = [...this.text].length;
    const over = length > MAX_CHARACTERS ? `, at most ${MAX_CHARACTERS.toLocaleString("en")} are taken` : "";
    at("text-count").textContent = `${length.toLocaleString("en")} characters${over}`;
  }
}
