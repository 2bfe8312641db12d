// How programs inside of a sandbox find the proxy: by a forwarder on the loopback interface and the variables that they
// read. Pure.

import { insideRuntime } from "./view.ts";

/** The folder of sockets, as it is called inside. */
export const insideSockets = "/run/everturn/sockets";
const port = 17_433;
const forwarder = [insideRuntime.node, `${insideRuntime.folder}/bin/forward.js`] as const;

/** The command behind its forwarder. */
export function forwarded(command: readonly string[]): readonly string[] {
  return [...forwarder, "run", `${insideSockets}/proxy`, String(port), ...command];
}

export function proxyEnvironment(): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  const none = "localhost,127.0.0.1,::1";
  const both = (name: string, value: string) => ({ [name]: value, [name.toLowerCase()]: value });
  return {
    ...both("HTTP_PROXY", proxy),
    ...both("HTTPS_PROXY", proxy),
    ...both("ALL_PROXY", `socks5h://127.0.0.1:${port}`),
    ...both("NO_PROXY", none),
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: none,
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    CARGO_HTTP_PROXY: proxy,
    PIP_PROXY: proxy,
    // Node's own fetch looks at the variables above only when it is told to.
    NODE_USE_ENV_PROXY: "1",
    GIT_SSH_COMMAND: sshCommand(),
  };
}

function sshCommand(): string {
  const through = `${forwarder.join(" ")} connect ${insideSockets}/proxy %h %p`;
  return `ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new -o ProxyCommand='${through}'`;
}
