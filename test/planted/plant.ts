// Loaded with --import into every process of a test: replaces a piece of one source file while it is read. The fault to
// plant comes in the environment; nothing on the disk changes.

import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";
import { join } from "node:path";
import { type PlantedFault, planted } from "./fault.ts";

const root = join(import.meta.dirname, "../..");
const fault = JSON.parse(process.env["PLANTED_FAULT"] ?? "null") as PlantedFault | null;

if (fault !== null) {
  const target = pathToFileURL(join(root, fault.file)).href;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (url.split("?")[0] !== target) return loaded;
      const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      return { ...loaded, source: planted(source, fault) };
    },
  });
}
