// Command lines for systems that no test can run here.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { containerWords, defaultImage } from "./container.ts";
import { seatbeltProfile, seatbeltWords } from "./seatbelt.ts";

describe("Seatbelt", () => {
  const plan = {
    readable: ["/Users/ann/.nvm"],
    writable: ["/Users/ann/.everturn/workspace", "/Users/ann/.everturn/sandbox/people/1/home"],
    hidden: ["/Users/ann/.everturn"],
    sockets: [],
    proxyPort: null,
  };
  const lines = seatbeltProfile(plan).split("\n");
  const at = (start: string) => lines.findIndex((line) => line.startsWith(start));

  test("everything is denied that is not named", () =>
    assert.deepEqual(lines.slice(0, 2), ["(version 1)", "(deny default)"]));
  test("the gateway's home is denied before parts of it are allowed, because the later rule counts", () => {
    const hidden = at('(deny file* (subpath "/Users/ann/.everturn"))');
    assert.ok(hidden > at('(allow file-read* (literal "/")'));
    assert.ok(hidden < at('(allow file-read* file-write* (subpath "/Users/ann/.everturn/workspace")'));
  });
  test("neither the user's folder nor the keychains can be read", () => {
    const read = lines.filter((line) => line.startsWith("(allow file-read*")).join("\n");
    assert.doesNotMatch(
      read,
      /"\/Users"|"\/Users\/ann"|"\/Library"|"\/private\/etc"|"\/private"|"\/private\/var"|"\/dev"\)/,
    );
  });
  test("no network without hosts, and only the proxy with them", () => {
    assert.deepEqual(lines.slice(-2), ["(deny network*)", ""]);
    const open = seatbeltProfile({ ...plan, proxyPort: 40_001 });
    assert.match(open, /\(deny network\*\)\n\(allow network-outbound \(remote ip "localhost:40001"\)\)\n$/);
  });
  test("names are quoted", () => {
    const profile = seatbeltProfile({ ...plan, writable: ['/Users/ann/a")(allow default)("'] });
    assert.ok(profile.includes('(subpath "/Users/ann/a\\")(allow default)(\\"")'));
  });
  test("the command follows as it is", () =>
    assert.deepEqual(seatbeltWords("P", ["sh", "-c", "x y"]), ["/usr/bin/sandbox-exec", "-p", "P", "sh", "-c", "x y"]));
});

describe("Docker and Podman", () => {
  const plan = {
    program: "docker" as const,
    image: defaultImage,
    name: "everturn-1",
    mounts: [
      { type: "bind", at: "/srv/workspace", from: "/srv/workspace", access: "write" },
      { type: "bind", at: "/srv/data", from: "/srv/data", access: "read" },
    ] as const,
    cwd: "/srv/workspace",
    variables: ["HOME", "TOKEN"],
    user: "1000:1000",
    memoryKb: 4096,
    processes: 2048,
    command: ["sh", "-c", "true"],
  };
  test("nothing but the mounts, no network, no rights", () => {
    assert.equal(
      containerWords(plan).join(" "),
      "docker run --rm --init --interactive --name everturn-1 --hostname sandbox --network none --ipc private --read-only --cap-drop ALL --security-opt no-new-privileges --pids-limit 2048 --memory 4096k --user 1000:1000 --mount type=bind,source=/srv/workspace,target=/srv/workspace --mount type=bind,source=/srv/data,target=/srv/data,readonly --env HOME --env TOKEN --workdir /srv/workspace docker.io/library/node:26 sh -c true",
    );
  });
  test("Podman keeps the user's own number", () =>
    assert.match(
      containerWords({ ...plan, program: "podman" }).join(" "),
      /^podman run .* --user 1000:1000 --userns keep-id /,
    ));
  test("a name that would be read as an option is refused", () => {
    const mounts = [{ type: "bind", at: "/a,b", from: "/a,readonly=false", access: "read" }] as const;
    assert.throws(() => containerWords({ ...plan, mounts }), /has a comma or a quote/);
  });
});
