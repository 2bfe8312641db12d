// How programs inside of a sandbox find the proxy: by a forwarder on the loopback interface and the variables that they
// read. Pure.

/** What a program inside needs to know: the program of Node, our package, the folder of sockets, the port of the proxy. */
export type InsidePaths = {
  readonly node: string;
  readonly folder: string;
  readonly sockets: string;
  readonly port: number;
};

/** Where each sandbox has a network of its own, all of them use the same port. */
export const ownPort = 17_433;

const forwarder = ({ node, folder }: InsidePaths) => [node, `${folder}/bin/forward.js`];

/** The command behind its forwarder. */
export function forwarded(command: readonly string[], inside: InsidePaths): readonly string[] {
  return [...forwarder(inside), "run", `${inside.sockets}/proxy`, String(inside.port), ...command];
}

export function proxyEnvironment(inside: InsidePaths): Readonly<Record<string, string>> {
  const { port } = inside;
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
    // Node's own fetch looks at the variables above only with this flag.
    NODE_USE_ENV_PROXY: "1",
    GIT_SSH_COMMAND: `ssh ${sshOptions(inside)} -o StrictHostKeyChecking=accept-new`,
  };
}

function sshOptions(inside: InsidePaths): string {
  const through = `${forwarder(inside).join(" ")} connect ${inside.sockets}/proxy %h %p`;
  return `-o BatchMode=yes -o ProxyCommand='${through}'`;
}

/** With keys of the user's agent a login goes to a host that the user knows, or nowhere. */
export function agentEnvironment(inside: InsidePaths): Readonly<Record<string, string>> {
  const known = `-o UserKnownHostsFile=${inside.sockets}/known_hosts -o StrictHostKeyChecking=yes`;
  return { SSH_AUTH_SOCK: `${inside.sockets}/agent`, GIT_SSH_COMMAND: `ssh ${sshOptions(inside)} ${known}` };
}

/** How git inside asks for the password of a host. */
export function gitHelper(host: string, inside: InsidePaths): string {
  const command = `!${forwarder(inside).join(" ")} credential ${inside.sockets}/git`;
  return `[credential "https://${host}"]\n\thelper = "${command}"\n`;
}
