// An editor of plain text with line numbers, one of which can be marked as the place of an error.
import { el } from "./dom.js";

export class Editor {
  /** `area` is the textarea; the numbers are put before it. `onInput` is called after each change by the user. */
  constructor(area, onInput) {
    this.area = area;
    this.numbers = el("div", { class: "numbers", "aria-hidden": "true" });
    this.count = 0;
    this.faulty = 0;
    area.before(this.numbers);
    area.addEventListener("scroll", () => { this.numbers.scrollTop = area.scrollTop; });
    area.addEventListener("input", () => { this.number(); onInput(); });
    this.number();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.mark(0);
    this.number();
  }

  /** Mark a line as faulty; 0 marks none. */
  mark(line) {
    this.numbers.children[this.faulty - 1]?.classList.remove("faulty");
    this.faulty = line;
    this.numbers.children[line - 1]?.classList.add("faulty");
    this.area.setAttribute("aria-invalid", String(line > 0));
  }

  /** Put the cursor at the begin of a line, and show it. */
  goTo(line) {
    const lines = this.text.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    this.area.focus();
    this.area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    this.area.scrollTop = Math.max(0, (line - 4) * parseFloat(getComputedStyle(this.area).lineHeight));
  }

  number() {
    const count = this.text.split("\n").length;
    if (count === this.count) return;
    this.count = count;
    this.numbers.replaceChildren(...Array.from({ length: count }, (_, i) => el("span", {}, String(i + 1))));
    this.mark(this.faulty);
  }
}
