// One request to `POST /v1/extract`: its body, and the same request as a command for curl and as Python.

/** The body without members that have their default. `source` is `{ text }` or `{ document }`. */
export function requestBody(schema, source, options, instructions = "") {
  const body = { schema, ...source };
  if (instructions) body.instructions = instructions;
  if (Object.keys(options).length) body.options = options;
  return body;
}

// Only the page shows the tokens of values.
function forOthers(body) {
  const { token_alternatives: _, ...options } = body.options ?? {};
  return body.options ? { ...body, options } : body;
}

/** The request as a command of a POSIX shell. */
export function asCurl(body, origin, hasKey) {
  const key = hasKey ? "  -H \"authorization: Bearer $INTAGLIO_API_KEY\" \\\n" : "";
  return `curl ${shellQuoted(`${origin}/v1/extract`)} \\\n${key}  -H 'content-type: application/json' \\\n  --data-binary ${shellQuoted(JSON.stringify(forOthers(body)))}\n`;
}

function shellQuoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The request as Python, with the text of its document; the client takes its key from the environment. */
export function asPython(body, text, origin) {
  const rest = body.options || body.instructions ? `${keywords(body)}` : "";
  return [
    "import json",
    "",
    "from intaglio import Client",
    "",
    `schema = json.loads(${pythonText(JSON.stringify(body.schema))})`,
    `text = ${pythonText(text)}`,
    "",
    `with Client(${pythonText(origin)}) as client:`,
    `    result = client.extract(schema, text${rest})`,
    "print(json.dumps(result.data, indent=2, ensure_ascii=False))",
    "",
  ].join("\n");
}

function keywords(body) {
  const { options = {}, instructions } = forOthers(body);
  const given = { ...(instructions ? { instructions } : {}), ...options };
  return Object.entries(given).map(([name, value]) => `, ${name}=${pythonValue(value)}`).join("");
}

function pythonValue(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  return typeof value === "string" ? pythonText(value) : String(value);
}

// A JSON text is a Python literal, too, once no surrogate stands alone in it.
function pythonText(text) {
  return JSON.stringify(text);
}
