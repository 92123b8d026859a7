// Shows one result: its tree, its text with marks, and the details of the chosen value, linked with each other.
import { marksOf, showMarked } from "./marks.js";
import { parts } from "./pointers.js";
import { showDetail } from "./detail.js";
import { showTree } from "./tree.js";

export class ResultView {
  /** `tree`, `text` and `detail` are elements; `text` and `detail` may be null. `onFocus` hears of the lit value. */
  constructor({ tree, text = null, detail = null, onFocus = () => {} }) {
    this.tree = tree;
    this.text = text;
    this.detail = detail;
    this.onFocus = onFocus;
    this.shown = null;
    this.chosen = null;
    for (const event of ["mouseover", "focusin"]) {
      tree.addEventListener(event, (e) => this.light(pointerOf(e.target)));
      text?.addEventListener(event, (e) => this.light(pointerOf(e.target), { scrolls: false }));
    }
    for (const event of ["mouseleave", "focusout"]) {
      tree.addEventListener(event, () => this.light(this.chosen));
      text?.addEventListener(event, () => this.light(this.chosen, { scrolls: false }));
    }
    tree.addEventListener("click", (e) => this.choose(pointerOf(e.target)));
    text?.addEventListener("click", (e) => this.choose(pointerOf(e.target)));
  }

  /** Show a result: data, text, fields, warnings. */
  show(shown) {
    this.shown = shown;
    this.chosen = null;
    const order = new Map();
    showTree(this.tree, shown, order);
    if (this.text) showMarked(this.text, shown.text ?? "", shown.fields ?? {}, order);
    this.detail?.replaceChildren();
    if (this.detail) this.detail.hidden = true;
  }

  /** Light up a value and its source; null lights up nothing. */
  light(pointer, { scrolls = true } = {}) {
    for (const lit of this.tree.querySelectorAll(".lit")) lit.classList.remove("lit");
    for (const lit of this.text?.querySelectorAll(".lit") ?? []) lit.classList.remove("lit");
    this.onFocus(pointer);
    if (pointer === null) return;
    this.button(pointer)?.classList.add("lit");
    if (!this.text) return;
    const marks = marksOf(this.text, pointer);
    for (const mark of marks) mark.classList.add("lit");
    if (scrolls && marks.length) scrollWithin(this.text, marks[0]);
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
    const report = this.shown.fields?.[pointer];
    showDetail(this.detail, pointer, valueAt(this.shown.data, button), report, warnings);
    this.detail.hidden = false;
  }

  button(pointer) {
    return [...this.tree.querySelectorAll("[data-pointer]")].find((b) => b.dataset.pointer === pointer);
  }
}

function pointerOf(target) {
  const button = target.closest("[data-pointer]");
  if (button) return button.dataset.pointer;
  const mark = target.closest("mark");
  return mark ? JSON.parse(mark.dataset.pointers)[0] : null;
}

function valueAt(data, button) {
  return parts(button.dataset.pointer).reduce((inner, name) => inner[name], data);
}

// The page itself must not jump while values are hovered, so only the pane of the text scrolls.
function scrollWithin(pane, mark) {
  const [outer, inner] = [pane.getBoundingClientRect(), mark.getBoundingClientRect()];
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    pane.scrollTop += inner.top - outer.top - outer.height / 3;
  }
}
