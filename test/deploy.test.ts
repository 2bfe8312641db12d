// The files for containers, read as what they are: there is no container engine to try them with. What the image runs
// is tried for real: the question of its health check here, the start of the one with s6 in test/services/s6.test.ts.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { parse } from "yaml";
import { stopSeconds } from "../src/services/kinds.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");

type Instruction = { readonly name: string; readonly rest: string };

/** Instructions of a Dockerfile in order; lines that go on are joined, comments left out. */
function instructions(text: string): readonly Instruction[] {
  const joined = text.replaceAll(/^#.*\n/gm, "").replaceAll(/\\\n\s*/g, " ");
  return joined
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", ...rest] = line.split(" ");
      return { name, rest: rest.join(" ") };
    });
}

/** In the last stage: what the image is. */
function lastOf(all: readonly Instruction[], name: string): string | undefined {
  const stage = all.slice(all.findLastIndex((one) => one.name === "FROM"));
  return stage.findLast((one) => one.name === name)?.rest;
}

const known = new Set("ARG FROM WORKDIR COPY RUN ENV VOLUME USER STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD".split(" "));

test("both Dockerfiles hold known instructions, and copy only what is there", () => {
  for (const path of ["deploy/docker/Dockerfile", "deploy/s6/Dockerfile"]) {
    const all = instructions(read(path));
    assert.deepEqual(
      all.filter((one) => !known.has(one.name)),
      [],
      path,
    );
    const copied = all
      .filter((one) => one.name === "COPY" && !one.rest.includes("--from="))
      .map((one) => one.rest.replaceAll(/--\S+ /g, "").split(" ")[0] ?? "");
    for (const source of copied) assert.ok(existsSync(join(root, source)), `${path} copies ${source}`);
  }
});

test("the image runs as an ordinary user, with the gateway as process 1 and its home in a volume", () => {
  const all = instructions(read("deploy/docker/Dockerfile"));
  assert.equal(lastOf(all, "USER"), "node");
  assert.equal(lastOf(all, "STOPSIGNAL"), "SIGTERM");
  assert.equal(lastOf(all, "VOLUME"), "/data");
  assert.match(lastOf(all, "ENV") ?? "", /\bEVERTURN_HOME=\/data\b/);
  assert.match(lastOf(all, "RUN") ?? "", /--owner=node .*\/data$/);
  // Without a shell in between, which would keep the signal of `docker stop` to itself.
  const start = JSON.parse(lastOf(all, "ENTRYPOINT") ?? "") as string[];
  assert.deepEqual(start, ["node", "/usr/local/lib/node_modules/everturn/dist/main.js"]);
  assert.deepEqual(JSON.parse(lastOf(all, "CMD") ?? ""), ["gateway", "run"]);
  const { version, name, files } = JSON.parse(read("package.json")) as {
    version: string;
    name: string;
    files: string[];
  };
  assert.ok(version !== "" && name === "everturn" && files.includes("dist"), "what the paths above come from");
  assert.match(lastOf(all, "HEALTHCHECK") ?? "", /CMD \["node", "\/usr\/local\/lib\/everturn\/healthy\.js"\]$/);
  assert.match(lastOf(all, "COPY") ?? "", /healthy\.js \/usr\/local\/lib\/everturn\/healthy\.js$/);
});

test("compose waits as long as every other supervisor, and starts it again", () => {
  const file = parse(read("deploy/docker/compose.yaml")) as {
    readonly services: { readonly everturn: Readonly<Record<string, unknown>> };
    readonly volumes: Readonly<Record<string, unknown>>;
  };
  const one = file.services.everturn;
  assert.equal(one["stop_grace_period"], `${stopSeconds(0)}s`);
  assert.equal(one["restart"], "unless-stopped");
  assert.equal(one["init"], true);
  assert.deepEqual(one["volumes"], ["everturn:/data"]);
  assert.ok("everturn" in file.volumes);
  const build = one["build"] as { readonly context: string; readonly dockerfile: string };
  assert.ok(existsSync(join(root, "deploy/docker", build.context, build.dockerfile)));
  const allowed =
    "image build container_name restart network_mode init stop_grace_period volumes read_only tmpfs cap_drop security_opt".split(
      " ",
    );
  assert.deepEqual(
    Object.keys(one).filter((key) => !allowed.includes(key)),
    [],
  );
});

test("the container has bubblewrap, no capabilities and a root file system that cannot be written", () => {
  assert.match(read("deploy/docker/Dockerfile"), /apt-get install .*\bbubblewrap\b/);
  const { services } = parse(read("deploy/docker/compose.yaml")) as {
    readonly services: { readonly everturn: Readonly<Record<string, unknown>> };
  };
  const { read_only: isReadOnly, tmpfs, cap_drop: dropped, security_opt: options } = services.everturn;
  assert.deepEqual([isReadOnly, tmpfs, dropped], [true, ["/tmp"], ["ALL"]]);
  // What the advice of the sandbox asks for, and nothing that gives more rights to the gateway itself.
  assert.deepEqual(options, [
    "no-new-privileges:true",
    "seccomp=unconfined",
    "apparmor=unconfined",
    "systempaths=unconfined",
  ]);
});

test("the image with s6 starts what decides by the last wanted state", () => {
  const all = instructions(read("deploy/s6/Dockerfile"));
  assert.deepEqual(JSON.parse(lastOf(all, "ENTRYPOINT") ?? ""), ["everturn-start"]);
  assert.equal(lastOf(all, "USER"), "node");
  assert.match(lastOf(all, "COPY") ?? "", /deploy\/s6\/start \/usr\/local\/bin\/everturn-start$/);
  assert.match(read("deploy/s6/Dockerfile"), new RegExp(`--stop-timeout ${stopSeconds(0)} `));
  assert.equal(statSync(join(root, "deploy/s6/start")).mode & 0o111, 0o111);
});

/** The health check against a server that answers with a status, or none. */
async function health(t: TestContext, status: number | null): Promise<{ readonly code: number; readonly out: string }> {
  const home = mkdtempSync(join(tmpdir(), "everturn-health-"));
  t.after(() => rmSync(home, { recursive: true }));
  const asked: string[] = [];
  const server = createServer((request, reply) => {
    asked.push(request.url ?? "");
    reply.writeHead(status ?? 500).end('{"state":"running"}');
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address() as AddressInfo;
  if (status === null) server.close();
  t.after(() => server.close());
  writeFileSync(join(home, "gateway_state.json"), JSON.stringify({ url: `http://127.0.0.1:${port}` }));
  const answer = await new Promise<{ code: number; out: string }>((done) => {
    execFile(
      process.execPath,
      [join(root, "deploy/docker/healthy.js")],
      { env: { EVERTURN_HOME: home } },
      (error, out) => done({ code: Number(error?.code ?? 0), out }),
    );
  });
  if (status !== null) assert.deepEqual(asked, ["/healthz"]);
  return answer;
}

test("the health check asks /healthz where the gateway says it is", async (t) => {
  assert.deepEqual(await health(t, 200), { code: 0, out: '200 {"state":"running"}\n' });
  assert.deepEqual(await health(t, 503), { code: 1, out: '503 {"state":"running"}\n' });
  const silent = await health(t, null);
  assert.equal(silent.code, 1);
  assert.match(silent.out, /does not answer/);
});
