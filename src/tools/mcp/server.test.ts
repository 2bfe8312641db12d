import assert from "node:assert/strict";
import { test } from "node:test";
import { hideSecrets } from "./server.ts";

test("what a server was given is not repeated in reasons", () => {
  const url = "http://ann:password-1@h/mcp?a=b&token=query%20token-2";
  const headers = { Authorization: "Bearer header-token-3" };
  for (const [settings, text, shown] of [
    [{ url, headers }, `bad address ${url}`, "bad address http://ann:[hidden]@h/mcp?a=b&token=[hidden]"],
    [{ url, headers }, "no query token-2", "no [hidden]"],
    [{ url, headers }, "wrong key header-token-3", "wrong key [hidden]"],
    [{ url: "https://ghp_token5@h/mcp" }, "no https://ghp_token5@h/mcp", "no https://[hidden]@h/mcp"],
    [{ url: "no address" }, "x", "x"],
    [{ command: ["a"], env: { KEY: "env-key-4" } }, "I got env-key-4", "I got [hidden]"],
    [{ command: ["a"], env: { KEY: "short" } }, "short", "short"],
  ] as const)
    assert.equal(hideSecrets(settings, text), shown);
});
