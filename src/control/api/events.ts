// What happens in the gateway, as server-sent events for whoever watches. Best effort: a watcher that does not keep up
// is let go after a bounded backlog and comes back by itself; nothing depends on these events.

import type { Gateway } from "../../ports/gateway.ts";

const backlogMax = 1_000;
const pingMs = 15_000;

export function eventStream(gateway: Pick<Gateway, "watch" | "status">, closing: AbortSignal): Response {
  const encoder = new TextEncoder();
  const backlog: string[] = [];
  let waiting: (() => void) | null = null;
  let ended = closing.aborted;

  function push(frame: string): void {
    if (backlog.length >= backlogMax) return end();
    backlog.push(frame);
    waiting?.();
  }
  function end(): void {
    ended = true;
    stopWatching();
    clearInterval(timer);
    closing.removeEventListener("abort", end);
    waiting?.();
  }
  const stopWatching = gateway.watch((event) => push(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  const timer = setInterval(() => push(":ping\n\n"), pingMs).unref();
  closing.addEventListener("abort", end);
  if (ended) end();
  const { state, reason } = gateway.status();
  push(`event: state\ndata: ${JSON.stringify({ type: "state", state, reason })}\n\n`);

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (backlog.length === 0 && !ended) {
          await new Promise<void>((resolve) => {
            waiting = resolve;
          });
        }
        if (ended) return controller.close();
        controller.enqueue(encoder.encode(backlog.splice(0).join("")));
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}
