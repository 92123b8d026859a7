// Makes elements of the document. Text is always set as text, so nothing in a document or answer becomes markup.

/** An element. `on` holds listeners, `data` data attributes; true and false set and omit attributes without a value. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes);
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** An element of a drawing. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  fill(made, attributes);
  made.append(...children);
  return made;
}

function fill(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    } else if (name === "data") {
      Object.assign(made.dataset, value);
    } else if (value === true) {
      made.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
}

/** The element with an id. */
export function at(id) {
  return document.getElementById(id);
}

/** Call `then` once `wait` milliseconds have passed without another call. */
export function debounced(wait, then) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => then(...values), wait);
  };
}
