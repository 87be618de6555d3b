// graphile-worker: its pool, whose events show when a worker asks for a job and gets one or none.
import { Logger, makeWorkerUtils, run as runPool } from "graphile-worker";
import { EventEmitter } from "node:events";
import { main, pause, produce } from "./steady.mjs";

const KIND = "noop";
const logger = new Logger(() => () => {});

async function connect(url) {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  await utils.migrate();
  return { url, utils };
}

async function run({ url, utils }, load, samples) {
  const asked = new Map();
  const events = new EventEmitter();
  const got = ({ worker }) => {
    if (asked.has(worker)) samples.add("claim", asked.get(worker));
    asked.delete(worker);
  };
  events.on("worker:getJob:start", ({ worker }) => asked.set(worker, performance.now()));
  events.on("worker:getJob:empty", got);
  events.on("job:start", got);
  const pool = await runPool({
    connectionString: url, concurrency: load.workers, pollInterval: 20, logger, events, noHandleSignals: true,
    taskList: { [KIND]: async () => {} },
  });
  await produce(load, (count) => utils.addJobs(Array.from({ length: count }, (_, n) => ({ identifier: KIND, payload: { n } }))));
  await pause(100);
  await pool.stop();
}

await main(connect, run);
