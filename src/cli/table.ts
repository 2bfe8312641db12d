// Every command as data: its words, what it takes, what it does in a line, and where its code is (loaded only then).

import { type Command, json, limit } from "./options.ts";
import { gatewayCommands } from "./verbs/table.ts";

const sessions = () => import("./commands/sessions.ts");
const turns = () => import("./commands/turns.ts");
const outbox = () => import("./commands/outbox.ts");
const config = () => import("./commands/config.ts");
const approvals = () => import("./agent/approvals.ts");
const pair = () => import("./people/pair.ts");
const devices = () => import("./commands/devices.ts");
const mcp = () => import("./agent/mcp.ts");
const jobs = () => import("./agent/jobs.ts");
const workspaces = () => import("./agent/workspaces.ts");

export const commands: readonly Command[] = [
  ...gatewayCommands,
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
        summary: "queued, running, waiting, parked, restarting, done, or open for all but done",
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
    words: ["approvals", "list"],
    takes: [],
    summary: "what waits for your word: approvals and questions, the oldest first",
    options: { ...json, ...limit },
    load: async () => (await approvals()).list,
  },
  {
    words: ["approvals", "approve"],
    takes: ["approval"],
    summary: "allow what waits, this once; the beginning or end of its id is enough",
    options: { ...json, always: { type: "boolean", summary: "and from now on without asking" } },
    load: async () => (await approvals()).approve,
  },
  {
    words: ["approvals", "deny"],
    takes: ["approval", "[words...]"],
    summary: "do not allow it; the words are told to the agent",
    options: json,
    load: async () => (await approvals()).deny,
  },
  // Before the shorter name, which would take it for a word behind it.
  {
    words: ["approvals", "rules", "general"],
    takes: ["rule"],
    summary: "let a rule hold in every conversation, not only in its own",
    options: json,
    load: async () => (await approvals()).general,
  },
  {
    words: ["approvals", "rules"],
    takes: [],
    summary: "what was allowed for good and is done without asking",
    options: json,
    load: async () => (await approvals()).rules,
  },
  {
    words: ["approvals", "revoke"],
    takes: ["rule"],
    summary: "take back what was allowed for good",
    options: json,
    load: async () => (await approvals()).revoke,
  },
  {
    words: ["pair", "list"],
    takes: [],
    summary: "who waits to be let in, and who was",
    options: json,
    load: async () => (await pair()).list,
  },
  {
    words: ["pair", "approve"],
    takes: ["code"],
    summary: "let somebody in by the code that they were told",
    options: { ...json, admin: { type: "boolean", summary: "and let them command the gateway itself" } },
    load: async () => (await pair()).approve,
  },
  {
    words: ["pair", "deny"],
    takes: ["who..."],
    summary: "turn a request down, silently; by the code, an id, platform/id, or a name",
    options: json,
    load: async () => (await pair()).deny,
  },
  {
    words: ["pair", "revoke"],
    takes: ["who..."],
    summary: "take it back; an id, platform/id, or a name",
    options: json,
    load: async () => (await pair()).revoke,
  },
  {
    words: ["link"],
    takes: [],
    summary: "print a link that lets one browser in, once, within 10 minutes",
    options: { ...json, print: { type: "boolean", summary: "also where the output is not a terminal" } },
    load: async () => (await import("./commands/link.ts")).link,
  },
  {
    words: ["devices", "list"],
    takes: [],
    summary: "browsers that are signed in to the page",
    options: json,
    load: async () => (await devices()).list,
  },
  {
    words: ["devices", "revoke"],
    takes: ["[device]"],
    summary: "sign a browser out; what it has open ends at once",
    options: { ...json, all: { type: "boolean", summary: "all of them" } },
    load: async () => (await devices()).revoke,
  },
  {
    words: ["mcp", "list"],
    takes: [],
    summary: "MCP servers: how they are, and which of their tools changed since they were approved",
    options: json,
    load: async () => (await mcp()).list,
  },
  {
    words: ["mcp", "approve"],
    takes: ["server"],
    summary: "accept the tools of a server as it lists them now",
    options: json,
    load: async () => (await mcp()).approve,
  },
  {
    words: ["jobs", "list"],
    takes: [],
    summary: "commands of the agent that run, also in the background, the newest first; with or without a gateway",
    options: json,
    load: async () => (await jobs()).list,
  },
  {
    words: ["jobs", "kill"],
    takes: ["job"],
    summary: "end one with everything it started; the beginning or end of its id is enough",
    options: json,
    load: async () => (await jobs()).kill,
  },
  {
    words: ["workspaces", "list"],
    takes: [],
    summary: "where the tools of each person work, how much lies there, and whether it holds text from outside",
    options: json,
    load: async () => (await workspaces()).list,
  },
  {
    words: ["workspaces", "unmark"],
    takes: ["workspace"],
    summary: "trust what lies in a workspace again; the beginning or end of its id is enough",
    options: json,
    load: async () => (await workspaces()).unmark,
  },
  {
    words: ["usage"],
    takes: [],
    summary: "tokens and money by day and model; what has no price says so",
    options: {
      ...json,
      days: { type: "string", value: "count", counts: true, summary: "only the last days, today among them" },
      session: { type: "string", value: "id", summary: "only of this session" },
    },
    load: async () => (await import("./agent/usage.ts")).usage,
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
    words: ["why"],
    takes: [],
    summary: "the story of the last stop, and of any unclean death before it",
    options: {
      ...json,
      boots: { type: "string", value: "count", counts: true, summary: "tell this many lives, however they ended" },
    },
    load: async () => (await import("./commands/why.ts")).why,
  },
  {
    words: ["logs"],
    takes: [],
    summary: "the gateway's log: for people on a terminal, JSON lines otherwise",
    options: {
      json: { type: "boolean", summary: "print JSON lines also on a terminal" },
      follow: { type: "boolean", short: "f", summary: "go on with what is written from now on, also across restarts" },
      lines: { type: "string", value: "count", counts: true, summary: "how many lines from before (50)" },
    },
    load: async () => (await import("./commands/logs.ts")).logs,
  },
  {
    words: ["doctor"],
    takes: [],
    summary: "look for everything that can be wrong with a home, and say what to do",
    options: {
      ...json,
      fix: {
        type: "boolean",
        summary: "put right what can be without asking: permissions, stale markers, a service that is out of date",
      },
    },
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  {
    words: ["backup"],
    takes: ["file"],
    summary:
      "copy the store into a new file while it is in use, and the files of conversations into <file>.files beside it; the copies are read back",
    options: json,
    load: async () => (await import("./commands/backup.ts")).backup,
  },
  {
    words: ["restore"],
    takes: ["file"],
    summary:
      "put a backup in the place of the store, which is kept beside it, and add the files of <file>.files; not while a gateway runs",
    options: json,
    load: async () => (await import("./commands/restore.ts")).restore,
  },
];

/** What a group alone means. */
export const usual: Readonly<Record<string, string>> = {
  sessions: "list",
  turns: "list",
  outbox: "list",
  approvals: "list",
  pair: "list",
  devices: "list",
  mcp: "list",
  jobs: "list",
  workspaces: "list",
  config: "show",
};
