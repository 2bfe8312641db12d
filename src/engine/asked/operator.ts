// What an operator may ask of a running gateway about single turns, sessions and items. Each wish is one commit, made
// only while nobody else moved what it is about.

import { everywhere } from "../../core/approval.ts";
import type { Change } from "../../core/change.ts";
import { Fault } from "../../core/fault.ts";
import { Bug, type ItemId, type TurnId } from "../../core/ids.ts";
import { readAnswer } from "../../core/asked/asking.ts";
import { fateText } from "../../core/asked/late.ts";
import { advanceItem } from "../../core/outbox.ts";
import { limits } from "../../core/limits.ts";
import { readCommand } from "../../core/route.ts";
import type { Session } from "../../core/session.ts";
import type { Gateway } from "../../ports/gateway.ts";
import { cancelled, shownOf, succession } from "../commands/ending.ts";
import type { Intake } from "../intake.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Pump } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import { operatorSender } from "../access/gate.ts";
import { approve, deny, revoke } from "../access/letting.ts";
import { lookUp } from "./fate.ts";
import { probeAll } from "./probe.ts";
import { Interruption } from "../turns/interruption.ts";

export type Desk = {
  readonly lanes: Lanes;
  readonly door: Intake;
  readonly pump: Pump;
  /** Throws while the gateway has not taken up its work. */
  readonly refuseUnlessOpen: () => void;
};

export type Operator = Pick<
  Gateway,
  | "probe"
  | "post"
  | "cancel"
  | "retry"
  | "answer"
  | "approvePairing"
  | "denyPairing"
  | "revokePaired"
  | "revoke"
  | "generalize"
  | "reset"
  | "resend"
  | "discard"
>;

/** Whoever runs the gateway decides about all its accounts. */
const everybody = () => true;

export function operator(parts: Parts, { lanes, door, pump, refuseUnlessOpen }: Desk): Operator {
  const { store, world, ledger, events } = parts;

  async function turnOrFault(id: TurnId) {
    refuseUnlessOpen();
    const turn = await store.turn(id);
    if (turn === null) throw new Fault("not-found", `There is no turn ${id}. List them with \`everturn turns\`.`);
    return turn;
  }

  async function itemOrFault(id: ItemId) {
    refuseUnlessOpen();
    const item = await store.item(id);
    if (item === null)
      throw new Fault("not-found", `There is no outbox item ${id}. List them with \`everturn outbox\`.`);
    if (item.now.state === "sending" || item.now.state === "delivered") {
      throw new Fault("not-possible", `Outbox item ${id} is ${item.now.state} already.`);
    }
    return item;
  }

  async function openQuestion({ key }: Session, question: string) {
    return (await store.questionsAt(key)).find((one) => one.question === question);
  }

  async function mustCommit(changes: readonly Change[]): Promise<void> {
    const result = await ledger.commit(changes);
    if (result !== "committed")
      throw new Fault("not-possible", "It changed at that very moment. Look again, then try again.");
  }

  return {
    async probe() {
      refuseUnlessOpen();
      return probeAll(parts);
    },
    async post(...given) {
      refuseUnlessOpen();
      return door.post(...given);
    },
    async cancel(id) {
      const turn = await turnOrFault(id);
      if (turn.now.state === "done")
        throw new Fault("not-possible", `Turn ${id} has ended already (${turn.now.outcome}).`);
      const session = await store.session(turn.session);
      if (session === null) throw new Bug(`turn ${id} belongs to no session`);
      const at = world.now();
      const { changes, drop } = await cancelled(parts, { turn, session }, "cancelled by the operator", at);
      const working = lanes.running().find((one) => one.turn.id === id);
      await mustCommit([...(working === undefined ? [] : shownOf(parts, working, at)), ...changes]);
      const lane = lanes.laneOf(turn.session);
      if (lane !== null) lanes.interrupt(lane, new Interruption("cancelled", "Cancelled by the operator"), { is: id });
      drop();
      events.emit({ type: "turn-ended", session: turn.session, turn: id, outcome: "cancelled" });
    },
    async retry(id) {
      const turn = await turnOrFault(id);
      if (turn.now.state !== "done")
        throw new Fault("not-possible", `Turn ${id} has not ended yet; it is ${turn.now.state}.`);
      if (readCommand(turn.input.body) !== null)
        throw new Fault("not-possible", `Turn ${id} was a command. Send it again.`);
      await door.again({ ...turn.input, key: `=retry:${id}:${world.id()}` });
    },
    async answer(question, typed) {
      refuseUnlessOpen();
      const turn = await store.waitingFor(question);
      const session = turn === null ? null : await store.session(turn.session);
      const asked = session === null ? undefined : await openQuestion(session, question);
      const choice = asked?.kind === "approval" ? readAnswer(typed, asked.choices) : typed;
      if (choice === null)
        throw new Fault("not-possible", `"${typed}" decides nothing. Answer with ${asked?.choices.join(", ")}.`);
      if (session !== null) {
        const body = { kind: "answer", question, choice } as const;
        const key = `=answer:${question}:${choice}`.slice(0, limits.keyMax);
        const by = { sender: operatorSender, party: "owner" } as const;
        await door.accept({ key, from: session.address, ...by, body, sentAt: world.now() }, null);
      }
      const fate = await lookUp(parts, question);
      if (fate.type === "answered" && fate.choice === (readAnswer(typed, fate.choices) ?? typed))
        return session === null ? "already" : "answered";
      if (fate.type === "gone")
        throw new Fault("not-found", `There is no question ${question}. List them with \`everturn approvals\`.`);
      throw new Fault("not-possible", fateText(fate));
    },
    async approvePairing(which, admin) {
      refuseUnlessOpen();
      return door.letIn(() => approve(parts, door.guesses, which, { by: "operator", admin }, everybody));
    },
    async denyPairing(which) {
      refuseUnlessOpen();
      const done = await deny(parts, door.guesses, which, everybody);
      // What a refusal counts is kept as well.
      if (done.changes.length > 0) await mustCommit(done.changes);
      if (done.type === "refused") throw new Fault(done.code, done.why);
      return done.asker;
    },
    async revokePaired(who) {
      refuseUnlessOpen();
      const done = await revoke(parts, who, everybody);
      if (done.type === "refused") throw new Fault(done.code, done.why);
      await mustCommit(done.changes);
      return done.paired;
    },
    async revoke(id) {
      refuseUnlessOpen();
      if (!(await parts.archive.rules()).some((rule) => rule.id === id))
        throw new Fault("not-found", `There is no rule ${id}. List them with \`everturn approvals rules\`.`);
      await mustCommit([{ drop: "rule", id }]);
    },
    async generalize(id) {
      refuseUnlessOpen();
      const rules = await parts.archive.rules();
      const rule = rules.find((one) => one.id === id);
      if (rule === undefined)
        throw new Fault("not-found", `There is no rule ${id}. List them with \`everturn approvals rules\`.`);
      const { held, ...kept } = rule;
      if (kept.scope === everywhere && held === undefined) return;
      const same = rules.filter(
        ({ tool, subject, scope }) => tool === rule.tool && subject === rule.subject && scope === everywhere,
      );
      const drops = new Set([id, ...same.map((one) => one.id)]);
      await mustCommit([
        ...[...drops].map((one): Change => ({ drop: "rule", id: one })),
        { put: "rule", rule: { ...kept, scope: everywhere } },
      ]);
    },
    async reset(id) {
      refuseUnlessOpen();
      const session = await store.session(id);
      if (session === null)
        throw new Fault("not-found", `There is no session ${id}. List them with \`everturn sessions\`.`);
      if (session.endedAt !== null) throw new Fault("not-possible", `Session ${id} has ended already.`);
      const lane = await lanes.enterSession(session);
      try {
        const { changes, drop } = await succession(parts, session, world.now());
        await mustCommit(changes);
        drop();
        if (lane.session.id === id) lanes.succeed(lane);
      } finally {
        lanes.leave(lane);
      }
    },
    async resend(id) {
      const item = advanceItem(await itemOrFault(id), { type: "resent", at: world.now() });
      await mustCommit([{ put: "item", item }]);
      pump.poke(item.session, item.to);
    },
    async discard(id) {
      const why = "discarded by the operator";
      const item = advanceItem(await itemOrFault(id), { type: "discarded", why, at: world.now() });
      await mustCommit([{ put: "item", item }]);
      pump.poke(item.session, item.to);
    },
  };
}
