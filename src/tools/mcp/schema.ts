// What a model is told of a foreign tool. Servers describe themselves at any length; the fixed part of every request is
// paid for with each step, so texts are cut and schemas are thinned until they fit. Pure.

export const descriptionMax = 500;
const propertyTextMax = 200;
const schemaMax = 4_000;
const depthMax = 12;

export type Schema = Readonly<Record<string, unknown>>;

export function shortText(text: string, max = descriptionMax): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= max ? flat : `${flat.slice(0, max - 1).toWellFormed()}…`;
}

/** The schema as it is where it is small, else without what only explains, else its first level alone. */
export function shortSchema(schema: unknown): Schema {
  const whole = object(schema) ?? {};
  for (const thin of [cut, bare]) {
    const thinned = thin(whole);
    if (JSON.stringify(thinned).length <= schemaMax) return { type: "object", ...thinned };
  }
  return flat(whole);
}

/** Of no use to a model. */
const idle = new Set(["$schema", "$id", "$comment", "title", "examples", "example", "markdownDescription"]);

function cut(schema: Schema): Schema {
  return walked(schema, (key, value) => {
    if (idle.has(key)) return undefined;
    return key === "description" && typeof value === "string" ? shortText(value, propertyTextMax) : value;
  });
}

function bare(schema: Schema): Schema {
  return walked(cut(schema), (key, value) => (key === "description" || key === "default" ? undefined : value));
}

/** The names of the arguments with their types, as many as fit; what is inside them the server will check itself. */
function flat(schema: Schema): Schema {
  const properties: Record<string, unknown> = {};
  let room = schemaMax - 200;
  for (const [name, value] of Object.entries(object(schema["properties"]) ?? {})) {
    const type = object(value)?.["type"];
    const kept = typeof type === "string" ? { type } : {};
    room -= name.length + JSON.stringify(kept).length + 4;
    if (room < 0) break;
    properties[name] = kept;
  }
  const { required } = schema;
  const wanted = Array.isArray(required) ? required.filter((one) => typeof one === "string" && one in properties) : [];
  return { type: "object", properties, ...(wanted.length === 0 ? {} : { required: wanted }) };
}

/** A copy with each keyword passed through `keep`; the names of properties are names and not keywords. */
function walked(schema: Schema, keep: (key: string, value: unknown) => unknown, depth = 0): Schema {
  const copy: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const kept = keep(key, value);
    if (kept !== undefined) copy[key] = walkedValue(key, kept, keep, depth);
  }
  return copy;
}

const named = new Set(["properties", "$defs", "definitions", "patternProperties"]);

function walkedValue(key: string, value: unknown, keep: (key: string, value: unknown) => unknown, depth: number) {
  if (depth > depthMax) return typeof value === "object" ? {} : value;
  if (key === "enum" || key === "const" || key === "default" || key === "required") return value;
  if (Array.isArray(value)) {
    return value.map((one: unknown) => {
      const inner = object(one);
      return inner === null ? one : walked(inner, keep, depth + 1);
    });
  }
  const inner = object(value);
  if (inner === null) return value;
  if (!named.has(key)) return walked(inner, keep, depth + 1);
  return Object.fromEntries(
    Object.entries(inner).map(([name, one]) => {
      const schema = object(one);
      return [name, schema === null ? one : walked(schema, keep, depth + 1)];
    }),
  );
}

function object(value: unknown): Schema | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : null;
}
