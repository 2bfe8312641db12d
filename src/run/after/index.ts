// What is done once a gateway answers, without holding anything up: the homes hear of a restart, drafts of dead processes
// go, and its owner is told what is wrong with the service, how the last life died, and when safe mode can be left.
// Loaded only then. Each of these may fail, and nothing depends on it.

import { flushCompileCache } from "node:module";
import { sentenceOf } from "../../core/fault.ts";
import type { Boot } from "../../core/recovery.ts";
import { sandboxNotice } from "./sandbox.ts";
import { homesNow } from "../../engine/access/home.ts";
import { tellHomes } from "./back.ts";
import { sweepDrafts } from "./drafts.ts";
import { restAfterWork } from "./rest.ts";
import { findLastStep } from "../last-step.ts";
import { configHash } from "../parts.ts";
import type { Ready } from "../ready.ts";

export async function afterwards(parts: Ready): Promise<void> {
  const { paths, gate, world, supervisor } = parts;
  const attempt = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      world.log("debug", what, { why: sentenceOf(error) });
    }
  };
  // A stop starts it at once, and what has to be loaded then may come too late.
  await attempt("a stop will be told without a diagnostic", async () => {
    await import("../../host/forensics/diagnostic.ts");
  });
  // After an update in place the files of this version are gone, so what may be wanted one day is loaded now.
  await attempt("files, wishes of the operator and restarts are loaded when they come", async () => {
    await Promise.all([
      import("../../stores/blobs/index.ts"),
      import("../../engine/asked/operator.ts"),
      import("../../engine/commands/obey.ts"),
      import("../../engine/turns/run.ts"),
      import("../../platforms/chat/routes.ts"),
      import("../../engine/commands/pair.ts"),
      import("../../engine/access/requests.ts"),
      import("../next/handover.ts"),
    ]);
  });
  restAfterWork(gate);
  const { safeMode } = gate.status();
  // The first turn need not wait for what can be loaded now.
  if (!safeMode)
    void attempt("the agent could not be loaded yet", async () => {
      await parts.agent.warm();
      await warnOfSandbox(parts);
      // Compiled code is kept, so that the next start has it sooner.
      flushCompileCache();
    });
  if (safeMode) watchConfig(parts);
  // In safe mode nothing is sent; the next start finds the note again.
  else
    await attempt("the homes hear of the restart after the next start", async () => {
      const homes = await homesNow(parts.store, parts.settings.platforms, gate.status().platforms);
      await tellHomes(paths.restartPending, homes, gate, world);
    });
  await attempt("drafts of earlier lives stay where they are", () => sweepDrafts(paths));
  await attempt("how the last life died could not be found out", () => investigate(parts));
  if (supervisor !== null) await attempt("the service could not be looked at", () => warnOfService(parts));
}

/** The homes get one notice that tools run without a sandbox. */
async function warnOfSandbox({ agent, store, settings, gate, world }: Ready): Promise<void> {
  const notice = sandboxNotice((await agent.lookAtSandbox?.()) ?? null);
  if (notice === null) return;
  world.log("warn", notice.text);
  const homes = await homesNow(store, settings.platforms, gate.status().platforms);
  for (const home of homes) await gate.post(home, notice.text, `${notice.key}:${home.platform}`);
}

/** What the supervisor's own files say about us, where that is not what it should be. */
async function warnOfService({ config, paths, env, world }: Ready): Promise<void> {
  const { drainSeconds } = config.gateway;
  const [{ checkStopTiming }, { unitDrift }, { here }, { serviceNeeds }] = await Promise.all([
    import("../../host/forensics/timing.ts"),
    import("../../services/drift.ts"),
    import("../../services/verbs.ts"),
    import("../../services/hardening.ts"),
  ]);
  const drift = await unitDrift({ ...here(paths.home), env }, serviceNeeds(config, env));
  const timing = await checkStopTiming({ env, drainSeconds });
  for (const warning of [drift, timing?.warning ?? null]) if (warning !== null) world.log("warn", warning);
}

/** A life that ended without a word: what the machine knows about it is kept with it. */
async function investigate({ store, boot, world, gate }: Ready): Promise<void> {
  const [own, last] = await store.lastBoots(2);
  if (own?.id !== boot.id || !isUnexplained(last)) return;
  const { gatherEvidence } = await import("../../host/evidence.ts");
  const { pid, startedAt, beatAt, machine } = last;
  const evidence = await gatherEvidence({ pid, startedAt, lastBeatAt: beatAt, machineSame: machine === boot.machine });
  const lastStep = await findLastStep(store, last, own.startedAt);
  // A stop that came meanwhile has better things to do; the next start looks again.
  if (gate.status().state === "draining" || gate.status().state === "stopped") return;
  await store.commit(
    [{ put: "story", boot: last.id, story: { evidence, ...(lastStep === null ? {} : { lastStep }) } }],
    boot.id,
  );
  world.log("warn", "the last gateway died without a word; `everturn why` tells more", { boot: last.id, evidence });
}

function isUnexplained(boot: Boot | undefined): boot is Boot {
  return boot !== undefined && boot.stop === null && boot.story.evidence === undefined;
}

const lookAgainMs = 1_000;

type Held = Pick<Ready, "paths" | "env" | "hash" | "gate" | "world">;

/** Another configuration deserves another try, and needs another process. */
function watchConfig(held: Held): void {
  const { paths, env, gate } = held;
  const clock = setInterval(() => {
    if (!gate.status().safeMode) return clearInterval(clock);
    const hash = configHash(paths, env);
    if (hash === held.hash) return;
    clearInterval(clock);
    void tryAnew({ ...held, hash });
  }, lookAgainMs);
  clock.unref();
}

async function tryAnew(held: Held): Promise<void> {
  const answer = await held.gate.restart({ by: "config", reason: "its configuration has changed" });
  if (answer === "restarting") return;
  held.world.log("warn", "the changed configuration cannot be used; change it again", { why: answer.refused });
  watchConfig(held);
}
