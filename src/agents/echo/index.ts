// The offline agent: answers by rule, says so, and shows without any model what survives a kill. It keeps nothing between
// two steps: where it is in a count, which tools it has called and what was answered, all of that is read from the journal.

import type { Instant } from "../../core/ids.ts";
import type { Entry, ToolCall } from "../../core/journal.ts";
import { type FileRef, textOf } from "../../core/message.ts";
import type { Agent, AgentJob, Step } from "../../ports/agent.ts";
import { type Demo, demoTools } from "./tools.ts";

export type EchoOptions = Demo & {
  /** The pace of everything slow. */
  readonly stepMs: number;
};

const countMax = 1_000;
const dayMs = 24 * 3_600_000;

export function echo(options: EchoOptions): Agent {
  return {
    tools: demoTools(options),
    async step(job) {
      for (const { pattern, answer } of rules) {
        const found = pattern.exec(words(job));
        if (found !== null) return answer(job, found, options);
      }
      return final(plainAnswer(job));
    },
    close: async () => undefined,
  };
}

type Rule = {
  readonly pattern: RegExp;
  readonly answer: (job: AgentJob, found: RegExpExecArray, options: EchoOptions) => Promise<Step>;
};

const rules: readonly Rule[] = [
  { pattern: /^\s*count to (\d+)( slowly)?/i, answer: count },
  { pattern: /\brun a slow tool\b/i, answer: runTools },
  { pattern: /\bask before you act\b/i, answer: askFirst },
  { pattern: /^\s*send it back\b/i, answer: sendBack },
  { pattern: /\bask me\b/i, answer: ask },
  { pattern: /\brestart (?:yourself|the gateway)\b/i, answer: restart },
  {
    pattern: /^\s*remind me in (\d+) ?(s|seconds?|m|minutes?|h|hours?)\b(?: (?:to|that|about))?\s*(.*)$/is,
    answer: remind,
  },
  { pattern: /^\s*show me markdown\b/i, answer: async () => final(sample) },
];

function words(job: AgentJob): string {
  return textOf(job.input.body);
}

/** One journalled step a number; the numbers said so far are where it goes on. */
async function count(job: AgentJob, found: RegExpExecArray, { stepMs }: EchoOptions): Promise<Step> {
  const goal = Math.min(Number(found[1]), countMax);
  const said = job.journal.filter((entry) => entry.type === "said").length;
  if (said >= goal) return final(`${numbers(goal)}\n\n${counted(job, goal)}`);
  if (found[2] !== undefined) await job.pause(stepMs);
  job.draft(numbers(said + 1));
  return { type: "said", text: String(said + 1), calls: [], final: false };
}

function numbers(upTo: number): string {
  return Array.from({ length: upTo }, (_, i) => i + 1).join(", ");
}

function counted(job: AgentJob, goal: number): string {
  const resumed = job.journal.filter((entry) => entry.type === "resumed").length;
  if (resumed === 0) return `Counted to ${goal} without interruption.`;
  const times = resumed === 1 ? "once" : `${resumed} times`;
  return `Counted to ${goal}. I was interrupted ${times} and went on where I was.`;
}

/** One call of every effect class, one after another. */
async function runTools(job: AgentJob): Promise<Step> {
  if (job.journal.some((entry) => entry.type === "tool-ended")) return final(toolReport(job.journal));
  const calls: ToolCall[] = [
    { call: "1", tool: "look_at_clock", input: {} },
    { call: "2", tool: "stamp", input: {} },
    { call: "3", tool: "write_note", input: { text: `noted for turn ${job.turn}` } },
    { call: "4", tool: "ring_bell", input: {} },
  ];
  job.draft("Running four tools, one of each kind…");
  return { type: "said", text: "Running four tools.", calls, final: false };
}

function toolReport(journal: readonly Entry[]): string {
  const calls = journal.flatMap((entry) => (entry.type === "said" ? entry.calls : []));
  const lines = calls.map(({ call, tool }) => {
    const ended = journal.find((entry) => entry.type === "tool-ended" && entry.call === call);
    if (ended?.type !== "tool-ended") return `- \`${tool}\`: not called`;
    const { result } = ended;
    return `- \`${tool}\`: ${result.type === "ok" ? String(result.output) : `${result.type}: ${result.why}`}`;
  });
  return ["I ran one tool of each kind:", ...lines].join("\n");
}

/** A call that waits for its user's word, and is made at most once whatever is killed meanwhile. */
async function askFirst(job: AgentJob): Promise<Step> {
  const ended = job.journal.findLast((entry) => entry.type === "tool-ended");
  if (ended?.type !== "tool-ended") {
    const calls = [{ call: "1", tool: "post_letter", input: { text: "I asked before I acted." } }];
    return { type: "said", text: "", calls, final: false };
  }
  const { result } = ended;
  return final(result.type === "ok" ? `Done: ${String(result.output)}.` : `I did not do it: ${result.why}`);
}

/** The files that came with the message, by the way in which any tool sends files. */
async function sendBack(job: AgentJob): Promise<Step> {
  if (job.journal.some((entry) => entry.type === "tool-ended")) return final("That is all I was given.");
  const files = filesOf(job);
  if (files.length === 0) return final("Attach a file, and I send it back.");
  return { type: "said", text: "", calls: [{ call: "1", tool: "send_back", input: { files } }], final: false };
}

function filesOf(job: AgentJob): readonly FileRef[] {
  return job.input.body.kind === "text" ? job.input.body.files : [];
}

/** A question that may be answered in a second or in a week; meanwhile nothing of this turn is in memory. */
async function ask(job: AgentJob): Promise<Step> {
  const answered = job.journal.findLast((entry) => entry.type === "answered");
  if (answered?.type !== "answered") {
    const until = (job.now() + 7 * dayMs) as Instant;
    return {
      type: "asked",
      text: "What shall it be? Choose one, or say it in your own words.",
      choices: ["tea", "coffee", "water"],
      until,
    };
  }
  if (answered.choice === null) return final("Nobody answered, so I let it be.");
  return final(`You chose **${answered.choice}**. I would have waited for days, through any restart.`);
}

async function restart(job: AgentJob, _found: RegExpExecArray, options: EchoOptions): Promise<Step> {
  const ended = job.journal.findLast((entry) => entry.type === "tool-ended");
  if (ended?.type === "tool-ended") {
    const { result } = ended;
    if (result.type === "ok") return final("I restarted the gateway, and here I am again.");
    return final(`I could not restart the gateway: ${result.why}`);
  }
  if (options.restart === undefined) return final("I cannot restart the gateway from here.");
  job.draft("Restarting the gateway…");
  return { type: "said", text: "", calls: [{ call: "1", tool: "restart_gateway", input: {} }], final: false };
}

const unitMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

async function remind(job: AgentJob, found: RegExpExecArray): Promise<Step> {
  if (job.journal.some((entry) => entry.type === "tool-ended")) {
    return final(`I will remind you in ${found[1]} ${found[2]}, also if I am restarted meanwhile.`);
  }
  const unit = unitMs[(found[2] ?? "s").charAt(0).toLowerCase()] ?? 1_000;
  const input = { at: job.now() + Number(found[1]) * unit, text: found[3] || "it is time" };
  return { type: "said", text: "", calls: [{ call: "1", tool: "remind", input }], final: false };
}

function plainAnswer(job: AgentJob): string {
  const { body } = job.input;
  if (body.kind === "timer") return `Reminder: ${body.text}`;
  const joined = job.journal.flatMap((entry) => (entry.type === "joined" ? [textOf(entry.message.body)] : []));
  const heard = [words(job), ...joined].join("\n");
  if (/^\s*(hi|hello|hey|help)\b/i.test(heard)) return introduction;
  const files = filesOf(job).map(({ name, bytes }) => `- ${name}, ${bytes} bytes`);
  if (files.length === 0) return `You said: ${heard}`;
  const said = heard.trim() === "" ? [] : [`You said: ${heard}`, ""];
  return [...said, "You sent me:", ...files].join("\n");
}

function final(text: string): Step {
  return { type: "said", text, calls: [], final: true };
}

const introduction = [
  "Hello. I am the offline agent: no model is set, so I answer by rule. But whatever you do to the gateway, you get your answer. Try one of these, and kill it on the way:",
  "",
  "- `count to 30 slowly`",
  "- `run a slow tool`",
  "- `ask me`",
  "- `ask before you act`",
  "- `send it back`, with a file",
  "- `remind me in 20 seconds to stretch`",
  "- `restart yourself`",
  "- `show me markdown`",
].join("\n");

const sample = [
  "# A heading",
  "",
  "Some **bold**, some *italic*, some `code`, and a [link](https://example.com).",
  "",
  "```ts",
  'await store.commit([{ put: "turn", turn }], boot);',
  "platform.ack(update);",
  "```",
  "",
  "| promise | kept by |",
  "|---|---|",
  "| accepted once | a unique key |",
  "| one reply | the outbox |",
].join("\n");
