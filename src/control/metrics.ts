// Prometheus text about this process: what is open, what ended, how much memory. Counters live as long as the process.

import type { GatewayEvent, GatewayStatus } from "../ports/gateway.ts";
import type { Counts } from "../ports/store.ts";

export type Tally = {
  count(event: GatewayEvent): void;
  text(status: GatewayStatus, counts: Counts, memory: NodeJS.MemoryUsage, now: number): string;
};

export function tally(): Tally {
  const counters = new Map<string, number>();
  const add = (series: string) => counters.set(series, (counters.get(series) ?? 0) + 1);

  return {
    count(event) {
      if (event.type === "accepted") add("everturn_messages_accepted_total");
      if (event.type === "turn-started") add("everturn_turns_started_total");
      if (event.type === "turn-ended") add(`everturn_turns_ended_total{outcome="${event.outcome}"}`);
      if (event.type === "tool-ended") add(`everturn_tool_calls_total{result="${event.result}"}`);
      if (event.type === "item") add(`everturn_item_changes_total{state="${event.state}"}`);
    },
    text(status, counts, memory, now) {
      // Sorted, because all series of one name must stand together.
      const counted = [...counters]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([series, value]) => counter(series, value));
      return toText([...gauges(status, counts, memory, now), ...counted]);
    },
  };
}

type Sample = { readonly series: string; readonly value: number; readonly type: "counter" | "gauge" };

function counter(series: string, value: number): Sample {
  return { series, value, type: "counter" };
}

function gauges(status: GatewayStatus, counts: Counts, memory: NodeJS.MemoryUsage, now: number): readonly Sample[] {
  const gauge = (series: string, value: number): Sample => ({ series, value, type: "gauge" });
  return [
    gauge("everturn_up", 1),
    gauge("everturn_ready", status.state === "running" ? 1 : 0),
    gauge("everturn_uptime_seconds", Math.max(0, (now - status.startedAt) / 1000)),
    ...Object.entries(counts.turns).map(([state, count]) => gauge(`everturn_turns{state="${state}"}`, count)),
    ...Object.entries(counts.items).map(([state, count]) => gauge(`everturn_outbox_items{state="${state}"}`, count)),
    gauge("everturn_timers", counts.timers),
    gauge("everturn_recovered_turns", status.recovered.turns),
    gauge("everturn_recovered_items", status.recovered.items),
    ...status.platforms.map((one) =>
      gauge(`everturn_platform_up{platform="${label(one.platform)}",account="${label(one.account)}"}`, one.up ? 1 : 0),
    ),
    gauge("process_resident_memory_bytes", memory.rss),
    gauge("nodejs_heap_used_bytes", memory.heapUsed),
  ];
}

function toText(samples: readonly Sample[]): string {
  const lines: string[] = [];
  const typed = new Set<string>();
  for (const { series, value, type } of samples) {
    const name = series.replace(/\{.*$/, "");
    if (!typed.has(name)) lines.push(`# TYPE ${name} ${type}`);
    typed.add(name);
    lines.push(`${series} ${value}`);
  }
  return `${lines.join("\n")}\n`;
}

function label(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
