// pg-boss: loops of fetch and complete in one process, each completion limited to the fetched attempt.
import { PgBoss } from "pg-boss";
import { KIND, chunks, loops, main, payloads, timed } from "./program.mjs";

async function started(url, load) {
  const boss = new PgBoss({ connectionString: url, max: load.workers + 4, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error));
  return boss.start();
}

await main({
  async prepare(url, load) {
    const boss = await started(url, load);
    await boss.createQueue(KIND);
  },

  async bulk(url, load) {
    const boss = await started(url, load);
    const jobs = payloads(load).map((data) => ({ data }));
    return timed(load.jobs, async () => {
      for (const chunk of chunks(jobs)) await boss.insert(KIND, chunk);
    });
  },

  async drain(url, load) {
    const boss = await started(url, load);
    return timed(load.jobs, () =>
      loops(load.workers, async () => {
        let handled = 0;
        for (;;) {
          const fetched = await boss.fetch(KIND, { batchSize: load.batch });
          if (!fetched.length) return handled;
          await boss.complete(KIND, fetched);
          handled += fetched.length;
        }
      }),
    );
  },
});
