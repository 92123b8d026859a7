// Two results next to each other: earlier runs, or the current document under two schemas. Differing values are marked.
import { budgetLine } from "./budget.js";
import { at, el } from "./dom.js";
import { leaves } from "./pointers.js";
import { problemView } from "./problem-view.js";
import { ResultView } from "./result-view.js";
import { Run } from "./run.js";
import { runsOfFile } from "./saved-results.js";

const MAX_RUNS = 20;

export class CompareView {
  /**
   * `makeRequest` makes body and text of a request of the first view, for a schema if one is named. `count` numbers the
   * runs of files, which come from no request.
   */
  constructor(makeRequest) {
    this.makeRequest = makeRequest;
    this.runs = [];
    this.catalogue = [];
    this.models = [];
    this.sides = ["left", "right"].map((side) => ({
      select: at(`${side}-run`),
      problem: at(`${side}-problem`),
      budget: at(`${side}-budget`),
      view: new ResultView({ tree: at(`${side}-tree`), onFocus: (pointer) => this.light(pointer) }),
      run: null,
    }));
    for (const side of this.sides) {
      side.select.addEventListener("change", () => this.choose(side));
    }
    at("open-result").addEventListener("click", () => at("result-file").click());
    at("result-file").addEventListener("change", () => this.open(at("result-file").files[0]));
  }

  /** Put the results of a file among the runs; the first one is shown on the left. */
  async open(file) {
    const [left] = this.sides;
    at("result-file").value = "";
    if (!file) return;
    try {
      const found = await runsOfFile(file);
      this.runs = [...found, ...this.runs].slice(0, Math.max(MAX_RUNS, found.length));
      [left.run] = found;
      this.update();
    } catch (error) {
      left.problem.replaceChildren(problemView(error));
    }
  }

  /** Keep a run, and show it on the right; the one before goes to the left. */
  add(run) {
    this.runs = [run, ...this.runs].slice(0, MAX_RUNS);
    const [left, right] = this.sides;
    if (right.run) left.run = right.run;
    right.run = run;
    this.update();
  }

  offer(catalogue, models) {
    this.catalogue = catalogue;
    this.models = models.length > 1 ? models : [];
    this.update();
  }

  update() {
    for (const side of this.sides) {
      const named = this.runs.map((run, index) => el("option", { value: `run:${index}` }, run.number ? `Run ${run.number}: ${run.label}` : run.label));
      const schemas = this.catalogue.map((entry) => el("option", { value: `schema:${entry.name}` }, entry.title));
      side.select.replaceChildren(
        el("option", { value: "" }, "Choose a run or a schema"),
        el("optgroup", { label: "Results" }, named),
        el("optgroup", { label: "Extract the document with" }, schemas),
        this.models.length ? el("optgroup", { label: "Extract with the model" }, this.models.map((id) => el("option", { value: `model:${id}` }, id))) : "",
      );
      side.select.value = this.runs.includes(side.run) ? `run:${this.runs.indexOf(side.run)}` : "";
    }
    this.show();
  }

  async choose(side) {
    const { value } = side.select;
    const [kind, name] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
    if (kind === "run") side.run = this.runs[Number(name)];
    if (kind === "schema") return this.extract(side, name, this.makeRequest(name));
    if (kind === "model") return this.extract(side, name, this.makeRequest(), name);
    this.show();
    return undefined;
  }

  async extract(side, label, { body, text }, model = null) {
    if (!text.trim()) {
      side.problem.replaceChildren(problemView(new Error("There is no document. Paste one in the view Extract.")));
      return;
    }
    const run = new Run(model ? { ...body, model } : body, text, label);
    side.run?.stop();
    side.run = run;
    await run.start(() => this.show());
    if (run.result) this.runs = [run, ...this.runs].slice(0, MAX_RUNS);
    this.update();
  }

  show() {
    const differing = differences(...this.sides.map((side) => side.run));
    for (const { run, view, problem, budget } of this.sides) {
      if (run) view.show({ ...run.shown, differing });
      problem.replaceChildren(...(run?.error ? [problemView(run.error)] : []));
      budget.replaceChildren(...(run?.result?.usage ? budgetLine(run) : []));
    }
    const both = this.sides.every((side) => side.run?.result);
    at("differences").textContent = both ? counted([...differing.values()]) : "";
  }

  light(pointer) {
    for (const { view } of this.sides) {
      for (const lit of view.tree.querySelectorAll(".lit")) lit.classList.remove("lit");
      if (pointer !== null) view.button(pointer)?.classList.add("lit");
    }
  }
}

function counted(found) {
  const changed = found.filter((kind) => kind === "changed").length;
  return `${changed} ${changed === 1 ? "value differs" : "values differ"}, ${found.length - changed} on one side only`;
}

/** By pointer: `changed` for leaves with another value in the other result, `single` for those that only one has. */
function differences(left, right) {
  if (!left?.result || !right?.result) return new Map();
  const [a, b] = [left, right].map((run) => new Map(leaves(run.result.data).map(([p, v]) => [p, JSON.stringify(v)])));
  const pointers = [...new Set([...a.keys(), ...b.keys()])].filter((pointer) => a.get(pointer) !== b.get(pointer));
  return new Map(pointers.map((pointer) => [pointer, a.has(pointer) && b.has(pointer) ? "changed" : "single"]));
}
