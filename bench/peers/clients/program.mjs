// The program of a client, as in bench/queues/clients/program.py: node MODULE VERB LOAD prints one line of JSON.
export const KIND = "noop";
const CHUNK = 1000;

export const payloads = (load) => Array.from({ length: load.jobs }, (_, n) => ({ n }));

export function* chunks(all) {
  for (let start = 0; start < all.length; start += CHUNK) yield all.slice(start, start + CHUNK);
}

export async function timed(jobs, run) {
  const began = performance.now();
  const before = process.cpuUsage();
  const handled = await run();
  const { user, system } = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, processor: (user + system) / 1e6, jobs: handled ?? jobs };
}

// Runs the same loop `count` times at once, and returns how many jobs the loops handled together.
export async function loops(count, loop) {
  const handled = await Promise.all(Array.from({ length: count }, loop));
  return handled.reduce((sum, each) => sum + each, 0);
}

export async function main(verbs) {
  const [, , verb, load] = process.argv;
  const answer = await verbs[verb](process.env.DATABASE_URL, JSON.parse(load));
  process.stdout.write(JSON.stringify(answer ?? null) + "\n", () => process.exit(0));
}
