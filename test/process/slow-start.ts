// Loaded into a gateway before anything else: it then stands still for two seconds when it holds its home and is about to
// load the engine, and can hear nothing meanwhile. For tests of what others do to a gateway that is only just starting.

import { registerHooks } from "node:module";

registerHooks({
  load(url, context, next) {
    if (url.endsWith("/engine/gateway.ts")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    return next(url, context);
  },
});
