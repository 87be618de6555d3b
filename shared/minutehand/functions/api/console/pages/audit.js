// Audit: the changes that people made, the newest first.
import { html } from "../app/html.js";
import { request } from "../app/api.js";
import { useLive } from "../app/live.js";
import { jobLink, link, setQuery } from "../app/router.js";
import { Table } from "../app/table.js";
import { Time } from "../app/time.js";
import { Empty, Fault, Page, SHORT_ID, Skeleton } from "../app/ui.js";

const FILTERS = ["actor", "verb", "job"];
const VERBS = [
  "cancel", "cancel_running", "close_batch", "defaults", "delete", "edit", "limit", "matching", "pause", "promote", "reencrypt", "replay",
  "reschedule", "resume", "retention", "retry", "schedule delete", "schedule pause", "schedule put", "schedule resume", "schedule run",
  "share", "unblock", "unlimit", "unshare",
];

export default function Audit({ query }) {
  const text = query.toString();
  const { data, error } = useLive((signal) => request(`/audit?${asked(query)}`, { signal }), [text]);
  return html`<${Page} title="Audit">
    <${Filters} query=${query} />
    <${Fault} error=${error} />
    ${!data && !error && html`<${Skeleton} />`}
    ${data && (data.audit.length ? html`<${Table} label="Audit trail" rows=${data.audit} columns=${COLUMNS} />`
      : html`<${Empty} title=${text ? "No changes match these filters" : "No changes yet"}>${text && html`<a href=${link("audit")}>Clear the filters</a>`}<//>`)}
    ${data && (data.before || query.get("before")) && html`<nav class="pager" aria-label="Pages of changes">
      <button disabled=${!query.get("before")} onClick=${() => setQuery({ before: null })}>Newest</button>
      <button disabled=${!data.before} onClick=${() => setQuery({ before: data.before })}>Older</button></nav>`}
  <//>`;
}

function asked(query) {
  const parameters = new URLSearchParams({ limit: 50 });
  for (const name of [...FILTERS, "before"]) if (query.get(name)) parameters.set(name, query.get(name));
  return parameters;
}

function Filters({ query }) {
  const submit = (event) => {
    event.preventDefault();
    setQuery({ before: null, actor: new FormData(event.target).get("actor") });
  };
  return html`<form class="actions search-form" role="search" onSubmit=${submit}>
    <label>Actor <input name="actor" key=${query.get("actor")} defaultValue=${query.get("actor") ?? ""} /></label>
    <label>Change <select value=${query.get("verb") ?? ""} onChange=${(event) => setQuery({ before: null, verb: event.target.value })}>
      <option value="">all</option>${VERBS.map((verb) => html`<option value=${verb} selected=${verb === query.get("verb")}>${verb}</option>`)}</select></label>
    <button>Filter</button>
  </form>`;
}

const COLUMNS = [
  { title: "When", kind: "when", clear: true, cell: ({ at }) => html`<${Time} at=${at} />` },
  { title: "Change", kind: "main", cell: ({ verb, job }) => html`<strong>${verb}</strong> ${job && html`<a class="mono" href=${jobLink(job)}>${job.slice(-SHORT_ID)}</a>`}` },
  { title: "By", kind: "plain", cell: ({ actor }) => actor },
  { title: "Details", kind: "long", cell: ({ facts }) => html`<span>${Object.entries(facts ?? {}).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(", ")}</span>` },
];
