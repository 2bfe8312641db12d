// Every command as data: its words, what it takes, what it does in a line, and where its code is (loaded only then).

import type { Context } from "./context.ts";

export type Option = {
  readonly type: "boolean" | "string";
  /** What a value stands for, such as `id`; for strings only. */
  readonly value?: string;
  readonly summary: string;
};

export type Command = {
  readonly words: readonly string[];
  /** Names of arguments; the last may end in `...`. All are required unless in brackets. */
  readonly takes: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly load: () => Promise<(context: Context) => Promise<number>>;
};

export const everywhere: Readonly<Record<string, Option>> = {
  home: { type: "string", value: "folder", summary: "the home folder, instead of EVERTURN_HOME or ~/.everturn" },
  help: { type: "boolean", summary: "show this text" },
};

const json: Readonly<Record<string, Option>> = { json: { type: "boolean", summary: "print JSON" } };
const limit: Readonly<Record<string, Option>> = {
  limit: { type: "string", value: "count", summary: "how many at most (50)" },
};

const gateway = () => import("./commands/gateway.ts");
const sessions = () => import("./commands/sessions.ts");
const turns = () => import("./commands/turns.ts");
const outbox = () => import("./commands/outbox.ts");
const config = () => import("./commands/config.ts");

export const commands: readonly Command[] = [
  {
    words: ["gateway", "run"],
    takes: [],
    summary: "run the gateway here until it is stopped (Ctrl-C)",
    options: { replace: { type: "boolean", summary: "take over from a gateway that already serves this home" } },
    load: async () => (await gateway()).run,
  },
  {
    words: ["gateway", "status"],
    takes: [],
    summary: "what the running gateway does, and the link to its web chat",
    options: json,
    load: async () => (await gateway()).status,
  },
  {
    words: ["chat"],
    takes: [],
    summary: "chat with the running gateway in this terminal",
    options: { conversation: { type: "string", value: "id", summary: "which conversation (main)" } },
    load: async () => (await import("./commands/chat.ts")).chat,
  },
  {
    words: ["send"],
    takes: ["address", "text..."],
    summary: "send one message out; the address is platform/account/chat, the text - reads standard input",
    options: { ...json, key: { type: "string", value: "key", summary: "the same key again sends nothing" } },
    load: async () => (await import("./commands/send.ts")).send,
  },
  {
    words: ["sessions", "list"],
    takes: [],
    summary: "conversations, the latest first",
    options: { ...json, ...limit, platform: { type: "string", value: "name", summary: "only of this platform" } },
    load: async () => (await sessions()).list,
  },
  {
    words: ["sessions", "show"],
    takes: ["session"],
    summary: "what was said in a session, and its turns",
    options: { ...json, ...limit },
    load: async () => (await sessions()).show,
  },
  {
    words: ["sessions", "search"],
    takes: ["words..."],
    summary: "messages that contain all these words",
    options: { ...json, ...limit },
    load: async () => (await sessions()).search,
  },
  {
    words: ["sessions", "reset"],
    takes: ["session"],
    summary: "end a session; the conversation starts over with an empty memory",
    options: json,
    load: async () => (await sessions()).reset,
  },
  {
    words: ["sessions", "export"],
    takes: ["session"],
    summary: "the whole transcript of a session as JSON lines",
    options: {},
    load: async () => (await sessions()).exportLines,
  },
  {
    words: ["turns", "list"],
    takes: [],
    summary: "turns, the latest first",
    options: {
      ...json,
      ...limit,
      session: { type: "string", value: "id", summary: "only of this session" },
      state: {
        type: "string",
        value: "state",
        summary: "queued, running, waiting, parked, done, or open for all but done",
      },
    },
    load: async () => (await turns()).list,
  },
  {
    words: ["turns", "show"],
    takes: ["turn"],
    summary: "the whole life of a turn: received, steps, each part sent with its receipt",
    options: json,
    load: async () => (await turns()).show,
  },
  {
    words: ["turns", "cancel"],
    takes: ["turn"],
    summary: "end a turn without an answer",
    options: json,
    load: async () => (await turns()).cancel,
  },
  {
    words: ["turns", "retry"],
    takes: ["turn"],
    summary: "run the message of an ended turn again, as a new turn",
    options: json,
    load: async () => (await turns()).retry,
  },
  {
    words: ["outbox", "list"],
    takes: [],
    summary: "what waits to be sent, is in doubt, or is dead and why",
    options: {
      ...json,
      ...limit,
      state: { type: "string", value: "state", summary: "pending, sending, in-doubt, dead, delivered or open" },
    },
    load: async () => (await outbox()).list,
  },
  {
    words: ["outbox", "retry"],
    takes: ["item"],
    summary: "send an item again now",
    options: json,
    load: async () => (await outbox()).retry,
  },
  {
    words: ["outbox", "discard"],
    takes: ["item"],
    summary: "give an item up",
    options: json,
    load: async () => (await outbox()).discard,
  },
  {
    words: ["config", "check"],
    takes: [],
    summary: "look for faults in the configuration; says all of them",
    options: json,
    load: async () => (await config()).check,
  },
  {
    words: ["config", "show"],
    takes: [],
    summary: "the configuration in force, without secrets",
    options: json,
    load: async () => (await config()).show,
  },
  {
    words: ["config", "path"],
    takes: [],
    summary: "where config.yaml is looked for",
    options: {},
    load: async () => (await config()).path,
  },
  {
    words: ["backup"],
    takes: ["file"],
    summary: "copy the store into a new file while it is in use, and read the copy back",
    options: json,
    load: async () => (await import("./commands/backup.ts")).backup,
  },
];

/** What a group alone means. */
export const usual: Readonly<Record<string, string>> = {
  sessions: "list",
  turns: "list",
  outbox: "list",
  config: "show",
};
