// Schedules: a list, and for `?name=` one of them.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { open } from "../app/dialog.js";
import { useLive } from "../app/live.js";
import { useOperator } from "../app/role.js";
import { link } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { Empty, Fault, Page, Skeleton } from "../app/ui.js";
import { Actions, isOwn } from "./schedules/actions.js";
import { Schedule } from "./schedules/detail.js";
import { Form } from "./schedules/form.js";

// A name may contain slashes, so it is a parameter and not a part of the path.
export default function Schedules({ query }) {
  const name = query.get("name");
  return name ? html`<${Schedule} key=${name} name=${name} />` : html`<${List} query=${query} />`;
}

function List({ query }) {
  const operator = useOperator();
  const after = query.get("after");
  const { data, error } = useLive((signal) => request(`/schedules?limit=100${after ? `&after=${encodeURIComponent(after)}` : ""}`, { signal }), [after]);
  return html`<${Page} title="Schedules" actions=${operator && html`<button class="first" onClick=${() => open(() => html`<${Form} />`)}>Add a schedule</button>`}>
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data && (data.schedules.length
      ? html`<${Table} label="Schedules" rows=${data.schedules} rowKey=${({ tenant, name }) => `${tenant}/${name}`} rowLink=${linkOf}
          columns=${[...COLUMNS, ...(operator ? [CHANGES] : [])]} />`
      : html`<${Empty} title="No schedules" command="minutehand schedules put --help">Declare one in code, here, or on the command line:<//>`)}
    ${data && (data.after || after) && html`<nav class="pager" aria-label="Pages of schedules">
      ${after && html`<a class="button" href=${link("schedules")}>First</a>`}
      ${data.after && html`<a class="button" href=${link("schedules", { after: data.after })}>Next</a>`}</nav>`}
  <//>`;
}

// A caller without a tenant reads all schedules, but opens only those without a tenant.
const linkOf = (schedule) => (isOwn(schedule) ? link("schedules", { name: schedule.name }) : link("schedules"));

const COLUMNS = [
  { title: "Schedule", kind: "main", cell: (schedule) => html`${isOwn(schedule) ? html`<a href=${linkOf(schedule)}>${schedule.name}</a>` : html`<strong>${schedule.name}</strong>`}
    <small><code>${schedule.every}</code> ${schedule.zone}${schedule.tenant && ` · ${schedule.tenant}`}</small>` },
  { title: "Kind", kind: "plain", cell: ({ job }) => job.kind },
  { title: "Next", kind: "when", cell: ({ paused, next }) => (paused ? html`<span class="state paused">paused</span>` : next ? html`<${Time} at=${next} />` : "none") },
  { title: "Last", kind: "when", cell: ({ fired, error }) => html`<${Time} at=${fired} />${error && html` <span class="state failed">${error.type}</span>`}` },
];

const CHANGES = { title: "Changes", hidden: true, kind: "number", cell: (schedule) => isOwn(schedule) && html`<span class="actions"><${Actions} schedule=${schedule} /></span>` };
