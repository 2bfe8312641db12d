// `everturn gateway start`: through the installed service, else as a process of its own that outlives this one. It is
// started when it is ready; otherwise what it said itself is the answer.

import { existsSync } from "node:fs";
import { loadConfig, systemInput } from "../../config/load.ts";
import { patienceFor, waitForEnd } from "../../host/ending.ts";
import { readStateFile, writeDesiredState } from "../../host/identity.ts";
import { giveTo } from "../../services/files.ts";
import { carryOut } from "../../services/verbs.ts";
import { type Context, show, textFlag } from "../context.ts";
import { wrongConfig } from "../wrong-config.ts";
import { startDetached } from "./detached.ts";
import { type Scene, sceneOf } from "./gateway.ts";
import { type Ready, downUnder, noneFollows, readyText, settled, untilReady } from "./ready.ts";

export async function start(context: Context): Promise<number> {
  const scene = await untilLeft(context, await sceneOf(context));
  const { paths, target } = scene;
  const up = target === null ? await begin(context, scene) : await untilReady(context, noneFollows(scene));
  const ready = await settled(context, up);
  const what = target === null ? "The gateway runs" : `A gateway already serves ${paths.home}`;
  return show(context, { started: target === null, ...ready }, () => `${what}: ${readyText(ready)}`);
}

/** A gateway that is about to end, and not in order to come back, is none: its end is waited for. */
async function untilLeft(context: Context, scene: Scene): Promise<Scene> {
  const { paths, target, drainSeconds } = scene;
  if (target === null) return scene;
  const state = await readStateFile(paths.state);
  if (state?.gateway_state !== "draining" || state.restart_requested === true) return scene;
  context.output.err(`The gateway (pid ${target.pid}) is stopping; the next one starts when it has ended.`);
  await waitForEnd(target, patienceFor(drainSeconds));
  return sceneOf(context);
}

/** Starts one where none runs, and waits until it is ready. */
export async function begin(context: Context, { paths, all, service }: Scene): Promise<Ready> {
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  if (loaded.type === "wrong") throw wrongConfig(loaded.faults);
  if (existsSync(paths.state)) {
    await writeDesiredState(paths.state, "running");
    await giveTo(paths.state, all.owner);
  }
  if (service === null) return untilReady(context, [startDetached(paths)]);
  const signs = [downUnder(service, all, paths)];
  await carryOut(service.start, all);
  return untilReady(context, signs);
}
