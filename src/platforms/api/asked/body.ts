// The body of a request as text: what is not UTF-8 is refused, never guessed at. Its size was limited before.

import { isUtf8 } from "node:buffer";
import { sentenceOf } from "../../../core/fault.ts";
import { type Refusal, invalid } from "../faults.ts";

const notUtf8 = invalid("The body must be JSON in UTF-8, and its bytes are not UTF-8.", undefined, "invalid_encoding");

export async function readBody(request: Request): Promise<string | Refusal> {
  try {
    const bytes = new Uint8Array(await request.arrayBuffer());
    return isUtf8(bytes) ? new TextDecoder().decode(bytes) : notUtf8;
  } catch (error) {
    return invalid(`The body could not be read to its end: ${sentenceOf(error)}`);
  }
}
