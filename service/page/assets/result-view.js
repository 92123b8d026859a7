// Shows one result: its tree, its text with marks, and the details of the chosen value, linked with each other.
import { marksOf, showMarked } from "./marks.js";
import { parts } from "./pointers.js";
import { showDetail } from "./detail.js";
import { showTree } from "./tree.js";

export class ResultView {
  /**
   * `tree`, `text` and `detail` are elements, `pages` are `PageImages`; all but `tree` may be missing. `onFocus` is
   * called with the pointer of the lit value, or null.
   */
  constructor({ tree, text = null, pages = null, detail = null, onFocus = () => {} }) {
    this.tree = tree;
    this.text = text;
    this.pages = pages;
    this.sources = [text, pages?.host].filter(Boolean);
    this.detail = detail;
    this.onFocus = onFocus;
    this.shown = null;
    this.chosen = null;
    this.plain = null;
    for (const host of [tree, ...this.sources]) {
      const scrolls = host === tree;
      for (const event of ["mouseover", "focusin"]) {
        host.addEventListener(event, (e) => this.light(pointerOf(e.target) ?? this.chosen, { scrolls }));
      }
      for (const event of ["mouseleave", "focusout"]) {
        host.addEventListener(event, () => this.light(this.chosen, { scrolls }));
      }
      host.addEventListener("click", (e) => this.choose(pointerOf(e.target)));
    }
  }

  /** Show a result: data, text, fields, warnings. */
  show(shown) {
    this.shown = shown;
    this.chosen = null;
    const order = new Map();
    showTree(this.tree, shown, order);
    this.mark(shown.text ?? "", shown.fields ?? {}, order);
    this.detail?.replaceChildren();
    if (this.detail) this.detail.hidden = true;
  }

  // A result is shown again with each of its events; its text, which may be long, only once there are sources.
  mark(text, fields, order) {
    const isPlain = Object.keys(fields).length === 0;
    const stays = isPlain && this.plain === text;
    this.plain = isPlain ? text : null;
    if (stays) return;
    if (this.text) showMarked(this.text, text, fields, order);
    this.pages?.mark(fields, order);
  }

  /** Light up a value and its source; null lights up nothing. */
  light(pointer, { scrolls = true } = {}) {
    for (const host of [this.tree, ...this.sources]) {
      for (const lit of host.querySelectorAll(".lit")) lit.classList.remove("lit");
    }
    this.onFocus(pointer);
    if (pointer === null) return;
    this.button(pointer)?.classList.add("lit");
    for (const host of this.sources) {
      const marks = marksOf(host, pointer);
      for (const mark of marks) mark.classList.add("lit");
      if (scrolls && marks.length && !host.hidden) scrollWithin(host, marks[0]);
    }
  }

  /** Choose a value: its details are shown and its light stays on. */
  choose(pointer) {
    if (pointer === null || !this.detail) return;
    const button = this.button(pointer);
    if (!button) return;
    this.tree.querySelector("[aria-pressed=true]")?.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    this.chosen = pointer;
    this.light(pointer);
    const warnings = (this.shown.warnings ?? []).filter((warning) => warning.pointer === pointer);
    const value = parts(pointer).reduce((inner, name) => inner[name], this.shown.data);
    showDetail(this.detail, pointer, value, this.shown.fields?.[pointer], warnings);
    this.detail.hidden = false;
  }

  button(pointer) {
    return [...this.tree.querySelectorAll("[data-pointer]")].find((b) => b.dataset.pointer === pointer);
  }
}

function pointerOf(target) {
  const button = target.closest("[data-pointer]");
  if (button) return button.dataset.pointer;
  const mark = target.closest("[data-pointers]");
  return mark ? JSON.parse(mark.dataset.pointers)[0] : null;
}

// The page itself must not jump while values are hovered, so only the pane of the source scrolls.
function scrollWithin(pane, mark) {
  const [outer, inner] = [pane.getBoundingClientRect(), mark.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    pane.scrollTop += inner.top - outer.top - outer.height / 3;
  }
}
