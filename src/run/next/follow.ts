// What a successor and the gateway that it follows say to each other, on the side of the successor.

/** For a successor: whether the one it follows is no more, as far as it was told or can see. */
export function watchPredecessor(): { isLeft(): boolean; off(): void } {
  let told = false;
  const heard = (message: unknown) => {
    if (typeof message === "object" && message !== null && "everturn" in message) told ||= message.everturn === "left";
  };
  process.on("message", heard);
  return { isLeft: () => told || process.connected !== true, off: () => process.off("message", heard) };
}

/** For a successor: it only waits for the lock any more, or it cannot take over. Nobody may be there to hear it. */
export async function tellPredecessor(reply: "loaded" | { readonly why: string }): Promise<void> {
  const words = reply === "loaded" ? { everturn: "loaded" } : { everturn: "failed", why: reply.why };
  if (process.connected !== true) return;
  await new Promise<void>((told) => process.send?.(words, undefined, undefined, () => told()));
}
