// Shows an error document: message, hint, and each cause at its place.
import { el } from "./dom.js";

/** The element of an error. `onPlace` is called with the pointer of a cause that is clicked. */
export function problemView(error, onPlace = null) {
  const problem = error.problem ?? { code: "page_error", message: String(error.message ?? error) };
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    el("p", {}, el("strong", {}, problem.message), " ", el("code", {}, problem.code)),
    problem.hint ? el("p", {}, problem.hint) : null,
    causes((problem.details ?? []).map((detail) => ({ ...detail, hint: detail.hint === problem.hint ? "" : detail.hint })), onPlace),
    problem.retryable ? el("p", { class: "faint" }, "The same request may succeed later.") : null,
  );
}

/** The causes of a refusal as a list. */
export function causes(details, onPlace) {
  if (!details.length) return null;
  return el(
    "ul",
    { class: "causes" },
    details.map((detail) =>
      el("li", {}, place(detail, onPlace), " ", detail.reason, detail.hint ? el("span", { class: "faint" }, ` ${detail.hint}`) : null),
    ),
  );
}

function place(detail, onPlace) {
  const label = detail.pointer || "/";
  if (!onPlace) return el("code", {}, label);
  return el("button", { type: "button", class: "link", on: { click: () => onPlace(detail.pointer) } }, label);
}
