// A file worker that dies, hangs or lies at a chosen moment; otherwise it is the real one.

import { PassThrough } from "node:stream";
import { encodeFrame, frameLimits, frameReader } from "../../src/tools/files/protocol.ts";
import { serveFiles } from "../../src/tools/files/worker/serve.ts";

export type Misbehavior = {
  /** Dies when this frame of the gateway arrives, before it is handled; the first is 0. */
  readonly dieAtFrame?: number;
  /** Dies when this reply has been sent; the first is 0. */
  readonly dieAfterReply?: number;
  /** Dies right after this step of a change. */
  readonly dieAfterStep?: string;
  /** Kills the gateway right after this step, and waits. */
  readonly killAfterStep?: string;
  /** Answers the first call with these bytes, in base64, and then says nothing more. */
  readonly says?: string;
  /** So many zeros after that. */
  readonly zeros?: number;
};

const {
  dieAtFrame,
  dieAfterReply,
  dieAfterStep,
  killAfterStep,
  says,
  zeros = 0,
}: Misbehavior = JSON.parse(process.argv[2] ?? "{}");

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

const input = new PassThrough();
const output = new PassThrough();
const incoming = frameReader(frameLimits.toWorker);
let frames = 0;
process.stdin.on("data", (chunk: Buffer) => {
  for (const { head, body } of incoming(chunk) ?? []) {
    if (frames++ === dieAtFrame) die();
    if (says === undefined) input.write(encodeFrame(head, body));
    else if (frames === 2) process.stdout.write(Buffer.concat([Buffer.from(says, "base64"), Buffer.alloc(zeros)]));
  }
});
process.stdin.once("end", () => process.exit(0));

const outgoing = frameReader(frameLimits.fromWorker);
let replies = 0;
output.on("data", (chunk: Buffer) => {
  for (const { head, body } of outgoing(chunk) ?? []) {
    const isLast = replies++ === dieAfterReply;
    process.stdout.write(encodeFrame(head, body), () => isLast && die());
  }
});

await serveFiles(input, output, async (steps) => {
  for await (const step of steps) {
    if (step === dieAfterStep) die();
    if (step !== killAfterStep) continue;
    process.kill(process.ppid, "SIGKILL");
    await new Promise(() => undefined);
  }
});
