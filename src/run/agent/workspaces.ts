// Who works where: owner and admins in the configured workspace, every other person, group and API key in a folder of
// their own below the home. The folders are made when somebody first needs them.

import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { ownerPerson } from "../../core/requester.ts";
import { personOf, workspaceName } from "../../core/workspace.ts";
import { makeWorkspace, markWorkspace } from "../../host/workspaces.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Workspaces } from "../../ports/workspaces.ts";
import { personBlobs } from "../../stores/blobs/person.ts";
import { workspaceOf } from "./settings.ts";

export function openWorkspaces({ agent }: Pick<Config, "agent">, paths: Paths, blobs: Blobs): Workspaces {
  const configured = workspaceOf(agent, paths);
  return {
    async workspaceFor(requester) {
      const person = personOf(requester, agent.tools);
      const files = join(paths.attachments, workspaceName(person));
      const [{ folder, isMarked }] = await Promise.all([
        makeWorkspace(paths.workspaces, person, person === ownerPerson ? configured : undefined),
        mkdir(files, { recursive: true, mode: 0o700 }),
      ]);
      return { person, folder: await realpath(folder), files, blobs: personBlobs(blobs, files), isMarked };
    },
    async mark({ person }) {
      await markWorkspace(paths.workspaces, workspaceName(person), true);
    },
  };
}
