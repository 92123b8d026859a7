// The document: typed, pasted, or a file that the server reads; with its marked sources once there is a result.
import { getJson, send } from "./api.js";
import { at } from "./dom.js";
import { PageImages } from "./page-images.js";

const MAX_CHARACTERS = 1_000_000;
const PDF = "application/pdf";
// Text of these formats is markup, which the server reads as a browser or a mail program would.
const MARKUP = /\.(?:html?|xhtml|eml|mht|rtf|xml)$/i;

export class DocumentPane {
  /** `onFault` is called with each error. */
  constructor(onFault) {
    this.onFault = onFault;
    this.area = at("text");
    this.hosts = { text: this.area, sources: at("sources"), pages: at("pages") };
    this.pages = new PageImages(at("pages"));
    this.file = null;
    this.area.addEventListener("input", () => this.describe());
    at("open-file").addEventListener("click", () => at("file").click());
    at("file").addEventListener("change", () => this.open(at("file").files[0]));
    at("detach").addEventListener("click", () => { this.text = this.text; });
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
    this.describe();
  }

  get text() {
    return this.area.value;
  }

  /** Plain text in place of what was there, also of a file. */
  set text(text) {
    this.put(text, null);
  }

  /** What a request gives as its document. */
  get source() {
    return this.file ? { document: { id: this.file.id } } : { text: this.text };
  }

  put(text, file) {
    this.file = file;
    this.area.value = text;
    this.area.readOnly = file !== null;
    const isDrawn = file?.media_type === PDF;
    this.pages.show(isDrawn ? file : null);
    document.querySelector("[data-shows=pages]").hidden = !isDrawn;
    at("detach").hidden = file === null;
    this.describe();
    this.shows(isDrawn ? "pages" : "text");
  }

  /** Show the text to edit it, the text with its sources, or the pages. */
  shows(what) {
    for (const [name, host] of Object.entries(this.hosts)) host.hidden = name !== what;
    for (const button of document.querySelectorAll("[data-shows]")) {
      button.setAttribute("aria-pressed", String(button.dataset.shows === what));
    }
  }

  /** Show the sources of a new result. */
  showSources() {
    this.shows(this.hosts.pages.hidden ? "sources" : "pages");
  }

  async open(file) {
    at("text-count").textContent = file ? `Reading ${file.name}` : "";
    try {
      if (file) await this.read(file);
    } catch (error) {
      this.onFault(error);
      this.describe();
    }
    at("file").value = "";
  }

  async read(file) {
    const text = MARKUP.test(file.name) ? null : asText(await file.arrayBuffer());
    if (text !== null) return this.put(text, null);
    const path = `/v1/documents?name=${encodeURIComponent(file.name)}`;
    const headers = { "content-type": "application/octet-stream" };
    const { id } = await (await send(path, { method: "POST", body: file, headers })).json();
    const described = await getJson(`/v1/documents/${id}`);
    return this.put(described.text, described);
  }

  describe() {
    const length = [...this.text].length;
    const facts = [`${length.toLocaleString("en")} characters`];
    if (length > MAX_CHARACTERS) facts.push(`at most ${MAX_CHARACTERS.toLocaleString("en")} are taken`);
    if (this.file) {
      const { name, pages, notes } = this.file;
      facts.unshift(name ?? "file", ...(pages.length ? [`${pages.length} ${pages.length === 1 ? "page" : "pages"}`] : []));
      facts.push(...notes.map((note) => note.message));
    }
    at("text-count").textContent = facts.join(" · ");
  }
}

function asText(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") || text.startsWith("%PDF-") ? null : text;
  } catch {
    return null;
  }
}
