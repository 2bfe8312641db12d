// Who works where: owner and admins in the configured workspace, every other person, group and API key in a folder of
// their own below the home. The folders are made when somebody first needs them.

import { existsSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { ownerPerson } from "../../core/requester.ts";
import { personOf, workspaceName } from "../../core/workspace.ts";
import { makeWorkspace, markWorkspace, readNote } from "../../host/workspaces.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Workspace, Workspaces } from "../../ports/workspaces.ts";
import { personBlobs } from "../../stores/blobs/person.ts";
import { workspaceOf } from "./settings.ts";

/** People whose folders are known to exist; asked for in every call of a tool. */
const knownMax = 1_000;

export function openWorkspaces({ agent }: Pick<Config, "agent">, paths: Paths, blobs: Blobs): Workspaces {
  const configured = workspaceOf(agent, paths);
  const known = new Map<string, Workspace>();

  async function made(person: string): Promise<Workspace> {
    const files = join(paths.attachments, workspaceName(person));
    const [{ folder, isMarked }] = await Promise.all([
      makeWorkspace(paths.workspaces, person, person === ownerPerson ? configured : undefined),
      mkdir(files, { recursive: true, mode: 0o700 }),
    ]);
    const workspace = { person, folder: await realpath(folder), files, blobs: personBlobs(blobs, files), isMarked };
    if (known.size >= knownMax) known.clear();
    known.set(person, workspace);
    return workspace;
  }

  return {
    async workspaceFor(requester) {
      const person = personOf(requester, agent.tools);
      const found = known.get(person);
      if (found === undefined || !existsSync(found.folder) || !existsSync(found.files)) return made(person);
      // The owner may have taken the mark back meanwhile.
      const note = await readNote(paths.workspaces, workspaceName(person));
      return note === null ? made(person) : { ...found, isMarked: note.isMarked };
    },
    async mark({ person }) {
      await markWorkspace(paths.workspaces, workspaceName(person), true);
    },
  };
}
