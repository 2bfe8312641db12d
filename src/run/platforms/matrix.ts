// Matrix, from its settings.

import type { Config } from "../../config/schema.ts";
import { matrix } from "../../platforms/matrix/index.ts";
import type { Far } from "./index.ts";

export function openMatrix(own: Exclude<Config["platforms"]["matrix"], false>): Far {
  const { homeserver, user, streaming } = own;
  return (around) => ({ platform: matrix({ homeserver, user, streaming, token: own.token.reveal() }, around) });
}
