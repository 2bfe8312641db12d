// What a gateway says when it is running and when it has ended: where it is, how to get in, what goes on later. A link that
// lets a browser in is shown on a terminal only; anywhere else it would stay in a log for others to read. Pure.

import type { Ending } from "../ports/gateway.ts";

export type Greeting = {
  readonly version: string;
  readonly url: string;
  /** A one-time link to the page; null where no terminal shows it. */
  readonly link: string | null;
  /** The model or program that answers; null for the offline agent. */
  readonly agent: string | null;
  /** Whether there is a page to open. */
  readonly hasWeb: boolean;
  /** Somebody keeps what is printed. */
  readonly isKept: boolean;
  /** Why it holds still in safe mode; null when it works. */
  readonly held: string | null;
  readonly recovered: { readonly turns: number; readonly items: number };
  /** How long nobody listened between the last life and this one; null when it did not take over. */
  readonly blackoutMs: number | null;
};

export function greeting(one: Greeting): readonly string[] {
  const { turns, items } = one.recovered;
  const what = one.hasWeb ? "Web chat" : "Control";
  const place = one.hasWeb
    ? (one.link ?? `${one.url} (\`everturn link\` prints a link that lets a browser in)`)
    : one.url;
  // Where nobody sits there is no key to press.
  const way = one.isKept ? "`everturn gateway stop`" : "Ctrl-C";
  const rest = [
    ...(turns > 0 ? [count(turns, "unfinished conversation")] : []),
    ...(items > 0 ? [count(items, "reply", "replies")] : []),
  ];
  if (one.held !== null)
    return [
      `Everturn ${one.version} is in safe mode: ${one.held}.`,
      `Control: ${one.url}`,
      "Nothing is sent or answered. `everturn why` tells what happened, `everturn gateway resume` tries again.",
    ];
  return [
    `Everturn ${one.version} is running.`,
    `${what}: ${place}`,
    ...(one.hasWeb && one.link !== null
      ? ["The link works once, within 10 minutes; `everturn link` prints another."]
      : []),
    `${one.agent === null ? "The offline agent answers, because no model is set." : `${one.agent} answers.`} ${way} stops the gateway; nothing is lost by it.`,
    ...(one.blackoutMs === null ? [] : [`Took over in ${one.blackoutMs} ms.`]),
    ...(rest.length > 0 ? [`Goes on with what the last run left: ${rest.join(" and ")}.`] : []),
  ];
}

/** The last word; whoever goes on has its own first one. */
export function farewell({ intent, phases }: Pick<Ending, "intent" | "phases">): string {
  if (intent.class === "restart" || intent.class === "take-over") return `The gateway hands over: ${intent.reason}.`;
  const interrupted = phases.find(({ name }) => name === "park")?.facts?.["interrupted"];
  const rest = typeof interrupted === "number" && interrupted > 0 ? interrupted : 0;
  const goesOn = rest === 0 ? "" : ` ${count(rest, "turn was", "turns were")} interrupted, to go on at the next start.`;
  return `The gateway has stopped: ${intent.reason}.${goesOn}`;
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
