// pg-boss: loops of fetch and complete.
import { PgBoss } from "pg-boss";
import { consume, main, produce } from "./steady.mjs";

const KIND = "noop";

async function connect(url, load) {
  const boss = new PgBoss({ connectionString: url, max: load.workers + 4, supervise: false, schedule: false });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(KIND);
  return boss;
}

async function run(boss, load, samples) {
  const enqueue = (count) => boss.insert(KIND, Array.from({ length: count }, (_, n) => ({ data: { n } })));
  const claim = () => boss.fetch(KIND, { batchSize: load.batch });
  const settle = ({ id, retryCount }) => (retryCount === undefined ? id : { id, retryCount });
  const finish = (jobs) => boss.complete(KIND, jobs.map(settle));
  const worker = () => consume(load, samples, claim, finish);
  await Promise.all([produce(load, enqueue), ...Array.from({ length: load.workers }, worker)]);
}

await main(connect, run);
