// The parts that pages consist of.
import { html, useEffect, useState, visible } from "./html.js";
import { toast } from "./toasts.js";

export const STATES = ["scheduled", "due", "offered", "running", "retrying", "done", "dead", "expired", "cancelled"];
export const UPCOMING = ["scheduled", "due", "offered", "retrying"];
export const FINISHED = ["done", "dead", "expired", "cancelled"];
export const SHORT_ID = 8;
const LONG = 200;

export const count = (number) => number.toLocaleString("en");
// A number that may be larger than what was counted.
export const atLeast = ({ jobs, more } = { jobs: 0 }) => `${count(jobs)}${more ? "+" : ""}`;
// The number of jobs as a link to them, if there are any.
export const Counted = ({ number = { jobs: 0 }, to }) => (number.jobs || number.more
  ? html`<a href=${to}>${atLeast(number)}</a>` : html`<span class="soft">0</span>`);
// queue-2 comes before queue-10.
export const byName = new Intl.Collator("en", { numeric: true }).compare;
export const plural = (number, noun, nouns = `${noun}s`) => `${count(number)} ${number === 1 ? noun : nouns}`;

export function Page({ title, trail, actions, state, children }) {
  useEffect(() => { document.title = visible(`${title} · minutehand`); }, [title]);
  return html`<header class="page-head">
      <div class="page-title">
        ${trail && html`<p class="trail">${trail}</p>`}
        <h1 tabindex="-1">${title} ${state}</h1>
      </div>
      <div class="actions">${actions}</div>
    </header>
    ${children}`;
}

export function Panel({ title, actions, children, kind = "" }) {
  return html`<section class="panel ${kind}" aria-label=${title}>
    ${title && html`<header><h2>${title}</h2>${actions && html`<div class="actions">${actions}</div>`}</header>`}
    ${children}
  </section>`;
}

// The color is never the only sign: the name is next to it.
export const State = ({ state }) => html`<span class="state ${state}">${state}</span>`;

export function Empty({ title, children, command }) {
  return html`<div class="empty">
    <h2>${title}</h2>
    ${children && html`<p>${children}</p>`}
    ${command && html`<${Command} text=${command} />`}
  </div>`;
}

export const Command = ({ text }) => html`<p class="command"><code>${text}</code><${Copy} text=${text} label="Copy the command" /></p>`;

// Parts of a next step: "see the log", "minutehand doctor", or "to tick now: minutehand tick". They are separated by semicolons, or
// by ", or", outside of quotes: a quoted name may contain anything, also what looks like another command.
const PARTS = /(?:((?:(?!minutehand )[^;])*?): )?(minutehand (?:'[^']*'|"[^"]*"|(?!, or )[^'";])+)(?:; |, or |$)|([^;]+)(?:; |$)/gy;

export const Step = ({ text }) => [...text.matchAll(PARTS)].map(([, purpose, command, instruction]) => html`
  ${(purpose || instruction) && html`<p class="soft">${purpose ? `${purpose}:` : instruction}</p>`}
  ${command && html`<${Command} text=${command} />`}`);

export function Fault({ error }) {
  return error && html`<p class="problem" role="alert">${error.message}</p>`;
}

export const Skeleton = ({ rows = 5 }) => html`<div class="skeleton" role="status" aria-label="Loading">
  ${Array.from({ length: rows }, () => html`<span></span>`)}
</div>`;

// A long text scrolls, which the keyboard needs a focus for.
export const ErrorText = ({ error: { type, message } }) => html`<p class="error-text" tabindex=${message.length > LONG || message.includes("\n") ? 0 : null}>
  <strong>${type}</strong> ${message}</p>`;

export function Facts({ facts }) {
  const shown = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return html`<dl class="facts">${shown.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

export function Copy({ text, label = "Copy" }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch { toast("The browser does not allow copying here. Select the text instead.", { kind: "bad" }); }
  };
  return html`<button type="button" class="copy quiet" aria-label=${copied ? "Copied" : label} title=${label} onClick=${copy}>
    <${Icon} name=${copied ? "check" : "copy"} /></button>`;
}

const ICONS = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-4v-5H8v5H4a1 1 0 0 1-1-1z",
  jobs: "M4 5h12M4 10h12M4 15h8",
  queues: "M3 6h14M3 10h10M3 14h6M16 12v5m-2.5-2.5h5",
  alert: "M10 3 2.5 16.5h15zM10 8v4m0 2.2v.3",
  clock: "M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4M10 6v4l2.6 2",
  batches: "m10 3 7 3.5-7 3.5-7-3.5zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5",
  audit: "M6 3h6l3 3v11H6a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM8 9h4m-4 3h4",
  system: "M3 4.5h14v4H3zm0 7h14v4H3zM6 6.5h.1M6 13.5h.1",
  copy: "M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.500v7a1.5 1.5 0 0 1-1.5 1.500h-7A1.5 1.5 0 0 1 3 15.500v-7A1.5 1.5 0 0 1 4.5 7z",
  check: "m4 10.5 4 4 8-9",
  search: "M9 3.500a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4",
  menu: "M3 5.500h14M3 10h14M3 14.500h14",
  light: "M10 6.500a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2v2m0 12v2M2 10h2m12 0h2M4.300 4.300l1.5 1.500m8.400 8.400 1.5 1.500m0-11.400-1.5 1.500m-8.400 8.400-1.5 1.5",
  dark: "M16.5 12A7 7 0 0 1 8 3.500a7 7 0 1 0 8.5 8.500z",
  auto: "M10 3a7 7 0 1 0 0 14zm0 0a7 7 0 0 1 0 14",
};

export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false"><path d=${ICONS[name]} /></svg>`;
