// What a tool wished for becomes changes of the commit that stores its result: so it happens once, whatever dies.

import type { Change } from "../../../core/change.ts";
import { unreachable } from "../../../core/ids.ts";
import type { Entry, ToolResult, Wish } from "../../../core/journal.ts";
import { memoryScope, outsideScope } from "../../../core/memory.ts";
import type { Inbound } from "../../../core/message.ts";
import { hintsFor } from "../../../core/notice.ts";
import { isMarked } from "../../../core/outside.ts";
import { type Maker, requesterOf } from "../../../core/requester.ts";
import { writeReply } from "../../outbox/replies.ts";
import { type Parts, platformOf } from "../../parts.ts";
import type { Running } from "../run.ts";

/** `key` is the same for every attempt of the call. */
export function wishesOf(
  parts: Parts,
  running: Running,
  journal: readonly Entry[],
  result: ToolResult,
  key: string,
): readonly Change[] {
  const wishes = result.type === "ok" ? (result.wishes ?? []) : [];
  const maker = makerOf(running.turn.input, journal, isMarked(running.session, running.turn.input, journal));
  return wishes.flatMap((wish, i) => changesOf(parts, running, wish, maker, `${key}.${i}`));
}

/** A reminder that makes a reminder does it for the maker of the first. */
function makerOf(input: Inbound, journal: readonly Entry[], marked: boolean): Maker {
  const { sender = input.sender } = input.maker ?? {};
  return {
    party: requesterOf(input, journal).party,
    sender,
    ...(input.group === undefined ? {} : { group: input.group }),
    ...(marked ? { outside: true } : {}),
  };
}

function changesOf(parts: Parts, running: Running, wish: Wish, maker: Maker, id: string): readonly Change[] {
  const { session, turn } = running;
  const at = parts.world.now();
  switch (wish.type) {
    case "wake":
      return [{ put: "timer", timer: { id, session: session.id, turn: null, dueAt: wish.at, text: wish.text, maker } }];
    case "remember": {
      const own = memoryScope(session.address);
      const scope = maker.outside === true ? outsideScope(own) : own;
      return [{ put: "memory", memory: { id, scope, text: wish.text, at } }];
    }
    case "forget": {
      const own = memoryScope(session.address);
      return [own, outsideScope(own)].map((scope) => ({ drop: "memory", id: wish.memory, scope }));
    }
    case "send": {
      const to = session.address;
      const texts = platformOf(parts, to)?.parts(wish.text) ?? [wish.text];
      const { hints, anchor } = turn.input;
      const where = { session: session.id, turn: turn.id, to, hints: hintsFor(to, hints, anchor) };
      const said = { role: "assistant", text: wish.text, parts: texts, files: wish.files, at } as const;
      return writeReply({ id: `${turn.id}.${id}`, ...where, ...said }, null).changes;
    }
    default:
      return unreachable(wish);
  }
}
