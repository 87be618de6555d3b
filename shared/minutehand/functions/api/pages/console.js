// The console: asks the API every two seconds for what it shows. Whatever comes from a job is put in as text.
const STATES = ["scheduled", "due", "offered", "running", "retrying", "done", "dead", "cancelled"];
const ACTIONS = {
  promote: ["scheduled", "due", "offered", "retrying"],
  cancel: ["scheduled", "due", "offered", "retrying", "running"],
  retry: ["dead", "cancelled"],
  replay: ["done", "dead", "cancelled"],
};
const EVERY_MS = 2000;
const PAGE = 50;
const $ = (id) => document.getElementById(id);
const chosen = { state: "", limit: PAGE, job: null };

function el(name, facts = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(facts)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

class Problem extends Error {}

async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const token = sessionStorage.getItem("token");
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (method !== "GET") headers["Content-Type"] = "application/json";
  const base = location.pathname.replace(/\/console$/, "");
  const said = method === "GET" ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(base + path, { method, headers, body: said });
  if (answer.status === 401) { needToken(); throw new Problem("A token is needed."); }
  const told = read(await answer.text());
  if (!answer.ok) throw Object.assign(new Problem(told.detail || told.title || `The API answered ${answer.status}.`), { status: answer.status });
  return told;
}

// A number keeps every digit that it came with, where the browser can do that.
function read(text, exact = (key, value, told) => (typeof value === "number" && told?.source && JSON.rawJSON && !Number.isSafeInteger(value) ? JSON.rawJSON(told.source) : value)) {
  try { return JSON.parse(text, exact); } catch { return {}; }
}

function needToken() {
  sessionStorage.removeItem("token");
  if (!$("token").open) $("token").showModal();
}

function complain(error, where = $("problem")) {
  where.textContent = error ? (error instanceof Problem ? error.message : "The API cannot be reached; trying again.") : "";
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
  const open = () => { chosen.job = job.id; showJob(); };
  return el("tr", { tabindex: 0, "data-id": job.id, onclick: open, onkeydown: (e) => e.key === "Enter" && open() },
    el("td", { class: `state ${job.state}` }, job.state),
    el("td", {}, job.kind), el("td", {}, job.queue), el("td", {}, job.key ?? ""),
    el("td", { class: "number" }, `${job.attempts} / ${job.max_attempts}`),
    el("td", {}, when(job.deleted ?? job.visible)),
    el("td", { class: "long" }, job.error ? `${job.error.type}: ${job.error.message}` : ""));
}

function filters() {
  const asked = new URLSearchParams();
  for (const [name, value] of new FormData($("filters"))) if (value.trim()) asked.set(name, value.trim());
  if (chosen.state) asked.set("state", chosen.state);
  asked.set("limit", chosen.limit);
  return asked;
}

function replaceRows(table, rows) {
  const focused = document.activeElement?.dataset?.id;
  table.replaceChildren(...rows);
  if (focused) table.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
}

async function showJobs() {
  const [{ depths }, page] = await Promise.all([ask("/stats"), ask(`/jobs?${filters()}`)]);
  const counts = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const depth of depths) counts[depth.state] += depth.jobs;
  const chip = (state, label, jobs) => el("button", {
    type: "button", "aria-pressed": chosen.state === state, "data-state": state || "all",
    onclick: () => { chosen.state = state; chosen.limit = PAGE; refresh(); },
  }, label, el("b", {}, jobs.toLocaleString("en")));
  const all = Object.values(counts).reduce((sum, jobs) => sum + jobs, 0);
  const pressed = document.activeElement?.dataset?.state;
  $("states").replaceChildren(chip("", "all", all), ...STATES.map((state) => chip(state, state, counts[state])));
  if (pressed) $("states").querySelector(`[data-state="${pressed}"]`)?.focus();
  $("queues").replaceChildren(...[...new Set(depths.map((depth) => depth.queue))].map((queue) => el("option", { value: queue })));
  replaceRows($("rows"), page.jobs.map(jobRow));
  $("more").hidden = !page.next || chosen.limit >= 1000;
  $("empty").hidden = page.jobs.length > 0;
  $("empty").textContent = all ? "No job is like that." : "No jobs yet. Enqueue one, and it is seen here.";
}

async function showJob() {
  const job = await ask(`/jobs/${chosen.job}`);
  $("job-title").textContent = `${job.kind} · ${job.state}`;
  const facts = { id: job.id, queue: job.queue, key: job.key, tenant: job.tenant, attempts: `${job.attempts} of ${job.max_attempts}`, priority: job.priority,
    enqueued: when(job.enqueued), "run at": when(job.run_at), visible: when(job.visible), claimed: when(job.claimed), finished: when(job.deleted),
    every: job.every, schedule: job.schedule, "asked to end": job.cancelling, error: job.error && `${job.error.type}: ${job.error.message}` };
  $("facts").replaceChildren(...Object.entries(facts).filter(([, value]) => value != null && value !== "").flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value.nodeType ? value : String(value))]));
  $("actions").replaceChildren(...Object.entries(ACTIONS).filter(([, states]) => states.includes(job.state)).map(([verb]) =>
    el("button", { type: "button", "data-verb": verb, onclick: () => act(verb, job) }, verb)));
  $("payload").hidden = true;
  $("unmask").hidden = false;
  await showAttempts();
  if (!$("job").open) $("job").showModal();
}

async function showAttempts() {
  const { attempts } = await ask(`/jobs/${chosen.job}/attempts`).catch((error) => {
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
  const running = verb === "cancel" && job.state === "running";  // It is asked to end, and running until it looks.
  try {
    const became = await ask(`/jobs/${job.id}/${verb}`, running ? { running } : {});
    if (became.id) chosen.job = became.id;
    await showJob();
    if (running) $("job-title").textContent += " · asked to end";
    complain(null);
  } catch (error) { $("job").close(); complain(error); }
  refresh();
}

async function unmask() {
  const job = await ask(`/jobs/${chosen.job}?include=payload`);
  const { payload, headers, result, error } = job;
  $("payload").textContent = JSON.stringify({ payload, headers, result }, null, 2) + (error?.trace ? `\n\n${error.trace}` : "");
  $("payload").hidden = false;
  $("unmask").hidden = true;
}

async function showSchedules() {
  const { schedules } = await ask("/schedules");
  const button = (schedule, verb) => el("button", { type: "button", "data-id": `${schedule.name}/${verb === "run" ? "run" : "turn"}`, onclick: () => turn(schedule.name, verb) }, verb);
  replaceRows($("schedule-rows"), schedules.map((schedule) => el("tr", {},
    el("td", {}, schedule.name), el("td", {}, schedule.every), el("td", {}, schedule.zone),
    el("td", {}, schedule.paused ? "paused" : when(schedule.next)), el("td", {}, when(schedule.fired)),
    el("td", {}, button(schedule, schedule.paused ? "resume" : "pause"), " ", button(schedule, "run")))));
  $("no-schedules").hidden = schedules.length > 0;
}

async function turn(name, verb) {
  try {
    const became = await ask(`/schedules/${encodeURIComponent(name)}/${verb}`, {});
    await refresh();
    if (verb === "run") { chosen.job = became.id; await showJob(); }
  } catch (error) { complain(error); }
}

async function refresh() {
  const view = location.hash === "#schedules" ? "schedules" : "jobs";
  for (const name of ["jobs", "schedules"]) $(name).hidden = name !== view;
  for (const link of document.querySelectorAll("nav a")) link.toggleAttribute("aria-current", link.hash === `#${view}`);
  try {
    await (view === "jobs" ? showJobs() : showSchedules());
    complain(null);
    $("health").textContent = `as of ${new Date().toLocaleTimeString()}`;
  } catch (error) { complain(error); }
}

async function enqueue(event) {
  event.preventDefault();
  const job = Object.fromEntries([...new FormData($("new-form"))].filter(([, value]) => value.trim()));
  const payload = job.payload;
  delete job.payload;
  try {
    if (payload) JSON.parse(payload);
  } catch { complain(new Problem("The payload is not JSON."), $("new-problem")); return; }
  try {  // The payload goes as it was typed: JavaScript would round its numbers.
    const rest = JSON.stringify(job);
    await ask("/jobs", payload ? `${rest.slice(0, -1)},"payload":${payload}}` : rest, "POST");
    $("new-form").reset();
    $("new").close();
    complain(null, $("new-problem"));
  } catch (error) { complain(error, $("new-problem")); }
  refresh();
}

$("enqueue").addEventListener("click", () => $("new").showModal());
$("new-close").addEventListener("click", () => $("new").close());
$("new-form").addEventListener("submit", enqueue);
$("unmask").addEventListener("click", () => unmask().catch(complain));
$("more").addEventListener("click", () => { chosen.limit += PAGE; refresh(); });
$("filters").addEventListener("input", () => { chosen.limit = PAGE; refresh(); });
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("token-form").addEventListener("submit", () => { sessionStorage.setItem("token", new FormData($("token-form")).get("token")); $("token-form").reset(); refresh(); });
addEventListener("hashchange", refresh);
await refresh();
setInterval(() => { if (!document.hidden && !$("token").open) refresh(); }, EVERY_MS);
