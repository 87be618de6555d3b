// graphile-worker: one pool that ends when no job is left; in batches with its local queue and batched completions.
import { Logger, makeWorkerUtils, runOnce } from "graphile-worker";
import pg from "pg";
import { KIND, chunks, main, payloads, timed } from "./program.mjs";

const logger = new Logger(() => () => {});

const batched = (size) => (size > 1 ? { localQueue: { size }, completeJobBatchDelay: 0 } : {});

await main({
  async prepare(url) {
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    await utils.migrate();
  },

  async bulk(url, load) {
    const utils = await makeWorkerUtils({ connectionString: url, logger });
    const jobs = payloads(load).map((payload) => ({ identifier: KIND, payload }));
    return timed(load.jobs, async () => {
      for (const chunk of chunks(jobs)) await utils.addJobs(chunk);
    });
  },

  async drain(url, load) {
    const pgPool = new pg.Pool({ connectionString: url, max: load.workers + 4 });
    let handled = 0;
    const taskList = { [KIND]: async () => void handled++ };
    const worker = { concurrentJobs: load.workers, ...batched(load.batch) };
    return timed(load.jobs, async () => {
      await runOnce({ pgPool, logger, taskList, preset: { worker } });
      return handled;
    });
  },
});
