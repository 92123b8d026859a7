// The engines now: batch, queue, KV blocks, rates, time to the first token, caches, step times.
import { getJson, send } from "./api.js";
import { at, el, svg } from "./dom.js";
import { Polling } from "./polling.js";
import { problemView } from "./problem-view.js";

const SAMPLES = 60;
const FIRST_TOKEN = "intaglio_time_to_first_token_seconds";

export class EngineView {
  constructor() {
    this.samples = [];
    this.polling = new Polling(1000, () => this.refresh());
  }

  /** Poll while the view is visible. */
  visible(is) {
    this.polling.run(is);
  }

  async refresh() {
    try {
      const [report, metrics] = await Promise.all([getJson("/v1/engine/state"), send("/metrics").then((answer) => answer.text())]);
      this.sample(report, metrics);
      at("engine-problem").replaceChildren();
      at("engines").replaceChildren(
        cards(report, this.samples),
        ...report.engines.map((engine, index) => engineCard(engine, index, report.engines.length)),
      );
    } catch (error) {
      at("engine-problem").replaceChildren(problemView(error));
    }
  }

  sample(report, metrics) {
    const sum = (read) => report.engines.reduce((total, engine) => total + (read(engine) ?? 0), 0);
    const at = performance.now() / 1000;
    const computed = sum((engine) => engine.tokens?.computed);
    const last = this.samples.at(-1);
    const rate = last && at > last.at ? Math.max(0, (computed - last.computed) / (at - last.at)) : 0;
    const blocks = sum((engine) => engine.memory?.blocks);
    this.samples.push({
      at,
      computed,
      rate,
      running: sum((engine) => engine.queue?.running),
      waiting: sum((engine) => (engine.queue?.waiting ?? 0) + (engine.queue?.parked ?? 0)),
      used: blocks ? (1 - sum((engine) => engine.memory?.free) / blocks) * 100 : 0,
      ...firstToken(metrics, last),
    });
    this.samples = this.samples.slice(-SAMPLES);
  }
}

// The mean of the requests since the last look; of all requests at the first.
function firstToken(metrics, last) {
  const total = (name) =>
    [...metrics.matchAll(new RegExp(`^${FIRST_TOKEN}_${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))].reduce((sum, found) => sum + Number(found[1]), 0);
  const [seconds, count] = [total("sum"), total("count")];
  const news = count - (last?.firstCount ?? 0);
  const mean = news > 0 ? ((seconds - (last?.firstSeconds ?? 0)) / news) * 1000 : (last?.first ?? 0);
  return { first: mean, firstSeconds: seconds, firstCount: count };
}

function cards(report, samples) {
  const now = samples.at(-1);
  const facts = [
    ["Running", now.running.toString(), "sequences in the batch", "running"],
    ["Waiting", now.waiting.toString(), `${report.requests_in_hand} of ${report.requests_limit} requests in hand`, "waiting"],
    ["KV blocks", `${now.used.toFixed(1)} %`, "held by running sequences", "used"],
    ["Tokens computed", now.rate.toFixed(0), "per second, prompts included", "rate"],
    ["First token", now.firstCount ? `${now.first.toFixed(0)} ms` : "none yet", "mean of the newest requests", "first"],
  ];
  return el("div", { class: "cards" }, facts.map(([name, figure, note, key]) =>
    el("article", { class: "card" }, el("h3", {}, name), el("p", { class: "figure" }, figure), sparkline(samples.map((s) => s[key])), el("p", { class: "faint" }, note)),
  ));
}

function sparkline(values) {
  const most = Math.max(1e-9, ...values);
  const points = values.map((value, i) => `${((i + SAMPLES - values.length) * 100) / (SAMPLES - 1)},${27 - (value / most) * 24}`);
  return svg("svg", { class: "spark", viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("polyline", { points: points.join(" "), fill: "none", "vector-effect": "non-scaling-stroke" }));
}

function engineCard(engine, index, count) {
  const { facts, tokens, grammars, lives } = engine;
  const rows = [
    ["Deaths, restarts", `${lives.deaths}, ${lives.restarts}`],
    facts && ["Model", `${facts.model}, ${(facts.parameters / 1e6).toFixed(1)} M weights, ${facts.dtype} on ${facts.device}`],
    facts && ["Context", `${facts.context_length.toLocaleString("en")} tokens`],
    facts && ["KV blocks", `${facts.blocks.toLocaleString("en")} of ${facts.block_size} tokens`],
    tokens && ["Tokens", `${tokens.prompt.toLocaleString("en")} prompt, ${tokens.output.toLocaleString("en")} output`],
    tokens && ["Forced by the grammar", share(tokens.forced_share)],
    tokens && ["Prompt tokens from the prefix cache", share(tokens.prefix_hit_share)],
    grammars && ["Compiled grammars", `${grammars.entries}, ${(grammars.bytes / 1e6).toFixed(1)} MB, ${share(grammars.hit_share)} hits`],
    engine.queue && ["Preemptions", String(engine.queue.preemptions)],
  ].filter(Boolean);
  const kind = engine.state === "ready" ? "good" : engine.state === "loading" ? "warn" : "bad";
  return el("article", { class: "card wide" },
    el("h3", {}, count > 1 ? `Engine ${index + 1} ` : "Engine ", el("span", { class: `state ${kind}` }, engine.state)),
    el("dl", { class: "facts" }, rows.map(([name, fact]) => [el("dt", {}, name), el("dd", {}, fact)])),
    ...steps(engine.step_seconds));
}

function share(value) {
  return value === null ? "none yet" : `${(value * 100).toFixed(1)} %`;
}

function steps(seconds) {
  const total = Object.values(seconds ?? {}).reduce((sum, part) => sum + part, 0);
  if (!total) return [];
  const parts = Object.entries(seconds).sort((a, b) => b[1] - a[1]);
  return [
    el("h4", {}, "Where a step's time goes"),
    el("ul", { class: "bars" }, parts.map(([name, part]) =>
      el("li", {}, el("span", {}, name === "tell" ? "deliver results" : name), el("meter", { min: 0, max: 1, value: part / total, "aria-label": name }), el("span", { class: "faint" }, `${((part / total) * 100).toFixed(1)} %`)))),
  ];
}
