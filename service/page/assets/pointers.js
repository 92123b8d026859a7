// JSON Pointers (RFC 6901): the leaves of a value, and the value at a pointer.

/** The pointer of a member or item. */
export function child(pointer, name) {
  return `${pointer}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

/** The names in a pointer. */
export function parts(pointer) {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Whether a value has members or items. */
export function hasChildren(value) {
  return value !== null && typeof value === "object" && Object.keys(value).length > 0;
}

/** Pointer and value of every leaf, in order. Empty objects and arrays are leaves. */
export function leaves(value, pointer = "", found = []) {
  if (!hasChildren(value)) found.push([pointer, value]);
  else for (const [name, inner] of Object.entries(value)) leaves(inner, child(pointer, name), found);
  return found;
}

/** Put a value at a pointer; the containers on the way exist. Returns the root. */
export function put(root, pointer, value) {
  const names = parts(pointer);
  const last = names.pop();
  if (last === undefined) return value;
  const holder = names.reduce((inner, name) => inner[name], root);
  // An own property always: `__proto__` is a name like any other.
  Object.defineProperty(holder, last, { value, enumerable: true, configurable: true, writable: true });
  return root;
}
