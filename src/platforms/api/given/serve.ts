// The answer to a caller over HTTP: whole, or as a stream of events that each say how far it is. A whole answer that takes
// long is kept alive with blanks, which JSON allows in front; once they flow an error can only cut the connection, and the
// repeat under the same key finds the answer.

import type { Answer, Step } from "./answers.ts";
import { refuse } from "../faults.ts";
import { type Given, grow, markOf, nothingGiven } from "./growing.ts";
import { type Head, doneFrame, errorFrame, frame, pingFrame, toChunk, toCompletion, usageChunk } from "../outbound.ts";

export type Wanted = { readonly head: Head; readonly key: string; readonly includeUsage: boolean; readonly had: Given };

const encoder = new TextEncoder();

/** What the request is repeated with, also where the caller gave no key and whatever became of it. */
function namesOf({ key, head }: Wanted): Record<string, string> {
  return { ...(key === "" ? {} : { "idempotency-key": key }), "x-everturn-completion": head.id };
}

function headersOf(wanted: Wanted, type: string): Record<string, string> {
  return {
    "content-type": type,
    "cache-control": "no-store",
    ...namesOf(wanted),
    "x-content-type-options": "nosniff",
    // A proxy that collects an answer before it passes it on would make a stream of one piece.
    "x-accel-buffering": "no",
  };
}

export async function whole(wanted: Wanted, answer: Answer): Promise<Response> {
  const headers = headersOf(wanted, "application/json");
  const bodyOf = ({ text, usage }: Step & { type: "done" }) => JSON.stringify(toCompletion(wanted.head, text, usage));
  for (;;) {
    const step = await answer.next();
    if (step?.type === "draft") continue;
    if (step?.type === "ping") return new Response(trickle(answer, bodyOf), { headers });
    answer.leave();
    if (step?.type === "done") return new Response(bodyOf(step), { headers });
    return refuse(step === null ? gone : step.why, namesOf(wanted));
  }
}

/** Nobody reads it. */
const gone = { status: 499, code: "closed", message: "The caller has gone." } as const;

function trickle(answer: Answer, bodyOf: (step: Step & { type: "done" }) => string): ReadableStream<Uint8Array> {
  let isFirst = true;
  return pulled(answer, async () => {
    if (isFirst) {
      isFirst = false;
      return { text: " ", over: false };
    }
    for (;;) {
      const step = await answer.next();
      if (step?.type === "draft") continue;
      if (step?.type === "ping") return { text: " ", over: false };
      if (step?.type === "done") return { text: bodyOf(step), over: true };
      throw new Error("the answer is not ready, and cannot be waited for any longer");
    }
  });
}

export function stream(wanted: Wanted, answer: Answer): Response {
  const { head, includeUsage } = wanted;
  let { had } = wanted;
  const chunk = (delta: { role?: "assistant"; content?: string }, finish: "stop" | null = null) =>
    frame(toChunk(head, { delta, finish }, includeUsage), markOf(had));

  function ending({ text, usage }: Step & { type: "done" }): string {
    const { delta, now } = grow(had, text, true);
    had = now;
    const rest = delta === "" ? "" : chunk({ content: delta });
    const used = includeUsage ? frame(usageChunk(head, usage), markOf(had)) : "";
    return `${rest}${chunk({}, "stop")}${used}${doneFrame}`;
  }

  function framesOf(step: Step): { readonly text: string; readonly over: boolean } {
    switch (step.type) {
      case "ping":
        return { text: pingFrame, over: false };
      case "broken":
        return { text: errorFrame(step.why), over: true };
      case "done":
        return { text: ending(step), over: true };
      case "draft": {
        const { delta, now } = grow(had, step.text, false);
        had = now;
        return { text: delta === "" ? "" : chunk({ content: delta }), over: false };
      }
    }
  }

  let isFirst = true;
  const body = pulled(answer, async () => {
    // Clients learn from it that there is an answer to come, and what to repeat.
    if (isFirst) {
      isFirst = false;
      return { text: had === nothingGiven ? chunk({ role: "assistant", content: "" }) : pingFrame, over: false };
    }
    for (;;) {
      const step = await answer.next();
      if (step === null) return { text: "", over: true };
      const frames = framesOf(step);
      if (frames.text !== "" || frames.over) return frames;
    }
  });
  return new Response(body, { headers: headersOf(wanted, "text/event-stream; charset=utf-8") });
}

/** A chunk is made when the client takes it: a slow one costs nothing but its seat. */
function pulled(
  answer: Answer,
  next: () => Promise<{ readonly text: string; readonly over: boolean }>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { text, over } = await next();
          if (text !== "") controller.enqueue(encoder.encode(text));
          if (!over) return;
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        answer.leave();
      },
      cancel: () => answer.leave(),
    },
    { highWaterMark: 0 },
  );
}
