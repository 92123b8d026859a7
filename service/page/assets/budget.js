// The line below a result: tokens, budget, time and rates of one run.
import { el } from "./dom.js";

/** The parts of the line, as elements. */
export function budgetLine(run) {
  const { usage, timings } = run.result;
  const rate = timings.decode_ms > 0 ? (usage.output_tokens / timings.decode_ms) * 1000 : 0;
  const facts = [
    [`${usage.output_tokens} of ${usage.budget ?? "?"}`, "output tokens"],
    [String(usage.forced_tokens), "forced"],
    [String(usage.prompt_tokens), "prompt"],
    [`${(timings.total_ms / 1000).toFixed(2)} s`, "time"],
    [rate.toFixed(0), "tokens/s"],
  ];
  const share = usage.budget ? Math.min(1, usage.output_tokens / usage.budget) : 0;
  return [
    el("meter", { min: 0, max: 1, value: share, "aria-label": "Share of the budget that the answer used" }),
    ...facts.map(([figure, name]) => el("span", { class: "fact" }, el("b", {}, figure), ` ${name}`)),
    usage.budget_forced ? el("span", { class: "state bad" }, "budget reached") : el("span", { class: "state good" }, "valid"),
  ];
}
