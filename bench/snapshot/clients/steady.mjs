// The steady load of steady.py, for clients that Node runs.
const ENQUEUE_EVERY = 50;
const IDLE = 20;

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Samples {
  began = performance.now();
  all = [];

  add(name, began) {
    const now = performance.now();
    this.all.push([name, (began - this.began) / 1000, now - began]);
  }

  async timed(name, run) {
    const began = performance.now();
    const result = await run();
    this.add(name, began);
    return result;
  }
}

// Enqueues jobs at the rate until the time is over.
export async function produce(load, enqueue) {
  const began = performance.now();
  let count = 0;
  for (let ms = 0; ms < load.seconds * 1000; ms = performance.now() - began) {
    const due = Math.floor((ms / 1000) * load.rate);
    if (due > count) await enqueue(due - count);
    count = Math.max(due, count);
    await pause(ENQUEUE_EVERY);
  }
}

// Claims and finishes jobs until the time is over.
export async function consume(load, samples, claim, finish) {
  const end = performance.now() + load.seconds * 1000;
  while (performance.now() < end) {
    const jobs = await samples.timed("claim", claim);
    if (jobs.length) await finish(jobs);
    else await pause(IDLE);
  }
}

// Runs a client: connects, prints `started`, runs the load, and prints the samples.
export async function main(connect, run) {
  const load = JSON.parse(process.argv[2]);
  const session = await connect(process.env.DATABASE_URL, load);
  console.log("started");
  const samples = new Samples();
  await run(session, load, samples);
  process.stdout.write(JSON.stringify(samples.all) + "\n", () => process.exit(0));
}
