// What has happened since the start, counted by the names under which it is told.

import type { GatewayEvent } from "../ports/gateway.ts";
import type { Series } from "./api/metrics.ts";

export type Tally = {
  count(event: GatewayEvent): void;
  /** By series. */
  readonly counters: ReadonlyMap<Series, number>;
};

export function tally(): Tally {
  const counters = new Map<Series, number>();
  const add = (series: Series) => counters.set(series, (counters.get(series) ?? 0) + 1);
  return {
    counters,
    count(event) {
      if (event.type === "accepted") add("everturn_messages_accepted_total");
      if (event.type === "turn-started") add("everturn_turns_started_total");
      if (event.type === "turn-ended") add(`everturn_turns_ended_total{outcome="${event.outcome}"}`);
      if (event.type === "tool-ended") add(`everturn_tool_calls_total{result="${event.result}"}`);
      if (event.type === "item") add(`everturn_item_changes_total{state="${event.state}"}`);
    },
  };
}
