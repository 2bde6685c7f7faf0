// Draws the reference. Every word of the document is a text node.
import { referenced, schemaAnchor, text, keys, type Body, type Json, type Operation, type Reference, type Schema } from "./document.ts";
import { choices, facts, members, typeOf } from "./schema.ts";

type Child = Node | string | null;

// Deeper than any schema of ours; a document that refers to itself inline ends here.
const DEEPEST = 12;

/** An element with its attributes and children. */
export function el(name: string, attributes: Record<string, string>, ...children: Child[]): HTMLElement {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** The list of calls at the side. */
export function drawCalls(operations: Operation[]): HTMLElement {
  return el("ul", {}, ...operations.map((o) =>
    el("li", {}, el("a", { href: `#${o.anchor}` }, method(o.method), " ", el("code", {}, o.path)))));
}

/** The calls under their paths, then the schemas, then the codes. */
export function drawReference(found: Pick<Reference, "operations" | "schemas" | "codes">): HTMLElement[] {
  const sections: HTMLElement[] = [];
  const paths = [...new Set(found.operations.map((o) => o.path))];
  for (const path of paths) {
    const operations = found.operations.filter((o) => o.path === path);
    sections.push(el("section", {}, el("h2", {}, el("code", {}, path)), ...operations.map(drawOperation)));
  }
  if (found.schemas.length > 0) {
    sections.push(el("section", {}, el("h2", {}, "Shapes"), ...found.schemas.map(drawNamed)));
  }
  if (found.codes.length > 0) {
    sections.push(el("section", { id: "codes" }, el("h2", {}, "Problem codes"),
      el("ul", { class: "codes" }, ...found.codes.map((code) => el("li", {}, el("code", {}, code))))));
  }
  return sections;
}

function drawOperation(o: Operation): HTMLElement {
  const key = o.scopes === null ? "Open: needs no key." : `Needs a key with the scope ${o.scopes.join(", ") || "(any)"}.`;
  return el("article", { id: o.anchor },
    el("h3", {}, method(o.method), " ", o.summary || o.path),
    o.description === "" ? null : el("p", {}, o.description),
    el("p", { class: "muted" }, key),
    o.parameters.length === 0 ? null : el("div", {}, el("h4", {}, "Parameters"), el("ul", { class: "members" },
      ...o.parameters.map((p) => member(p.name, p.required, p.schema, p.description, `in ${p.place}`, 0)))),
    o.body === null ? null : el("div", {}, el("h4", {}, o.body.required ? "Body" : "Body, optional"), ...o.body.bodies.map(drawBody)),
    el("h4", {}, "Answers"),
    el("ul", { class: "members" }, ...o.answers.map((a) =>
      el("li", {}, el("code", { class: "label" }, a.status === "default" ? "otherwise" : a.status), " ", a.description, ...a.bodies.map(drawBody)))));
}

function drawNamed(schema: Schema): HTMLElement {
  return el("article", { id: schema.anchor }, el("h3", {}, schema.name), drawSchema(schema.schema, 0));
}

function drawBody(body: Body): HTMLElement {
  return el("div", { class: "body" }, el("code", {}, body.type), ": ", typeName(body.schema),
    referenced(body.schema) === null ? drawSchema(body.schema, 0) : null);
}

function drawSchema(schema: Json, depth: number): HTMLElement {
  const inner = members(schema);
  const values = choices(schema);
  const description = text(keys(schema)["description"]);
  return el("div", { class: "schema" },
    depth === 0 && description !== "" ? el("p", {}, description) : null,
    facts(schema).length > 0 && depth === 0 ? el("p", { class: "muted" }, facts(schema).join(" · ")) : null,
    values.length > 0 ? drawChoices(values) : null,
    inner.length > 0 && depth < DEEPEST ? el("ul", { class: "members" },
      ...inner.map((m) => member(m.label, m.required, m.schema, text(keys(m.schema)["description"]), "", depth + 1))) : null);
}

function member(label: string, required: boolean, schema: Json, description: string, place: string, depth: number): HTMLElement {
  const bounds = facts(schema);
  const holds = referenced(schema) === null && (members(schema).length > 0 || choices(schema).length > 0);
  return el("li", {},
    el("code", { class: "label" }, label), " ", typeName(schema),
    required ? el("strong", {}, " required") : null,
    place === "" ? null : el("span", { class: "muted" }, ` ${place}`),
    description === "" ? null : el("p", {}, description),
    bounds.length === 0 ? null : el("p", { class: "muted" }, bounds.join(" · ")),
    holds ? drawSchema(schema, Math.max(depth, 1)) : null);
}

function drawChoices(values: string[]): HTMLElement {
  const list = el("ul", { class: "choices" }, ...values.map((value) => el("li", {}, el("code", {}, value))));
  if (values.length <= 12) return list;
  return el("details", {}, el("summary", {}, `${values.length} values`), list);
}

function typeName(schema: Json): HTMLElement {
  const name = referenced(schema) ?? referenced(keys(schema)["items"]);
  const words = typeOf(schema);
  return name === null ? el("span", { class: "type" }, words) : el("a", { class: "type", href: `#${schemaAnchor(name)}` }, words);
}

function method(name: string): HTMLElement {
  return el("span", { class: `method ${name.toLowerCase()}` }, name);
}
