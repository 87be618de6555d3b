// Queues and limits: the jobs of each queue, and the pauses and limits that hold jobs back.
import { html } from "../app/html.js";
import { post, request } from "../app/api.js";
import { confirm } from "../app/dialog.js";
import { reload, useLive } from "../app/live.js";
import { caller, useOperator } from "../app/role.js";
import { link } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { toast, toastError } from "../app/toasts.js";
import { byName, count, Counted, Empty, Fault, Page, Panel, Skeleton } from "../app/ui.js";
import { Holds } from "./queues/holds.js";

const EVERY_MS = 15_000;
const NAMES_MS = 60_000;
const NAMES = ["queue", "kind", "key", "group", "tenant"];
const SHOWN = ["scheduled", "due", "offered", "running", "retrying", "dead"];

export default function Queues() {
  const { tenant } = caller.use();
  const operator = useOperator() && !tenant;
  const stats = useLive((signal) => request("/stats?limit=1000", { signal }), [], EVERY_MS);
  const controls = useLive((signal) => (caller.get().tenant ? { controls: [] } : request("/controls?limit=200", { signal })));
  const names = useLive((signal) => request("/queues?limit=1000", { signal }), [], NAMES_MS);
  const queues = stats.data && names.data && byQueue(names.data.queues, stats.data.depths, controls.data?.controls ?? []);
  return html`<${Page} title="Queues and limits" actions=${operator && html`<button class="danger" onClick=${pauseAll}>Pause all jobs</button>`}>
    <${Fault} error=${stats.error ?? names.error ?? controls.error} />
    ${!queues && !stats.error && !names.error && html`<${Skeleton} />`}
    ${queues && (queues.length
      ? html`<${Table} label="Queues" rows=${queues} rowKey=${({ queue }) => queue} columns=${[...COLUMNS, ...(operator ? [PAUSE] : [])]} />`
      : html`<${Empty} title="No queues yet">A queue appears with its first job.<//>`)}
    ${controls.data?.controls.length > 0 && html`<${Panel} title="Pauses and limits">
      <${Table} label="Pauses and limits" rows=${controls.data.controls} rowKey=${scopeOf} columns=${[...CONTROLS, ...(operator ? [END] : [])]} />
    <//>`}
    ${!tenant && html`<${Holds} operator=${operator} />`}
  <//>`;
}

function byQueue(names, depths, controls) {
  const paused = (queue) => controls.some((each) => each.paused && scopeOf(each) === `queue ${queue}`);
  const found = new Set([...names, ...depths.map(({ queue }) => queue)]);
  const queues = new Map([...found].map((queue) => [queue, { queue, counts: {}, paused: paused(queue) }]));
  for (const { queue, state, jobs, more } of depths) queues.get(queue).counts[state] = { jobs, more };
  return [...queues.values()].sort((a, b) => byName(a.queue, b.queue));
}

function scopeOf(control) {
  const names = NAMES.filter((name) => control[name]).map((name) => `${name} ${control[name]}`);
  return [...names, ...(control.per ? [`each ${control.per}`] : [])].join(", ") || "all jobs";
}

const targetOf = (control) => Object.fromEntries(NAMES.filter((name) => control[name]).map((name) => [name, control[name]]));

function limitsOf({ limit, rate, period, burst, in_order: inOrder }) {
  const parts = [
    limit !== null && `at most ${count(limit)} at once`,
    rate && `${count(rate)} in ${count(period)} s${burst && burst !== rate ? `, bursts of ${count(burst)}` : ""}`,
    inOrder && "in order",
  ];
  return parts.filter(Boolean).join(", ");
}

const COLUMNS = [
  { title: "Queue", kind: "main", cell: ({ queue, paused }) => html`<a href=${link("jobs", { queue })}>${queue}</a> ${paused && html`<span class="state paused">paused</span>`}` },
  ...SHOWN.map((state) => ({ title: state, kind: "number",
    cell: ({ queue, counts }) => html`<${Counted} number=${counts[state]} to=${link("jobs", { queue, state })} />` })),
];
const PAUSE = { title: "Changes", hidden: true, kind: "number", cell: ({ queue, paused }) => html`<span class="actions">
  ${paused ? html`<button onClick=${() => end("resume", { queue })}>Resume</button>` : html`<button onClick=${() => pauseOf({ queue }, `queue ${queue}`)}>Pause</button>`}</span>` };
const CONTROLS = [
  { title: "Jobs", kind: "main", cell: (control) => html`<strong>${scopeOf(control)}</strong>${control.reason && html`<small>${control.reason}</small>`}` },
  { title: "Rule", kind: "long", cell: (control) => html`<span>${[control.paused && "paused", limitsOf(control)].filter(Boolean).join("; ")}
    ${control.paused && control.until && html` until <${Time} at=${control.until} exact />`}</span>` },
  { title: "In use", kind: "number", cell: ({ busy }) => (busy === null ? "" : count(busy)) },
  { title: "Since", kind: "when", cell: ({ changed }) => html`<${Time} at=${changed} />` },
];
const END = { title: "Changes", hidden: true, kind: "number", cell: (control) => html`<span class="actions">
  ${control.paused && html`<button onClick=${() => end("resume", isEmpty(control) ? { everything: true } : targetOf(control))}>Resume</button>`}
  ${limitsOf(control) && html`<button onClick=${() => end("unlimit", { ...targetOf(control), ...(control.per ? { per: control.per } : {}) })}>Remove the limit</button>`}</span>` };

const isEmpty = (control) => NAMES.every((name) => !control[name]);
const pauseAll = () => pauseOf({ everything: true }, "all jobs");

function pauseOf(target, title) {
  confirm({
    title: `Pause ${title}?`,
    text: `Running jobs continue. ${target.everything ? "No other job starts until you resume them" : "No other job of the queue starts until you resume it"}.`,
    verb: "Pause",
    danger: true,
    fields: html`<label>Reason <input name="reason" maxlength="1000" /></label>`,
    run: async ({ reason }) => {
      await post("/controls/pause", { ...target, ...(reason ? { reason } : {}) });
      toast(`Paused: ${title}.`, { kind: "good" });
      reload();
    },
  });
}

async function end(verb, target) {
  try {
    await post(`/controls/${verb}`, target);
    toast(verb === "resume" ? "Resumed." : "The limit was removed.", { kind: "good" });
    reload();
  } catch (error) { toastError(error); }
}
