// The contract suites of src/testing, run over everything we ship. A new store, agent or platform adds one call here.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteArchive, openSqliteStore } from "../src/stores/sqlite/index.ts";
import { type OpenedStore, storeSuite } from "../src/testing/index.ts";

async function openSqlite(writer: "inline" | "thread"): Promise<OpenedStore> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-store-"));
  const file = join(folder, "state.db");
  let store = await openSqliteStore({ file, writer });
  return {
    store,
    async reopen() {
      await store.close();
      store = await openSqliteStore({ file, writer });
      return store;
    },
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
    copyFile: join(folder, "copy.db"),
    async openCopy(copy) {
      const archive = openSqliteArchive(copy);
      return { archive, close: async () => archive.close() };
    },
  };
}

storeSuite("sqlite, writer thread", () => openSqlite("thread"));
storeSuite("sqlite, inline", () => openSqlite("inline"));
