// Calls the service: JSON, server-sent events, files. The API key stays in the storage of this tab's session.

const KEY = "intaglio.key";

/** An error document of the service, or the reason why there is none. */
export class Refusal extends Error {
  constructor(problem, status) {
    super(problem.message);
    this.problem = problem;
    this.status = status;
  }
}

export const apiKey = {
  get: () => sessionStorage.getItem(KEY) ?? "",
  set: (key) => (key ? sessionStorage.setItem(KEY, key) : sessionStorage.removeItem(KEY)),
};

/** Send a request. Throws a `Refusal` for every status but success. */
export async function send(path, { method = "GET", body, headers = {}, signal } = {}) {
  const given = { ...headers };
  if (apiKey.get()) given.authorization = `Bearer ${apiKey.get()}`;
  let answer;
  try {
    answer = await fetch(path, { method, body, headers: given, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal({ code: "no_connection", message: "The server does not answer.", hint: "Check that it runs." }, 0);
  }
  if (!answer.ok) throw new Refusal(await problemOf(answer), answer.status);
  return answer;
}

async function problemOf(answer) {
  try {
    const { error } = await answer.json();
    if (error?.message) return error;
  } catch {
    // A proxy may answer with a page of its own; the status is all that is known then.
  }
  return { code: `http_${answer.status}`, message: `The server answered with status ${answer.status}.` };
}

/** `GET` as JSON. */
export async function getJson(path, options = {}) {
  return (await send(path, options)).json();
}

/** `POST` JSON; the answer as JSON. */
export async function postJson(path, value, options = {}) {
  return (await postRaw(path, value, options)).json();
}

async function postRaw(path, value, options) {
  const headers = { "content-type": "application/json" };
  return send(path, { ...options, method: "POST", body: JSON.stringify(value), headers });
}

/** `POST` JSON; the server-sent events of the answer, their data parsed. */
export async function* postEvents(path, value, options = {}) {
  yield* eventsOf(await postRaw(path, value, options));
}

/** The server-sent events of an answer. */
export async function* eventsOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data: "));
        if (data.length) yield JSON.parse(data.map((line) => line.slice(6)).join("\n"));
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
