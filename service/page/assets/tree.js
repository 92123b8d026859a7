// Shows a JSON value as a tree. Every leaf is a button with its JSON Pointer.
import { el } from "./dom.js";
import { child, hasChildren } from "./pointers.js";
import { tintOf } from "./marks.js";

/** A value that has begun and is not complete. */
export const PENDING = Symbol("pending");

/** Fill `host` with the tree of `shown`: data, fields, warnings, and by pointer the class of leaves that differ. */
export function showTree(host, shown, order) {
  const context = {
    fields: shown.fields ?? {},
    warnings: warningsByPointer(shown.warnings ?? []),
    differing: shown.differing ?? new Map(),
    order,
  };
  host.replaceChildren(
    hasChildren(shown.data) ? list(shown.data, "", context) : leaf(shown.data, "", context),
  );
}

function warningsByPointer(warnings) {
  const found = new Map();
  for (const warning of warnings) found.set(warning.pointer, [...(found.get(warning.pointer) ?? []), warning]);
  return found;
}

function list(value, pointer, context) {
  const kind = Array.isArray(value) ? "array" : "object";
  const entries = Object.entries(value).map(([name, inner]) => entry(name, inner, child(pointer, name), kind, context));
  return el("ul", { class: `tree ${kind}` }, entries);
}

function entry(name, value, pointer, kind, context) {
  const key = el("span", { class: "key" }, kind === "array" ? String(Number(name) + 1) : name);
  if (!hasChildren(value)) return el("li", { class: "row" }, key, leaf(value, pointer, context));
  const size = Object.keys(value).length;
  const count = Array.isArray(value) ? el("span", { class: "count" }, `${size} ${size === 1 ? "item" : "items"}`) : null;
  const inner = list(value, pointer, context);
  return el("li", {}, el("div", { class: "branch" }, key, count, notes(pointer, context)), inner);
}

function leaf(value, pointer, context) {
  if (value === PENDING) return el("span", { class: "leaf pending" }, el("span", { class: "sr" }, "being written"));
  const report = context.fields[pointer];
  const hasSource = Boolean(report?.span);
  const classes = ["leaf", typeName(value), hasSource ? `sourced tint-${tintOf(pointer, context.order)}` : ""];
  if (context.differing.has(pointer)) classes.push(context.differing.get(pointer));
  const button = el(
    "button",
    { type: "button", class: classes.join(" ").trim(), data: { pointer }, title: pointer || "the whole" },
    valueText(value),
  );
  return el("span", { class: "value" }, button, confidence(report), notes(pointer, context));
}

/** The name of a value's type. */
export function typeName(value) {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}

function valueText(value) {
  if (value === "") return el("span", { class: "empty" }, "empty text");
  if (typeof value === "string") return value;
  return JSON.stringify(value);
}

/** The probability that speaks best for a value: the calibrated one, if there is one. */
export function sureness(report) {
  return report?.confidence?.calibrated ?? report?.confidence?.probability ?? null;
}

/** A probability as a percentage that is never rounded to certainty or impossibility. */
export function percent(share) {
  if (share > 0.99 && share < 1) return `${(Math.floor(share * 1000) / 10).toFixed(1)} %`;
  if (share > 0 && share < 0.0005) return "< 0.1 %";
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function confidence(report) {
  const share = sureness(report);
  const differs = report?.confidence?.agrees === false;
  return [share === null ? null : sure(share), differs ? el("span", { class: "note" }, "readings differ") : null];
}

function sure(share) {
  const level = share >= 0.9 ? "high" : share >= 0.6 ? "middle" : "low";
  return el("span", { class: `sure ${level}`, title: "Confidence" }, percent(share));
}

function notes(pointer, context) {
  const found = context.warnings.get(pointer) ?? [];
  return found.map((warning) =>
    el("span", { class: "note", title: [warning.message, warning.hint].filter(Boolean).join(" ") }, warning.kind.replaceAll("_", " ")),
  );
}
