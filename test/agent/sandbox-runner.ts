// The process around a sandbox with an internet of its own: every name leads to this machine.

import { connect } from "node:net";
import { runOrder } from "../../src/sandbox/runner/main.ts";
import type { RunnerOrder } from "../../src/sandbox/runner/order.ts";

const [order = "{}", ...command] = process.argv.slice(2);
const network = {
  resolve: (host: string) => Promise.resolve(host.startsWith("private.") ? ["10.0.0.1"] : ["93.184.216.34"]),
  isAllowed: (address: string) => address.startsWith("93."),
  connect: (_address: string, port: number) => connect({ host: "127.0.0.1", port }),
};
process.exit(await runOrder(JSON.parse(order) as RunnerOrder, command, network));
