// Runs inside of a sandbox that was granted hosts. There is no network in it but its own loopback interface, so this
// process listens there and hands every connection to the proxy outside, by the one socket that leads to it.
//   forward.js run <socket> <port> <command…>   listens, runs the command, and ends with it
//   forward.js connect <socket> <host> <port>    joins stdin and stdout with a host, for ssh
//   forward.js credential <socket> get           hands a request of git to the broker outside
// Plain JavaScript that any Node from 20 on can read; it needs nothing but Node.

import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { constants } from "node:os";

const [mode = "", socket = "", ...rest] = process.argv.slice(2);

if (mode === "run") run(rest);
else if (mode === "connect") reach(rest);
else if (mode === "credential") ask(rest);
else fail(`forward.js does not know ${JSON.stringify(mode)}.`);

function run([port = "", program = "", ...words]) {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const proxy = connect({ path: socket, allowHalfOpen: true });
    for (const [one, other] of [
      [client, proxy],
      [proxy, client],
    ]) {
      one.on("error", () => other.destroy());
      one.pipe(other);
    }
  });
  server.once("error", (error) => fail(`The proxy of the sandbox cannot be reached (${error.message}).`));
  server.listen(Number(port), "127.0.0.1", () => {
    const child = spawn(program, words, { stdio: "inherit" });
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.once("error", (error) => fail(`${program} could not be started (${error.message}).`, 127));
    child.once("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
  });
}

function reach([host = "", port = ""]) {
  const proxy = connect({ path: socket, allowHalfOpen: true });
  let head = Buffer.alloc(0);
  const onData = (part) => {
    head = Buffer.concat([head, part]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    proxy.off("data", onData);
    const text = head.subarray(0, end).toString("latin1");
    if (!text.startsWith("HTTP/1.1 200 ")) return fail(`${text.split("\r\n")[0]} ${head.subarray(end + 4).toString()}`);
    process.stdout.write(head.subarray(end + 4));
    proxy.pipe(process.stdout);
    process.stdin.pipe(proxy);
  };
  proxy.on("data", onData);
  proxy.once("error", (error) => fail(error.message));
  proxy.once("close", () => process.exit(0));
  const name = host.includes(":") ? `[${host}]` : host;
  proxy.write(`CONNECT ${name}:${port} HTTP/1.1\r\nHost: ${name}:${port}\r\n\r\n`);
}

/** Only `get`: what is to be stored or erased is not ours. */
function ask([what = ""]) {
  if (what !== "get") return;
  const broker = connect({ path: socket });
  broker.once("error", (error) => fail(error.message));
  broker.pipe(process.stdout);
  let text = "";
  process.stdin.on("data", (part) => (text += part));
  process.stdin.on("end", () => broker.write(`${text.trim()}\n\n`));
}

function fail(why, code = 1) {
  process.stderr.write(`${why.trim()}\n`);
  process.exit(code);
}
