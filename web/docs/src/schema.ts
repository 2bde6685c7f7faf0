// Says what a JSON Schema asks for: a type in words, the bounds as short facts, and what it is made of.
import { items, keys, referenced, text, type Json } from "./document.ts";

/** A named part of a schema: a property, an alternative, an item. */
export type Member = { label: string; required: boolean; schema: Json };

/** The type in words: `list of text`, `one of`, the name of a component. */
export function typeOf(schema: Json): string {
  const name = referenced(schema);
  if (name !== null) return name;
  const s = keys(schema);
  if (s["const"] !== undefined) return JSON.stringify(s["const"]);
  const type = s["type"];
  const named = Array.isArray(type) ? type.map(text) : [text(type)];
  if (named.includes("array")) {
    const list = s["items"] === undefined ? "list" : `list of ${typeOf(s["items"])}`;
    return named.includes("null") ? `${list} or null` : list;
  }
  if (named[0] !== "") return named.map((n) => WORDS[n] ?? n).join(" or ");
  if (s["oneOf"] !== undefined || s["anyOf"] !== undefined) return "one of several";
  if (s["enum"] !== undefined) return "one of a list";
  if (s["properties"] !== undefined) return "object";
  return "any value";
}

const WORDS: Record<string, string> = { string: "text", boolean: "true or false" };

/** The bounds, each a short fact. */
export function facts(schema: Json): string[] {
  const s = keys(schema);
  const out: string[] = [];
  const say = (key: string, words: (value: string) => string): void => {
    const value = s[key];
    if (value !== undefined && typeof value !== "object") out.push(words(String(value)));
  };
  say("format", (v) => `format ${v}`);
  say("minLength", (v) => `at least ${counted(v, "character")}`);
  say("maxLength", (v) => `at most ${counted(v, "character")}`);
  say("pattern", (v) => `matches ${v}`);
  say("minimum", (v) => `≥ ${v}`);
  say("exclusiveMinimum", (v) => `> ${v}`);
  say("maximum", (v) => `≤ ${v}`);
  say("exclusiveMaximum", (v) => `< ${v}`);
  say("multipleOf", (v) => `multiple of ${v}`);
  say("minItems", (v) => `at least ${counted(v, "item")}`);
  say("maxItems", (v) => `at most ${counted(v, "item")}`);
  say("maxProperties", (v) => `at most ${v} entries`);
  if (s["uniqueItems"] === true) out.push("no item twice");
  if (s["additionalProperties"] === false) out.push("no other field");
  if (s["default"] !== undefined) out.push(`default ${JSON.stringify(s["default"])}`);
  const examples = items(s["examples"]);
  if (examples.length > 0) out.push(`for example ${examples.map((e) => JSON.stringify(e)).join(", ")}`);
  return out;
}

/** `1 item`, `2 items`. */
export function counted(value: string | number, one: string): string {
  return `${value} ${one}${String(value) === "1" ? "" : "s"}`;
}

/** The values of an `enum`, as JSON without the quotes of a plain text. */
export function choices(schema: Json): string[] {
  return items(keys(schema)["enum"]).map((v) => (typeof v === "string" ? v : JSON.stringify(v)));
}

/** What it is made of: properties, then alternatives; for a list those of its items. */
export function members(schema: Json): Member[] {
  const s = keys(schema);
  const required = new Set(items(s["required"]).map(text));
  const out: Member[] = Object.entries(keys(s["properties"])).map(([label, inner]) => ({
    label,
    required: required.has(label),
    schema: inner,
  }));
  const other = s["additionalProperties"];
  if (typeof other === "object" && other !== null) out.push({ label: "any name", required: false, schema: other });
  for (const way of ["oneOf", "anyOf", "allOf"]) {
    const list = items(s[way]);
    list.forEach((inner, n) => {
      out.push({ label: alternative(inner) ?? `${way === "allOf" ? "and" : "either"} ${n + 1}`, required: false, schema: inner });
    });
  }
  if (s["items"] !== undefined && referenced(s["items"]) === null) out.push(...members(s["items"]));
  return out;
}

// An alternative is best named by the constant that tells it from the others.
function alternative(schema: Json): string | null {
  for (const [name, inner] of Object.entries(keys(keys(schema)["properties"]))) {
    const constant = keys(inner)["const"];
    if (typeof constant === "string") return `${name} = ${constant}`;
  }
  return null;
}
