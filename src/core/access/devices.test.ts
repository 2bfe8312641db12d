// Which links work, which give way, and what a browser is called.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "../ids.ts";
import {
  type AccessLink,
  type Device,
  accessLimits,
  deviceName,
  staleLinks,
  surplusDevices,
  useLink,
} from "./devices.ts";

const link = (digest: string, expiresAt: number): AccessLink => ({ digest, expiresAt: expiresAt as Instant });

test("a link works until it expires, and only the right one", () => {
  const links = [link("a", 10), link("b", 20)];
  for (const [digest, now, works] of [
    ["a", 9, true],
    ["a", 10, false],
    ["b", 10, true],
    ["b", 20, false],
    ["c", 0, false],
    ["", 0, false],
  ] as const)
    assert.equal(useLink(links, digest, now) !== null, works, `${digest} at ${now}`);
});

test("expired links go, and the oldest beyond the limit, so that there is room for one more", () => {
  assert.deepEqual(staleLinks([link("a", 10), link("b", 20)], 15), [link("a", 10)]);
  const many = Array.from({ length: accessLimits.linksMax + 2 }, (_, i) => link(String(i), 100 + i));
  assert.deepEqual(staleLinks(many, 1), many.slice(0, 3));
});

test("the devices that were unused for the longest time give way", () => {
  const device = (n: number): Device => ({
    id: `d${n}`,
    digest: "",
    name: "",
    createdAt: 0 as Instant,
    seenAt: n as Instant,
  });
  const some = Array.from({ length: accessLimits.devicesMax - 1 }, (_, i) => device(i));
  assert.deepEqual(surplusDevices(some), []);
  assert.deepEqual(surplusDevices([...some, device(1_000)]), [device(0)]);
});

test("a browser is named by what it is and runs on, and by nothing else that it sends", () => {
  for (const [agent, name] of [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox on Linux"],
    ["Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge on Windows"],
    ["Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36", "Chrome on Android"],
    ["Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) Version/17.0 Mobile/15E148 Safari/604.1", "Safari on iOS"],
    ["Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) AppleWebKit/605 Version/17 Safari/605", "Safari on macOS"],
    ["curl/8.5 <script>", "Browser"],
    ["", "Browser"],
  ] as const)
    assert.equal(deviceName(agent), name);
});
