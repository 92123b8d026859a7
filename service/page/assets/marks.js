// Shows a text with the places marked that values come from.
import { el } from "./dom.js";
import { parts } from "./pointers.js";

const TINTS = 6;

/** The tint of a value: values below one member of the root share it. */
export function tintOf(pointer, order) {
  const name = parts(pointer)[0] ?? "";
  if (!order.has(name)) order.set(name, order.size % TINTS);
  return order.get(name);
}

/** A function from offsets in code points to offsets in the string. */
export function stringOffsets(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => Math.min(offset, text.length);
  const starts = [];
  for (let at = 0; at < text.length; at += text.codePointAt(at) > 0xffff ? 2 : 1) starts.push(at);
  return (offset) => starts[offset] ?? text.length;
}

/** Pieces of the text: start, end, and the pointers of the values that come from there. */
export function pieces(text, fields) {
  const offset = stringOffsets(text);
  const spans = Object.entries(fields)
    .filter(([, report]) => report.span)
    .map(([pointer, { span }]) => ({ pointer, start: offset(span.start), end: offset(span.end) }));
  const edges = [...new Set([0, text.length, ...spans.flatMap((span) => [span.start, span.end])])];
  edges.sort((a, b) => a - b);
  spans.sort((a, b) => a.start - b.start);
  let open = [];
  let next = 0;
  const found = [];
  for (let i = 0; i + 1 < edges.length; i += 1) {
    const [start, end] = [edges[i], edges[i + 1]];
    while (next < spans.length && spans[next].start <= start) open.push(spans[next++]);
    open = open.filter((span) => span.end > start);
    found.push({ start, end, pointers: open.map((span) => span.pointer) });
  }
  return found;
}

/** Fill `host` with the text and its marks. */
export function showMarked(host, text, fields, order) {
  const shown = pieces(text, fields).map(({ start, end, pointers }) => {
    const piece = text.slice(start, end);
    if (!pointers.length) return document.createTextNode(piece);
    const tint = tintOf(pointers[0], order);
    const title = pointers.map((pointer) => pointer || "the whole").join(", ");
    return el("mark", { class: `tint-${tint}`, data: { pointers: JSON.stringify(pointers) }, title }, piece);
  });
  host.replaceChildren(...shown);
}

/** The marks and boxes of a value. */
export function marksOf(host, pointer) {
  return [...host.querySelectorAll("[data-pointers]")].filter((mark) =>
    JSON.parse(mark.dataset.pointers).includes(pointer),
  );
}
