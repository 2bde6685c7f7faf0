// Reads an OpenAPI 3.1 document into what the page shows. Pure; tolerant of what it does not know.

export type Json = unknown;
export type Keys = { readonly [key: string]: Json };

export type Parameter = { name: string; place: string; required: boolean; description: string; schema: Json };
export type Body = { type: string; schema: Json };
export type Answer = { status: string; description: string; bodies: Body[] };
export type Operation = {
  /** Fragment of its address on the page. */
  anchor: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  /** The scopes a key must have; null: open without a key. */
  scopes: string[] | null;
  parameters: Parameter[];
  body: { required: boolean; bodies: Body[] } | null;
  answers: Answer[];
  /** Lower-cased text the search looks through. */
  haystack: string;
};
export type Schema = { name: string; anchor: string; schema: Json; haystack: string };
export type Reference = {
  title: string;
  version: string;
  description: string;
  operations: Operation[];
  schemas: Schema[];
  codes: string[];
};

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"];

/** Reads the whole document. */
export function readReference(document: Json): Reference {
  const root = keys(document);
  const about = keys(root["info"]);
  const components = keys(root["components"]);
  const schemas = Object.entries(keys(components["schemas"])).map(([name, schema]) => ({
    name,
    anchor: schemaAnchor(name),
    schema,
    haystack: haystack(name, schema),
  }));
  const operations: Operation[] = [];
  for (const [path, item] of Object.entries(keys(root["paths"]))) {
    const shared = items(keys(item)["parameters"]);
    for (const method of METHODS) {
      const value = keys(item)[method];
      if (value !== undefined) operations.push(readOperation(root, path, method, keys(value), shared));
    }
  }
  const code = keys(keys(keys(keys(components["schemas"])["Problem"])["properties"])["code"]);
  return {
    title: text(about["title"]),
    version: text(about["version"]),
    description: text(about["description"]),
    operations,
    schemas,
    codes: items(code["enum"]).map(text),
  };
}

/** The operations, schemas and codes that hold every word of the search. */
export function search(reference: Reference, typed: string): Pick<Reference, "operations" | "schemas" | "codes"> {
  const words = typed.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const holds = (hay: string): boolean => words.every((word) => hay.includes(word));
  return {
    operations: reference.operations.filter((o) => holds(o.haystack)),
    schemas: reference.schemas.filter((s) => holds(s.haystack)),
    codes: reference.codes.filter((c) => holds(c.toLowerCase())),
  };
}

/** The fragment a schema of the components is found under. */
export function schemaAnchor(name: string): string {
  return `schema-${name}`;
}

/** The component's name in a local reference, or null. */
export function referenced(schema: Json): string | null {
  const ref = keys(schema)["$ref"];
  if (typeof ref !== "string") return null;
  const match = /^#\/components\/schemas\/([^/]+)$/.exec(ref);
  return match?.[1] ?? null;
}

/** `value` as an object; anything else is an empty one. */
export function keys(value: Json): Keys {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Keys) : {};
}

/** `value` as a list; anything else is an empty one. */
export function items(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** `value` as text; anything else is empty. */
export function text(value: Json): string {
  return typeof value === "string" ? value : "";
}

function readOperation(root: Keys, path: string, method: string, value: Keys, shared: readonly Json[]): Operation {
  const request = keys(resolved(root, value["requestBody"]));
  const parameters = [...shared, ...items(value["parameters"])].map((p) => readParameter(keys(resolved(root, p))));
  const answers = Object.entries(keys(value["responses"])).map(([status, answer]) => {
    const read = keys(resolved(root, answer));
    return { status, description: text(read["description"]), bodies: bodies(read["content"]) };
  });
  return {
    anchor: `${method}-${path}`.replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, ""),
    method: method.toUpperCase(),
    path,
    summary: text(value["summary"]),
    description: text(value["description"]),
    scopes: scopes(value["security"] ?? root["security"]),
    parameters,
    body: value["requestBody"] === undefined ? null : { required: request["required"] === true, bodies: bodies(request["content"]) },
    answers,
    haystack: haystack(`${method} ${path}`, value),
  };
}

function readParameter(value: Keys): Parameter {
  return {
    name: text(value["name"]),
    place: text(value["in"]),
    required: value["required"] === true,
    description: text(value["description"]),
    schema: value["schema"],
  };
}

function bodies(content: Json): Body[] {
  return Object.entries(keys(content)).map(([type, body]) => ({ type, schema: keys(body)["schema"] }));
}

function scopes(security: Json): string[] | null {
  if (!Array.isArray(security) || security.length === 0) return null;
  const named = new Set<string>();
  for (const way of security) for (const list of Object.values(keys(way))) for (const s of items(list)) named.add(text(s));
  return [...named];
}

// Follows a local reference once: a parameter, a body or an answer kept under the components.
function resolved(root: Keys, value: Json): Json {
  const ref = keys(value)["$ref"];
  if (typeof ref !== "string" || !ref.startsWith("#/")) return value;
  return ref.slice(2).split("/").reduce<Json>((at, key) => keys(at)[key.replaceAll("~1", "/").replaceAll("~0", "~")], root);
}

// The names and words in a value, whatever its shape.
function haystack(name: string, value: Json): string {
  const words: string[] = [name];
  const walk = (at: Json): void => {
    if (typeof at === "string") words.push(at);
    else if (Array.isArray(at)) at.forEach(walk);
    else for (const [key, inner] of Object.entries(keys(at))) {
      words.push(key);
      walk(inner);
    }
  };
  walk(value);
  return words.join(" ").toLowerCase();
}
