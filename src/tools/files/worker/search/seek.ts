// Asks the thread that tries patterns, one question at a time, and ends it when the time is over.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Fault, sentenceOf } from "../../../../core/fault.ts";
import type { SeekAnswer, SeekAsk, SeekOrder } from "./seeker.ts";

export type Seeker = {
  /** Null when the time is over: there are no answers from then on. */
  ask(question: SeekAsk): Promise<SeekAnswer | null>;
  [Symbol.asyncDispose](): Promise<void>;
};

export function startSeeker(order: SeekOrder, over: AbortSignal): Seeker {
  const worker = new Worker(seekerUrl(), {
    workerData: { everturnSeek: order },
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  return {
    async ask(question) {
      try {
        const answered = once(worker, "message", { signal: over });
        worker.postMessage(question, question.type === "text" ? [question.bytes.buffer as ArrayBuffer] : []);
        const [answer] = (await answered) as [SeekAnswer];
        return answer;
      } catch (error) {
        if (over.aborted) return null;
        throw new Fault("not-possible", `The search broke off: ${sentenceOf(error)}. Narrow it.`, error);
      }
    },
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}

/** From the sources it is this folder's file; in the bundle it is an entry of its own beside the others. */
function seekerUrl(): URL {
  const here = import.meta.url;
  return new URL(here.endsWith(".ts") ? "./seeker.ts" : "./seeker.js", here);
}
