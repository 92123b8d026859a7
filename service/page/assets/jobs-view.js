// The jobs of the server: progress, dead letters, results, reviews; pause, resume and cancel.
import { getJson, send } from "./api.js";
import { at, el } from "./dom.js";
import { Polling } from "./polling.js";
import { problemView } from "./problem-view.js";
import { ReviewPane } from "./review-pane.js";
import { download } from "./save.js";

const DEAD_SHOWN = 100;
const ENDED = new Set(["completed", "completed_with_errors", "cancelled", "failed"]);
const CHANGES = { ready: ["pause", "cancel"], running: ["pause", "cancel"], paused: ["resume", "cancel"], cancelled: ["resume"], failed: ["resume"] };

export class JobsView {
  constructor() {
    this.chosen = null;
    this.dead = { key: "", rows: [] };
    this.seen = "";
    this.review = new ReviewPane(() => this.refresh());
    this.polling = new Polling(2000, () => this.refresh());
  }

  /** Poll while the view is visible. */
  visible(is) {
    this.polling.run(is);
  }

  async refresh() {
    try {
      const { data } = await getJson("/v1/jobs");
      at("jobs-problem").replaceChildren();
      this.chosen ??= data[0]?.id ?? null;
      const job = data.find(({ id }) => id === this.chosen);
      // What has not changed is not drawn again, so that the focus of the keyboard stays.
      const seen = JSON.stringify([data, this.chosen]);
      if (seen !== this.seen) {
        this.show(data);
        if (job) await this.showOne(job);
        this.seen = seen;
      }
      await this.review.show(job);
    } catch (error) {
      at("jobs-problem").replaceChildren(problemView(error));
      at("job-rows").replaceChildren();
      this.seen = "";
    }
  }

  show(jobs) {
    at("jobs-empty").hidden = jobs.length > 0;
    at("job-rows").replaceChildren(...jobs.map((job) => this.card(job)));
  }

  card(job) {
    const { rows, done, dead } = job.counts;
    const open = { click: () => { this.chosen = job.id; this.refresh(); } };
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "job", on: open, "aria-current": this.chosen === job.id ? "true" : null },
        el("code", {}, job.id),
        stateChip(job.state),
        el("meter", { min: 0, max: Math.max(1, rows), value: done + dead, "aria-label": "Rows that ended" }),
        el("span", { class: "faint" }, `${done} done, ${dead} dead, ${rows}${job.whole ? "" : "+"} rows`),
      ),
    );
  }

  async showOne(job) {
    await this.readDead(job);
    const facts = [["Rows", job.counts.rows], ["Done", job.counts.done], ["Dead", job.counts.dead], ["Running", job.counts.running], ["Pending", job.counts.pending], ["Output tokens", job.counts.output_tokens]];
    at("job").replaceChildren(
      el("h2", {}, el("code", {}, job.id)),
      el("p", {}, stateChip(job.state), ` begun ${new Date(job.created * 1000).toLocaleString("en-GB")}`),
      job.error ? el("p", { class: "notice bad" }, job.error) : "",
      el("dl", { class: "figures" }, facts.map(([name, figure]) => el("div", {}, el("dt", {}, name), el("dd", {}, Number(figure).toLocaleString("en"))))),
      el("div", { class: "actions" }, this.actions(job)),
      ...deadLetters(this.dead.rows, job.counts.dead),
    );
  }

  // The dead rows are read again only when there are more or fewer of them.
  async readDead(job) {
    const key = `${job.id} ${job.counts.dead}`;
    if (this.dead.key === key) return;
    const lines = job.counts.dead ? (await (await send(`/v1/jobs/${job.id}/dead`)).text()).trim().split("\n") : [];
    this.dead = { key, rows: lines.slice(0, DEAD_SHOWN).map((line) => JSON.parse(line)) };
  }

  actions(job) {
    const changes = (CHANGES[job.state] ?? []).map((change) =>
      el("button", { type: "button", class: "plain", on: { click: () => this.change(job.id, change) } }, change[0].toUpperCase() + change.slice(1)),
    );
    const formats = job.counts.done ? ["jsonl", "csv"] : [];
    const files = formats.map((format) =>
      el("button", { type: "button", class: "plain", on: { click: () => this.results(job.id, format) } }, `Results as ${format.toUpperCase()}`),
    );
    return [...changes, ...files];
  }

  async change(id, change) {
    try {
      await send(`/v1/jobs/${id}/${change}`, { method: "POST" });
      await this.refresh();
    } catch (error) {
      at("jobs-problem").replaceChildren(problemView(error));
    }
  }

  async results(id, format) {
    try {
      download(await (await send(`/v1/jobs/${id}/results?format=${format}`)).blob(), `${id}.${format}`);
    } catch (error) {
      at("jobs-problem").replaceChildren(problemView(error));
    }
  }
}

function stateChip(state) {
  const kind = { completed: "good", completed_with_errors: "warn", failed: "bad", cancelled: "warn" }[state] ?? "quiet";
  return el("span", { class: `state ${kind}${ENDED.has(state) ? "" : " live"}` }, state.replaceAll("_", " "));
}

function deadLetters(rows, count) {
  if (!rows.length) return [];
  const head = el("tr", {}, ["Row", "Code", "Reason", "Hint", "Attempts"].map((name) => el("th", { scope: "col" }, name)));
  const body = rows.map((row) =>
    el("tr", {}, el("td", {}, row.id), el("td", {}, el("code", {}, row.code)), el("td", {}, row.reason), el("td", {}, row.hint ?? ""), el("td", {}, String(row.attempts))),
  );
  const more = count > rows.length ? ` (the first ${rows.length} of ${count})` : "";
  return [
    el("h3", {}, `Dead letters${more}`),
    el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Dead letters" }, el("table", {}, el("thead", {}, head), el("tbody", {}, body))),
  ];
}
