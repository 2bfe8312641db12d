// Prometheus text about this process: what is open, what ended, how much memory. Counters live as long as the process.
// Every metric has a line of help, so that `promtool check metrics` has nothing to say.

import type { HeldAnswers } from "../../core/held.ts";
import type { GatewayStatus } from "../../ports/gateway.ts";
import type { PeerStatus } from "../../ports/peers.ts";
import type { AskedLine, Counts, UsageLine } from "../../ports/store.ts";

export type Measured = {
  readonly status: GatewayStatus;
  readonly counts: Counts;
  readonly held: readonly HeldAnswers[];
  /** What waits for an answer. */
  readonly asked: readonly Pick<AskedLine, "kind">[];
  /** Of today (UTC), by model: looking at all of history would cost as much as history. */
  readonly today: readonly UsageLine[];
  readonly servers: readonly Pick<PeerStatus, "name" | "state">[];
  readonly memory: NodeJS.MemoryUsage;
  readonly now: number;
};

export function metricsText(counters: ReadonlyMap<Series, number>, measured: Measured): string {
  // Sorted, because all series of one name must stand together.
  const counted = [...counters]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([series, value]) => counter(series, value));
  return toText([...gauges(measured), ...counted]);
}

/** Names are public: a released one never changes. */
const help = {
  everturn_up: "1 while the gateway answers.",
  everturn_ready: "1 while the gateway serves.",
  everturn_uptime_seconds: "Seconds since this process started.",
  everturn_turns: "Turns that have not ended, by state.",
  everturn_outbox_items: "Outgoing messages that are not delivered, by state.",
  everturn_held_answers: "Answers that may not have arrived and wait for /resend, by account.",
  everturn_held_oldest_seconds: "Seconds since the oldest held answer was held; 0 without one.",
  everturn_timers: "Reminders and deadlines that are set.",
  everturn_questions_open: "Approvals and questions that wait for an answer.",
  everturn_model_steps_today: "Model calls of today (UTC), by model.",
  everturn_model_tokens_today: "Tokens of today (UTC), by model and kind.",
  everturn_model_cost_dollars_today: "Cost of today (UTC) in US dollars, by model.",
  everturn_recovered_turns: "Unfinished turns that this process took over at its start.",
  everturn_recovered_items: "Undelivered messages that this process took over at its start.",
  everturn_platform_up: "1 while the account is connected to its platform.",
  everturn_mcp_server_up: "1 while the MCP server is ready.",
  everturn_mcp_servers: "Configured MCP servers, by state.",
  process_resident_memory_bytes: "Resident memory size in bytes.",
  nodejs_heap_used_bytes: "Used size of the V8 heap in bytes.",
  everturn_messages_accepted_total: "Messages accepted since the start.",
  everturn_turns_started_total: "Turns started since the start.",
  everturn_turns_ended_total: "Turns that ended since the start, by outcome.",
  everturn_tool_calls_total: "Tool calls that ended since the start, by result.",
  everturn_item_changes_total: "State changes of outgoing messages since the start, by new state.",
} as const;

type Name = keyof typeof help;
/** A name, with labels in braces or without. */
export type Series = Name | `${Name}{${string}}`;

type Sample = { readonly series: Series; readonly value: number; readonly type: "counter" | "gauge" };

function counter(series: Series, value: number): Sample {
  return { series, value, type: "counter" };
}

function gauge(series: Series, value: number): Sample {
  return { series, value, type: "gauge" };
}

function gauges({ status, counts, held, asked, today, servers, memory, now }: Measured): readonly Sample[] {
  return [
    gauge("everturn_up", 1),
    gauge("everturn_ready", status.state === "running" ? 1 : 0),
    gauge("everturn_uptime_seconds", Math.max(0, (now - status.startedAt) / 1000)),
    ...Object.entries(counts.turns).map(([state, count]) => gauge(`everturn_turns{state="${state}"}`, count)),
    ...Object.entries(counts.items).map(([state, count]) => gauge(`everturn_outbox_items{state="${state}"}`, count)),
    ...heldBy(status, held),
    gauge("everturn_held_oldest_seconds", Math.max(0, ...held.map(({ since }) => (now - since) / 1000))),
    gauge("everturn_timers", counts.timers),
    ...(["approval", "question"] as const).map((kind) =>
      gauge(`everturn_questions_open{kind="${kind}"}`, asked.filter((one) => one.kind === kind).length),
    ),
    ...used(today),
    gauge("everturn_recovered_turns", status.recovered.turns),
    gauge("everturn_recovered_items", status.recovered.items),
    ...status.platforms.map((one) =>
      gauge(`everturn_platform_up{platform="${label(one.platform)}",account="${label(one.account)}"}`, one.up ? 1 : 0),
    ),
    ...servers.map((one) =>
      gauge(`everturn_mcp_server_up{server="${label(one.name)}"}`, one.state === "ready" ? 1 : 0),
    ),
    ...serverStates(servers),
    gauge("process_resident_memory_bytes", memory.rss),
    gauge("nodejs_heap_used_bytes", memory.heapUsed),
  ];
}

/** One series for each account, also for one without any, so that an alert sees it fall back to 0. */
function heldBy({ platforms }: GatewayStatus, held: readonly HeldAnswers[]): readonly Sample[] {
  const labels = (one: { readonly platform: string; readonly account: string }) =>
    `platform="${label(one.platform)}",account="${label(one.account)}"`;
  const counts = new Map(platforms.map((one) => [labels(one), 0]));
  for (const one of held) counts.set(labels(one), (counts.get(labels(one)) ?? 0) + one.answers);
  return [...counts].map(([series, count]) => gauge(`everturn_held_answers{${series}}`, count));
}

const states: readonly PeerStatus["state"][] = ["starting", "ready", "degraded", "login-needed", "refused", "stopped"];

/** Every state has its series, so that an alert also sees a zero. */
function serverStates(servers: Measured["servers"]): readonly Sample[] {
  if (servers.length === 0) return [];
  return states.map((state) =>
    gauge(`everturn_mcp_servers{state="${state}"}`, servers.filter((one) => one.state === state).length),
  );
}

/** Series of one name stand together. */
function used(today: readonly UsageLine[]): readonly Sample[] {
  const tokens = (["input", "cached", "output"] as const).flatMap((kind) =>
    today.map((one) => gauge(`everturn_model_tokens_today{model="${label(one.model)}",kind="${kind}"}`, one[kind])),
  );
  const each = (name: Name, value: (one: UsageLine) => number) =>
    today.map((one) => gauge(`${name}{model="${label(one.model)}"}`, value(one)));
  return [
    ...each("everturn_model_steps_today", (one) => one.steps),
    ...tokens,
    ...each("everturn_model_cost_dollars_today", (one) => one.cost / 1e6),
  ];
}

function toText(samples: readonly Sample[]): string {
  const lines: string[] = [];
  const described = new Set<Name>();
  for (const { series, value, type } of samples) {
    const name = series.replace(/\{.*$/s, "") as Name;
    if (!described.has(name)) lines.push(`# HELP ${name} ${help[name]}`, `# TYPE ${name} ${type}`);
    described.add(name);
    lines.push(`${series} ${value}`);
  }
  return `${lines.join("\n")}\n`;
}

function label(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
