import assert from "node:assert/strict";
import { test } from "node:test";
import { type FileRead, loadConfig } from "../load.ts";
import { emailWarning } from "./email.ts";

test("mails are verified by default, and config check names a missing authServer", async () => {
  const loadedOf = async (more: string) => {
    const yaml = `platforms:\n  email:\n    address: bot@example.org\n    imap: { host: a }\n    smtp: { host: b }\n${more}`;
    const readFile = async (path: string): Promise<FileRead> =>
      path === "/h/config.yaml" ? { type: "read", bytes: Buffer.from(yaml) } : { type: "missing" };
    const loaded = await loadConfig({ home: "/h", env: {}, userHome: null, cwd: "/", readFile });
    assert.ok(loaded.type === "loaded", JSON.stringify(loaded));
    const { email } = loaded.config.platforms;
    assert.ok(email !== false);
    return [email.verify, emailWarning(email)] as const;
  };
  const warned = /platforms\.email\.authServer is missing; .*Authentication-Results/;
  const [verify, why] = await loadedOf("");
  assert.equal(verify, "require");
  assert.match(why ?? "", warned);
  assert.match((await loadedOf("    verify: require\n"))[1] ?? "", warned);
  assert.deepEqual(await loadedOf("    authServer: mx.example.org\n"), ["require", null]);
  assert.deepEqual(await loadedOf("    verify: auto\n"), ["auto", null]);
  assert.deepEqual(await loadedOf("    verify: off\n"), ["off", null]);
  assert.equal(emailWarning(false), null);
});
