// Times in the reader's zone or in UTC, relative to now, and durations.
import { html, useEffect, useState } from "./html.js";
import { now } from "./api.js";
import { preference, store } from "./store.js";

export const zoneChoice = preference("zone", ["local", "utc"]);
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
export const zone = () => (zoneChoice.get() === "utc" ? "UTC" : ownZone);

const TICK_MS = 5000;
// How far clocks are put back in autumn: by half an hour on Lord Howe Island, by two hours at Troll.
const PUT_BACK_MS = [0.5, 1, 2].map((hours) => hours * 3_600_000);
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const clock = store(0);
setInterval(() => document.hidden || clock.set((ticks) => ticks + 1), TICK_MS);

export function relative(at, to = now()) {
  const seconds = Math.round((Date.parse(at) - to) / 1000);
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? UNITS[3];
  return new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(Math.round(seconds / size), unit);
}

// "Mon, Nov 23, 2026, 08:00:00"
export function absolute(at, timeZone = zone(), { seconds = true } = {}) {
  const options = { weekday: "short", year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone };
  return new Intl.DateTimeFormat("en", seconds ? { ...options, second: "2-digit" } : options).format(new Date(at));
}

// "+02:00": in autumn an hour occurs twice, and only the offset tells which one a time is of.
function offset(at, timeZone) {
  const parts = new Intl.DateTimeFormat("en", { timeZone, timeZoneName: "longOffset" }).formatToParts(new Date(at));
  return parts.find(({ type }) => type === "timeZoneName").value.slice("GMT".length) || "+00:00";
}

export const withOffset = (at, timeZone = zone(), options) => absolute(at, timeZone, options) + (timeZone === "UTC" ? "" : ` ${offset(at, timeZone)}`);

export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "–";
  if (seconds < 1) return `${Math.round(Math.max(0, seconds) * 1000)} ms`;
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 10 ? 1 : 0))} s`;
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  const [[unit, size], [lower, smaller]] = [UNITS[at], UNITS[at + 1]];
  const rest = Math.floor((seconds % size) / smaller);
  return `${Math.floor(seconds / size)} ${short(unit)}${rest ? ` ${rest} ${short(lower)}` : ""}`;
}

// A duration without years and months, which have no fixed length, as the API accepts it.
const ISO = /^P(?=.)(\d+W|(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+([.]\d+)?S)?)?)$/;

// Returns 90s, 10m, 2h30m, 3d or ISO 8601 as ISO 8601, as the command line reads durations.
export function isoDuration(text) {
  const typed = text.replace(/\s+/g, "").toUpperCase();
  const [, days = "", time] = /^(.*D)?(.*)$/.exec(typed);
  const iso = typed.startsWith("P") ? typed : `P${days}${time && `T${time}`}`;
  if (!ISO.test(iso)) throw new Error(`"${text.trim()}" is not a duration. Write 90s, 10m, 2h30m, 3d, or ISO 8601 such as PT10M.`);
  return iso;
}

const short = (unit) => ({ day: "d", hour: "h", minute: "min", second: "s" })[unit];
export const between = (start, end) => duration((Date.parse(end) - Date.parse(start)) / 1000);

// A time as "3 minutes ago"; the tooltip has it in the reader's zone and in UTC.
export function Time({ at, exact = false }) {
  clock.use();
  zoneChoice.use();
  if (!at) return null;
  const title = `${withOffset(at, ownZone)} ${ownZone}\n${absolute(at, "UTC")} UTC`;
  return html`<time datetime=${at} title=${title}>${exact ? exactly(at) : relative(at)}</time>`;
}

// With the offset only if the same time of the day occurs twice.
function exactly(at) {
  const own = absolute(at);
  const others = PUT_BACK_MS.flatMap((distance) => [-distance, distance]).map((distance) => absolute(Date.parse(at) + distance));
  return others.includes(own) ? withOffset(at) : own;
}

export function useNow() {
  const [, render] = useState(0);
  useEffect(() => clock.follow(render), []);
  return now();
}
