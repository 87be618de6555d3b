// Charts of the history. Each bar links to the jobs that finished in its time.
import { html, useState } from "../../app/html.js";
import { link } from "../../app/router.js";
import { duration, zone, zoneChoice } from "../../app/time.js";
import { count, Panel } from "../../app/ui.js";

const HEIGHT = 100;
const OUTCOMES = ["done", "dead", "expired", "cancelled"];
const STEPS = [1, 2, 2.5, 5, 10];

export function Throughput({ history }) {
  const bins = history.bins.map((bin) => ({ ...bin, total: OUTCOMES.reduce((sum, name) => sum + bin[name], 0) }));
  const top = ceiling(Math.max(...bins.map(({ total, enqueued }) => Math.max(total, enqueued)), 4));
  const text = ({ done, dead, expired, cancelled, enqueued }) => [`${count(done)} done`, `${count(dead)} dead`,
    expired && `${count(expired)} expired`, cancelled && `${count(cancelled)} cancelled`, `${count(enqueued)} enqueued`].filter(Boolean).join(", ");
  return html`<${Chart} title="Finished jobs" legend=${["done", "dead", "enqueued"]} history=${history} top=${count(top)} text=${text}>
    ${bins.map((bin, at) => stack(bin, at, top))}
    <polyline class="enqueued" points=${line(bins, "enqueued", top)} />
  <//>`;
}

export function Waits({ history }) {
  const longest = Math.max(...history.bins.map(({ wait_p95: wait }) => wait ?? 0), 1);
  const top = ceiling(longest);
  const text = ({ wait_p50: middle, wait_p95: most }) => (most === null ? "no job finished" : `half within ${duration(middle)}, 95% within ${duration(most)}`);
  return html`<${Chart} title="Wait before the first attempt" legend=${["median", "p95"]} history=${history} top=${duration(top)} text=${text}>
    ${history.bins.map(({ wait_p95: most, wait_p50: middle }, at) => most !== null && html`
      <rect class="p95" x=${at + 0.12} width=".76" y=${HEIGHT - scale(most, top)} height=${scale(most, top)} />
      <rect class="median" x=${at + 0.12} width=".76" y=${HEIGHT - scale(middle, top)} height=${scale(middle, top)} />`)}
  <//>`;
}

function stack(bin, at, top) {
  let y = HEIGHT;
  return OUTCOMES.map((name) => {
    const height = scale(bin[name], top);
    y -= height;
    return height > 0 && html`<rect class=${name} x=${at + 0.12} width=".76" y=${y} height=${height} />`;
  });
}

// A value that is not zero stays visible.
const scale = (value, top) => (value > 0 ? Math.max(1.2, (value / top) * HEIGHT) : 0);
const line = (bins, name, top) => bins.map((bin, at) => `${at + 0.5},${HEIGHT - (bin[name] / top) * HEIGHT}`).join(" ");

function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return STEPS.find((step) => step * power >= value) * power;
}

// The numbers of a bin are shown while the pointer is on it; the caption has the total for readers without a pointer.
function Chart({ title, legend, history, top, text, children }) {
  const { bins, step, since, until } = history;
  zoneChoice.use();
  const [at, setAt] = useState(null);
  const shown = at === null ? null : bins[at];
  return html`<${Panel} title=${title} kind="chart" actions=${html`<ul class="legend">${legend.map((name) => html`<li class=${name}>${name}</li>`)}</ul>`}>
    <figure onPointerLeave=${() => setAt(null)}>
      <span class="top" aria-hidden="true">${top}</span>
      <svg viewBox=${`0 0 ${bins.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        ${[0, 50].map((y) => html`<line class="grid" x1="0" x2=${bins.length} y1=${y} y2=${y} />`)}
        ${children}
        ${bins.map((bin, index) => html`<a href=${jobsOf(bin, step)} tabindex="-1" onPointerEnter=${() => setAt(index)}>
          <rect class="hit ${index === at ? "on" : ""}" x=${index} width="1" y="0" height=${HEIGHT} /></a>`)}
      </svg>
      <div class="axis" aria-hidden="true">${[since, bins[bins.length >> 1].start, until].map((at) => html`<span>${label(at, step)}</span>`)}</div>
      <figcaption>${shown ? html`<b>${moment(shown.start, step)}</b> ${text(shown)}` : text(sum(history))}</figcaption>
    </figure>
  <//>`;
}

const jobsOf = ({ start }, step) => link("jobs", {
  state: OUTCOMES, finished_since: start, finished_until: new Date(Date.parse(start) + step * 1000).toISOString(),
});

function sum({ bins, wait }) {
  const total = Object.fromEntries([...OUTCOMES, "enqueued"].map((name) => [name, bins.reduce((all, bin) => all + bin[name], 0)]));
  return { ...total, wait_p50: wait?.p50 ?? null, wait_p95: wait?.p95 ?? null };
}

const CLOCK = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const DAY = { weekday: "short", day: "numeric", month: "short" };

const format = (at, options) => new Intl.DateTimeFormat("en", { ...options, timeZone: zone() }).format(new Date(at));
const label = (at, step) => format(at, step >= 3600 ? DAY : CLOCK);
const moment = (at, step) => format(at, step >= 3600 ? { ...DAY, ...CLOCK } : CLOCK);
