// The review queue of one job: rows with values of a low probability, one at a time, to be accepted or corrected.
import { getJson, postJson, send } from "./api.js";
import { at, el } from "./dom.js";
import { JsonFault, readJson } from "./places.js";
import { leaves } from "./pointers.js";
import { problemView } from "./problem-view.js";
import { ResultView } from "./result-view.js";
import { download } from "./save.js";

export class ReviewPane {
  /** `onDecided` is called after each decision. */
  constructor(onDecided) {
    this.onDecided = onDecided;
    this.job = null;
    this.row = null;
    this.skipped = 0;
    this.view = new ResultView({ tree: at("review-tree"), text: at("review-text") });
    at("review-accept").addEventListener("click", () => this.decide({ decision: "accept" }));
    at("review-correct").addEventListener("click", () => this.correct());
    at("review-skip").addEventListener("click", () => this.next(this.row.row));
    at("review-gold").addEventListener("click", () => this.gold());
    at("review-data").addEventListener("input", () => this.edited());
  }

  /** Show the queue of a job. What is being edited stays. */
  async show(job) {
    const { needs_review: waiting = 0, reviewed = 0 } = job?.counts ?? {};
    at("review").hidden = !waiting && !reviewed;
    at("review-counts").textContent = `${waiting} to review, ${reviewed} reviewed`;
    at("review-gold").disabled = !reviewed;
    if (this.job === job?.id && (this.row || !waiting)) return;
    this.job = job?.id ?? null;
    await this.next(0);
  }

  /** Open the first waiting row after a number, or the first one of all. */
  async next(after) {
    this.row = null;
    at("review-problem").replaceChildren();
    try {
      let { data } = this.job ? await this.page(after) : { data: [] };
      if (!data.length && after) ({ data } = await this.page(0));
      this.open(data[0] ?? null);
    } catch (error) {
      at("review-problem").replaceChildren(problemView(error));
    }
  }

  page(after) {
    return getJson(`/v1/jobs/${this.job}/review?limit=1&after=${after}&sources=true`);
  }

  open(row) {
    this.row = row;
    at("review-row").hidden = !row;
    if (!row) return;
    const probability = (pointer) => row.unsure[pointer];
    const fields = Object.fromEntries(
      leaves(row.data).map(([pointer]) => [
        pointer,
        { ...row.sources[pointer], confidence: probability(pointer) === undefined ? null : { probability: probability(pointer) } },
      ]),
    );
    at("review-id").textContent = row.id;
    at("review-data").value = JSON.stringify(row.data, null, 2);
    const unsure = Object.entries(row.unsure).filter(([pointer]) => pointer);
    at("review-unsure").replaceChildren(
      ...(unsure.length ? unsure.sort((a, b) => a[1] - b[1]).map(([pointer]) => el("li", {}, el("button", { type: "button", class: "link", on: { click: () => this.view.light(pointer) } }, pointer))) : [el("li", {}, "The whole row: it has no probabilities.")]),
    );
    const warnings = Object.keys(row.unsure).map((pointer) => ({ pointer, kind: "unsure", message: "Less probable than the job accepts." }));
    this.view.show({ data: row.data, text: row.text ?? "", fields, warnings });
    this.edited();
  }

  edited() {
    const changed = at("review-data").value !== JSON.stringify(this.row?.data, null, 2);
    at("review-correct").disabled = !changed;
    at("review-accept").disabled = changed;
  }

  correct() {
    try {
      return this.decide({ decision: "correct", data: readJson(at("review-data").value).value });
    } catch (error) {
      if (!(error instanceof JsonFault)) throw error;
      at("review-problem").replaceChildren(problemView(error));
      return undefined;
    }
  }

  async decide(decision) {
    const { row } = this.row;
    try {
      await postJson(`/v1/jobs/${this.job}/review`, { row, ...decision });
    } catch (error) {
      at("review-problem").replaceChildren(problemView(error));
      return;
    }
    await this.next(row);
    this.onDecided();
  }

  async gold() {
    try {
      download(await (await send(`/v1/jobs/${this.job}/gold`)).blob(), `${this.job}-gold.jsonl`);
    } catch (error) {
      at("review-problem").replaceChildren(problemView(error));
    }
  }
}
