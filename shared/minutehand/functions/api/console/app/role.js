// The caller, and whether changes are allowed. The API checks this again.
import { request } from "./api.js";
import { store } from "./store.js";

export const caller = store({ actor: null, tenant: "", role: "operator", region: null, version: "" });
export const useOperator = () => caller.use().role !== "reader";

export async function loadCaller() {
  try {
    caller.set({ ...caller.get(), ...await request("/me") });
  } catch { /* Signing in loads it again. */ }
}
