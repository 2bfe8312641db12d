// One life of a gateway made from the public names alone, over a real store file, with an agent and tools that can bring
// the whole process down. Whoever started this process is its chat platform: messages come from there, replies go there,
// and what was not acknowledged is sent again to the next life.

import * as api from "../../src/index.ts";

export type Setting = {
  readonly store: string;
  /** Which life of the machine this is. */
  readonly machine: string;
  /** Steps of the word `linger` wait until they are told to go on; in a life of death they wait for ever. */
  readonly lingers: boolean;
};

export type Letter = { readonly key: string; readonly chat: string; readonly text: string };

/** To this process. */
export type Order =
  | { readonly type: "letter"; readonly letter: Letter }
  | { readonly type: "taken"; readonly item: string }
  | { readonly type: "stop" };

/** From this process. */
export type News =
  | { readonly type: "listening" }
  | { readonly type: "stored"; readonly key: string }
  | { readonly type: "reply"; readonly item: string; readonly chat: string; readonly text: string }
  /** A step that lingers has begun. */
  | { readonly type: "lingering"; readonly chat: string };

const account = { platform: "post", account: "office" } as const;

function tell(news: News): void {
  process.send?.(news);
}

/** The end, as a segmentation fault or the kernel brings it: nothing runs after this. */
function die(): Promise<never> {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
}

function bomb(name: string, effect: api.ToolEffect): api.Tool {
  const ok = { type: "ok", output: "it went off" } as const;
  const check = effect === "checkable" ? { check: async () => ok } : {};
  return { name, description: "Brings the gateway down.", effect, input: { type: "object" }, run: die, ...check };
}

/** Words of a message: `die`, `bomb-once`, `bomb-pure`, `linger`, `work`; anything else is answered at once. */
function agentOf({ lingers }: Setting): api.Agent {
  const lamp: api.Tool = {
    name: "lamp",
    description: "Changes nothing that matters.",
    effect: "once",
    input: { type: "object" },
    run: async () => ({ type: "ok", output: "it is on" }),
  };
  const call = (tool: string, journal: readonly api.Entry[]): api.Step => ({
    type: "said",
    text: "",
    calls: [{ call: String(journal.length), tool, input: { same: true } }],
    final: false,
  });
  return {
    tools: [lamp, bomb("bomb-once", "once"), bomb("bomb-pure", "pure")],
    async step(job) {
      const text = api.textOf(job.input.body);
      const [word = ""] = text.split(" ");
      const worked = job.journal.some((entry) => entry.type === "tool-ended" && entry.result.type === "ok");
      if (word === "die") return die();
      if (word === "linger") {
        tell({ type: "lingering", chat: job.input.from.chat });
        if (lingers) await new Promise(() => undefined);
      }
      if (word.startsWith("bomb-")) return call(word, job.journal);
      if (word === "work" && !worked) return call("lamp", job.journal);
      return { type: "said", text: `answer to ${text}`, calls: [], final: true };
    },
    close: async () => undefined,
  };
}

function post(orders: { onLetter: (take: (letter: Letter) => void) => void; taken: Map<string, () => void> }) {
  const platform: api.Platform = {
    name: account.platform,
    account: account.account,
    can: { keyedSend: true, draftEveryMs: null },
    parts: (text) => [text],
    async listen({ accept, up }, _from, signal) {
      orders.onLetter((letter) => {
        const { key, chat, text } = letter;
        const body = { kind: "text", text, files: [] } as const;
        const from = { ...account, chat };
        const sentAt = Date.now() as api.Instant;
        // One that could not be stored is sent again to the next life.
        accept({ key, from, sender: `user of ${chat}`, body, sentAt }, null).then(
          () => tell({ type: "stored", key }),
          () => undefined,
        );
      });
      up();
      tell({ type: "listening" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    async send(item, signal) {
      const taken = Promise.withResolvers<api.SendResult>();
      orders.taken.set(item.id, () => taken.resolve({ type: "accepted", remoteId: item.id }));
      signal.addEventListener("abort", () => taken.resolve({ type: "unknown", why: "the office is closed" }));
      tell({ type: "reply", item: item.id, chat: item.to.chat, text: item.text });
      return taken.promise;
    },
    draft: () => undefined,
  };
  return platform;
}

async function live(setting: Setting): Promise<void> {
  const early: Letter[] = [];
  const taken = new Map<string, () => void>();
  let take = (letter: Letter): void => void early.push(letter);
  const onLetter = (taking: typeof take) => {
    take = taking;
    for (const letter of early.splice(0)) take(letter);
  };
  const world = api.realWorld(() => undefined);
  const store = await api.openSqliteStore({ file: setting.store, writer: "thread" });
  const facts = { pid: process.pid, host: "here", machine: setting.machine, version: "0", config: "" };
  const gate = api.gateway({
    store,
    platforms: [post({ onLetter, taken })],
    agent: agentOf(setting),
    world,
    settings: { drainMs: 0, lanesMax: 64, recovery: { afterCrash: "resume", autoResume: true }, platforms: {} },
    boot: api.newBoot({ id: world.id() as api.BootId, ...facts, startedAt: world.now() }),
  });
  process.on("message", (order: Order) => {
    if (order.type === "letter") take(order.letter);
    else if (order.type === "taken") taken.get(order.item)?.();
    else gate.stop({ class: "planned", by: "cli", reason: "the test is over" });
  });
  process.on("disconnect", () => process.exit(0));
  await gate.run();
  await store.close();
  process.exit(0);
}

if (import.meta.main) await live(JSON.parse(process.argv[2] ?? "{}") as Setting);
