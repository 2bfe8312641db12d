// A successor goes through a whole life on a store in memory before its turn comes: whatever its code has to load, compile
// and prepare is done then, while the old gateway still answers, and one that cannot even live there never takes over.
// Nor does one whose address belongs to another program.

import { connect } from "node:net";
import type { Config } from "../config/schema.ts";
import type { Paths } from "../config/paths.ts";
import { memory, openSqliteStore } from "../stores/sqlite/index.ts";
import { realWorld } from "../world.ts";
import { type Code, beginBoot, settingsOf } from "./parts.ts";

/** `portNow` is where the old gateway listens; null where that is not known. */
export async function rehearse(config: Config, paths: Paths, code: Code, portNow: number | null): Promise<void> {
  await rehearseAddress(config, code, portNow);
  const world = realWorld(() => undefined);
  const store = await openSqliteStore({ file: memory, writer: "inline" });
  const boot = beginBoot(world, "rehearsal", "");
  // Those out there are for whoever serves, and never for a rehearsal.
  const near = code.near.map((make) => make(store, { boot: boot.id, version: boot.version }));
  const platforms = near.map((one) => one.platform);
  const agent = code.agent();
  const gate = code.engine.gateway({ store, platforms, agent, world, settings: settingsOf(config, near), boot });
  const control = await code.control.openControl({
    gateway: gate,
    store,
    archive: store,
    servers: agent.servers,
    world,
    routes: near.flatMap((one) => one.routes ?? []),
    // Nobody knows it, and nothing answers but health.
    token: world.id().repeat(3),
    version: boot.version,
    pageFolder: paths.home,
    host: "127.0.0.1",
    port: 0,
    drainSeconds: config.gateway.drainSeconds,
  });
  const running = gate.run();
  await Promise.race([gate.ready, running]);
  await ask(control.url);
  gate.stop({ class: "planned", by: "fault", reason: "the rehearsal is over" });
  await running;
  await control.close();
  await store.close();
}

/** The port of the old gateway is free when its time comes; any other must be free now. */
export async function rehearseAddress({ control }: Config, code: Code, portNow: number | null): Promise<void> {
  const isOther = portNow !== null && control.port !== portNow;
  await code.control.tryAddress(control.host, isOther ? control.port : 0);
}

/** By hand: the client that comes with the runtime costs a gateway memory that it has no other use for. */
function ask(url: string): Promise<void> {
  const { port } = new URL(url);
  return new Promise((answered, fail) => {
    const socket = connect({ host: "127.0.0.1", port: Number(port) });
    socket.on("error", fail).on("close", () => answered());
    socket.resume().write(`GET /readyz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
  });
}
