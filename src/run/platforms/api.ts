// The HTTP API, from its settings.

import type { Config } from "../../config/schema.ts";
import { api } from "../../platforms/api/index.ts";
import type { Far } from "./index.ts";

export function openApi({ keys }: Exclude<Config["platforms"]["api"], false>): Far {
  const named = Object.entries(keys).map(([name, { key }]) => ({ name, key: key.reveal() }));
  return (around) => api({ keys: named }, around);
}
