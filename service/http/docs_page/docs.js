// Shows openapi.json. On a server with API keys it asks for one, which is kept in memory until the page is left.
"use strict";

async function load(key) {
  const headers = key ? { authorization: `Bearer ${key}` } : {};
  const response = await fetch("openapi.json", { headers, cache: "no-store" });
  if (response.ok) return { described: await response.json() };
  const body = await response.json().catch(() => null);
  const reason = body && body.error ? body.error.message : `the server answered ${response.status}`;
  return { denied: response.status === 401, reason };
}

function show(described, key) {
  const ui = SwaggerUIBundle({
    spec: described,
    dom_id: "#ui",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
    persistAuthorization: false,
    onComplete: () => key && ui.preauthorizeApiKey("ApiKey", key),
  });
}

const form = document.getElementById("key");
const reason = document.getElementById("reason");

async function attempt(key) {
  const found = await load(key).catch(() => ({ reason: "the server does not answer" }));
  form.hidden = Boolean(found.described);
  if (found.described) return show(found.described, key);
  reason.textContent = key || !found.denied ? found.reason : "";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(document.getElementById("value").value.trim());
});
attempt("");
