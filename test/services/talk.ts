// Speaking with a gateway that a supervisor runs: a port that stays the same over its lives, and the one answer to a turn.

import assert from "node:assert/strict";
import { type AddressInfo, createServer } from "node:net";
import type { Client } from "../process/client.ts";
import { until } from "../process/stage.ts";

/** One that nobody uses at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The answer in a conversation that has one, through as many lives as it takes. */
export async function answerTo(ask: Client, chat: string): Promise<string> {
  const all = await until(
    () => ask.transcript(chat).catch(() => []),
    (seen) => seen.some((one) => one.role === "assistant"),
    `${chat} is answered`,
  );
  const answers = all.filter((one) => one.role === "assistant");
  assert.equal(answers.length, 1, JSON.stringify(all));
  return answers[0]?.text ?? "";
}

/** What is asked to be interrupted, and what the agent says when it was, once. */
export const slowly = "count to 8 slowly";
export const counted = /^1, 2, 3, 4, 5, 6, 7, 8\n\nCounted to 8\. I was interrupted once/;
