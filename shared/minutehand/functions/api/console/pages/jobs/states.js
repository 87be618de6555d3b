// The states with the number of their jobs, as links that filter the list.
import { html } from "../../vendor/preact.js";
import { request } from "../../app/api.js";
import { useLive } from "../../app/live.js";
import { link } from "../../app/router.js";
import { count, STATES } from "../../app/ui.js";
import { filtersOf } from "./filters.js";

const COUNTED = new Set(["queue", "kind"]);

export function States({ query }) {
  const filters = filtersOf(query);
  const counted = Object.keys(filters).every((name) => COUNTED.has(name));
  const stats = useLive((signal) => (counted ? request(`/stats?${new URLSearchParams(filters)}`, { signal }) : null), [filters]);
  const numbers = Object.fromEntries(STATES.map((state) => [state, 0]));
  for (const { state, jobs } of stats.data?.depths ?? []) numbers[state] += jobs;
  const chosen = query.getAll("state");
  const item = (state, label, number) => html`<a href=${link("jobs", { ...filters, state })}
      aria-current=${(state ? chosen.includes(state) : !chosen.length) ? "true" : null}>
    ${label} ${number !== null && html`<b class=${number ? "" : "none"}>${count(number)}</b>`}</a>`;
  return html`<nav class="states" aria-label="States">
    ${item(null, "all", null)}
    ${STATES.map((state) => item(state, state, counted && stats.data ? numbers[state] : null))}
  </nav>`;
}
