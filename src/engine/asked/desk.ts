// The operator's desk, whose code is loaded when somebody comes to it for the first time: most lives of a gateway become
// ready without anybody.

import type { Operator } from "./operator.ts";

export function openDesk(load: () => Promise<Operator>): Operator {
  let desk: Promise<Operator> | null = null;
  const open = (): Promise<Operator> => (desk ??= load());
  return {
    post: async (...given) => (await open()).post(...given),
    cancel: async (...given) => (await open()).cancel(...given),
    retry: async (...given) => (await open()).retry(...given),
    answer: async (...given) => (await open()).answer(...given),
    revoke: async (...given) => (await open()).revoke(...given),
    reset: async (...given) => (await open()).reset(...given),
    resend: async (...given) => (await open()).resend(...given),
    discard: async (...given) => (await open()).discard(...given),
  };
}
