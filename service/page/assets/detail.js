// Shows what is known of one value: its source, how sure the model is, and other values that were considered.
import { el } from "./dom.js";
import { tokenView } from "./token-view.js";
import { percent } from "./tree.js";

const MATCHES = {
  verbatim: "Copied from the text: decoding allowed nothing else.",
  exact: "Found in the text, character by character.",
  folded: "Found in the text, but for case, white space or the form of characters.",
  number: "Found as the same number, written differently.",
  date: "Found as the same date, written differently.",
  none: "Not found in the text.",
};

/** Fill `host` with the details of the value at `pointer`. */
export function showDetail(host, pointer, value, report, warnings) {
  host.replaceChildren(
    el("h3", {}, el("code", {}, pointer || "the whole")),
    el("p", { class: "quoted" }, typeof value === "string" ? value : JSON.stringify(value)),
    ...warnings.map((warning) =>
      el("p", { class: "notice warn" }, el("strong", {}, warning.message), warning.hint ? ` ${warning.hint}` : ""),
    ),
    report ? facts(report) : el("p", { class: "faint" }, "This result does not tell sources. Set “Sources” in the options and extract again."),
    ...candidates(report?.candidates ?? []),
    ...tokenView(report?.confidence?.tokens),
  );
}

function facts(report) {
  const rows = [["Match", MATCHES[report.match] ?? report.match]];
  if (report.span) rows.push(["Characters", `${report.span.start} to ${report.span.end}`]);
  if (report.occurrences?.length > 1) rows.push(["Occurrences", String(report.occurrences.length)]);
  if (report.page) rows.push(["Page", String(report.page)]);
  const sure = report.confidence ?? {};
  const shares = [
    ["Right, calibrated", sure.calibrated],
    ["Probability", sure.probability],
    ["Removed by the mask", sure.masked],
    ["Not stated", sure.not_stated],
  ];
  for (const [name, share] of shares) {
    if (share !== null && share !== undefined) rows.push([name, meter(share, name)]);
  }
  if (typeof sure.agrees === "boolean") rows.push(["Second reading", sure.agrees ? "gives the same value" : "gives another value"]);
  return el("dl", { class: "facts" }, rows.map(([name, fact]) => [el("dt", {}, name), el("dd", {}, fact)]));
}

function meter(share, label) {
  return el(
    "span",
    { class: "metered" },
    el("meter", { min: 0, max: 1, value: share, "aria-label": label }),
    percent(share),
  );
}

function candidates(found) {
  if (!found.length) return [];
  const items = found.map((candidate) =>
    el(
      "li",
      {},
      el("span", { class: "quoted" }, JSON.stringify(candidate.value)),
      typeof candidate.probability === "number" ? el("span", { class: "faint" }, percent(candidate.probability)) : null,
    ),
  );
  return [el("h4", {}, "Also considered"), el("ul", { class: "candidates" }, items)];
}
