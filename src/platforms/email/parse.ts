// From the bytes of a mail to its parts. The library is loaded at the first mail.

import type { Email } from "postal-mime";
import { decodeUtf7, utf7PartsOf, withReadableHeaders } from "./utf7.ts";

/** Rejects what is no mail. The library knows every encoding but UTF-7, which it takes for ASCII. */
export async function parseMail(source: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(withReadableHeaders(source));
  const { isText, isHtml } = utf7PartsOf(source);
  const { text, html } = mail;
  return {
    ...mail,
    ...(isText && text !== undefined ? { text: decodeUtf7(text) } : {}),
    ...(isHtml && html !== undefined ? { html: decodeUtf7(html) } : {}),
  };
}
