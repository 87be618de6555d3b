// The caller, and whether changes are allowed. The API checks this again.
import { request } from "./api.js";
import { store } from "./store.js";

const AGAIN_MS = 5000;
let timer;

// The role is null until the API has answered: no changes are offered before.
export const caller = store({ actor: null, tenant: "", role: null, region: null, version: "" });
export const useOperator = () => caller.use().role === "operator";

export async function loadCaller() {
  clearTimeout(timer);
  try {
    caller.set({ ...caller.get(), ...await request("/me") });
  } catch (error) {
    // Signing in loads it again.
    if (error.status !== 401) timer = setTimeout(loadCaller, AGAIN_MS);
  }
}
