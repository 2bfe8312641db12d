// The operator's desk, whose code is loaded when somebody comes to it for the first time: most lives of a gateway become
// ready without anybody. From then on a wish is begun at once.

import type { Operator } from "./operator.ts";

export function openDesk(load: () => Promise<Operator>): Operator {
  let opened: Operator | null = null;
  const at = async <T>(work: (desk: Operator) => Promise<T>): Promise<T> => {
    if (opened !== null) return work(opened);
    opened = await load();
    return work(opened);
  };
  return {
    probe: () => at((desk) => desk.probe()),
    post: (...given) => at((desk) => desk.post(...given)),
    cancel: (...given) => at((desk) => desk.cancel(...given)),
    retry: (...given) => at((desk) => desk.retry(...given)),
    answer: (...given) => at((desk) => desk.answer(...given)),
    approvePairing: (...given) => at((desk) => desk.approvePairing(...given)),
    denyPairing: (...given) => at((desk) => desk.denyPairing(...given)),
    revokePaired: (...given) => at((desk) => desk.revokePaired(...given)),
    revoke: (...given) => at((desk) => desk.revoke(...given)),
    generalize: (...given) => at((desk) => desk.generalize(...given)),
    reset: (...given) => at((desk) => desk.reset(...given)),
    resend: (...given) => at((desk) => desk.resend(...given)),
    discard: (...given) => at((desk) => desk.discard(...given)),
  };
}
