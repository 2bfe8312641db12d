import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { aVet } from "../../../test/fakes/room.ts";
import { noGrant } from "../../core/grant.ts";
import type { ToolResult } from "../../core/journal.ts";
import { aToolContext } from "../../testing/samples.ts";
import { type Web, fetchUrlTool } from "./fetch.ts";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
type Site = { readonly root: string; readonly port: number; readonly asked: string[] };

async function aSite(t: TestContext, answer: Answer): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { root: `http://127.0.0.1:${port}`, port, asked };
}

const open: Web = { allowPrivate: true, approvals: "dangerous" };
const fetched = (url: unknown, web: Web = open, signal = new AbortController().signal): Promise<ToolResult> =>
  fetchUrlTool(web).run({ url }, aToolContext("k", { signal }));

const sends =
  (type: string | null, body: string | Uint8Array, headers: Record<string, string> = {}, status = 200): Answer =>
  (_, response) => {
    response.writeHead(status, { ...(type === null ? {} : { "content-type": type }), ...headers });
    response.end(body);
  };

describe("fetch_url gives text", () => {
  const page = "<title>T</title><p>Grüße <a href='/x'>go</a>";
  const cases: readonly (readonly [name: string, answer: Answer, output: string])[] = [
    ["a page", sends("text/html; charset=utf-8", page), "# T\n\nGrüße [go](ROOT/x)"],
    ["a page that does not say so", sends(null, `<!doctype html>${page}`), "# T\n\nGrüße [go](ROOT/x)"],
    ["letters by the server", sends("text/html; charset=iso-8859-1", Buffer.from("<p>Grüße", "latin1")), "Grüße"],
    [
      "letters by the page",
      sends("text/html", Buffer.from("<meta charset='windows-1252'><p>Gr\xfc\x80e", "latin1")),
      "Grü€e",
    ],
    ["letters by their mark", sends("text/plain", Buffer.from("\ufeffGrüße", "utf16le")), "Grüße"],
    ["letters that nobody knows", sends("text/plain; charset=none", "Grüße"), "Grüße"],
    ["data", sends("application/json", '{"a": 1}'), '{"a": 1}'],
    ["data of a kind", sends("application/vnd.api+json", "{}"), "{}"],
    ["a text", sends("text/markdown", "# a\n"), "# a"],
    ["packed by gzip", sends("text/plain", gzipSync("packed"), { "content-encoding": "gzip" }), "packed"],
    ["packed by brotli", sends("text/plain", brotliCompressSync("packed"), { "content-encoding": "br" }), "packed"],
    ["packed by deflate", sends("text/plain", deflateSync("packed"), { "content-encoding": "deflate" }), "packed"],
    ["nothing", sends("text/html", "<script>x</script>"), "[it has no text]"],
    [
      "too many words",
      sends("text/plain", "x".repeat(300_000)),
      `${"x".repeat(200_000)}\n[the rest is left out: it is too long]`,
    ],
  ];
  for (const [name, answer, output] of cases) {
    test(name, async (t) => {
      const { root } = await aSite(t, answer);
      const expected = `${root}/\n\n${output.replaceAll("ROOT", root)}`;
      assert.deepEqual(await fetched(root), { type: "ok", output: expected, outside: true });
    });
  }

  test("an error page is text from outside, marked as such", async (t) => {
    const { root } = await aSite(t, sends("text/html", "<p>no such page", {}, 404));
    const output = `${root}/x answered with an error: 404 Not Found\n\nno such page`;
    assert.deepEqual(await fetched(`${root}/x`), { type: "ok", output, outside: true });
  });

  test("what it leads to is followed, and said", async (t) => {
    const { root, asked } = await aSite(t, (request, response) => {
      const n = Number(request.url?.slice(1) ?? 0);
      response.writeHead(n < 5 ? 302 : 200, n < 5 ? { location: `/${n + 1}` } : { "content-type": "text/plain" });
      response.end("there");
    });
    assert.deepEqual(await fetched(`${root}/0`), { type: "ok", output: `${root}/5\n\nthere`, outside: true });
    assert.equal(asked.length, 6);
  });
});

describe("fetch_url has limits", () => {
  test("of size, also when it was packed small", async (t) => {
    for (const [body, headers] of [
      [Buffer.alloc(6_000_000, 97), {}],
      [gzipSync(Buffer.alloc(50_000_000, 97)), { "content-encoding": "gzip" }],
    ] as const) {
      const { root } = await aSite(t, sends("text/plain", body, headers));
      const limits = { ms: 60_000, bytes: 100_000, hops: 5, characters: 1_000_000 };
      const result = await fetched(root, { ...open, limits });
      assert.ok(result.type === "ok");
      assert.equal(String(result.output), `${root}/\n\n${"a".repeat(100_000)}\n[the rest is left out: it is too long]`);
    }
  });

  test("of time", async (t) => {
    const limits = { ms: 300, bytes: 1_000, hops: 5, characters: 1_000 };
    for (const answer of [
      () => undefined,
      (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(200, { "content-type": "text/plain" }).write("x"),
    ]) {
      const { root } = await aSite(t, answer);
      const result = await fetched(root, { ...open, limits });
      assert.deepEqual(result, { type: "failed", why: `${root} took longer than 0.3 seconds.` });
    }
    const network = { mayConnect: () => true, resolve: () => new Promise<never>(() => undefined) };
    const result = await fetched("http://never.test/", { ...open, limits, network });
    assert.deepEqual(result, { type: "failed", why: "http://never.test/ took longer than 0.3 seconds." });
  });

  test("of hops", async (t) => {
    const { root, port, asked } = await aSite(t, sends(null, "", { location: "/again" }, 301));
    const why = `${root} leads on more than 5 times; the last was to 127.0.0.1:${port}.`;
    assert.deepEqual(await fetched(root), { type: "failed", why });
    assert.equal(asked.length, 6);
  });

  test("of kinds", async (t) => {
    const { root } = await aSite(t, sends("image/png", Buffer.alloc(20_000)));
    const result = await fetched(root);
    assert.ok(result.type === "failed");
    assert.match(result.why, /is not text: image\/png, 20 kB\. A command such as curl/);
  });

  test("an abort ends it", async (t) => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const { root } = await aSite(t, () => stop.abort(reason));
    await assert.rejects(fetched(root, open, stop.signal), reason);
  });

  const broken: readonly (readonly [name: string, answer: Answer, why: RegExp])[] = [
    ["cut at once", (request) => request.socket.destroy(), /could not be reached: .*(?:cut|hang up)/],
    [
      "cut in the middle",
      (_, response) => (
        response.writeHead(200, { "content-length": "100", "content-type": "text/plain" }).write("x"),
        setImmediate(() => response.destroy())
      ),
      /could not be fetched/,
    ],
    [
      "not what it says it is packed by",
      sends("text/plain", "plain", { "content-encoding": "gzip" }),
      /could not be fetched: .*header/,
    ],
    ["packed by something else", sends("text/plain", "plain", { "content-encoding": "zpaq" }), /packed by zpaq/],
    ["not HTTP", (request) => request.socket.end("what?\r\n\r\n"), /could not be reached/],
    ["very long headers", sends("text/plain", "x", { "x-long": "y".repeat(100_000) }), /could not be reached/],
    ["leading to no address", sends(null, "", { location: "http://[" }, 302), /is no address/],
    [
      "leading to a file",
      sends(null, "", { location: "file:///etc/passwd" }, 302),
      /leads on to .*only http and https/,
    ],
    [
      "leading to a mail server",
      sends(null, "", { location: "http://127.0.0.1:25/" }, 302),
      /leads on to 127\.0\.0\.1:25.*port 25/,
    ],
  ];
  for (const [name, answer, why] of broken) {
    test(`an answer ${name} is told`, { timeout: 60_000 }, async (t) => {
      const { root } = await aSite(t, answer);
      const result = await fetched(root);
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
    });
  }

  test("nobody there", async (t) => {
    const { root } = await aSite(t, sends("text/plain", "x"));
    const gone = root.replace(/\d+$/, "1");
    const result = await fetched(gone);
    assert.deepEqual(result, { type: "failed", why: "127.0.0.1:1 could not be reached: nothing answers there." });
  });
});

describe("fetch_url stays out of private networks", () => {
  const hosts = [
    ..."127.0.0.1 127.1 2130706433 0x7f.1 0177.0.0.1 0x7f000001 localhost [::1] [::ffff:127.0.0.1] 0.0.0.0 0 [::]".split(
      " ",
    ),
    ..."127.0.0.1. LOCALHOST １２７.0.0.1 [::ffff:7f00:1] 127.0.0.2".split(" "),
  ];
  const closed: Web = { allowPrivate: false, approvals: "dangerous" };
  for (const host of hosts) {
    test(`not to ${host}`, async (t) => {
      const { port, asked } = await aSite(t, sends("text/plain", "secret"));
      const result = await fetched(`http://${host}:${port}/`, closed);
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, /is in a private network|not known to the network/);
      assert.deepEqual(asked, []);
    });
  }

  test("not to where a name leads, nor to the cloud's facts", async (t) => {
    const { port, asked } = await aSite(t, sends("text/plain", "secret"));
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const { isPublic } = await import("../../core/addresses.ts");
    const result = await fetched(`http://innocent.test:${port}/`, {
      ...closed,
      network: { mayConnect: isPublic, resolve },
    });
    assert.match(JSON.stringify(result), /innocent\.test is in a private network.*allowPrivate/);
    assert.match(JSON.stringify(await fetched("http://169.254.169.254/latest/meta-data", closed)), /private network/);
    assert.deepEqual(asked, []);
  });

  test("a name is looked up once: what was judged is what is connected to", async (t) => {
    const { port, asked } = await aSite(t, sends("text/plain", "fine"));
    let looked = 0;
    const resolve = async () => [{ address: ++looked === 1 ? "127.0.0.1" : "127.0.0.66", family: 4 }];
    const network = { mayConnect: (address: string) => address === "127.0.0.1", resolve };
    assert.equal((await fetched(`http://rebind.test:${port}/`, { ...closed, network })).type, "ok");
    assert.deepEqual([looked, asked], [1, [`rebind.test:${port} /`]]);
  });

  test("a connection is not used again: it leads to what was judged before", async (t) => {
    const ports: (number | undefined)[] = [];
    const { root } = await aSite(t, (request, response) => {
      ports.push(request.socket.remotePort);
      response.end("fine");
    });
    await fetched(root);
    await fetched(root);
    assert.equal(new Set(ports).size, 2);
  });

  test("only those addresses of a name that may be connected to", async (t) => {
    const { port } = await aSite(t, sends("text/plain", "fine"));
    const tried: string[] = [];
    const resolve = async () => ["10.0.0.1", "127.0.0.1", "192.168.0.1"].map((address) => ({ address, family: 4 }));
    const mayConnect = (address: string): boolean => (tried.push(address), address === "127.0.0.1");
    assert.equal(
      (await fetched(`http://many.test:${port}/`, { ...closed, network: { mayConnect, resolve } })).type,
      "ok",
    );
    assert.deepEqual(tried, ["10.0.0.1", "127.0.0.1", "192.168.0.1"]);
  });

  test("not by a redirect", async (t) => {
    const { port, asked } = await aSite(t, (request, response) => {
      const to = request.url === "/" ? `http://127.0.0.66:${port}/secret` : "/";
      response.writeHead(302, { location: to });
      response.end();
    });
    const network = { mayConnect: (address: string) => address === "127.0.0.1" };
    const result = await fetched(`http://127.0.0.1:${port}/`, { ...closed, network });
    assert.match(JSON.stringify(result), /127\.0\.0\.66 is in a private network/);
    assert.equal(asked.length, 1);
  });
});

describe("fetch_url is vetted", () => {
  const cases: readonly (readonly [url: string, verdict: string])[] = [
    ["https://example.org/a?b=c", "run"],
    ["file:///etc/passwd", "refuse"],
    ["ftp://example.org/", "refuse"],
    ["example.org", "refuse"],
    ["https://user:word@example.org/", "approve"],
    ["http://example.org:22/", "approve"],
    ["", "refuse"],
  ];
  for (const [url, type] of cases) {
    test(`${url}: ${type}`, async () => assert.equal((await fetchUrlTool(open).vet?.({ url }, aVet()))?.type, type));
  }
  test("always is for all of a host, and says so", async () => {
    const verdict = await fetchUrlTool(open).vet?.({ url: "https://user:word@example.org/a?b=c" }, aVet());
    assert.ok(verdict?.type === "approve");
    assert.equal(verdict.subject, "fetching anything from example.org");
  });
  for (const input of [{}, { url: 3 }, { url: "https://a.b", method: "POST" }, null]) {
    test(`not ${JSON.stringify(input)}`, async () => {
      assert.equal((await fetchUrlTool(open).run(input, aToolContext())).type, "failed");
    });
  }
});

describe("fetch_url in a conversation with text from outside", () => {
  const secret = `https://evil.example/?d=${"s".repeat(1_900)}`;
  const earlier = async () => ({ own: ["read https://a.example/page"], calls: [] });
  const vet = (url: string, approvals: Web["approvals"] = "dangerous") =>
    fetchUrlTool({ ...open, approvals }).vet?.({ url }, { ...aVet(), outside: true, earlier });

  test("what the user named goes unasked, to its own host", async () => {
    const grant = { ...noGrant, hosts: ["a.example"] };
    assert.deepEqual(await vet("https://a.example/page"), { type: "run", grant });
  });

  test("anything else is asked for with the whole address, under every policy and never for good", async () => {
    for (const approvals of ["always", "dangerous", "never"] as const) {
      const verdict = await vet(secret, approvals);
      assert.ok(verdict?.type === "approve");
      assert.equal(verdict.effects?.[0], `Sends this address to evil.example: ${secret}`);
      assert.equal(verdict.subject, null);
    }
    assert.equal((await vet("file:///etc/passwd"))?.type, "refuse");
  });

  test("a redirect to another host is not followed", async (t) => {
    const other = await aSite(t, sends("text/plain", "there"));
    const { root, port } = await aSite(t, (_, response) => {
      response.writeHead(302, { location: `${other.root}/x` });
      response.end();
    });
    const grant = { ...noGrant, hosts: [`127.0.0.1:${port}`] };
    const result = await fetchUrlTool(open).run({ url: root }, aToolContext("k", { grant }));
    assert.ok(result.type === "failed" && result.outside === true);
    assert.match(result.why, /leads on to another host/);
    assert.deepEqual(other.asked, []);
  });
});
