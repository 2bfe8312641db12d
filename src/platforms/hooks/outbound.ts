// What goes out to the address of answers, as one signed post. Pure but for the files it is given.

import type { OutboxItem } from "../../core/outbox.ts";
import { type AnswerBody, type Hook, hookLimits } from "./api.ts";
import { sign, signatureHeader } from "./signature.ts";

export function toBody(hook: Hook, item: OutboxItem, contents: readonly Uint8Array[]): AnswerBody {
  const { id, to, text, question, files, hints } = item;
  const request = hints?.["request"];
  const all = contents.reduce((sum, one) => sum + one.byteLength, 0);
  const isSmall = contents.length === files.length && all <= hookLimits.filesOutMax;
  return {
    id,
    hook: hook.name,
    chat: to.thread ?? null,
    answers: typeof request === "string" ? request : null,
    text,
    ...(question === undefined ? {} : { choices: question.choices }),
    ...(files.length === 0
      ? {}
      : {
          files: files.map(({ name, mime, bytes }, i) => {
            const content = contents[i];
            const data = isSmall && content !== undefined ? { data: Buffer.from(content).toString("base64") } : {};
            return { name, mime, bytes, ...data };
          }),
        }),
  };
}

export function toRequest(secret: string, body: AnswerBody, nowMs: number): RequestInit & { readonly body: string } {
  const text = JSON.stringify(body);
  const headers = {
    "content-type": "application/json",
    "user-agent": "everturn",
    "idempotency-key": body.id,
    [signatureHeader]: sign(secret, text, nowMs),
  };
  // Who answers with another address could be anybody; the secret part of a signature is not for them.
  return { method: "POST", headers, body: text, redirect: "manual" };
}

/** What a chat of another platform is told. */
export function toPost({ text, question }: OutboxItem): string {
  const choices = question === undefined ? [] : question.choices.map((choice) => `- ${choice}`);
  return [text, choices.join("\n")].filter((one) => one !== "").join("\n\n");
}
