// The proxy with real sockets; only the names of the internet are made up.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, type Server, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { isPublic } from "../../core/addresses.ts";
import { type Network, openProxy } from "./proxy.ts";

async function listen(t: TestContext, server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Names with the addresses that each look-up gives; a public address leads to the local server. */
function staged(
  names: Readonly<Record<string, readonly (readonly string[])[]>>,
): Network & { readonly connects: string[]; readonly lookups: string[] } {
  const connects: string[] = [];
  const lookups: string[] = [];
  return {
    connects,
    lookups,
    resolve(host) {
      const answers = names[host] ?? [];
      const answer = answers[Math.min(lookups.filter((one) => one === host).length, answers.length - 1)];
      lookups.push(host);
      return answer === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(answer);
    },
    isAllowed: isPublic,
    connect(address, port) {
      connects.push(`${address}:${port}`);
      return connect({ host: "127.0.0.1", port });
    },
  };
}

/** Sends the text and gives all that comes back until the end. */
async function speak(port: number, ...texts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  const closed = once(socket, "close");
  let said = "";
  socket.on("data", (data) => (said += data.toString("latin1")));
  for (const text of texts) {
    socket.write(text);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await closed;
  return said;
}

const example = "93.184.216.34";

test("a granted host is reached by CONNECT, plain HTTP and SOCKS", async (t) => {
  const web = createHttp((request, response) => {
    response.end(
      `${request.method} ${request.url} ${request.headers.host} ${String(request.headers["proxy-authorization"])}`,
    );
  });
  const port = await listen(t, web);
  const network = staged({ "example.org": [[example]] });
  const proxy = await listen(t, openProxy(["example.org"], network));
  const plain = await speak(
    proxy,
    `GET http://example.org:${port}/a?b HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\n\r\n`,
  );
  assert.match(plain, new RegExp(`\r\n\r\nGET /a\\?b example.org:${port} undefined$`));
  const direct = `GET /c HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`;
  assert.match(
    await speak(proxy, `CONNECT example.org:${port} HTTP/1.1\r\n\r\n${direct}`),
    /^HTTP\/1\.1 200 .*\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*GET \/c h undefined$/,
  );
  const name = Buffer.from("example.org");
  const ask = Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])]);
  assert.match(await speak(proxy, Buffer.from([5, 1, 0]), ask, direct), /GET \/c h undefined$/);
  assert.match(
    await speak(proxy, Buffer.concat([Buffer.from([5, 1, 0]), ask, Buffer.from(direct)])),
    /GET \/c h undefined$/,
  );
  assert.deepEqual(new Set(network.connects), new Set([`${example}:${port}`]));
});

test("what was not granted, and what is not public, is refused in words", async (t) => {
  const network = staged({
    "example.org": [[example]],
    "inner.example.net": [["10.0.0.1"]],
    "metadata.example.net": [["169.254.169.254"]],
    localhost: [["127.0.0.1", "::1"]],
    "127.1": [["127.0.0.1"]],
  });
  const proxy = await listen(
    t,
    openProxy(
      ["*.example.net", "localhost", "127.1", "127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[64:ff9b::a00:1]"],
      network,
    ),
  );
  const cases: readonly (readonly [target: string, says: RegExp])[] = [
    [
      "example.org:443",
      /^HTTP\/1\.1 403 Forbidden[\s\S]*The sandbox has no access to example\.org:443\. Ask for this host/,
    ],
    ["metadata.example.net:80", /403[\s\S]*metadata\.example\.net is not a public address/],
    ["inner.example.net:80", /403[\s\S]*not a public address/],
    ["localhost:80", /403[\s\S]*not a public/],
    ["127.1:80", /403[\s\S]*not a public/],
    ["127.0.0.1:80", /403[\s\S]*not a public/],
    ["[::1]:80", /403[\s\S]*not a public/],
    ["[::ffff:7f00:1]:80", /403[\s\S]*not a public/],
    ["[64:ff9b::a00:1]:80", /403[\s\S]*not a public/],
    ["8.8.8.8:53", /403[\s\S]*no access to 8\.8\.8\.8:53/],
    ["missing.example.net:80", /^HTTP\/1\.1 502 [\s\S]*could not be resolved/],
    ["nothing", /^HTTP\/1\.1 400 /],
  ];
  for (const [target, says] of cases) {
    assert.match(await speak(proxy, `CONNECT ${target} HTTP/1.1\r\n\r\n`), says, target);
    if (target !== "nothing")
      assert.match(await speak(proxy, `GET http://${target}/ HTTP/1.1\r\n\r\n`), /^HTTP\/1\.1 (?:403|502) /, target);
  }
  assert.deepEqual(network.connects, []);
  const private4 = Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, 0, 80]);
  assert.equal(Buffer.from(await speak(proxy, Buffer.from([5, 1, 0]), private4), "latin1")[3], 2);
  assert.match(await speak(proxy, "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), /^HTTP\/1\.1 400 /);
  assert.match(await speak(proxy, `GET http://x/ HTTP/1.1\r\nA: ${"a".repeat(70_000)}`), /^HTTP\/1\.1 431 /);
  assert.deepEqual(network.connects, []);
});

test("a name is resolved once, and the connection goes to what was checked", async (t) => {
  const port = await listen(
    t,
    createServer((socket) => socket.end("reached")),
  );
  // The second look-up would give the address of this machine.
  const network = staged({ "rebind.net": [[example, "127.0.0.1"], ["127.0.0.1"]] });
  const proxy = await listen(t, openProxy(["rebind.net"], network));
  assert.match(await speak(proxy, `CONNECT rebind.net:${port} HTTP/1.1\r\n\r\n`), /reached$/);
  assert.deepEqual([network.lookups, network.connects], [["rebind.net"], [`${example}:${port}`]]);
  assert.match(await speak(proxy, `CONNECT rebind.net:${port} HTTP/1.1\r\n\r\n`), /403[\s\S]*not a public address/);
  assert.equal(network.connects.length, 1);
});
