// Which files a store names: those of messages, of turns that have not ended and of items that are still to be sent. Reads
// all of it once, so it is for stores that nobody serves.

import type { DatabaseSync } from "node:sqlite";
import type { FileRef } from "../../../core/message.ts";
import { reading } from "./connect.ts";

export type Named = Pick<FileRef, "name" | "blob">;

const named = `
SELECT one.value ->> 'blob' AS blob, one.value ->> 'name' AS name
  FROM messages, json_each(messages.files) AS one WHERE messages.files IS NOT NULL
UNION ALL
SELECT one.value ->> 'blob', one.value ->> 'name'
  FROM turns, json_each(turns.input, '$.body.files') AS one WHERE turns.state <> 'done'
UNION ALL
SELECT one.value ->> 'blob', one.value ->> 'name'
  FROM items, json_each(items.body, '$.files') AS one WHERE items.state NOT IN ('delivered', 'dead')`;

/** Each once, under the first of its names. */
export function namedFiles(db: DatabaseSync): readonly Named[] {
  return reading(db, () => {
    // Before messages had files, nothing had.
    const columns = db.prepare("PRAGMA table_info(messages)").all();
    if (!columns.some((one) => one["name"] === "files")) return [];
    const found = new Map<string, string>();
    for (const { blob, name } of db.prepare(named).iterate())
      if (typeof blob === "string" && !found.has(blob)) found.set(blob, String(name));
    return [...found].map(([blob, name]) => ({ blob, name }));
  });
}
