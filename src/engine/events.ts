// What happened, fanned out to the log and to whoever watches. Nothing depends on anybody listening.

import { sentenceOf } from "../core/fault.ts";
import type { GatewayEvent } from "../ports/gateway.ts";
import type { World } from "../ports/world.ts";

export interface Events {
  emit(event: GatewayEvent): void;
  watch(listener: (event: GatewayEvent) => void): () => void;
}

export function events(world: World): Events {
  const listeners = new Set<(event: GatewayEvent) => void>();
  return {
    emit(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          world.log("error", "a watcher of events failed", { event: event.type, why: sentenceOf(error) });
        }
      }
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
