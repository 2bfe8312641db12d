// A stop leaves a look at the machine behind: the list of processes with their command lines. Secrets in them are redacted.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { start, until } from "../process/stage.ts";
import { limit, openRedStage, plantedKey } from "./stage.ts";

const secrets = ["hunter2-in-an-option-5150", "bearer-in-a-header-8086", "password-in-an-address-6502", plantedKey];

test("diagnostics hold no secrets of command lines", limit, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  const [option, header, address, key] = secrets;
  const words = [
    "-e",
    "setTimeout(() => {}, 600000)",
    `--password=${option}`,
    "Authorization: Bearer ${header}".replace("${header}", header ?? ""),
    `https://ann:${address}@example.org/`,
    `x${key}`,
  ];
  start(t, process.execPath, ["-e", "setTimeout(() => {}, 600000)", "--", ...words.slice(2)], {});
  const token = readFileSync(join(stage.home, "control.token"), "utf8").trim();
  start(t, process.execPath, ["-e", "setTimeout(() => {}, 600000)", "--", `http://127.0.0.1/?token=${token}`], {});
  await target.end("SIGTERM");
  const logs = join(stage.home, "logs");
  const texts = (): string =>
    readdirSync(logs)
      .map((name) => readFileSync(join(logs, name), "utf8"))
      .join("\n");
  await until(texts, (text) => /end of the diagnostic|cut short/.test(text), "the diagnostic is written");
  const found = [...secrets, token].filter((secret) => texts().includes(secret));
  assert.deepEqual(found, [], "secrets stand in the logs");
});
