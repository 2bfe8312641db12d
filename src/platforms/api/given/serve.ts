// The answer to a caller over HTTP: whole, or as a stream of events that each say how far it is. A failure is an error with a
// status as long as nothing was sent. Afterwards it is an event of the stream; a whole answer that takes very long is kept
// alive with blanks, which JSON allows in front, and then only the connection can be cut. A repeat under the same key finds
// the answer or the error with its status.

import type { Answer, Step } from "./answers.ts";
import type { FinishReason } from "../api.ts";
import { type Refusal, refuse } from "../faults.ts";
import { type Given, grow, markOf, nothingGiven } from "./growing.ts";
import { type Head, doneFrame, errorFrame, frame, pingFrame, toChunk, toCompletion, usageChunk } from "../outbound.ts";

export type Wanted = {
  readonly head: Head;
  readonly key: string;
  /** The caller can repeat the request and gets the same turn. */
  readonly isRepeatable: boolean;
  readonly includeUsage: boolean;
  readonly had: Given;
  /** After so many signs of life a whole answer begins with blanks. */
  readonly blanksAfter: number;
  /** Until then the start of a stream waits for its first words. */
  readonly holdUntil: number;
};

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

/** OpenAI's clients repeat by themselves and obey this: a repeat without a key would be another message. */
function refused(wanted: Wanted, refusal: Refusal): Response {
  const isWorthIt = refusal.isPending === true && wanted.isRepeatable;
  return refuse(refusal, { ...namesOf(wanted), "x-should-retry": String(isWorthIt) });
}

export async function whole(wanted: Wanted, answer: Answer): Promise<Response> {
  const headers = headersOf(wanted, "application/json");
  const bodyOf = (step: Step & { type: "done" }) => JSON.stringify(toCompletion(wanted.head, step));
  let pings = 0;
  for (;;) {
    const step = await answer.next();
    if (step?.type === "draft" || step?.type === "late") continue;
    if (step?.type === "ping") {
      if (++pings < wanted.blanksAfter) continue;
      return new Response(trickle(answer, bodyOf), { headers });
    }
    answer.leave();
    if (step?.type === "done") return new Response(bodyOf(step), { headers });
    return step === null ? refuse(gone, namesOf(wanted)) : refused(wanted, step.why);
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
      if (step?.type === "draft" || step?.type === "late") continue;
      if (step?.type === "ping") return { text: " ", over: false };
      if (step?.type === "done") return { text: bodyOf(step), over: true };
      throw new Error("the answer is not ready, and cannot be waited for any longer");
    }
  });
}

type Frames = { readonly text: string; readonly over: boolean };

export async function stream(wanted: Wanted, answer: Answer): Promise<Response> {
  const frames = framesFor(wanted);
  const begun = await beginning(wanted, answer, frames);
  if (begun instanceof Response) return begun;
  let first: Frames | null = begun;
  const body = pulled(answer, async () => {
    if (first !== null) {
      const given = first;
      first = null;
      return given;
    }
    for (;;) {
      const step = await answer.next();
      if (step === null) return { text: "", over: true };
      const given = frames(step);
      if (given.text !== "" || given.over) return given;
    }
  });
  return new Response(body, { headers: headersOf(wanted, "text/event-stream; charset=utf-8") });
}

/** The first frames, or an error with a status where nothing else has come. */
async function beginning(wanted: Wanted, answer: Answer, frames: (step: Step) => Frames): Promise<Response | Frames> {
  // Clients learn from it that there is an answer to come, and what to repeat.
  const lead =
    wanted.had === nothingGiven
      ? frame(
          toChunk(wanted.head, { delta: { role: "assistant", content: "" }, finish: null }, wanted.includeUsage),
          markOf(wanted.had),
        )
      : pingFrame;
  for (;;) {
    const step = await answer.next(wanted.holdUntil);
    if (step === null || step.type === "broken") {
      answer.leave();
      return step === null ? refuse(gone, namesOf(wanted)) : refused(wanted, step.why);
    }
    if (step.type === "late") return { text: lead, over: false };
    const { text, over } = frames(step);
    if (step.type !== "ping" && text !== "") return { text: `${lead}${text}`, over };
  }
}

function framesFor({ head, includeUsage, had: before }: Wanted): (step: Step) => Frames {
  let had = before;
  const chunk = (delta: { role?: "assistant"; content?: string }, finish: FinishReason | null = null) =>
    frame(toChunk(head, { delta, finish }, includeUsage), markOf(had));

  function ending({ text, usage, finish }: Step & { type: "done" }): string {
    const { delta, now } = grow(had, text, true);
    had = now;
    const rest = delta === "" ? "" : chunk({ content: delta });
    const used = includeUsage ? frame(usageChunk(head, usage), markOf(had)) : "";
    return `${rest}${chunk({}, finish)}${used}${doneFrame}`;
  }

  return (step) => {
    switch (step.type) {
      case "late":
        return { text: "", over: false };
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
  };
}

/** A chunk is made when the client takes it: a slow one costs nothing but its seat. */
function pulled(answer: Answer, next: () => Promise<Frames>): ReadableStream<Uint8Array> {
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
