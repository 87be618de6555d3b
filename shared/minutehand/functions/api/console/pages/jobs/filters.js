// Filters, written as name:value. Text without a name is a job's id or the beginning of a key.
import { html, useEffect, useRef, useState } from "../../app/html.js";
import { request } from "../../app/api.js";
import { useKeys } from "../../app/keys.js";
import { useLive } from "../../app/live.js";
import { go, jobLink, setQuery } from "../../app/router.js";
import { toast } from "../../app/toasts.js";
import { Icon } from "../../app/ui.js";

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const TIME = "2026-11-23T08:00:00Z";
// The parameters of GET /jobs, with examples.
const EXAMPLES = {
  queue: "mail", kind: "mail.send", key: "welcome/ada", key_prefix: "welcome/", tenant: "shop", group: "customer-4", error: "TimeoutError",
  cause: "TimeoutError: no answer in # s", payload: "customer.id=4", header: "name=value", priority: "9", batch: "its id", schedule: "its name",
  version: "42", result_dropped: "true", since: TIME, until: TIME, finished_since: TIME, finished_until: TIME,
};
const REPEATED = new Set(["header", "payload"]);
const isFilter = (name) => Object.hasOwn(EXAMPLES, name);
const FIRST_PAGE = { before: null, after: null, page: null };

// The filters in the URL, without states and the place in the list.
export function filtersOf(query) {
  const names = new Set([...query.keys()].filter(isFilter));
  // Of a repeated parameter, the API takes the last.
  return Object.fromEntries([...names].map((name) => [name, REPEATED.has(name) ? query.getAll(name) : query.getAll(name).at(-1)]));
}

// The filters as JSON, for changes of all jobs that match.
export function filterBody(query) {
  const states = query.getAll("state");
  return { ...filtersOf(query), ...(states.length && { state: states }) };
}

export function Filters({ query }) {
  const input = useRef();
  const [text, setText] = useState("");
  useKeys([{ keys: "/", text: "Filter", run: () => input.current.focus() }]);
  useEffect(() => setText(""), [query.toString()]);
  const submit = (event) => {
    event.preventDefault();
    apply(text.trim(), query);
  };
  const active = [...query].filter(([name]) => isFilter(name));
  return html`<form class="filters" role="search" onSubmit=${submit}>
    <div class="search">
      <${Icon} name="search" />
      ${active.map(([name, value]) => html`<span class="token" key=${`${name}:${value}`}><span>${name.replaceAll("_", " ")}: <b><bdi>${value}</bdi></b></span>
        <button type="button" class="quiet" aria-label=${`Remove the filter ${name}`} onClick=${() => remove(query, name, value)}>×</button></span>`)}
      <input ref=${input} list="suggestions" value=${text} onInput=${(event) => setText(event.target.value)} autocomplete="off"
        spellcheck="false" aria-label="Filter" placeholder=${active.length ? "Add a filter" : "Filter: queue:mail, kind:mail.send, a key or an id"} />
      <kbd aria-hidden="true">/</kbd>
    </div>
    <${Suggestions} name=${text.includes(":") ? text.split(":")[0] : ""} />
  </form>`;
}

function apply(text, query) {
  if (!text) return;
  if (UUID.test(text)) { go(jobLink(text.toLowerCase())); return; }
  const at = text.indexOf(":");
  const name = at > 0 && isFilter(text.slice(0, at)) ? text.slice(0, at) : null;
  const value = name ? text.slice(at + 1).trim() : text;
  if (name && !value) toast(`The filter ${name} needs a value, such as ${name}:${EXAMPLES[name]}`, { kind: "bad" });
  else setQuery({ ...FIRST_PAGE, [name ?? "key_prefix"]: REPEATED.has(name) ? [...query.getAll(name), value] : value });
}

const remove = (query, name, value) => setQuery({ ...FIRST_PAGE, [name]: query.getAll(name).filter((each) => each !== value) });

// The names of filters, then the known values of one.
function Suggestions({ name }) {
  const known = useLive(async (signal) => {
    if (name !== "queue" && name !== "kind") return [];
    const { depths } = await request("/stats?by=kind", { signal });
    return [...new Set(depths.map((depth) => depth[name]))].slice(0, 200);
  }, [name], 0);
  const values = name ? (known.data ?? []).map((value) => `${name}:${value}`) : Object.keys(EXAMPLES).map((each) => `${each}:`);
  return html`<datalist id="suggestions">${values.map((value) => html`<option value=${value}></option>`)}</datalist>`;
}
