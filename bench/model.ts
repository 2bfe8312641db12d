// What the gateway adds around a model that answers at once: from a message to the request on the wire, from the end of
// the answer to the reply at the platform, the first turn beside later ones, many chats at once, and memory over many
// sessions. The model is played in this process, the gateway is the built program in its own.

import { setTimeout as sleep } from "node:timers/promises";
import { fakeModels } from "../test/fakes/models/index.ts";
import { median } from "./load.ts";
import { type Running, api, bearer, cpuMs, end, newHome, removeHome, residentMb, start } from "./process.ts";

const answer = "An answer of a few words, as a model gives it at once.";

type Stage = Running & { readonly fake: Awaited<ReturnType<typeof fakeModels>>; close(): Promise<void> };

/** When the fake was asked, and when its answer had left, by the words of the message. */
type Seen = { readonly asked: Map<string, number>; readonly told: Map<string, number> };

async function openStage(seen: Seen): Promise<Stage> {
  const fake = await fakeModels(({ seen: request }) => {
    const words = request.messages.findLast(({ role }) => role === "user")?.text.replace(/^\[[^\]]*\] /, "") ?? "";
    seen.asked.set(words, performance.now());
    // The stream is written in one go right after this, so its end is a moment later than the beginning.
    setImmediate(() => seen.told.set(words, performance.now()));
    return { text: answer, grain: 1_000 };
  });
  const home = newHome();
  const gateway = await start(home, {
    env: {
      EVERTURN_AGENT__MODEL: "openai/fake-model",
      EVERTURN_AGENT__BASE_URL: fake.baseUrl("openai"),
      EVERTURN_AGENT__API_KEY: "no-key-at-all",
    },
  });
  return {
    ...gateway,
    fake,
    async close() {
      await end(gateway, "SIGTERM");
      await fake.close();
      removeHome(home);
    },
  };
}

type Reply = { readonly words: string; readonly acceptedAt: number; readonly repliedAt: number };

/** A client that holds one stream open and writes one message after another. */
async function openClient(gateway: Running, chat: string) {
  const { port, home } = gateway;
  const headers = bearer(home);
  const over = new AbortController();
  const stream = await fetch(`http://127.0.0.1:${port}/api/chat/web/${chat}/events?after=0`, {
    headers,
    signal: over.signal,
  });
  let heard: () => void = () => undefined;
  const ended = listen(stream, () => heard()).catch((error: unknown) => {
    // Whoever closes it ends it in the middle.
    if (!over.signal.aborted) throw error;
  });
  return {
    async say(words: string): Promise<Reply> {
      const reply = new Promise<number>((done) => {
        heard = () => done(performance.now());
      });
      await api(gateway, `/api/chat/web/${chat}/messages`, { id: crypto.randomUUID(), text: words });
      const acceptedAt = performance.now();
      return { words, acceptedAt, repliedAt: await reply };
    },
    close: () => {
      over.abort();
      return ended;
    },
  };
}

/** Calls at each message of the assistant. */
async function listen(response: Response, heard: () => void): Promise<void> {
  if (response.body === null) throw new Error("there is no stream");
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const frames = `${rest}${chunk}`.split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) if (frame.includes("event: message") && frame.includes('"role":"assistant"')) heard();
  }
}

export type ModelFigures = {
  readonly toWireMs: number;
  readonly toReplyMs: number;
  /** The first turn after a start, once what follows ready has been loaded, and one right at ready. */
  readonly firstMs: number;
  readonly atOnceMs: number;
  readonly laterMs: number;
  readonly fixedBytes: number;
};

const rounds = 200;

/** A gateway becomes ready before it has loaded what a turn needs, and loads that right afterwards. */
const loadedMs = 2_000;

async function measureFirst(waitMs: number): Promise<number> {
  const found: number[] = [];
  for (let i = 0; i < 5; i++) {
    const stage = await openStage({ asked: new Map(), told: new Map() });
    await sleep(waitMs);
    const client = await openClient(stage, "one");
    const from = performance.now();
    found.push((await client.say("hello")).repliedAt - from);
    await client.close();
    await stage.close();
  }
  return median(found);
}

export async function measureModel(): Promise<ModelFigures> {
  const seen: Seen = { asked: new Map(), told: new Map() };
  const stage = await openStage(seen);
  await sleep(loadedMs);
  const client = await openClient(stage, "one");
  const replies: (Reply & { readonly ms: number })[] = [];
  for (let i = 0; i < rounds; i++) {
    const from = performance.now();
    const reply = await client.say(`message ${i}`);
    replies.push({ ...reply, ms: reply.repliedAt - from });
  }
  await client.close();
  const fixedBytes = Buffer.byteLength(JSON.stringify(stage.fake.requests[0]?.body ?? ""));
  await stage.close();
  const later = replies.slice(20);
  // The request may be on the wire before the client has read that its message is stored.
  const toWire = later.map(({ words, acceptedAt }) => Math.max(0, (seen.asked.get(words) ?? Number.NaN) - acceptedAt));
  const toReply = later.map(({ words, repliedAt }) => repliedAt - (seen.told.get(words) ?? Number.NaN));
  return {
    toWireMs: median(toWire),
    toReplyMs: median(toReply),
    firstMs: await measureFirst(loadedMs),
    atOnceMs: await measureFirst(0),
    laterMs: median(later.map((one) => one.ms)),
    fixedBytes,
  };
}

const chats = 50;
const turnsEach = 10;

/** Turns a second with 50 chats that talk at once. */
export async function measureCrowd(): Promise<{ readonly perSecond: number }> {
  const stage = await openStage({ asked: new Map(), told: new Map() });
  const clients = await Promise.all(Array.from({ length: chats }, (_, i) => openClient(stage, `c${i}`)));
  const everybody = (turns: number) =>
    Promise.all(
      clients.map(async (client, i) => {
        for (let n = 0; n < turns; n++) await client.say(`message ${i}.${n}`);
      }),
    );
  await everybody(1);
  const from = performance.now();
  await everybody(turnsEach);
  const perSecond = (chats * turnsEach) / ((performance.now() - from) / 1_000);
  await Promise.all(clients.map((client) => client.close()));
  await stage.close();
  return { perSecond };
}

const sessions = 100;

/**
 * Resident memory after a thousand turns over a hundred sessions, beside that of the same process before them: loaded and
 * rehearsed, as every gateway is a moment after its start, whether anybody writes to it or not.
 */
export async function measureGrowth(): Promise<{
  readonly idle: number;
  readonly after: number;
  readonly more: number;
}> {
  const stage = await openStage({ asked: new Map(), told: new Map() });
  const pid = stage.child.pid ?? 0;
  await untilIdle(pid);
  const idle = residentMb(pid);
  for (let round = 0; round < 10; round++) {
    for (let at = 0; at < sessions; at += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, i) => {
          const client = await openClient(stage, `s${at + i}`);
          await client.say(`message ${round}.${at + i}`);
          await client.close();
        }),
      );
    }
  }
  await untilIdle(pid);
  const after = residentMb(pid);
  await stage.close();
  return { idle, after, more: after - idle };
}

const idleMs = 4_000;
const idleCpuMs = 40;

/** A slow machine loads for longer, so what counts is that the process has done as good as nothing for a while. */
async function untilIdle(pid: number): Promise<void> {
  for (let before = Number.NEGATIVE_INFINITY, now = cpuMs(pid); now - before > idleCpuMs; now = cpuMs(pid)) {
    before = now;
    await sleep(idleMs);
  }
}

if (import.meta.main) {
  console.log(await measureModel());
  console.log(await measureCrowd());
  console.log(await measureGrowth());
}
