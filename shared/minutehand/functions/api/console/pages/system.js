// System: ticks, capacity and budgets, the versions of code and schema, workers, and the doctor's findings.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { useLive } from "../app/live.js";
import { caller } from "../app/role.js";
import { link } from "../app/router.js";
import { Table } from "../app/table.js";
import { duration, Time } from "../app/time.js";
import { count, Empty, Facts, Fault, Page, Panel, Skeleton } from "../app/ui.js";

const EVERY_MS = 15_000;
const COUNTED = 10_000;
const VERDICTS = ["problem", "warning", "skipped", "ok"];

export default function System() {
  const { tenant } = caller.use();
  return html`<${Page} title="System">
    ${tenant ? html`<${Empty} title="This page concerns all tenants">Sign in with a token without a tenant to see ticks, budgets and workers.<//>`
      : html`<${Installation} />`}
  <//>`;
}

function Installation() {
  const { data, error } = useLive((signal) => request("/system", { signal }), [], EVERY_MS);
  if (!data) return error ? html`<${Fault} error=${error} />` : html`<${Skeleton} rows=${8} />`;
  return html`<${Fault} error=${error} />
    <${Findings} findings=${data.findings} examined=${data.examined} />
    <div class="thirds">
      <${Panel} title="Ticks"><${Facts} facts=${ticks(data)} /><//>
      <${Panel} title="Capacity"><${Capacity} ...${data} /><//>
      <${Panel} title="Versions"><${Facts} facts=${versions(data)} /><//>
    </div>
    ${data.budgets.length > 0 && html`<${Panel} title="Reduced budgets">
      <${Table} label="Reduced budgets" rows=${data.budgets} rowKey=${({ queue }) => queue} columns=${BUDGETS} /><//>`}
    <${Panel} title="Workers">
      ${data.workers.length ? html`<${Table} label="Workers" rows=${data.workers} rowKey=${({ worker, version }) => `${worker} ${version}`} columns=${WORKERS} />`
        : html`<p class="soft">No worker has ended a job lately.</p>`}
    <//>`;
}

function ticks({ mode, ticks: { last, previous, swept, wakeup_failed: failed, wakeup_error: reason, offer_ttl: ttl } }) {
  return {
    mode, "last tick": last ? html`<${Time} at=${last} />` : "never", "tick before": previous && html`<${Time} at=${previous} />`,
    "last sweep": swept && html`<${Time} at=${swept} />`, "an offer lasts": ttl && duration(ttl),
    "wake-up failed": failed && html`<${Time} at=${failed} />: ${reason}`,
  };
}

const versions = ({ version, schema }) => ({
  library: version,
  schema: schema.version === schema.required ? `${schema.version}, as the library requires` : `${schema.version}, but the library requires ${schema.required}`,
  migrated: html`<${Time} at=${schema.migrated} />`,
});

function Capacity({ capacity: { limit, used, free }, connections }) {
  return html`<dl class="facts">
    <dt>jobs</dt><dd>${limit === null ? "known after the first tick" : html`<${Meter} used=${used} limit=${limit} name="Capacity in use" />
      <a href=${link("jobs", { state: ["offered", "running"] })}>${count(used)}${used >= COUNTED && "+"} used</a>, ${count(free)} free of ${count(limit)}`}</dd>
    <dt>connections</dt><dd><${Meter} used=${connections.used} limit=${connections.limit} name="Connections in use" />
      ${count(connections.used)} used, ${count(connections.limit - connections.used)} free of ${count(connections.limit)}</dd>
  </dl>`;
}

const Meter = ({ used, limit, name }) => html`<progress max=${Math.max(limit, 1)} value=${Math.min(used, limit)} aria-label=${`${name}: ${used} of ${limit}`}></progress> `;

const BUDGETS = [
  { title: "Queue", kind: "main", cell: ({ queue }) => html`<a href=${link("jobs", { queue, state: ["due", "offered", "running"] })}>${queue}</a>
    <small>Workers did not claim offers of it.</small>` },
  { title: "Budget", kind: "number", cell: ({ budget }) => count(budget) },
  { title: "Used", kind: "number", cell: ({ used }) => count(used) },
  { title: "Free", kind: "number", cell: ({ free }) => count(free) },
  { title: "Lapsed", kind: "when", cell: ({ lapsed }) => html`<${Time} at=${lapsed} />` },
];

const WORKERS = [
  { title: "Worker", kind: "main", cell: ({ worker }) => html`<strong>${worker ?? "unnamed"}</strong>` },
  { title: "Version", kind: "plain", cell: ({ version }) => version && html`<a href=${link("jobs", { version })}>${version}</a>` },
  { title: "Latest jobs", kind: "number", cell: ({ jobs }) => count(jobs) },
  { title: "Last seen", kind: "when", cell: ({ last }) => html`<${Time} at=${last} />` },
];

// What is in order, or could not be checked, is listed on request.
function Findings({ findings, examined }) {
  const sorted = [...findings].sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict));
  const wrong = sorted.filter(({ verdict }) => verdict === "problem" || verdict === "warning");
  const rest = sorted.slice(wrong.length);
  return html`<${Panel} title="Doctor" actions=${examined && html`<span class="soft">examined <${Time} at=${examined} /></span>`}>
    ${!examined ? html`<p class="soft">The doctor examines the database now.</p>` : wrong.length ? html`<${Table} label="Problems and warnings" rows=${wrong} rowKey=${({ check }) => check} columns=${FINDINGS} />`
      : html`<p class="soft">The doctor found no problem.</p>`}
    ${rest.length > 0 && html`<details><summary>${rest.length} other checks</summary>
      <${Table} label="Other checks" rows=${rest} rowKey=${({ check }) => check} columns=${FINDINGS} /></details>`}
  <//>`;
}

const FINDINGS = [
  { title: "Verdict", cell: ({ verdict }) => html`<span class="state ${verdict}">${verdict}</span>` },
  { title: "Check", kind: "plain", cell: ({ check }) => check },
  { title: "Found", kind: "main", cell: ({ found, advice }) => html`${found}${advice && html`<p class="soft">${advice}</p>`}` },
];
