// Who serves a home, one life after another, as seen from outside.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Place } from "./client.ts";
import { type Gateway, type Settings, spawnGateway, stateOf, until } from "./stage.ts";

/** As `gateway start` does it. What such a gateway says is kept in a file, so it names no token. */
export async function runDetached(t: TestContext, home: string, settings: Settings = {}): Promise<Gateway> {
  const started = spawnGateway(t, home, { ...settings, env: { ...settings.env, EVERTURN_DETACHED: "1" } });
  await until(started.out, (said) => /is running\.\n.*\n.*\n/.test(said), "it runs");
  const place = placeOf(home);
  return { ...started, ...place, port: Number(new URL(place.url).port) };
}

/** Where the gateway of a home is and how to get in, from its files. */
export function placeOf(home: string): Place {
  return { url: stateOf(home).url ?? "", token: readFileSync(join(home, "control.token"), "utf8").trim() };
}

/** Waits until another process serves the home than before. */
export async function next(home: string, before: number): Promise<number> {
  const { pid } = await until(
    () => stateOf(home),
    (state) => state.pid !== before && state.gateway_state === "running",
    "the next one serves",
  );
  return pid;
}

/** Node processes of a home, as the system lists them. */
export function processesOf(home: string): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return (
          environment.includes(`EVERTURN_HOME=${home}`) &&
          words.includes("run") &&
          words.some((one) => one.endsWith("main.ts"))
        );
      } catch {
        return false;
      }
    });
}
