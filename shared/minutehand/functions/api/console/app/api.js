// The REST API, with the caller's token, which lasts until the browser tab is closed.
import { base } from "./router.js";
import { store } from "./store.js";

const root = base.replace(/\/console$/, "");
const TOKEN = "token";
const SKEW_MS = 10_000;
const UNREACHABLE = "The API cannot be reached. Retrying.";

// False, or why the caller must sign in.
export const signIn = store(false);
// Grows when the API answers again after it could not be reached.
export const recoveries = store(0);
let reached = true;
// The database's clock is the only clock: times are relative to the server's, not to this machine's.
let skew = 0;
export const now = () => Date.now() + skew;

// Whether this machine serves the page.
export const onThisMachine = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);

export class Problem extends Error {
  constructor(message, status = 0, fields = {}) {
    super(message);
    Object.assign(this, { status, fields });
  }
}

export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
  signIn.set(false);
}

// `minutehand console` prints an address with the secret of its session as the fragment, which no server receives.
// It serves this machine only. Elsewhere, such an address could sign somebody in as its sender.
const session = /^#session=([\w-]+)$/.exec(location.hash);
if (session && onThisMachine) {
  sessionStorage.setItem(TOKEN, session[1]);
  history.replaceState(null, "", location.pathname + location.search);
}

export async function request(path, { method = "GET", body, signal, exact = false } = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const response = await send(path, method, body, signal, token);
  noteTime(response.headers.get("date"));
  if (response.status === 401) {
    // The caller has signed in, or out, since the request was sent.
    if (sessionStorage.getItem(TOKEN) !== token) return request(path, { method, body, signal, exact });
    sessionStorage.removeItem(TOKEN);
    // Requests that were sent again without the token are not the reason.
    if (!signIn.get()) signIn.set({ rejected: Boolean(token) });
    throw new Problem("Sign in with an API token.", 401);
  }
  const content = parse(await response.text(), exact ? exactly : undefined);
  if (response.ok) return content;
  throw new Problem(describe(content) || `The API returned status ${response.status}.`, response.status, content);
}

// The API names a value by its place in the request, such as #/delay or state/0, and says what it must be.
function describe({ detail, title, errors }) {
  if (!errors?.length) return detail || title;
  const [{ pointer, parameter, detail: fault }] = errors;
  const name = (pointer ?? parameter).split("/").filter((step) => !/^(#|\d*)$/.test(step)).join(" ");
  const rule = fault.replace(/^Input should be /, "must be ");
  if (!name) return rule;
  return rule.startsWith("must ") ? `${name} ${rule}` : `${name}: ${rule}`;
}

export const post = (path, body = {}) => request(path, { method: "POST", body });

async function send(path, method, body, signal, token) {
  const headers = { Accept: "application/json" };
  if (token) headers.Authorization = `Bearer ${token}`;
  if (method !== "GET") headers["Content-Type"] = "application/json";
  const content = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  try {
    const response = await fetch(root + path, { method, headers, body: content, signal });
    if (!reached) recoveries.set((count) => count + 1);
    reached = true;
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reached = false;
    throw new Problem(UNREACHABLE);
  }
}

// The header has whole seconds, and a slow response is late: a small difference means nothing.
function noteTime(header) {
  const difference = header ? Date.parse(header) - Date.now() : 0;
  skew = Math.abs(difference) > SKEW_MS ? difference : 0;
}

// Keeps a number as it is written, such as 1.0, if the browser supports JSON.rawJSON.
function exactly(key, value, context) {
  const differs = typeof value === "number" && context?.source !== String(value);
  return differs && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}

function parse(text, reviver) {
  try { return JSON.parse(text, reviver); } catch { return {}; }
}
