// The result of a file call that is answered by a text.

import type { ToolResult } from "../../core/journal.ts";
import { failed, ok } from "../define.ts";
import type { FileReplyFrame } from "./protocol.ts";

/** The result of a call that is answered by a text. */
export function textResult({ reply, body }: FileReplyFrame): ToolResult {
  if (reply.type === "text") return ok(Buffer.from(body).toString("utf8"));
  return failed(reply.type === "failed" ? reply.why : "The file worker gave no text. Try again.");
}
