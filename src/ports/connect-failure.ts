// Whether a request that failed can have left this machine, by the error of the runtime or of a client library.

/** Nothing is sent before a name is resolved, a connection is made, and its certificate is checked. */
const beforeSending =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_WRONG_VERSION_NUMBER|HOSTNAME_MISMATCH)$|CERT|^UNABLE_TO_|^INVALID_(?:CA|PURPOSE)$/;
/** Other errors come while connecting as well as later; the words tell which it was. */
const whileConnecting = /\bconnect E[A-Z]+\b|before secure TLS connection was established/;
/** Client libraries wrap the error of the connection, each under a name of its own. */
const wrappers = ["cause", "error", "original"] as const;
const depthMax = 8;

type Facts = Readonly<Record<string, unknown>>;

/** Why no connection was made; null when something may have been sent. */
export function connectFailure(error: unknown, depth = 0): string | null {
  if (typeof error !== "object" || error === null || depth > depthMax) return null;
  const facts = error as Facts;
  const code = typeof facts["code"] === "string" ? facts["code"] : "";
  if (beforeSending.test(code)) return code;
  const isConnecting = facts["syscall"] === "connect" || whileConnecting.test(String(facts["message"]));
  const { errors } = facts;
  // Several addresses of one name fail together; all of them must have failed this way.
  if (Array.isArray(errors) && errors.length > 0) {
    const found = errors.map((one: unknown) => connectFailure(one, depth + 1));
    return found.every((one) => one !== null) ? (found[0] ?? null) : null;
  }
  if (isConnecting) return code === "" ? "no connection was made" : code;
  const inner = wrappers.map((name) => facts[name]).find((one) => typeof one === "object" && one !== null);
  return connectFailure(inner, depth + 1);
}
