// The processes of one configured server: one for each person whose workspace it sees, or a single one where it is remote
// or shared. The main one serves owner and admins, and its list of tools is known first.

import { type ToolCatalog, toolCatalog } from "./catalog.ts";
import type { McpOptions, McpPace, McpServer } from "./options.ts";
import { type Requester, ownerPerson } from "../../core/requester.ts";
import { type PeerWorkspace, ownerRequester } from "../../peers/launch.ts";
import { peopleMax, personPool } from "../../peers/pool.ts";
import type { PeerStatus } from "../../ports/peers.ts";
import { changeText } from "./definitions.ts";
import { eraMemory } from "./era.ts";
import { type ServerLife, serverLife } from "./server.ts";

export interface ServerProcesses {
  readonly name: string;
  readonly settings: McpServer;
  readonly catalog: ToolCatalog;
  readonly main: ServerLife;
  /** The definition by which a call was last judged, by its tool and input: leave to make it holds for that one alone. */
  readonly vetted: Map<string, string>;
  /** The one that serves a requester; null when as many others are at work as there may be. */
  of(requester: Requester): Promise<ServerLife | null>;
  status(): PeerStatus;
  close(): Promise<void>;
}

export function serverProcesses(
  name: string,
  settings: McpServer,
  options: McpOptions,
  pace: McpPace,
): ServerProcesses {
  const catalog = toolCatalog(name, settings, options);
  const era = eraMemory(name, settings, options);
  const isSingle = "url" in settings || settings.shared === true;
  const { host } = options;
  const open = (workspace: () => Promise<PeerWorkspace | null>, isMain: boolean): ServerLife =>
    serverLife({ name, settings, options, pace, catalog, era, workspace, isMain });
  const main = open(async () => (isSingle ? null : host.workspaceFor(ownerRequester)), true);
  const ending = new Set<Promise<void>>();
  const others = personPool<ServerLife>({
    max: peopleMax - 1,
    isIdle: (life) => life.isIdle(),
    end(life) {
      const ended = life.close().finally(() => ending.delete(ended));
      ending.add(ended);
    },
  });
  return {
    name,
    settings,
    catalog,
    main,
    vetted: new Map(),
    async of(requester) {
      if (isSingle) return main;
      const workspace = await host.workspaceFor(requester);
      const { person } = workspace;
      return person === ownerPerson ? main : others.get(person, () => open(async () => workspace, false));
    },
    status() {
      const lives = [main, ...others.all()];
      const changed = catalog.view().changes.map((change) => ({ tool: change.after.name, text: changeText(change) }));
      return {
        name,
        kind: "url" in settings ? "remote" : "program",
        ...main.status(),
        tools: catalog.latest()?.length ?? 0,
        processes: "url" in settings ? 0 : lives.filter((life) => life.status().state === "ready").length,
        changed,
      };
    },
    async close() {
      await Promise.all([main.close(), ...others.all().map((life) => life.close()), ...ending]);
    },
  };
}
