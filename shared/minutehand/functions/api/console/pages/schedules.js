// Schedules: their next occurrences, and pause, resume and run.
import { html } from "../vendor/preact.js";
import { post, request } from "../app/api.js";
import { reload, useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { go, jobLink } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { toast, toastError } from "../app/toasts.js";
import { Empty, Fault, Page, Skeleton } from "../app/ui.js";

export default function Schedules() {
  const operator = useOperator();
  const { data, error } = useLive((signal) => request("/schedules?limit=200", { signal }));
  return html`<${Page} title="Schedules">
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data && (data.schedules.length
      ? html`<${Table} label="Schedules" rows=${data.schedules} rowKey=${({ name }) => name} columns=${[...COLUMNS, ...(operator ? [CHANGES] : [])]} />`
      : html`<${Empty} title="No schedules" command="minutehand schedules put --help">Declare one in code, or on the command line:<//>`)}
  <//>`;
}

const COLUMNS = [
  { title: "Schedule", kind: "main", cell: ({ name, every, zone }) => html`<strong>${name}</strong><small><code>${every}</code> ${zone}</small>` },
  { title: "Next", kind: "when", cell: ({ paused, next }) => (paused ? html`<span class="state paused">paused</span>` : html`<${Time} at=${next} />`) },
  { title: "Last", kind: "when", cell: ({ fired }) => html`<${Time} at=${fired} />` },
];

const CHANGES = { title: "Changes", hidden: true, kind: "number", cell: (schedule) => {
  const toggle = schedule.paused ? "resume" : "pause";
  return html`<span class="actions"><button onClick=${() => change(schedule, toggle)}>${toggle === "pause" ? "Pause" : "Resume"}</button>
    <button onClick=${() => change(schedule, "run")}>Run now</button></span>`;
} };

async function change({ name }, verb) {
  try {
    const result = await post(`/schedules/${encodeURIComponent(name)}/${verb}`);
    if (verb === "run") go(jobLink(result.id));
    else toast(`The schedule ${name} was ${verb}d.`);
    reload();
  } catch (error) { toastError(error); }
}
