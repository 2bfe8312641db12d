// A tool may ask that arguments are repeated as HTTP headers (`x-mcp-header`, protocol revision 2026-07-28). A client must
// drop a tool whose declarations are invalid, or a server could smuggle headers. Pure.

const key = "x-mcp-header";
/** A header name by RFC 9110. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const types: readonly unknown[] = ["string", "integer", "boolean"];

/** Why the declarations in a schema are invalid; null when they are fine, or when there are none. */
export function headerFault(schema: unknown): string | null {
  return faultIn(schema, "", new Set());
}

/** `path` is null where a declaration must not be: outside of a chain of `properties`. */
function faultIn(schema: unknown, path: string | null, names: Set<string>): string | null {
  if (typeof schema !== "object" || schema === null) return null;
  if (!Array.isArray(schema) && Object.hasOwn(schema, key)) {
    const fault = declarationFault(schema as Readonly<Record<string, unknown>>, path, names);
    if (fault !== null) return fault;
  }
  for (const [name, inner] of Object.entries(schema)) {
    if (name === key) continue;
    const isProperties = name === "properties" && !Array.isArray(schema) && typeof inner === "object" && inner !== null;
    const children: readonly (readonly [string | null, unknown])[] = isProperties
      ? Object.entries(inner as object).map(([child, value]) => [path === null ? null : `${path}/${child}`, value])
      : [[null, inner]];
    for (const [at, child] of children) {
      const fault = faultIn(child, at, names);
      if (fault !== null) return fault;
    }
  }
  return null;
}

function declarationFault(
  schema: Readonly<Record<string, unknown>>,
  path: string | null,
  names: Set<string>,
): string | null {
  const name = schema[key];
  if (path === null || path === "") return `${key} stands where no plain property is`;
  if (typeof name !== "string" || !token.test(name)) return `${path}: ${key} is not a header name`;
  if (!types.includes(schema["type"])) return `${path}: ${key} needs a string, an integer or a boolean`;
  if (names.has(name.toLowerCase())) return `${path}: the header ${name} is used twice`;
  names.add(name.toLowerCase());
  return null;
}
