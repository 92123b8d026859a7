// The pages of a PDF as images, each loaded when it comes into view, with boxes where values come from.
import { send } from "./api.js";
import { el } from "./dom.js";
import { tintOf } from "./marks.js";

const DPI = 144;

export class PageImages {
  constructor(host) {
    this.host = host;
    this.document = null;
    this.figures = new Map();
    this.urls = [];
    this.watcher = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries) if (isIntersecting) this.load(target);
    }, { root: host, rootMargin: "600px" });
  }

  /** Show the pages of a document, or none. */
  show(described) {
    for (const url of this.urls) URL.revokeObjectURL(url);
    this.watcher.disconnect();
    this.urls = [];
    this.document = described;
    this.figures = new Map((described?.pages ?? []).map((page) => [page.number, this.figure(page)]));
    this.host.replaceChildren(...this.figures.values());
    for (const figure of this.figures.values()) this.watcher.observe(figure);
  }

  figure(page) {
    const figure = el("figure", { class: "page-image", data: { number: page.number } }, el("figcaption", { class: "sr" }, `Page ${page.number}`));
    figure.style.aspectRatio = `${page.width} / ${page.height}`;
    return figure;
  }

  async load(figure) {
    this.watcher.unobserve(figure);
    const { number } = figure.dataset;
    try {
      const answer = await send(`/v1/documents/${this.document.id}/pages/${number}?dpi=${DPI}`);
      const url = URL.createObjectURL(await answer.blob());
      this.urls.push(url);
      figure.prepend(el("img", { src: url, alt: `Page ${number} of the document` }));
    } catch (error) {
      figure.append(el("p", { class: "notice bad" }, error.message));
    }
  }

  /** Draw the boxes of fields. */
  mark(fields, order) {
    for (const box of this.host.querySelectorAll(".box")) box.remove();
    for (const [pointer, report] of Object.entries(fields)) {
      for (const box of report.boxes ?? []) this.draw(box, pointer, tintOf(pointer, order));
    }
  }

  draw(box, pointer, tint) {
    const page = this.document?.pages.find(({ number }) => number === box.page);
    if (!page) return;
    const mark = el("span", { class: `box tint-${tint}`, title: pointer, data: { pointers: JSON.stringify([pointer]) } });
    mark.style.left = `${(box.x0 / page.width) * 100}%`;
    mark.style.top = `${(box.y0 / page.height) * 100}%`;
    mark.style.width = `${((box.x1 - box.x0) / page.width) * 100}%`;
    mark.style.height = `${((box.y1 - box.y0) / page.height) * 100}%`;
    this.figures.get(box.page).append(mark);
  }
}
