// Scripts by name, for a fake that runs as a process of its own. They keep nothing: what they do next is read from the
// request, as a real model does, so a turn may be killed and taken up at any point.

import type { Call, Plan, Script, Seen } from "./plan.ts";

export const scenarios: Readonly<Record<string, Script>> = {
  /** Says what the user said. */
  echo: ({ seen }) => ({ text: `You said: ${lastWords(seen)}` }),
  /** Does what the user's message tells: see `follow`. */
  follow: ({ seen }) => follow(seen),
  /** The same, a few characters at a time. */
  slow: ({ seen }) => ({ ...follow(seen), everyMs: 20, grain: 4 }),
};

/**
 * The user's last message may hold a line `do: [...]`, a JSON list of calls `{"tool", "input"}`; an element that is a list
 * itself is made of parallel calls. They are made one after another, each when the one before has its result. Then the
 * answer is `done N: ` and the last result. Anything else is said back. Asked for a summary, it tells which call was the
 * last, and goes on behind it: so calls that are to be told apart have inputs of their own.
 */
export function follow(seen: Seen): Plan {
  if (seen.system.startsWith("You write the memory")) return { text: summaryOf(seen) };
  const at = seen.messages.findLastIndex(({ role, text }) => role === "user" && doLine.test(text));
  const line = doLine.exec(seen.messages[at]?.text ?? "")?.[1];
  const since = seen.messages.slice(at);
  const over = since.some(({ role, text, calls }) => role === "assistant" && text !== "" && calls.length === 0);
  if (line === undefined || over) return { text: `You said: ${lastWords(seen)}` };
  const steps = (JSON.parse(line) as readonly (Wanted | readonly Wanted[])[]).map((one) =>
    "tool" in one ? [one] : one,
  );
  const done = told(seen, steps) + since.filter(({ calls }) => calls.length > 0).length;
  const next = steps[done];
  const last = since.flatMap((message) => message.results).at(-1);
  if (next === undefined) return { text: `done ${done}: ${last?.text ?? ""}` };
  return { calls: next.map(({ tool, input }): Call => ({ name: tool, input })) };
}

type Wanted = { readonly tool: string; readonly input: unknown };
/** A message begins with the time it came. */
const doLine = /(?:^|\] )do: (\[.*\])$/m;

/** How many steps are in a summary. */
function told({ messages }: Seen, steps: readonly (readonly Wanted[])[]): number {
  const last = messages.flatMap(({ text }) => [...text.matchAll(/^LAST CALL: (\S+) (.*)$/gm)]).at(-1);
  if (last === undefined) return 0;
  return (
    1 +
    steps.findLastIndex((calls) =>
      calls.some(({ tool, input }) => tool === last[1] && JSON.stringify(input) === last[2]),
    )
  );
}

function summaryOf({ messages }: Seen): string {
  const text = messages.map((message) => message.text).join("\n");
  const called = [...text.matchAll(/^ASSISTANT CALLED (\S+): (.*)$/gm)].at(-1);
  const before = [...text.matchAll(/^LAST CALL: .*$/gm)].at(-1);
  return `The work so far.\n${called === undefined ? (before?.[0] ?? "") : `LAST CALL: ${called[1]} ${called[2]}`}`;
}

function lastWords({ messages }: Seen): string {
  const text = messages.findLast((message) => message.role === "user" && message.text !== "")?.text ?? "";
  return text.replace(/^\[[^\]]* UTC\] /, "");
}
