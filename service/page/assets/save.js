// Saves results as one HTML file that needs neither this server nor a network.
import { send } from "./api.js";
import { el } from "./dom.js";

/** Download a page with `rows`: objects with id, data, and optionally text, fields and warnings. */
export async function saveAsPage(rows, title) {
  const template = await (await send("/page/viewer.html")).text();
  const json = JSON.stringify({ title, rows }).replaceAll("<", "\\u003c");
  // A function as the replacement: in a string `$&` would have a meaning.
  const page = template.replace('{"title":"","rows":[]}', () => json);
  download(new Blob([page], { type: "text/html" }), `${fileName(title)}.html`);
}

/** Hand a file to the user. */
export function download(blob, name) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function fileName(title) {
  return title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "result";
}
