// The worker's side of the conversation: each call is a generator, driven one reply at a time by the gateway.

import type { Readable, Writable } from "node:stream";
import { Fault } from "../../../core/fault.ts";
import { refusalOf } from "../../refusal.ts";
import { sizeText } from "../../size.ts";
import {
  type FileReply,
  type FileReplyFrame,
  type FileRequest,
  type FileScope,
  type ToFileWorker,
  encodeFrame,
  endsCall,
  frameLimits,
  frameReader,
} from "../protocol.ts";
import { type Drive, digestNow, editContent, toTheEnd, writeContent } from "./change.ts";
import { openExisting, piecesOf } from "./content.ts";
import { absolutePath, isThere, ownFolder } from "./paths.ts";
import { readLines } from "./read.ts";
import { searchFiles } from "./search/search.ts";

type Replies = AsyncGenerator<FileReplyFrame, FileReplyFrame>;
type RunningCall = { readonly replies: Replies; readonly stop: AbortController };

/** Resolves when the gateway has closed the connection. Rejects when it speaks another protocol. */
export async function serveFiles(input: Readable, output: Writable, drive: Drive = toTheEnd): Promise<void> {
  const read = frameReader(frameLimits.toWorker);
  const calls = new Map<number, RunningCall>();
  let scope: FileScope | null = null;

  async function advance(id: number, { replies }: RunningCall): Promise<void> {
    const { reply, body } = await nextOf(replies);
    if (endsCall(reply)) calls.delete(id);
    output.write(encodeFrame({ id, ...reply }, body));
  }

  function take(message: ToFileWorker, body: Buffer): Promise<void> | undefined {
    if (message.type === "begin") {
      scope = message.scope;
      return;
    }
    if (message.type === "call") {
      if (scope === null) throw new Fault("not-possible", "A call came before the scope.");
      const stop = new AbortController();
      const call = { replies: perform(scope, message.request, body, stop.signal, drive), stop };
      calls.set(message.id, call);
      return advance(message.id, call);
    }
    const call = calls.get(message.id);
    if (call === undefined) return;
    if (message.type === "next") return advance(message.id, call);
    calls.delete(message.id);
    call.stop.abort();
    return closed(call.replies);
  }

  const failed = Promise.withResolvers<void>();
  input.on("data", (chunk: Buffer) => {
    const frames = read(chunk);
    if (frames === null) return failed.reject(new Fault("not-possible", "A frame cannot be read."));
    for (const { head, body } of frames) take(head as ToFileWorker, body)?.catch(failed.reject);
  });
  input.once("end", failed.resolve);
  await failed.promise;
}

/** A call under way still gives the one reply that the gateway expects of it. */
async function closed(replies: Replies): Promise<void> {
  await replies.return(bare({ type: "failed", why: "Canceled." }));
}

/** What goes wrong outside is a reply; anything else is a bug and ends the worker. */
async function nextOf(replies: Replies): Promise<FileReplyFrame> {
  try {
    return (await replies.next()).value;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return bare({ type: "failed", why: "Canceled." });
    const why = error instanceof Fault ? error.message : refusalOf(error);
    if (why === null) throw error;
    return bare({ type: "failed", why });
  }
}

const nothing = new Uint8Array(0);

function bare(reply: FileReply): FileReplyFrame {
  return { reply, body: nothing };
}

async function* perform(
  scope: FileScope,
  request: FileRequest,
  body: Buffer,
  signal: AbortSignal,
  drive: Drive,
): Replies {
  switch (request.op) {
    case "read":
      return text(await readLines(scope, request, signal));
    case "search":
      return text(await searchFiles(scope, request, signal));
    case "send":
      return yield* sendContent(scope, request, signal);
    case "write":
      return yield* withoutBodies(writeContent(scope, request, body, drive));
    case "edit":
      return yield* withoutBodies(editContent(scope, request, drive));
    case "digest":
      return bare({ type: "digest", digest: await digestNow(scope, request.path, request.draft) });
    case "look": {
      const path = absolutePath(scope, request.path);
      return bare({ type: "seen", isThere: await isThere(path, "file"), own: ownFolder(path) });
    }
  }
}

function text(written: string): FileReplyFrame {
  return { reply: { type: "text" }, body: Buffer.from(written) };
}

async function* withoutBodies(replies: AsyncGenerator<FileReply, FileReply>): Replies {
  for (;;) {
    const { value, done } = await replies.next();
    if (done === true) return bare(value);
    yield bare(value);
  }
}

async function* sendContent(
  scope: FileScope,
  { path, bytesMax }: FileRequest & { readonly op: "send" },
  signal: AbortSignal,
): Replies {
  const opened = await openExisting(scope, absolutePath(scope, path));
  await using handle = opened.handle;
  const { bytes } = opened.facts;
  if (bytes > bytesMax) {
    const most = sizeText(bytesMax);
    throw new Fault("too-large", `${opened.shown} is ${sizeText(bytes)}; at most ${most} can be sent.`);
  }
  for await (const body of piecesOf(handle, bytesMax, signal, frameLimits.chunk)) {
    yield { reply: { type: "chunk" }, body };
  }
  return bare({ type: "sent" });
}
