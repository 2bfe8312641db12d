// The same hand-over, for a gateway that is only beginning: most lives become ready without anybody who follows, so the code
// is loaded with the first wish for one.

import type { Handover, HandoverParts } from "./handover.ts";

export function handoverLater(parts: HandoverParts, load = loadHandover): Handover {
  let opening: Promise<Handover> | null = null;
  let opened: Handover | null = null;

  function open(): Promise<Handover> {
    opening ??= load().then(
      (make) => (opened = make(parts)),
      (error: unknown) => {
        // Whoever wants it next tries again.
        opening = null;
        throw error;
      },
    );
    return opening;
  }

  return {
    prepare: async () => (opened ?? (await open())).prepare(),
    isAwaited: () => opened?.isAwaited() ?? false,
    async dismiss() {
      // At once where it can be: the process may end right after.
      if (opened !== null) return opened.dismiss();
      // Who wished for it has been first in line, so whoever is being prepared is known by then.
      if (opening !== null) return (await opening).dismiss();
    },
    leave: async (code) => opened?.leave(code) ?? code,
  };
}

async function loadHandover(): Promise<(parts: HandoverParts) => Handover> {
  const { openHandover } = await import("./handover.ts");
  return openHandover;
}
