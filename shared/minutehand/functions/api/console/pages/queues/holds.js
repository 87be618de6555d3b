// The groups that wait because a handler raised RetryAfter, or a delivery's answer had a Retry-After.
import { html } from "../../app/html.js";
import { post, request } from "../../app/api.js";
import { reload, useLive } from "../../app/live.js";
import { link } from "../../app/router.js";
import { Table } from "../../app/table.js";
import { Time } from "../../app/time.js";
import { toast, toastError } from "../../app/toasts.js";
import { Panel } from "../../app/ui.js";

const SHOWN = 100;

export function Holds({ operator }) {
  const { data } = useLive((signal) => request(`/controls/holds?limit=${SHOWN}`, { signal }));
  return data?.holds.length > 0 && html`<${Panel} title="Groups that wait after Retry-After">
    <${Table} label="Groups that wait after Retry-After" rows=${data.holds} rowKey=${keyOf} columns=${[...COLUMNS, ...(operator ? [END] : [])]} />
    ${data.holds.length === SHOWN && html`<p class="hint">Only the ${SHOWN} that wait the longest are shown.</p>`}
  <//>`;
}

const keyOf = ({ queue, group, tenant }) => JSON.stringify([queue, group, tenant]);

const COLUMNS = [
  { title: "Group", kind: "main", cell: ({ queue, group, tenant }) => html`<a href=${link("jobs", { queue, group, ...(tenant ? { tenant } : {}) })}>${group}</a>
    ${tenant && html`<small>${tenant}</small>`}` },
  { title: "Queue", kind: "plain", cell: ({ queue }) => queue },
  { title: "Waits until", kind: "when", cell: ({ held_until: until }) => html`<${Time} at=${until} exact />` },
];

const END = { title: "Changes", hidden: true, kind: "number", cell: (hold) => html`<span class="actions">
  <button onClick=${() => end(hold)}>Continue now</button></span>` };

async function end({ queue, group, tenant }) {
  try {
    await post("/controls/unblock", { queue, group, tenant });
    toast(`The group ${group} continues.`, { kind: "good" });
    reload();
  } catch (error) { toastError(error); }
}
