// CPU time of the built gateway with one Telegram account, by the counters of the operating system: with nothing to do, and
// for a plain turn every second and a half. All threads count.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fakeModels } from "../test/fakes/models/index.ts";
import { FakeTelegram } from "../test/fakes/telegram.ts";
import { cpuMs, end, newHome, removeHome, start, until } from "./process.ts";

const settleMs = 10_000;
const windowMs = 60_000;
const turnEveryMs = 1_500;
/** The first turns compile the code that the others use. */
const warmTurns = 10;

export type CpuFigures = {
  /** Share of one processor while nothing happens. */
  readonly idleShare: number;
  readonly turnMs: number;
  readonly turns: number;
};

export async function measureCpu(): Promise<CpuFigures> {
  const model = await fakeModels(() => ({ text: "An answer of a few words.", grain: 1_000 }));
  const telegram = await FakeTelegram.start();
  const home = newHome();
  const account = { token: telegram.token, apiRoot: telegram.url, allow: ["*"] };
  const agent = { model: "openai/fake-model", baseUrl: model.baseUrl("openai"), apiKey: "no-key-at-all" };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ platforms: { telegram: account }, agent }));
  const gateway = await start(home);
  try {
    await until(() => telegram.isPolled, "it polls");
    await sleep(settleMs);
    const pid = gateway.child.pid ?? 0;
    const idleMs = await usedDuring(pid, () => sleep(windowMs));

    const person = telegram.person("Ada");
    let answers = 0;
    const turn = async (): Promise<void> => {
      const from = performance.now();
      person.write("hello");
      answers += 1;
      await until(() => telegram.said(person.chat).length >= answers, "the answer is there");
      await sleep(Math.max(0, from + turnEveryMs - performance.now()));
    };
    const run = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n++) await turn();
    };
    await run(warmTurns);
    const turns = windowMs / turnEveryMs;
    const busyMs = await usedDuring(pid, () => run(turns));
    return { idleShare: idleMs / windowMs, turnMs: busyMs / turns, turns };
  } finally {
    await end(gateway, "SIGTERM");
    await telegram.close();
    await model.close();
    removeHome(home);
  }
}

async function usedDuring(pid: number, work: () => Promise<void>): Promise<number> {
  const before = cpuMs(pid);
  await work();
  return cpuMs(pid) - before;
}

if (import.meta.main) console.log(await measureCpu());
