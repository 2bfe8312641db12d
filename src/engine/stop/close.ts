// The end of a stop, in order: tool processes, sends under way, agents and platforms, and whatever processes are left.
// Every step is begun; none holds the others longer than it may.

import type { Instant, SessionId } from "../../core/ids.ts";
import type { StopIntent } from "../../core/lifecycle.ts";
import { limits } from "../../core/limits.ts";
import type { Parts } from "../parts.ts";
import type { Crew } from "./supervisor.ts";
import type { Timeline } from "./timeline.ts";

export type Closing = {
  /** What a step may take at this moment. */
  readonly cap: (ms: number) => number;
  readonly notified: Promise<void>;
  /** Sessions whose turns did not end by themselves. */
  readonly interrupted: readonly SessionId[];
  readonly intent: StopIntent;
};

export async function closeAll(
  parts: Parts,
  crew: Crew,
  line: Timeline,
  closing: Closing,
): Promise<{ readonly silentAt: Instant }> {
  const { cap, interrupted } = closing;
  if (interrupted.length > 0) await kill(crew, line, "tool kill", closing);
  await line.step("sends", cap(limits.sendGraceMs), () => crew.pump.close());
  await closing.notified;
  crew.letGo();
  await Promise.all([closeAgents(parts, line, closing), disconnect(parts, crew, line, cap)]);
  const silentAt = parts.world.now();
  await kill(crew, line, "final kill", closing);
  // A start that a stop broke off may still be writing; its last word comes before ours.
  const starting = crew.started();
  if (starting !== null) await line.step("start broken off", cap(limits.closeMs), () => starting);
  return { silentAt };
}

/** What was made to outlive the gateway lives on when somebody else goes on with the work. */
async function kill(crew: Crew, line: Timeline, name: string, { cap, intent }: Closing): Promise<void> {
  const { processes } = crew;
  const which = intent.class === "restart" || intent.class === "take-over" ? "all-but-jobs" : "all";
  await line.step(name, cap(limits.closeMs), async () => ({
    killed: processes === null ? 0 : await processes.killAll(which),
  }));
}

/** One session that does not let go leaves the rest of the time to the others. */
async function closeAgents({ agent }: Parts, line: Timeline, { cap, interrupted }: Closing): Promise<void> {
  const each = interrupted.map((session) =>
    line.step("agent close", cap(limits.closeMs / 2), async () => {
      await agent.close(session);
      return { session };
    }),
  );
  await Promise.all(each);
  await line.step("agents close", cap(limits.closeMs / 2), () => agent.close("all"));
}

async function disconnect(parts: Parts, crew: Crew, line: Timeline, cap: Closing["cap"]): Promise<void> {
  const from = parts.world.now();
  const leaving = crew.links.close();
  await Promise.all(
    leaving.map(({ platform, account, gone }) =>
      line.step("disconnect", cap(limits.closeMs), async () => {
        await gone;
        return { platform, account };
      }),
    ),
  );
  line.note("all disconnected", parts.world.now() - from, { platforms: leaving.length });
}
