// For the tests of this folder: a gateway that records what is asked of it, an archive of a few rows, a server over both.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { AccessLink, Device } from "../core/access/devices.ts";
import type { Paired, Pairing } from "../core/access/pairing.ts";
import { Fault } from "../core/fault.ts";
import type { BootId, Instant, ItemId, SessionId, TurnId } from "../core/ids.ts";
import type { Message } from "../core/message.ts";
import type { OutboxItem } from "../core/outbox.ts";
import { newHealth } from "../core/links/health.ts";
import { newSession } from "../core/session.ts";
import { type Turn, newTurn } from "../core/turn.ts";
import type { Gateway, GatewayEvent, GatewayState } from "../ports/gateway.ts";
import type { ToolServers } from "../ports/peers.ts";
import type { Archive, Store, UsageLine } from "../ports/store.ts";
import type { DeviceStore } from "./devices.ts";
import type { SignInReply } from "./protocol.ts";
import { type Control, type ControlParts, openControl } from "./server.ts";

export const token = "t".repeat(43);
const at = (n: number) => n as Instant;
const address = { platform: "web", account: "local", chat: "c1" };
export const session = newSession("s1" as SessionId, address, "b1" as BootId, at(1_000));
export const turn: Turn = {
  ...newTurn(
    "t1" as TurnId,
    session.id,
    { key: "c1:m1", from: address, sender: "owner", body: { kind: "text", text: "hi", files: [] }, sentAt: at(1) },
    at(2_000),
  ),
  now: { state: "done", outcome: "replied", doneAt: at(3_000) },
};
export const item: OutboxItem = {
  id: "t1.0" as ItemId,
  session: session.id,
  turn: turn.id,
  part: 0,
  to: address,
  text: "hello",
  files: [],
  createdAt: at(2_500),
  version: 3,
  now: { state: "delivered", remoteId: "r1", deliveredAt: at(3_100) },
};
export const pairing: Pairing = {
  id: "p1",
  sender: "7",
  name: "Eve",
  address: { platform: "chat", account: "bot", chat: "c7" },
  digest: "never told",
  askedAt: at(1),
  expiresAt: at(Number.MAX_SAFE_INTEGER),
  toldAt: at(1),
  denied: false,
};
export const paired: Paired = {
  platform: "chat",
  account: "bot",
  sender: "8",
  name: null,
  admin: false,
  by: "operator",
  at: at(4),
};
const message: Message = {
  n: 7,
  key: "t1.0",
  session: session.id,
  turn: turn.id,
  role: "assistant",
  text: "hello",
  at: at(3_000),
};

export type FakeGateway = Gateway & {
  asked: unknown[];
  state: GatewayState;
  reason: string | null;
  emit(event: GatewayEvent): void;
  watchers: number;
};

export function recordingGateway(): FakeGateway {
  const listeners = new Set<(event: GatewayEvent) => void>();
  const asked: unknown[] = [];
  const note = async (...what: unknown[]) => void asked.push(what);
  const gateway: FakeGateway = {
    asked,
    state: "running",
    reason: null,
    get watchers() {
      return listeners.size;
    },
    emit: (event) => listeners.forEach((listener) => listener(event)),
    run: () => Promise.reject(new Fault("not-possible", "only a sample")),
    ready: Promise.resolve(),
    stop: (intent) => void asked.push(["stop", intent]),
    async restart(ask) {
      asked.push(["restart", ask]);
      return "restarting";
    },
    leaveSafeMode: (why) => void asked.push(["leave safe mode", why]),
    status: () => ({
      state: gateway.state,
      reason: gateway.reason ?? (gateway.state === "running" ? null : "because"),
      safeMode: false,
      startedAt: at(1_000),
      boot: "b1",
      running: [],
      platforms: [
        { ...newHealth(at(1_000)), platform: "web", account: "local", isFar: false, state: "up", up: true, why: null },
      ],
      recovered: { turns: 2, items: 1, tookMs: 3 },
    }),
    async probe() {
      asked.push(["probe"]);
      return [{ platform: "web", account: "local", fine: true, said: "all is well", tookMs: 2 }];
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async post(to, text, key) {
      asked.push(["post", to, text, key]);
      return "posted";
    },
    cancel: (id) => note("cancel", id),
    retry: (id) => note("retry", id),
    async answer(question, choice) {
      asked.push(["answer", question, choice]);
      if (question === "q2") throw new Fault("not-possible", "It was answered with deny already.");
      if (question !== "q1") throw new Fault("not-found", `There is no question ${question}.`);
      return "answered";
    },
    async approvePairing(which, admin) {
      await note("approvePairing", which, admin);
      return paired;
    },
    async denyPairing(which) {
      await note("denyPairing", which);
      return { platform: "chat", sender: "7", name: null };
    },
    async revokePaired(who) {
      await note("revokePaired", who);
      return paired;
    },
    revoke: (id) => note("revoke", id),
    generalize: (id) => note("generalize", id),
    reset: (id) => note("reset", id),
    resend: (id) => note("resend", id),
    discard: () => Promise.reject(new Fault("not-possible", "It was delivered already.")),
  };
  return gateway;
}

/** Devices and links as a store keeps them: a commit is done as a whole, or not at all. */
export function keptDevices(): DeviceStore {
  let devices: readonly Device[] = [];
  let links: readonly AccessLink[] = [];
  return {
    devices: async () => devices,
    links: async () => links,
    async commit(changes) {
      const before = { devices, links };
      for (const change of changes) {
        const had = devices.length + links.length;
        if ("put" in change && change.put === "device") devices = [...devices, change.device];
        if ("put" in change && change.put === "link") links = [...links, change.link];
        if (!("drop" in change)) continue;
        if (change.drop === "device") devices = devices.filter(({ id }) => id !== change.id);
        if (change.drop === "link") links = links.filter(({ digest }) => digest !== change.digest);
        if (devices.length + links.length === had) {
          ({ devices, links } = before);
          return "conflict";
        }
      }
      return "committed";
    },
  };
}

export const store: Pick<Store, "session" | "turn" | "item"> = {
  session: async (id) => (id === session.id ? session : null),
  turn: async (id) => (id === turn.id ? turn : null),
  item: async (id) => (id === item.id ? item : null),
};

const spent = { steps: 1, input: 100, cached: 40, output: 20 };
const used: readonly UsageLine[] = [
  { ...spent, day: "1970-01-01", model: "a/x", steps: 3, cost: 1_500_000, unpriced: 1 },
  { ...spent, day: "1969-12-31", model: "b/y", cost: 0, unpriced: 1 },
];

export const archive: Archive = {
  history: async () => [message],
  messagesAfter: async (_, n) => (n < message.n ? [message] : []),
  messagesBefore: async () => [message],
  sessions: async () => [{ ...session, title: "hi", lastN: 7 }],
  turns: async () => [turn],
  entries: async () => [
    {
      n: 1,
      at: at(2_600),
      entry: {
        type: "said",
        text: "hello",
        calls: [],
        final: true,
        usage: { model: "a/x", input: 7, cached: 3, output: 2, cost: 9 },
      },
    },
    { n: 2, at: at(2_700), entry: { type: "asked", question: "t1.q1", text: "May I?", choices: ["deny"] } },
    { n: 3, at: at(2_800), entry: { type: "answered", question: "t1.q1", choice: "deny" } },
  ],
  items: async () => [item],
  uncertainAddresses: async () => [],
  search: async () => [message],
  counts: async () => ({
    turns: { queued: 1, running: 2, waiting: 0, parked: 0, restarting: 0 },
    items: { pending: 3, sending: 0, "in-doubt": 0, dead: 0 },
    timers: 4,
  }),
  recall: async () => [],
  asked: async () => [
    {
      question: "q1",
      kind: "approval",
      text: "May I?",
      choices: ["approve", "always", "deny"],
      turn: turn.id,
      session: session.id,
      address,
      until: at(90_000),
    },
  ],
  pairings: async () => [pairing, { ...pairing, id: "p2", expiresAt: at(2) }, { ...pairing, id: "p3", denied: true }],
  pairedPeople: async () => [paired],
  rules: async () => [{ id: "r1", tool: "terminal", subject: "git push", by: "owner", at: at(5), scope: "everywhere" }],
  devices: async () => [],
  links: async () => [],
  usage: async ({ since = "" }) => used.filter((one) => one.day >= since),
  lastBoots: async () => [],
  backup: () => Promise.reject(new Fault("not-possible", "only a sample")),
};

export function folder(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "everturn-control-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const servers: ToolServers = {
  list: () => [
    {
      name: "github",
      kind: "program",
      state: "ready",
      nextAttemptAt: null,
      protocol: "2025-11-25",
      tools: 2,
      processes: 1,
      why: null,
      changed: [{ tool: "drop", text: "Before: a\nNow: b" }],
    },
  ],
  async approve(name) {
    if (name !== "github") throw new Fault("not-found", `There is no MCP server ${name}.`);
    return ["drop"];
  },
};

export async function started(
  t: TestContext,
  more: Partial<ControlParts> = {},
): Promise<{ control: Control; gateway: FakeGateway; logged: unknown[]; kept: DeviceStore }> {
  const gateway = recordingGateway();
  const kept = keptDevices();
  const logged: unknown[] = [];
  const world = { now: () => at(61_000), log: (...line: unknown[]) => void logged.push(line) };
  const pageFolder = join(folder(t), "page");
  const place = { host: "127.0.0.1", port: 0, routes: [], token, version: "0.0.1", drainSeconds: 3, pageFolder };
  const stores = { store: { ...store, commit: kept.commit }, archive: { ...archive, ...kept } };
  const control = await openControl({ gateway, servers, world, ...stores, ...place, ...more });
  t.after(() => control.close());
  return { control, gateway, logged, kept };
}

/** A browser that came in by a link: its credential as a header, and its id. */
export async function signedIn(control: Control): Promise<{ headers: Record<string, string>; device: string }> {
  const secret = new URL(await control.newLink()).hash.replace("#link=", "");
  const body = JSON.stringify({ link: secret });
  const answer = await fetch(`${control.url}/api/sign-in`, { method: "POST", body });
  const { credential, device } = (await answer.json()) as SignInReply;
  return { ...bearer(credential), device };
}

export function bearer(given = token): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${given}` } };
}
