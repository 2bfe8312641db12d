// The people of a story: what they write, and how they answer what they are asked, with buttons, in words, twice, or never.

import { heldNotice } from "../core/held.ts";
import type { Instant } from "../core/ids.ts";
import type { Inbound, Question } from "../core/message.ts";
import type { OutboxItem } from "../core/outbox.ts";
import type { Effects } from "./agent.ts";
import { readAsking } from "./asking.ts";
import type { Seen } from "./platform.ts";
import type { Dice, Time } from "./time.ts";

export interface Users {
  message(platform: string, chat: string, key: string, body: Inbound["body"]): Inbound;
  /** Somebody sees an item; if it asks something, it is answered after a while. */
  see(platform: string, seen: Seen, item: OutboxItem): void;
}

export function users(
  clock: Time,
  chances: Dice,
  effects: Effects,
  say: (server: string, one: Inbound) => void,
): Users {
  function message(platform: string, chat: string, key: string, body: Inbound["body"]): Inbound {
    const from = { platform, account: "sim", chat };
    return { key, from, sender: `user of ${chat}`, body, sentAt: clock.now() as Instant };
  }

  function sayLater(inbound: Inbound, afterMs: number): void {
    clock.at(clock.now() + afterMs, () => say(inbound.from.platform, inbound));
  }

  function press(name: string, chat: string, key: string, question: string, choice: string, afterMs: number): void {
    sayLater(message(name, chat, key, { kind: "answer", question, choice }), afterMs);
  }

  /** Allowed or denied: by a button, twice, or in words. What is asked for may have changed by then. */
  function decide(name: string, { chat, text }: Seen, { id, choices }: Question): void {
    const asked = readAsking(text);
    const choice = asked?.tool === "deny" ? "deny" : chances.pick(choices);
    const afterMs = chances.between(10, 3_000);
    if (asked?.tool === "approve_changed" && !effects.versions.has(asked.place))
      clock.at(clock.now() + chances.between(1, afterMs), () => void effects.versions.set(asked.place, 1));
    const way = chances.pick(["press", "press", "press twice", "words", "command"] as const);
    if (way === "words" || way === "command") {
      const words = way === "words" ? choice : choice === "deny" ? "/deny not today" : `/approve ${choice}`;
      return sayLater(message(name, chat, `answer-${id}`, { kind: "text", text: words, files: [] }), afterMs);
    }
    press(name, chat, `answer-${id}`, id, choice, afterMs);
    if (way === "press twice") press(name, chat, `again-${id}`, id, chances.pick(choices), afterMs + 5);
  }

  return {
    message,
    see(name, seen, { question }) {
      // Some ask at once, some twice, and some never; the story asks for those in the end.
      if (seen.text === heldNotice)
        for (let n = chances.between(0, 2); n > 0; n--)
          sayLater(
            message(name, seen.chat, `resend-${seen.item}-${n}`, { kind: "text", text: "/resend", files: [] }),
            chances.between(10, 30_000),
          );
      if (question === undefined) return;
      if (question.kind === "approval") return decide(name, seen, question);
      if (chances.chance(0.2)) return; // one in five is never answered
      const { id, choices } = question;
      press(name, seen.chat, `answer-${id}`, id, chances.pick(choices), chances.between(10, 3_000));
    },
  };
}
