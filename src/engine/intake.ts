// Accepts what comes in: routes it, stores it, and only then lets the platform forget it. One commit holds the inbox key,
// the session, the words, the turn and the cursor; where the session is idle, the turn starts in that same commit.

import type { Change } from "../core/change.ts";
import { postKey } from "../core/delivery.ts";
import { Fault } from "../core/fault.ts";
import { Bug } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { type Address, type FileRef, type Inbound, formatAddress } from "../core/message.ts";
import { type Timer, toInbound } from "../core/timer.ts";
import type { Paired } from "../core/access/pairing.ts";
import type { Receipt } from "../ports/platform.ts";
import { admit } from "./access/gate.ts";
import type { Guesses } from "./access/guesses.ts";
import type { Decision } from "./access/letting.ts";
import type { Heard, Requests } from "./access/requests.ts";
import type { Plan } from "./accepting.ts";
import type { Lane, Lanes } from "./lanes/lanes.ts";
import type { Door } from "./links.ts";
import { type Parts, platformOf } from "./parts.ts";
import type { Plans } from "./plans.ts";

/** What a platform hands over goes through `of`, which asks who may speak; the rest is trusted. */
export interface Intake extends Door {
  accept(inbound: Inbound, cursor: string | null): Promise<Receipt>;
  /** Runs a message again, as a new turn, whatever it was the first time. */
  again(inbound: Inbound): Promise<void>;
  fire(timer: Timer): Promise<void>;
  /** One message out, through the outbox. */
  post(to: Address, text: string, key: string, files?: readonly FileRef[]): Promise<"posted" | "duplicate">;
  /** Somebody is let in, and hears of it in the same commit. Rejects with a Fault when the decision is another. */
  letIn(decide: () => Promise<Decision>): Promise<Paired>;
  readonly guesses: Guesses;
}

/** A plan meets a conflict only when the turn it touches moved at that moment. */
const conflictsMax = 10;

export function intake(parts: Parts, lanes: Lanes, plans: Plans): Intake {
  const { store, world, ledger } = parts;
  let strangers: Requests | null = null;
  let inFlight = 0;

  /** Commits a plan, made anew when the world moved between reading and writing. */
  async function commitPlan(
    enter: () => Promise<Lane>,
    cursor: readonly Change[],
    make: (lane: Lane) => Promise<Plan>,
  ): Promise<Receipt> {
    if (inFlight >= limits.acceptsMax) throw new Fault("busy", "Too many messages at once. Send it again in a moment.");
    inFlight++;
    try {
      return await commitIn(await enter(), cursor, make);
    } finally {
      inFlight--;
    }
  }

  async function commitIn(
    lane: Lane,
    cursor: readonly Change[],
    make: (lane: Lane) => Promise<Plan>,
  ): Promise<Receipt> {
    try {
      for (let tries = 0; tries < conflictsMax; tries++) {
        const plan = await make(lane);
        const result = await tryOnce(plan, cursor);
        if (result === "committed") return plan.isVoid === true ? "ignored" : "accepted";
        if (result === "duplicate") return "duplicate";
        if (result === "fenced") throw new Fault("stopping", "Another gateway has taken over. Send it again.");
        await lanes.refresh(lane);
      }
      throw new Bug("an acceptance met one conflict after another");
    } finally {
      lanes.leave(lane);
    }
  }

  async function tryOnce(plan: Plan, cursor: readonly Change[]) {
    try {
      const result = await ledger.commit([...plan.changes, ...cursor]);
      if (result === "committed") plan.stored();
      else plan.refused();
      return result;
    } catch (error) {
      plan.refused();
      throw error;
    }
  }

  /** Who may speak is asked first: what others sent is not looked at any further. */
  async function judge(inbound: Inbound, cursor: string | null): Promise<Receipt> {
    const admitted = await admit(parts, inbound);
    switch (admitted.type) {
      case "speak": {
        // Whoever asked over HTTP is told; a platform's stream would bring it again for ever, and nothing behind it.
        const isStream = platformOf(parts, inbound.from)?.can.isFar === true;
        const unusable = isStream ? whyUnusable(inbound) : null;
        if (unusable === null) return accept({ ...inbound, party: admitted.party }, cursor, admitted.changes);
        world.log("warn", "a message cannot be taken and is left", { why: unusable.message, sender: inbound.sender });
        return ignore(inbound, cursor, unusable.message);
      }
      case "pair":
        if (!isUsableKey(inbound.key)) return ignore(inbound, cursor, "a stranger, under a key that cannot be kept");
        return (await requestsOnce()).hear(inbound, (decide) => acceptStranger(inbound, cursor, decide));
      case "ignore":
        return ignore(inbound, cursor, admitted.why);
    }
  }

  /** Loaded with the first stranger, or when there is time. */
  async function requestsOnce(): Promise<Requests> {
    const { requests } = await import("./access/requests.ts");
    return (strangers ??= requests(parts));
  }

  async function acceptStranger(
    inbound: Inbound,
    cursor: string | null,
    decide: () => Promise<Heard>,
  ): Promise<Receipt> {
    const first = await decide();
    if ("ignored" in first) return ignore(inbound, cursor, first.ignored);
    const result = await commitFor(inbound, cursor, [], async (lane) => {
      const told = await decide();
      if ("ignored" in told) return plans.nothing(inbound, inbound.key);
      const { text, shown, changes } = told;
      const plan = plans.post(lane, inbound, text, { answered: inbound, shown });
      return { ...plan, changes: [...plan.changes, ...changes] };
    });
    const { from, sender } = inbound;
    if (result === "accepted")
      world.log("info", `a stranger waits to be let in; \`everturn pair\` tells who`, {
        at: formatAddress(from),
        sender,
      });
    return result;
  }

  /** Only the platform's place in its stream moves. */
  async function ignore(inbound: Inbound, cursor: string | null, why: string): Promise<Receipt> {
    const moved = movedTo(inbound, cursor);
    if (moved.length > 0) await ledger.commit(moved);
    const at = formatAddress(inbound.from);
    world.log("debug", `a message was ignored: ${why}`, { at, sender: inbound.sender });
    return "ignored";
  }

  async function accept(inbound: Inbound, cursor: string | null, more: readonly Change[] = []): Promise<Receipt> {
    refuseUnusable(inbound);
    return commitFor(inbound, cursor, more, (lane) => plans.inbound(lane, inbound));
  }

  async function commitFor(
    inbound: Inbound,
    cursor: string | null,
    more: readonly Change[],
    make: (lane: Lane) => Promise<Plan>,
  ): Promise<Receipt> {
    const moved = movedTo(inbound, cursor);
    const result = await commitPlan(() => lanes.enter(inbound.from), [...more, ...moved], make);
    // The message is known, its place in the platform's stream may not be.
    if (result === "duplicate" && cursor !== null) await ledger.commit(moved);
    return result;
  }

  const self: Intake = {
    of: ({ name, account }) => ({
      accept: judge,
      hears: async (inbound) => (await admit(parts, inbound)).type === "speak",
      moved: async (cursor) => void (await ledger.commit([{ put: "cursor", platform: name, account, value: cursor }])),
    }),
    accept: (inbound, cursor) => accept(inbound, cursor),
    async again(inbound) {
      await commitPlan(
        () => lanes.enter(inbound.from),
        [],
        async (lane) => plans.message(lane, inbound),
      );
    },
    async fire(timer) {
      const session = await store.session(timer.session);
      if (session === null) throw new Bug(`timer ${timer.id} belongs to no session`);
      const inbound = toInbound(timer, session);
      const { turn, id: question } = timer;
      const drop: Change[] = [{ drop: "timer", id: timer.id }];
      const result =
        turn === null
          ? await commitPlan(
              () => lanes.enter(session.address),
              drop,
              async (lane) => plans.message(lane, inbound),
            )
          : await commitPlan(
              () => lanes.enterSession(session),
              drop,
              async (lane) => {
                const expired = await plans.answer(lane, inbound, { type: "answer", turn, question, choice: null });
                return expired ?? plans.nothing(inbound, turn);
              },
            );
      if (result === "duplicate") await ledger.commit(drop);
    },
    async post(to, text, key, files = []) {
      const body = { kind: "text", text, files } as const;
      const inbound: Inbound = { key: postKey(key), from: to, sender: "post", sentAt: world.now(), body };
      refuseUnusable(inbound);
      const result = await commitPlan(
        () => lanes.enter(to),
        [],
        async (lane) => plans.post(lane, inbound, text, { files }),
      );
      return result === "duplicate" ? "duplicate" : "posted";
    },
    async letIn(decide) {
      const { paired, welcome } = await decided(decide);
      const result = await commitPlan(
        () => lanes.enter(welcome.to.from),
        [],
        async (lane) => {
          const again = await decided(decide);
          const plan = plans.post(lane, again.welcome.to, again.welcome.text);
          return { ...plan, changes: [...plan.changes, ...again.changes] };
        },
      );
      if (result === "duplicate") throw new Fault("not-possible", "They were let in already, at this very moment.");
      return paired;
    },
    guesses: plans.guesses,
  };

  /** What a refusal counts is kept in any case. */
  async function decided(decide: () => Promise<Decision>) {
    const done = await decide();
    if (done.type === "refused") {
      if (done.changes.length > 0) await ledger.commit(done.changes);
      throw new Fault(done.code, done.why);
    }
    const { welcome } = done;
    if (welcome === null) throw new Bug("nobody is let in by this");
    return { ...done, welcome };
  }

  return self;
}

function movedTo({ from: { platform, account } }: Inbound, cursor: string | null): readonly Change[] {
  return cursor === null ? [] : [{ put: "cursor", platform, account, value: cursor }];
}

function isUsableKey(key: string): boolean {
  return key !== "" && key.length <= limits.keyMax;
}

function refuseUnusable(inbound: Inbound): void {
  const why = whyUnusable(inbound);
  if (why !== null) throw why;
}

function whyUnusable({ body, key }: Inbound): Fault | null {
  if (!isUsableKey(key)) return new Fault("not-possible", `A message needs a key of 1 to ${limits.keyMax} characters.`);
  if (body.kind !== "text") return null;
  if (body.text.trim() === "" && body.files.length === 0)
    return new Fault("empty", "The message is empty. Write something.");
  if (body.text.length <= limits.textMax) return null;
  return new Fault(
    "too-large",
    `The message has ${body.text.length} characters; at most ${limits.textMax} are taken. Send it in parts.`,
  );
}
