// One step of the model backend with nobody at the other end: whatever has to be loaded, compiled and prepared for a turn is
// done before the first one comes. Nothing leaves this process, nothing is stored, and what goes wrong does not matter.

import type { ModelOptions } from "../../agents/model/options.ts";
import { known, parseModel } from "../../agents/model/providers/names.ts";
import { stepper } from "../../agents/model/step/step.ts";
import type { Instant, SessionId, TurnId } from "../../core/ids.ts";
import type { AgentJob } from "../../ports/agent.ts";

const limitMs = 10_000;

/** What the step came to; null where there is no such model. */
export async function rehearseStep(
  options: ModelOptions,
): Promise<{ readonly type: string; readonly text: string } | null> {
  const name = parseModel(options.model);
  if (name === null) return null;
  const body = answers[known[name.provider].protocol];
  const said = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
  const { step } = stepper({ ...options, fallback: [], blobs: null, workspaceFor: undefined, fetch: said });
  const made = await step(job(), AbortSignal.timeout(limitMs));
  return { type: made.type, text: "text" in made ? made.text : "why" in made ? made.why : "" };
}

function job(): AgentJob {
  const now = () => Date.now() as Instant;
  const address = { platform: "rehearsal", account: "local", chat: "nobody" };
  return {
    session: "rehearsal" as SessionId,
    turn: "rehearsal" as TurnId,
    address,
    attempt: 1,
    input: { key: "", from: address, sender: "", body: { kind: "text", text: "hello", files: [] }, sentAt: now() },
    journal: [],
    note: null,
    history: async () => [],
    journalOf: async () => [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now,
    pause: async () => undefined,
    draft: () => undefined,
  };
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const typed = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\n${event(data)}`;

const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "none" };
const completion = [
  event({ ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: "hello" }, finish_reason: null }] }),
  event({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
  event({ ...chunk, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
  "data: [DONE]\n\n",
].join("");

const used = { input_tokens: 1, output_tokens: 1 };
const message = { id: "1", type: "message", role: "assistant", model: "none", content: [], stop_reason: null };

const answers: Readonly<Record<(typeof known)[keyof typeof known]["protocol"], string>> = {
  openai: completion,
  compatible: completion,
  anthropic: [
    typed({ type: "message_start", message: { ...message, stop_sequence: null, usage: used } }),
    typed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
    typed({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "hello" } }),
    typed({ type: "content_block_stop", index: 0 }),
    typed({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: used }),
    typed({ type: "message_stop" }),
  ].join(""),
  google: event({
    candidates: [{ content: { role: "model", parts: [{ text: "hello" }] }, index: 0, finishReason: "STOP" }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }),
};
