import assert from "node:assert/strict";
import { test } from "node:test";
import { readReference, search } from "../docs/src/document.ts";
import { choices, facts, members, typeOf } from "../docs/src/schema.ts";

const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Tidings", version: "1.2.3", description: "A gateway." },
  paths: {
    "/api/things/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
      get: {
        summary: "One thing.",
        security: [{ key: ["inbox"] }],
        parameters: [{ $ref: "#/components/parameters/limit" }],
        responses: { "200": { description: "Done." }, default: { $ref: "#/components/responses/problem" } },
      },
      post: {
        requestBody: { required: true, content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } } },
        responses: {},
      },
    },
  },
  components: {
    parameters: { limit: { name: "limit", in: "query", schema: { type: "integer" } } },
    responses: {
      problem: { description: "A problem.", content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } } },
    },
    schemas: {
      Thing: { type: "object", properties: { colour: { type: "string" } } },
      Problem: { type: "object", properties: { code: { type: "string", enum: ["not_found", "too_long"] } } },
    },
  },
};

test("operations come with their parameters, bodies, answers, scopes and codes", () => {
  const reference = readReference(DOCUMENT);
  const [get, post] = reference.operations;
  assert.ok(get && post);
  assert.deepEqual([get.method, get.path, get.summary, get.scopes], ["GET", "/api/things/{id}", "One thing.", ["inbox"]]);
  assert.deepEqual(get.parameters.map((p) => [p.name, p.place, p.required]), [["id", "path", true], ["limit", "query", false]]);
  assert.deepEqual(get.answers.map((a) => [a.status, a.description, a.bodies.map((b) => b.type)]),
    [["200", "Done.", []], ["default", "A problem.", ["application/problem+json"]]]);
  assert.equal(post.scopes, null);
  assert.equal(post.body?.required, true);
  assert.deepEqual(reference.codes, ["not_found", "too_long"]);
  assert.notEqual(get.anchor, post.anchor);
});

test("the search looks at every word of a call, a shape and a code", () => {
  const reference = readReference(DOCUMENT);
  const counts = (typed: string) => {
    const found = search(reference, typed);
    return [found.operations.length, found.schemas.length, found.codes.length];
  };
  assert.deepEqual(counts(""), [2, 2, 2]);
  assert.deepEqual(counts("LIMIT things"), [1, 0, 0]);
  assert.deepEqual(counts("ONE thing."), [1, 0, 0]);
  assert.deepEqual(counts("colour"), [0, 1, 0]);
  assert.deepEqual(counts("too_long"), [0, 1, 1]);
});

test("a schema is told in words", () => {
  assert.equal(typeOf({ type: ["string", "null"] }), "text or null");
  assert.equal(typeOf({ type: "array", items: { $ref: "#/components/schemas/Thing" } }), "list of Thing");
  assert.equal(typeOf({ const: "url" }), "\"url\"");
  assert.equal(typeOf({ oneOf: [] }), "one of several");
  assert.deepEqual(facts({ minLength: 1, maxLength: 9, pattern: "^a$", default: 5, additionalProperties: false }),
    ["at least 1 character", "at most 9 characters", "matches ^a$", "no other field", "default 5"]);
  assert.deepEqual(choices({ enum: ["a", 1, null] }), ["a", "1", "null"]);
  const choice = { oneOf: [{ properties: { kind: { const: "url" }, url: {} }, required: ["url"] }, { type: "string" }] };
  assert.deepEqual(members({ type: "array", items: choice }).map((m) => m.label), ["kind = url", "either 2"]);
  assert.deepEqual(members(choice.oneOf[0]).map((m) => [m.label, m.required]), [["kind", false], ["url", true]]);
});

test("a document that is none gives an empty page, never an error", () => {
  for (const odd of [null, 7, "x", [], { paths: { "/a": null, "/b": { get: 7 } }, components: { schemas: [] } }]) {
    assert.doesNotThrow(() => readReference(odd));
  }
});
