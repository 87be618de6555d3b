// The console polls the API every two seconds. Values of jobs are inserted as text, never as HTML.
const STATES = ["scheduled", "due", "offered", "running", "retrying", "done", "dead", "expired", "cancelled"];
const ACTIONS = {
  promote: ["scheduled", "due", "offered", "retrying"],
  cancel: ["scheduled", "due", "offered", "retrying", "running"],
  retry: ["dead", "expired", "cancelled"],
  replay: ["done", "dead", "expired", "cancelled"],
};
const EVERY_MS = 2000;
const PAGE = 50;
const $ = (id) => document.getElementById(id);
const selection = { state: "", limit: PAGE, job: null };

function el(name, facts = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(facts)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

class Problem extends Error {}

async function request(path, body, method = body === undefined ? "GET" : "POST") {
  const token = sessionStorage.getItem("token");
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (method !== "GET") headers["Content-Type"] = "application/json";
  const base = location.pathname.replace(/\/console$/, "");
  const content = method === "GET" ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(base + path, { method, headers, body: content });
  if (response.status === 401) { askForToken(); throw new Problem("Sign in with an API token."); }
  const result = parse(await response.text());
  if (!response.ok) throw Object.assign(new Problem(result.detail || result.title || `The API returned status ${response.status}.`), { status: response.status });
  return result;
}

// Keeps every digit of a number if the browser supports JSON.rawJSON.
function parse(text, exact = (key, value, context) => (typeof value === "number" && context?.source && JSON.rawJSON && !Number.isSafeInteger(value) ? JSON.rawJSON(context.source) : value)) {
  try { return JSON.parse(text, exact); } catch { return {}; }
}

function askForToken() {
  sessionStorage.removeItem("token");
  if (!$("token").open) $("token").showModal();
}

function showError(error, where = $("problem")) {
  where.textContent = error ? (error instanceof Problem ? error.message : "The API cannot be reached. Retrying.") : "";
  where.hidden = !error;
}

function ago(moment) {
  const seconds = Math.round((new Date(moment) - Date.now()) / 1000);
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) || units[3];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}

const when = (moment) => (moment ? el("time", { datetime: moment, title: moment }, ago(moment)) : "");

function jobRow(job) {
  const open = () => { selection.job = job.id; showJob(); };
  return el("tr", { tabindex: 0, "data-id": job.id, onclick: open, onkeydown: (e) => e.key === "Enter" && open() },
    el("td", { class: `state ${job.state}` }, job.state),
    el("td", {}, job.kind), el("td", {}, job.queue), el("td", {}, job.key ?? ""),
    el("td", { class: "number" }, `${job.attempts} / ${job.max_attempts}`),
    el("td", {}, when(job.deleted ?? job.visible)),
    el("td", { class: "long" }, job.error ? `${job.error.type}: ${job.error.message}` : ""));
}

function filters() {
  const query = new URLSearchParams();
  // A field that is still incomplete, such as a header without "=", does not filter yet.
  for (const [name, value] of new FormData($("filters"))) if (value.trim() && $("filters").elements[name].validity.valid) query.set(name, value.trim());
  if (selection.state) query.set("state", selection.state);
  query.set("limit", selection.limit);
  return query;
}

function replaceRows(table, rows) {
  const focused = document.activeElement?.dataset?.id;
  table.replaceChildren(...rows);
  if (focused) table.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
}

async function showJobs() {
  const [{ depths, paused }, page] = await Promise.all([request("/stats"), request(`/jobs?${filters()}`)]);
  const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const depth of depths) counts[depth.state] += depth.jobs;
  const chip = (state, label, jobs) => el("button", {
    type: "button", "aria-pressed": selection.state === state, "data-state": state || "all",
    onclick: () => { selection.state = state; selection.limit = PAGE; refresh(); },
  }, label, el("b", {}, jobs.toLocaleString("en")));
  const all = Object.values(counts).reduce((sum, jobs) => sum + jobs, 0);
  const pressed = document.activeElement?.dataset?.state;
  $("states").replaceChildren(chip("", "all", all), ...STATES.map((state) => chip(state, state, counts[state])));
  if (pressed) $("states").querySelector(`[data-state="${pressed}"]`)?.focus();
  $("queues").replaceChildren(...[...new Set(depths.map((depth) => depth.queue))].map((queue) => el("option", { value: queue })));
  replaceRows($("rows"), page.jobs.map(jobRow));
  $("paused").hidden = !paused;
  $("paused").textContent = paused ? `All jobs are paused${paused.until ? ` until ${new Date(paused.until).toLocaleString()}` : ""}${paused.reason ? `: ${paused.reason}` : "."}` : "";
  $("more").hidden = !page.next || selection.limit >= 1000;
  $("empty").hidden = page.jobs.length > 0;
  $("empty").textContent = all ? "No jobs match these filters." : "No jobs yet. Enqueue one to see it here.";
}

async function showJob() {
  const job = await request(`/jobs/${selection.job}`);
  $("job-title").textContent = `${job.kind} · ${job.state}`;
  const facts = { id: job.id, queue: job.queue, key: job.key, tenant: job.tenant, attempts: `${job.attempts} of ${job.max_attempts}`, priority: job.priority,
    enqueued: when(job.enqueued), "run at": when(job.run_at), visible: when(job.visible), claimed: when(job.claimed), finished: when(job.deleted),
    every: job.every, schedule: job.schedule, "correlation id": job.correlation_id, "cancellation requested": job.cancelling, error: job.error && `${job.error.type}: ${job.error.message}` };
  $("facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value != null && value !== "").flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value.nodeType ? value : String(value))]));
  await showWhy(job);
  $("actions").replaceChildren(...Object.entries(ACTIONS).filter(([, states]) => states.includes(job.state)).map(([verb]) =>
    el("button", { type: "button", "data-verb": verb, onclick: () => act(verb, job) }, verb)));
  $("payload").hidden = true;
  $("unmask").hidden = false;
  await showAttempts();
  if (!$("job").open) $("job").showModal();
}

// Finished jobs need no explanation: their state, error and attempts are shown.
async function showWhy(job) {
  $("why").hidden = Boolean(job.deleted);
  if (job.deleted) return;
  const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");
  const { sentence, next_step: step } = await request(`/jobs/${job.id}/why?zone=${zone}`);
  $("why").replaceChildren(el("p", {}, sentence), step ? el("p", { class: "next" }, "Next: ", el("code", {}, step)) : "");
}

async function showAttempts() {
  const { attempts } = await request(`/jobs/${selection.job}/attempts`).catch((error) => {
    if (error.status === 404) return { attempts: [] };
    throw error;
  });
  $("runs").replaceChildren();
  if (!attempts.length) return;
  $("runs").append(el("table", {}, el("thead", {}, el("tr", {}, ...["Attempt", "Outcome", "Started", "Took", "Error"].map((name) => el("th", {}, name)))),
    el("tbody", {}, ...attempts.map((attempt) => el("tr", {}, el("td", {}, String(attempt.attempt)), el("td", { class: `state ${attempt.outcome}` }, attempt.outcome),
      el("td", {}, when(attempt.started)), el("td", { class: "number" }, `${Math.max(0, new Date(attempt.ended) - new Date(attempt.started))} ms`),
      el("td", { class: "long" }, attempt.error ? `${attempt.error.type}: ${attempt.error.message}` : ""))))));
}

async function act(verb, job) {
  // A running job is cancelled at its next check, and stays running until then.
  const running = verb === "cancel" && job.state === "running";
  try {
    const result = await request(`/jobs/${job.id}/${verb}`, running ? { running } : {});
    if (result.id) selection.job = result.id;
    await showJob();
    if (running) $("job-title").textContent += " · cancellation requested";
    showError(null);
  } catch (error) { $("job").close(); showError(error); }
  refresh();
}

async function unmask() {
  const job = await request(`/jobs/${selection.job}?include=payload`);
  const { payload, headers, result, error } = job;
  $("payload").textContent = JSON.stringify({ payload, headers, result }, null, 2) + (error?.trace ? `\n\n${error.trace}` : "");
  $("payload").hidden = false;
  $("unmask").hidden = true;
}

async function showSchedules() {
  const schedules = [];
  let after = "";
  do {
    const page = await request(`/schedules?limit=200${after}`);
    schedules.push(...page.schedules);
    after = page.after && `&after=${encodeURIComponent(page.after)}`;
  } while (after && schedules.length < 1000);
  const button = (schedule, verb) => el("button", { type: "button", "data-id": `${schedule.name}/${verb === "run" ? "run" : "toggle"}`, onclick: () => changeSchedule(schedule.name, verb) }, verb);
  replaceRows($("schedule-rows"), schedules.map((schedule) => el("tr", {},
    el("td", {}, schedule.name), el("td", {}, schedule.every), el("td", {}, schedule.zone),
    el("td", {}, schedule.paused ? "paused" : when(schedule.next)), el("td", {}, when(schedule.fired)),
    el("td", {}, button(schedule, schedule.paused ? "resume" : "pause"), " ", button(schedule, "run")))));
  $("no-schedules").hidden = schedules.length > 0;
}

async function changeSchedule(name, verb) {
  try {
    const result = await request(`/schedules/${encodeURIComponent(name)}/${verb}`, {});
    await refresh();
    if (verb === "run") { selection.job = result.id; await showJob(); }
  } catch (error) { showError(error); }
}

async function refresh() {
  const view = location.hash === "#schedules" ? "schedules" : "jobs";
  for (const name of ["jobs", "schedules"]) $(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) link.toggleAttribute("aria-current", link.hash === `#${view}`);
  try {
    await (view === "jobs" ? showJobs() : showSchedules());
    showError(null);
    $("health").textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) { showError(error); }
}

async function enqueue(event) {
  event.preventDefault();
  const job = Object.fromEntries([...new FormData($("new-form"))].filter(([, value]) => value.trim()));
  const payload = job.payload;
  delete job.payload;
  try {
    if (payload) JSON.parse(payload);
  } catch { showError(new Problem("The payload must be valid JSON."), $("new-problem")); return; }
  // The payload is sent as it was typed, because JavaScript would round its numbers.
  try {
    const rest = JSON.stringify(job);
    await request("/jobs", payload ? `${rest.slice(0, -1)},"payload":${payload}}` : rest, "POST");
    $("new-form").reset();
    $("new").close();
    showError(null, $("new-problem"));
  } catch (error) { showError(error, $("new-problem")); }
  refresh();
}

$("enqueue").addEventListener("click", () => $("new").showModal());
$("new-close").addEventListener("click", () => $("new").close());
$("new-form").addEventListener("submit", enqueue);
$("unmask").addEventListener("click", () => unmask().catch(showError));
$("more").addEventListener("click", () => { selection.limit += PAGE; refresh(); });
$("filters").addEventListener("input", () => { selection.limit = PAGE; refresh(); });
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("token-form").addEventListener("submit", () => { sessionStorage.setItem("token", new FormData($("token-form")).get("token")); $("token-form").reset(); refresh(); });
addEventListener("hashchange", refresh);
await refresh();
setInterval(() => { if (!document.hidden && !$("token").open) refresh(); }, EVERY_MS);
