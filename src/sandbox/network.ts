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
    GIT_SSH_COMMAND: `ssh ${sshOptions} -o StrictHostKeyChecking=accept-new`,
  };
}

const sshOptions = `-o BatchMode=yes -o ProxyCommand='${forwarder.join(" ")} connect ${insideSockets}/proxy %h %p'`;

/** With keys of the user's agent a login goes to a host that the user knows, or nowhere. */
export function agentEnvironment(): Readonly<Record<string, string>> {
  const known = `-o UserKnownHostsFile=${insideSockets}/known_hosts -o StrictHostKeyChecking=yes`;
  return { SSH_AUTH_SOCK: `${insideSockets}/agent`, GIT_SSH_COMMAND: `ssh ${sshOptions} ${known}` };
}

/** How git inside asks for the password of a host. */
export function gitHelper(host: string): string {
  const command = `!${forwarder.join(" ")} credential ${insideSockets}/git`;
  return `[credential "https://${host}"]\n\thelper = "${command}"\n`;
}
