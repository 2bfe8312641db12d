// `everturn gateway restart`: the gateway itself is asked, because it knows best how to come back: it prepares a
// successor, or arranges it with its supervisor, and says so when it cannot. Only one that does not answer is restarted
// from outside. Done when the next life is ready; how long nobody listened is told from what both have noted.

import { Fault } from "../../core/fault.ts";
import type { ProcessIdentity } from "../../host/identity.ts";
import { carryOut } from "../../services/verbs.ts";
import { type Context, reachGateway, show } from "../context.ts";
import { span } from "../story-facts.ts";
import { type Scene, follow, isInside, rest, sceneOf, statusNow } from "./gateway.ts";
import { display } from "./progress.ts";
import { noneFollows, readyText, settled, untilReady } from "./ready.ts";
import { begin } from "./start.ts";

export async function restart(context: Context): Promise<number> {
  const scene = await sceneOf(context);
  if (isInside(scene.paths.home)) return ask(context, "tool");
  const view = display(context.output, context.flags["json"] === true);
  if (scene.target === null) {
    const ready = await settled(context, await begin(context, scene));
    view.finish({ event: "started", ...ready }, `No gateway was running; one runs now: ${readyText(ready)}`);
    return 0;
  }
  const begun = performance.now();
  const signs = noneFollows(scene);
  const before = await statusNow(context);
  if (before === null) await askSupervisor(scene, scene.target);
  else await reachGateway(context).post("/api/restart", { by: "cli" });
  const over = new AbortController();
  const following = follow(context, view, over.signal);
  const up = await untilReady(context, signs, before?.boot);
  over.abort();
  await Promise.race([following, rest(50)]);
  const tookMs = Math.round(performance.now() - begun);
  const awayMs = await awayOf(context, up.boot, before?.boot);
  const ready = await settled(context, up);
  const away = awayMs === null ? "" : `, and nobody listened for ${span(awayMs)} of it`;
  const text = `The gateway has restarted. It took ${span(tookMs)}${away}. It runs: ${readyText(ready)}`;
  view.finish({ event: "restarted", ...ready, tookMs, awayMs }, text);
  return 0;
}

/** The request is stored with the turn that makes it, so it is obeyed once, and the turn goes on in the next life. */
async function ask(context: Context, by: "tool"): Promise<number> {
  await reachGateway(context).post("/api/restart", { by });
  return show(
    context,
    { event: "asked" },
    () => "The restart is asked for. The gateway ends soon, this tool with it; what runs goes on afterwards.",
  );
}

async function askSupervisor({ inCharge, all }: Scene, { pid }: ProcessIdentity): Promise<void> {
  if (inCharge === null || inCharge.restart.length === 0)
    throw new Fault(
      "not-possible",
      `The gateway (pid ${pid}) does not answer, so it cannot be asked to restart. Stop it with \`everturn gateway stop\` and start it again.`,
    );
  await carryOut(inCharge.restart, all);
}

/** From the last moment the old one listened to the first of the new one; noted a moment after it is ready. */
async function awayOf(context: Context, boot: string, before: string | undefined): Promise<number | null> {
  for (let looks = 0; before !== undefined && looks < 10; looks++, await rest(50)) {
    const boots = (await statusNow(context))?.boots ?? [];
    const silentAt = boots.find((one) => one.id === before)?.story.silentAt;
    const listeningAt = boots.find((one) => one.id === boot)?.story.listeningAt;
    if (silentAt !== undefined && listeningAt !== undefined) return Math.max(0, listeningAt - silentAt);
  }
  return null;
}
