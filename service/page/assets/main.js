// Starts the page: views, theme, key, and the state of the server.
import { apiKey, getJson } from "./api.js";
import { CompareView } from "./compare-view.js";
import { at } from "./dom.js";
import { EngineView } from "./engine-view.js";
import { ExtractView } from "./extract-view.js";
import { JobsView } from "./jobs-view.js";
import { nextTheme, setTheme, theme } from "./theme.js";

let models = [];
const VIEWS = ["extract", "compare", "jobs", "engine"];

const compare = new CompareView((schema) => ({ body: extract.body(schema), text: extract.document.text }));
const extract = new ExtractView((run) => compare.add(run));
const polled = { jobs: new JobsView(), engine: new EngineView() };

function showView() {
  const name = VIEWS.find((view) => `#${view}` === location.hash) ?? "extract";
  for (const view of VIEWS) at(`view-${view}`).hidden = view !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const [view, shown] of Object.entries(polled)) shown.visible(view === name);
}

function showTheme() {
  at("theme").textContent = { system: "Auto", light: "Light", dark: "Dark" }[theme()];
  at("theme").setAttribute("aria-label", `Theme: ${theme()}. Change to ${nextTheme()}.`);
}

async function showServer() {
  const state = at("server-state");
  try {
    const { data } = await getJson("/v1/models");
    state.className = "server good";
    state.textContent = data[0].id;
    models = data.map(({ id }) => id);
    return true;
  } catch (error) {
    state.className = "server bad";
    const loading = error.problem?.code === "not_ready";
    state.textContent = error.status === 401 ? "needs a key" : loading ? "loading the model" : "not available";
    if (loading) setTimeout(start, 1000);
    return error.status === 401 ? askForKey() : false;
  }
}

function askForKey() {
  at("key-note").hidden = false;
  if (!at("settings-dialog").open) at("settings-dialog").showModal();
  return false;
}

async function start() {
  if (!(await showServer())) return;
  const catalogue = await getJson("/page/catalogue.json");
  compare.offer(catalogue, models);
  await extract.schema.load(catalogue);
  if (!extract.schema.editor.text && catalogue.length) await extract.schema.choose(catalogue.some((e) => e.name === "invoice") ? "invoice" : catalogue[0].name);
}

at("theme").addEventListener("click", () => { setTheme(nextTheme()); showTheme(); });
at("settings").addEventListener("click", () => { at("key").value = apiKey.get(); at("settings-dialog").showModal(); });
at("settings-form").addEventListener("submit", (event) => {
  if (event.submitter?.value !== "save") return;
  apiKey.set(at("key").value.trim());
  at("key-note").hidden = true;
  start();
});
at("options").addEventListener("click", () => at("options-dialog").showModal());
window.addEventListener("hashchange", showView);
showTheme();
showView();
start();
