// A schedule: its next occurrences in two time zones, its job, its latest firings, and its changes.
import { html } from "../../app/html.js";
import { post, request } from "../../app/api.js";
import { useLive } from "../../app/live.js";
import { useOperator } from "../../app/role.js";
import { jobLink, link } from "../../app/router.js";
import { Table } from "../../app/table.js";
import { duration, Time } from "../../app/time.js";
import { count, ErrorText, Facts, Fault, Page, Panel, SHORT_ID, Skeleton } from "../../app/ui.js";
import { Actions, find } from "./actions.js";
import { Occurrences } from "./occurrences.js";

const SHOWN = 10;
const FIRINGS = 50;

export function Schedule({ name }) {
  const operator = useOperator();
  const { data, error } = useLive((signal) => load(name, signal), [name]);
  const trail = html`<a href=${link("schedules")}>Schedules</a>`;
  if (!data) return html`<${Page} title=${name} trail=${trail}>${error ? html`<${Fault} error=${error} />` : html`<${Skeleton} />`}<//>`;
  const { schedule, occurrences, firings } = data;
  return html`<${Page} title=${name} trail=${trail} state=${schedule.paused && html`<span class="state paused">paused</span>`}
      actions=${operator && html`<${Actions} schedule=${schedule} />`}>
    <${Fault} error=${error} />
    <div class="columns">
      <div>
        ${schedule.error && html`<${Panel} title="The last occurrence did not fire" kind="error"><${ErrorText} error=${schedule.error} /><//>`}
        <${Panel} title="Next occurrences">${schedule.paused ? html`<p class="soft">It is paused.</p>` : html`<${Occurrences} occurrences=${occurrences} of=${schedule.zone} />`}<//>
        <${Panel} title="Firings">${firings.length ? html`<${Table} label="Firings" rows=${firings} rowKey=${({ nominal, fired }) => `${nominal} ${fired}`} columns=${COLUMNS} />`
          : html`<p class="soft">It has not fired lately.</p>`}<//>
      </div>
      <${Panel} title="Details"><${Facts} facts=${facts(schedule)} /><//>
    </div>
  <//>`;
}

async function load(name, signal) {
  const path = `/schedules/${encodeURIComponent(name)}`;
  const [schedule, { firings }] = await Promise.all([find(name, "", { signal }), request(`${path}/firings?limit=${FIRINGS}`, { signal })]);
  const { every, zone, starts, ends } = schedule;
  const { occurrences } = await post("/schedules/preview", { every, zone, starts, ends, n: SHOWN });
  return { schedule, firings, occurrences };
}

const facts = ({ every, zone, starts, ends, jitter, ahead, catch_up: catchUp, overlap, source, fired, last, created, job }) => ({
  every: html`<code>${every}</code>`, "time zone": zone,
  kind: html`<a href=${link("jobs", { kind: job.kind })}>${job.kind}</a>`, queue: job.queue, key: job.key,
  starts: starts && html`<${Time} at=${starts} exact />`, ends: ends && html`<${Time} at=${ends} exact />`,
  jitter: jitter > 0 && duration(jitter) || null, "enqueued ahead": ahead > 0 && duration(ahead) || null, "catch up": catchUp, overlap,
  "installed from code by": source, "last fired": fired && html`<${Time} at=${fired} exact />`,
  "last job": last && html`<a class="mono" href=${jobLink(last)}>${last.slice(-SHORT_ID)}</a>`, created: html`<${Time} at=${created} exact />`,
});

const COLUMNS = [
  { title: "Occurrence", kind: "when", cell: ({ nominal }) => html`<${Time} at=${nominal} exact />` },
  { title: "Outcome", kind: "plain", cell: ({ outcome, count: times }) => html`${outcome}${times > 1 && ` (${count(times)})`}` },
  { title: "Fired", kind: "when", cell: ({ fired }) => html`<${Time} at=${fired} />` },
  { title: "Job", kind: "plain", cell: ({ job }) => job && html`<a class="mono" href=${jobLink(job)}>${job.slice(-SHORT_ID)}</a>` },
];
