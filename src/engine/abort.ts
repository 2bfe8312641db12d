// A controller that also aborts with its parent and lets go of it when it is aborted itself. Far cheaper than
// AbortSignal.any, which every step of every turn would pay.

/** The reason of an abort that only ends a wait. Without one, an exception with its stack would be made each time. */
export const over = "over";

export function childOf(parent: AbortSignal): AbortController {
  const child = new AbortController();
  if (parent.aborted) {
    child.abort(parent.reason);
    return child;
  }
  const follow = () => child.abort(parent.reason);
  parent.addEventListener("abort", follow);
  child.signal.addEventListener("abort", () => parent.removeEventListener("abort", follow));
  return child;
}
