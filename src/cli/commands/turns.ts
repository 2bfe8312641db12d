// `everturn turns`: list, show, cancel, retry.

import type { DoneReply, ItemView, RetryReply, TurnReply, TurnView, TurnsReply } from "../../control/protocol.ts";
import { troubleText } from "../../core/running/patience.ts";
import { type Context, queryOf, reachGateway, show as print } from "../context.ts";
import { spentText } from "../agent/spent.ts";
import { describeEntry, describeItem } from "../life.ts";
import { clockTime, facts, oneLine, paint, table, when } from "../print.ts";

export async function list(context: Context): Promise<number> {
  const path = `/api/turns${queryOf(context, ["session", "state", "limit"])}`;
  const reply = await reachGateway(context).get<TurnsReply>(path);
  return print(context, reply, ({ turns }) => {
    if (turns.length === 0) return "No turns.";
    const rows = turns.map((one) => [one.id, stateText(one), when(one.acceptedAt, context.now()), oneLine(one.text)]);
    return table(["TURN", "STATE", "RECEIVED", "MESSAGE"], rows, context.output);
  });
}

export async function show(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<TurnReply>(`/api/turns/${idOf(context)}`);
  return print(context, reply, (life) => lifeText(context, life));
}

export async function cancel(context: Context): Promise<number> {
  const id = idOf(context);
  const reply = await reachGateway(context).post<DoneReply>(`/api/turns/${id}/cancel`);
  return print(context, reply, () => `Turn ${id} is cancelled.`);
}

export async function retry(context: Context): Promise<number> {
  const reply = await reachGateway(context).post<RetryReply>(`/api/turns/${idOf(context)}/retry`);
  return print(context, reply, ({ turn }) => `Its message runs again, as turn ${turn ?? "of its own"}.`);
}

function lifeText(context: Context, { turn, session, used, entries, items }: TurnReply): string {
  const { output } = context;
  const now = context.now();
  const spent = spentText(used);
  const head = facts(
    [
      ["turn", turn.id],
      ["session", `${turn.session}${session === null ? "" : ` at ${session.address}`}`],
      ["state", `${stateText(turn)}${turn.since === null ? "" : ` since ${when(turn.since, now)}`}`],
      ...(turn.why === null ? [] : ([["why", turn.why]] as const)),
      ...(turn.trouble === null ? [] : ([["trouble", oneLine(troubleText(turn.trouble))]] as const)),
      ["started", turn.attempt === 1 ? "once" : `${turn.attempt} times`],
      ["message", oneLine(turn.text)],
      ...(spent === null ? [] : ([["used", spent]] as const)),
    ],
    output,
  );
  const steps = [
    line(context, turn.acceptedAt, turn.acceptedAt, "received", oneLine(turn.text)),
    ...entries.map(({ at, entry }) => {
      const { what, detail } = describeEntry(entry);
      return line(context, at, turn.acceptedAt, what, detail);
    }),
    ...items.flatMap((item) => itemLines(context, item, turn.acceptedAt)),
  ];
  if (turn.state === "done" && turn.since !== null)
    steps.push(line(context, turn.since, turn.acceptedAt, turn.outcome ?? "done", turn.why ?? ""));
  const inOrder = steps.toSorted((a, b) => a.at - b.at).map((one) => one.text);
  return `${head}\n\n${inOrder.join("\n")}`;
}

function itemLines(context: Context, item: ItemView, start: number): readonly Line[] {
  const { what, detail, at } = describeItem(item);
  return [line(context, item.createdAt, start, "to send", toSend(item)), line(context, at, start, what, detail)];
}

function toSend({ part, to, text, files }: ItemView): string {
  const names = files.map((one) => `[${oneLine(one.name)}]`);
  return `part ${part + 1} to ${to}: ${[oneLine(text), ...names].filter((one) => one !== "").join(" ")}`;
}

type Line = { readonly at: number; readonly text: string };

function line(context: Context, at: number, start: number, what: string, detail: string): Line {
  const { output } = context;
  const since = `+${((at - start) / 1000).toFixed(3)}s`.padStart(10);
  const time = paint(output, "dim", `${clockTime(at)} ${since}`);
  const room = Math.max(20, output.columns - 44);
  const shown = detail.length > room ? `${detail.slice(0, room - 1)}…` : detail;
  return { at, text: `${time}  ${what.padEnd(16)}  ${shown}`.trimEnd() };
}

function stateText(turn: TurnView): string {
  return turn.outcome ?? (turn.trouble === null ? turn.state : `${turn.state}, in trouble`);
}

function idOf(context: Context): string {
  return encodeURIComponent(context.given[0] ?? "");
}
