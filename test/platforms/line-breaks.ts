// A break of the connection to an IRC or SMTP server, at a chosen moment of a send, from its beginning to the last message
// after it, with a real gateway. Afterwards the far side is counted.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { certificates } from "../kit/certificates.ts";
import type { NetworkFault } from "../kit/fault-proxy.ts";
import { type LookupError, failingNames } from "../kit/names.ts";
import { client } from "../process/client.ts";
import { type Gateway, newHome, patienceMs, runGateway, until } from "../process/stage.ts";
import {
  type LineSide,
  type LineSideName,
  chats,
  lineSides,
  momentIn,
  momentsOf,
  refusalMoments,
  victim,
} from "./line-break-sides.ts";

type NameFault = { readonly type: "name"; readonly error: LookupError };
/** The server itself says that it goes, or has no time. */
type ServerFault = { readonly type: "server" };

export const lineFaults = {
  "reset before delivery": { type: "reset", when: "before" },
  "reset after delivery": { type: "reset", when: "after" },
  "stall before delivery": { type: "stall", when: "before" },
  "stall in the answer": { type: "stall", when: "after" },
  "half-open": { type: "half-open" },
  "server refuses": { type: "server" },
  "connection refused": { type: "refuse" },
  "untrusted certificate": { type: "tls", how: "certificate" },
  "no TLS": { type: "tls", how: "plain" },
  "name not found": { type: "name", error: "ENOTFOUND" },
  "name server silent": { type: "name", error: "EAI_AGAIN" },
} as const satisfies Readonly<Record<string, NetworkFault | NameFault | ServerFault>>;

export type LineFaultName = keyof typeof lineFaults;
export const lineFaultNames = Object.keys(lineFaults) as LineFaultName[];

export type LineBreakPlan = {
  readonly side: LineSideName;
  readonly fault: LineFaultName;
  readonly moment: string;
  /** The gateway is killed with SIGKILL in the middle of the break. */
  readonly kill: boolean;
  readonly breakMs: number;
};

export type LineBreakResult = {
  readonly sent: number;
  readonly lost: readonly string[];
  readonly reordered: readonly string[];
  /** Visible copies beside the first. */
  readonly copies: readonly string[];
  /** More copies than uncertain attempts explain. */
  readonly unexplained: readonly string[];
  /** Notices about held items. */
  readonly held: readonly string[];
};

/** Only resets, stalls and dead connections depend on the moment; the others concern new connections. */
export function hasMoments(fault: LineFaultName): boolean {
  return ["reset", "stall", "half-open", "server"].includes(lineFaults[fault].type);
}

export async function runLineBreak(t: TestContext, plan: LineBreakPlan): Promise<LineBreakResult> {
  const fault: NetworkFault | NameFault | ServerFault = lineFaults[plan.fault];
  const tls = fault.type === "tls" ? certificates(t) : undefined;
  const names = fault.type === "name" ? failingNames(t) : undefined;
  const side = await lineSides[plan.side]({ t, ...(tls === undefined ? {} : { tls }) });
  const home = newHome(t);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(join(home, "config.yaml"), `agent: { backend: echo }\nplatforms:\n${side.config}`, { mode: 0o600 });
  const env = { ...names?.env, ...(tls === undefined ? {} : { NODE_EXTRA_CA_CERTS: tls.file }) };
  const start = (): Promise<Gateway> => runGateway(t, home, { env });
  const sent = new Map(chats.map((chat): [string, string[]] => [chat, []]));
  const send = async (gateway: Gateway, chat: string, name: string): Promise<void> => {
    sent.get(chat)?.push(name);
    const body = { to: side.address(chat), text: side.visible(name).join("\n\n"), key: `${chat}-${name}` };
    const { status } = await client(gateway).call("/api/send", { method: "POST", body: JSON.stringify(body) });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const everybody = async (gateway: Gateway, name: string): Promise<void> => {
    for (const chat of chats) await send(gateway, chat, name);
  };

  const first = await start();
  await everybody(first, "before");
  await arrived(side, sent, () => `before the break; the gateway said ${first.err().slice(-2_000)}`);
  await quiet(first);
  begin(side, plan, fault);
  if (fault.type === "name") names?.fail("localhost", fault.error);
  await send(first, chats[0] ?? "", victim);
  await everybody(first, "behind");
  await pause(plan.breakMs / 2);
  let last = first;
  if (plan.kill) {
    await first.end("SIGKILL");
    last = await start();
  }
  await everybody(last, "during");
  await pause(plan.breakMs / 2);
  names?.restore();
  side.proxy.end();
  side.refuse?.(null);
  await everybody(last, "after");
  await arrived(side, sent, () => `after the break; the gateway said ${last.err().slice(-2_000)}`);
  await quiet(last);
  const result = await judged(side, plan, sent);
  await last.end("SIGTERM");
  return result;
}

/** The connection that is in use, or the next one, breaks in the chosen moment; all others at once. */
function begin(side: LineSide, plan: LineBreakPlan, fault: NetworkFault | NameFault | ServerFault): void {
  const { proxy } = side;
  if (fault.type === "name") return proxy.cut();
  if (fault.type === "server") return side.refuse?.(plan.moment);
  const on = momentIn(side.platform, plan.moment);
  if (on === null || !hasMoments(plan.fault)) return proxy.begin(fault);
  const inUse = proxy.connections + (side.platform === "email" ? 1 : 0);
  proxy.begin((n) => (n <= inUse ? { ...fault, on } : fault));
}

/** Waits as long as something arrives, and then for a long time. */
async function arrived(
  side: LineSide,
  sent: ReadonlyMap<string, readonly string[]>,
  when: () => string,
): Promise<void> {
  let before = "";
  for (let deadline = Date.now() + patienceMs; ; await pause(100)) {
    const missing = await missingOf(side, sent);
    if (missing.length === 0) return;
    const now = missing.join(", ");
    if (now !== before) deadline = Date.now() + patienceMs;
    before = now;
    if (Date.now() > deadline) assert.fail(`not arrived ${when()}: ${now}`);
  }
}

async function missingOf(side: LineSide, sent: ReadonlyMap<string, readonly string[]>): Promise<readonly string[]> {
  const found = [...sent].map(async ([chat, names]) => {
    const seen = new Set(await side.seen(chat));
    return names
      .flatMap((name) => side.visible(name).filter((text) => !seen.has(text)))
      .map((text) => `${chat}: ${text}`);
  });
  return (await Promise.all(found)).flat();
}

/** Nothing is left to be sent, so nothing can arrive any more. */
async function quiet(gateway: Gateway): Promise<void> {
  await until(
    async () => (await client(gateway).get<{ items: readonly unknown[] }>("/api/outbox?state=open&limit=100")).items,
    (open) => open.length === 0,
    "nothing is left to send",
    100,
  );
}

async function judged(
  side: LineSide,
  plan: LineBreakPlan,
  sent: ReadonlyMap<string, readonly string[]>,
): Promise<LineBreakResult> {
  const lost = await missingOf(side, sent);
  const [reordered, copies, unexplained, held]: [string[], string[], string[], string[]] = [[], [], [], []];
  for (const [chat, names] of sent) {
    const seen = await side.seen(chat);
    const expected = names.flatMap((name) => side.visible(name));
    const firsts = [...new Set(seen)].filter((text) => expected.includes(text));
    if (JSON.stringify(firsts) !== JSON.stringify(expected.filter((text) => firsts.includes(text))))
      reordered.push(`${chat}: ${firsts.join(", ")}`);
    const extra = seen.filter((text, n) => seen.indexOf(text) !== n);
    copies.push(...extra.map((text) => `${chat}: ${text}`));
    // One send of a chat is under way when the break begins, and perhaps another when the gateway is killed.
    const times = 1 + Number(plan.kill);
    if (extra.length > times * Math.max(...momentsOf(plan.side).map((moment) => side.uncertainAt(moment, true))))
      unexplained.push(`${chat}: ${extra.join(", ")}`);
    if (seen.some((text) => text.includes("/resend"))) held.push(chat);
  }
  const count = [...sent.values()].flat().length;
  return {
    sent: count,
    lost,
    reordered,
    copies,
    unexplained: [...unexplained, ...confirmed(side, plan, copies)],
    held,
  };
}

/** Of the victim, what was confirmed before the moment is never seen twice; nor is what the server cannot have had. */
function confirmed(side: LineSide, plan: LineBreakPlan, copies: readonly string[]): readonly string[] {
  const own = copies.filter((text) => text.includes(`: ${victim} `));
  if (plan.kill || !hasMoments(plan.fault)) return [];
  const fault: NetworkFault | NameFault | ServerFault = lineFaults[plan.fault];
  const isDelivered = "when" in fault && !(fault.type === "reset" && fault.when === "before");
  if (side.uncertainAt(plan.moment, isDelivered) === 0) return own;
  const earlier = side.visible(victim).slice(0, plan.moment === "at the eighth line" ? 5 : 0);
  return own.filter((copy) => earlier.some((text) => copy.endsWith(text)));
}

type Plan = Omit<LineBreakPlan, "breakMs">;

/** Everything that can happen on these sides. */
export function allPlans(sides: readonly LineSideName[]): readonly Plan[] {
  return sides.flatMap((side) =>
    lineFaultNames.flatMap((fault) => {
      const moments = lineFaults[fault].type === "server" ? refusalMoments[side] : momentsOf(side);
      const chosen = hasMoments(fault) ? moments : moments.slice(0, 1);
      return chosen.flatMap((moment) => [false, true].map((kill) => ({ side, fault, moment, kill })));
    }),
  );
}
