// DocMQ: loops of take and ack on its Postgres driver. It acknowledges jobs one at a time.
import { Queue } from "docmq";
import { PgDriver } from "docmq/driver/postgres";
import pg from "pg";
import { chunks, loops, main, payloads, timed } from "./program.mjs";

const HIDDEN_SECONDS = 300;

async function connected(url, load) {
  const pool = new pg.Pool({ connectionString: url, max: load.workers + 4 });
  const driver = new PgDriver(pool, { schema: "docmq", table: "bench" });
  await driver.ready();
  return driver;
}

await main({
  async prepare(url, load) {
    await connected(url, load);
  },

  async bulk(url, load) {
    const queue = new Queue(await connected(url, load), "bench");
    const jobs = payloads(load).map((payload) => ({ payload }));
    return timed(load.jobs, async () => {
      for (const chunk of chunks(jobs)) await queue.enqueue(chunk);
    });
  },

  async drain(url, load) {
    const driver = await connected(url, load);
    return timed(load.jobs, () =>
      loops(load.workers, async () => {
        let handled = 0;
        for (;;) {
          const jobs = await driver.take(HIDDEN_SECONDS, load.batch);
          if (!jobs.length) return handled;
          for (const job of jobs) await driver.ack(job.ack);
          handled += jobs.length;
        }
      }),
    );
  },
});
