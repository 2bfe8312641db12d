// send_file: a file for the user, before the answer is finished. What is sent is the content of this moment: it is kept by the
// gateway, and the wish to send it goes into the commit of the result.

import { basename } from "node:path";
import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { type FileWorker, WorkerLost } from "../files/process.ts";
import { type FileToolOptions, vetFile } from "../files/vet.ts";
import { maybe, pathText, words } from "../input.ts";
import { mimeOf } from "../media.ts";
import { sizeText } from "../size.ts";

const bytesMax = 50_000_000;
const captionMax = 1_000;

export function sendFileTool(options: FileToolOptions, blobs: Pick<Blobs, "put">): Tool {
  return define({
    name: "send_file",
    description: "Sends a file to the user in this conversation.",
    effect: "pure",
    face: {
      properties: { path: { type: "string" }, caption: { type: "string" } },
      required: ["path"],
    },
    schema: v.strictObject({ path: pathText, caption: maybe(words(captionMax)) }),
    vet: (input, context) => vetFile(options, { tool: "send_file", path: input.path, input }, context),
    async run({ path, caption = "" }, context) {
      const { signal, turn } = context;
      const name = basename(path);
      const keep = () =>
        options.workers.use(context, (worker) =>
          blobs.put(contentOf(worker, path, signal), { name, mime: mimeOf(name), turn }),
        );
      const file = await twice(keep, signal);
      const output = `${name} (${sizeText(file.bytes)}) goes to the user.`;
      return { type: "ok", output, wishes: [{ type: "send", text: caption.trim(), files: [file] }] };
    },
  });
}

/** Once more when the worker dies under it. */
async function twice<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WorkerLost)) throw error;
    signal.throwIfAborted();
    return work();
  }
}

async function* contentOf(worker: FileWorker, path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const call = worker.call({ op: "send", path, bytesMax });
  try {
    let sent = 0;
    for (;;) {
      signal.throwIfAborted();
      const { reply, body } = await call.next();
      if (reply.type === "sent") return;
      if (reply.type === "failed") throw new Fault("not-possible", reply.why);
      sent += body.length;
      if (reply.type !== "chunk" || sent > bytesMax) {
        worker.end("it sent more than the file holds");
        throw new Fault("too-large", `${path} is too large; at most ${sizeText(bytesMax)} can be sent.`);
      }
      yield body;
    }
  } finally {
    call.drop();
  }
}
