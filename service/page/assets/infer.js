// Infers a JSON Schema from an example: types, members, formats that a text plainly has.

const FORMATS = [
  ["date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/],
  ["date", /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/],
  ["email", /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/],
  ["uuid", /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i],
];

/** A schema that the example is valid under. */
export function inferSchema(example) {
  if (example === null) return { type: ["string", "null"] };
  if (Array.isArray(example)) return { type: "array", items: example.map(inferSchema).reduce(merged, null) ?? { type: "string" } };
  if (typeof example === "object") return objectSchema(example);
  if (typeof example === "number") return { type: Number.isInteger(example) ? "integer" : "number" };
  if (typeof example === "boolean") return { type: "boolean" };
  const format = FORMATS.find(([, pattern]) => pattern.test(example));
  return format ? { type: "string", format: format[0] } : { type: "string" };
}

function objectSchema(example) {
  const properties = Object.fromEntries(Object.entries(example).map(([name, value]) => [name, inferSchema(value)]));
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

// The schema of items must allow every item: what differs between two is widened.
function merged(a, b) {
  if (a === null) return b;
  if (a.type === "object" && b.type === "object") return mergedObjects(a, b);
  if (a.type === "array" && b.type === "array") return { type: "array", items: merged(a.items, b.items) };
  const types = [...new Set([a.type, b.type].flat())];
  if (types.includes("object") || types.includes("array")) {
    return JSON.stringify(a) === JSON.stringify(b) ? a : { anyOf: [...(a.anyOf ?? [a]), ...(b.anyOf ?? [b])] };
  }
  const wide = types.includes("number") ? types.filter((type) => type !== "integer") : types;
  const found = { type: wide.length === 1 ? wide[0] : wide };
  return a.format && a.format === b.format ? { ...found, format: a.format } : found;
}

function mergedObjects(a, b) {
  const properties = { ...a.properties };
  for (const [name, schema] of Object.entries(b.properties)) {
    properties[name] = name in properties ? merged(properties[name], schema) : schema;
  }
  const required = a.required.filter((name) => b.required.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}
