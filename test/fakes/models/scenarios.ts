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
 * answer is `done N: ` and the last result. Anything else is said back. A summary is asked for in words of our own, and
 * gets the list again, so that the work goes on after it.
 */
export function follow(seen: Seen): Plan {
  const at = seen.messages.findLastIndex(({ role, text }) => role === "user" && /^do: \[/m.test(text));
  const line = /^do: (\[.*\])$/m.exec(seen.messages[at]?.text ?? "")?.[1];
  if (line === undefined) return { text: `You said: ${lastWords(seen)}` };
  type Wanted = { readonly tool: string; readonly input: unknown };
  const steps = JSON.parse(line) as readonly (Wanted | readonly Wanted[])[];
  const since = seen.messages.slice(at);
  const done = since.filter(({ calls }) => calls.length > 0).length;
  const next = steps[done];
  const results = since.flatMap((message) => message.results);
  if (next === undefined) return { text: `done ${results.length}: ${results.at(-1)?.text ?? ""}` };
  const calls = ("tool" in next ? [next] : next).map(({ tool, input }): Call => ({ name: tool, input }));
  return { calls };
}

function lastWords({ messages }: Seen): string {
  return messages.findLast(({ role, text }) => role === "user" && text !== "")?.text ?? "";
}
