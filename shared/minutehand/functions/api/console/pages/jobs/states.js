// The states with the number of their jobs that match the filters, as links that filter the list.
import { html } from "../../app/html.js";
import { request } from "../../app/api.js";
import { useLive } from "../../app/live.js";
import { link } from "../../app/router.js";
import { count, STATES } from "../../app/ui.js";
import { filtersOf } from "./filters.js";

const EVERY_MS = 15_000;

export function States({ query }) {
  const filters = filtersOf(query);
  const { data, stale } = useLive((signal) => request(`/jobs/counts?${search(filters)}`, { signal }), [filters], EVERY_MS);
  const chosen = query.getAll("state");
  const item = (state, number) => html`<a href=${link("jobs", { ...filters, state })}
      aria-current=${(state ? chosen.includes(state) : !chosen.length) ? "true" : null}>${state ?? "all"} ${number}</a>`;
  const number = (state) => data && !stale && html`<b class=${data.counts[state] ? "" : "none"}>
    ${count(data.counts[state] ?? 0)}${data.more.includes(state) && "+"}</b>`;
  return html`<nav class="states" aria-label="States">
    ${item(null, null)}
    ${STATES.map((state) => item(state, number(state)))}
  </nav>`;
}

const search = (filters) => link("", filters).split("?")[1] ?? "";
