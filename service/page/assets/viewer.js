// The saved page: a list of results that can be filtered, and the chosen one with its sources.
import { el } from "./dom.js";
import { ResultView } from "./result-view.js";

class Viewer {
  constructor({ title, rows }) {
    this.rows = rows;
    document.title = title || "Results";
    document.getElementById("title").textContent = title || "Results";
    this.list = document.getElementById("rows");
    this.text = document.getElementById("sources");
    this.view = new ResultView({
      tree: document.getElementById("tree"),
      text: this.text,
      detail: document.getElementById("detail"),
    });
    this.needles = rows.map((row) => JSON.stringify([row.id, row.data, row.warnings, row.error]).toLowerCase());
    this.buttons = rows.map((row, index) =>
      el("button", { type: "button", on: { click: () => this.open(index) } }, el("b", {}, String(row.id)), el("span", {}, summary(row))),
    );
    const items = this.buttons.map((button) => el("li", {}, button));
    this.list.replaceChildren(...items);
    document.getElementById("list").hidden = rows.length < 2;
    document.getElementById("filter").addEventListener("input", (event) => this.filter(event.target.value));
    this.filter("");
    if (rows.length) this.open(0);
  }

  filter(words) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    this.needles.forEach((needle, index) => {
      const fits = wanted.every((word) => needle.includes(word));
      this.buttons[index].parentElement.hidden = !fits;
      shown += fits;
    });
    document.getElementById("count").textContent = `${shown} of ${this.rows.length}`;
  }

  open(index) {
    const row = this.rows[index];
    for (const button of this.buttons) button.removeAttribute("aria-current");
    this.buttons[index].setAttribute("aria-current", "true");
    this.view.show(row);
    const fault = document.getElementById("row-error");
    fault.textContent = row.error?.message ?? "";
    fault.hidden = !row.error;
    document.getElementById("tree").hidden = Boolean(row.error);
    document.getElementById("source").hidden = !row.text;
  }
}

function summary(row) {
  const marks = row.warnings?.length ? `${row.warnings.length} ⚠ ` : "";
  return `${marks}${row.error?.message ?? JSON.stringify(row.data)}`.slice(0, 120);
}

new Viewer(JSON.parse(document.getElementById("results").textContent));
