// What needs attention, the worst first, each with its jobs and the next step.
import { html } from "../../app/html.js";
import { request } from "../../app/api.js";
import { useLive } from "../../app/live.js";
import { link } from "../../app/router.js";
import { Time } from "../../app/time.js";
import { count, Icon, Panel, plural, Step } from "../../app/ui.js";

const EVERY_MS = 15_000;
const SHOWN = 4;
const TITLES = {
  dispatcher_silent: "Silent dispatcher", read_only: "Read-only database", late: "Late", failing: "Failing", retrying: "Retrying", paused: "Paused",
  limited: "Limited", throttled: "Throttled",
};

export function Attention() {
  const { data } = useLive((signal) => request("/attention", { signal }), [], EVERY_MS);
  if (!data) return null;
  if (!data.items.length) return html`<p class="calm"><${Icon} name="check" /> Nothing needs attention.</p>`;
  return html`<${Panel} title="Needs attention">
    <ul class="attention">
      ${data.items.slice(0, SHOWN).map((item) => html`<${Item} key=${`${item.what} ${item.queue} ${item.kind}`} item=${item} />`)}
    </ul>
    ${data.items.length > SHOWN && html`<details><summary>${data.items.length - SHOWN} more</summary>
      <ul class="attention">${data.items.slice(SHOWN).map((item) => html`<${Item} item=${item} />`)}</ul></details>`}
  <//>`;
}

function Item({ item: { what, severity, sentence, since, count: jobs, more, filter, next_step: step } }) {
  return html`<li class=${severity}>
    <div><p><strong>${TITLES[what] ?? what}</strong> <span class="soft">${since && html`<${Time} at=${since} />`}</span></p>
      <p>${sentence}</p></div>
    <div class="actions">
      ${filter && html`<a class="button" href=${link("jobs", filter)}>${jobs ? `Show ${more ? `the first ${count(jobs)} jobs` : plural(jobs, "job")}` : "Show the jobs"}</a>`}
      ${step && !(filter && step.startsWith("minutehand ls ")) && html`<${Step} text=${step} />`}
    </div>
  </li>`;
}
