// A change of a file, from the gateway's side: the worker says what it is about to do, the gateway notes it on its own disk,
// and only then it is done. After a death of either, the note and the file tell what became of it.

import { Fault } from "../../core/fault.ts";
import { noGrant } from "../../core/grant.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { ToolContext } from "../../ports/tool.ts";
import { failed, ok } from "../define.ts";
import { digest } from "../digest.ts";
import { type Note, noteSweeper, putNote, readNote, whatBecame } from "./notes.ts";
import { type FileWorker, WorkerLost } from "./process.ts";
import type { FileRequest } from "./protocol.ts";
import { keyedQueue } from "./keyed-queue.ts";
import { type FileToolOptions, typedPath } from "./vet.ts";

type ChangeRequest =
  | Omit<FileRequest & { readonly op: "write" }, "draft">
  | Omit<FileRequest & { readonly op: "edit" }, "draft">;

export type FileChanges = {
  /** Makes the change once, whatever dies under it. One at a time for each path. */
  run(context: ToolContext, request: ChangeRequest, body?: Uint8Array): Promise<ToolResult>;
  /** What became of a change that a death cut short; null when it has not happened. */
  check(context: ToolContext): Promise<ToolResult | null>;
};

/** `drive` goes through the steps of a note; a test may leave it in the middle. */
export function fileChanges(
  options: FileToolOptions,
  drive: (steps: AsyncIterable<string>) => Promise<void> = toTheEnd,
): FileChanges {
  const { workers, notes, userHome } = options;
  const inTurn = keyedQueue();
  const sweep = noteSweeper(notes);

  async function attempt(context: ToolContext, path: string, request: ChangeRequest, body?: Uint8Array) {
    return workers.use(context, async (worker) => {
      const call = worker.call({ ...request, draft: draftOf(context.key) } as FileRequest, body);
      try {
        const { reply: plan } = await call.next();
        // An earlier attempt may have ended after it was last looked at, so that this one finds its result.
        if (plan.type === "failed") return (await check(context)) ?? failed(plan.why);
        if (plan.type !== "planned") throw misplaced(worker);
        const earlier = await readNote(notes, context.key);
        const became = earlier === null ? null : resultOf(earlier, plan.before);
        if (became !== null) return became;
        await sweep();
        const { before, after, says } = plan;
        await drive(putNote(notes, context.key, { path, granted: context.grant.paths, before, after, says }));
        const { reply: end } = await call.next();
        if (end.type === "failed") return failed(end.why);
        if (end.type !== "changed") throw misplaced(worker);
        return ok(says);
      } finally {
        call.drop();
      }
    });
  }

  async function check(context: ToolContext): Promise<ToolResult | null> {
    const note = await readNote(notes, context.key);
    if (note === null) return null;
    const { requester, key } = context;
    const caller = { requester, grant: { ...noGrant, paths: note.granted ?? [] } };
    const { reply } = await workers.ask(caller, { op: "digest", path: note.path, draft: draftOf(key) });
    if (reply.type === "digest") return resultOf(note, reply.digest);
    throw new Fault("busy", reply.type === "failed" ? reply.why : "The file worker gave no digest.");
  }

  return {
    check,
    async run(context, request, body) {
      const isWalled = (await workers.state()).type === "on";
      const { folder } = await workers.foldersOf(context.requester);
      const path = typedPath(request.path, folder, userHome, isWalled);
      return inTurn(path, async () => {
        const once = (): Promise<ToolResult> => attempt(context, path, request, body);
        try {
          return await once();
        } catch (error) {
          if (!(error instanceof WorkerLost)) throw error;
          return (await check(context)) ?? (await once());
        }
      });
    },
  };
}

function misplaced(worker: FileWorker): WorkerLost {
  worker.end("it sent a reply that does not belong here");
  return new WorkerLost("it sent a reply that does not belong here");
}

/** Begins the names of temporary files: the same for the same call, so that a later attempt finds what an earlier one left. */
function draftOf(key: string): string {
  return digest(key).slice(0, 16);
}

/** Null when it has not happened. */
function resultOf(note: Note, now: string | null): ToolResult | null {
  const became = whatBecame(note, now);
  if (became === "not done") return null;
  if (became === "done") return ok(note.says);
  const story = "was being changed when the call was cut short, and was changed by something else since";
  return { type: "unknown", why: `${note.path} ${story}. Read it before you go on.` };
}

async function toTheEnd(steps: AsyncIterable<string>): Promise<void> {
  for await (const _ of steps);
}
