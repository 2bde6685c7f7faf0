import assert from "node:assert/strict";
import { test } from "node:test";
import { readFrame } from "../chat/src/frame.ts";

const HEAD = { id: "1790000000000-0", dir: "out", at: "2026-11-30T18:00:00.000Z" };
const read = (more: object, form = false) => readFrame(JSON.stringify({ ...HEAD, ...more }), form);

test("a whole frame is read whole", () => {
  const frame = read({
    header: { kind: "image", url: "/api/interactions/media/med_1", caption: "Terrace" },
    media: [{ kind: "document", url: "https://ex.example.test/m", filename: "menu.pdf" }],
    location: { latitude: 52.52, longitude: 13.405, name: "Bistro" },
    text: "Table?",
    options: [
      { kind: "reply", id: "o:1:0", text: "Yes", description: "2 seats" },
      { kind: "link", label: "Menu", url: "https://ex.example.test/menu" },
    ],
    sections: [{ title: "Drinks", rows: [{ id: "o:1:2", text: "Tea", description: "hot" }] }],
    footer: "By noon",
    later: "unknown keys are passed over",
  });
  assert.deepEqual(frame, {
    ...HEAD,
    header: { kind: "image", url: "/api/interactions/media/med_1", caption: "Terrace", filename: "" },
    media: [{ kind: "document", url: "https://ex.example.test/m", caption: "", filename: "menu.pdf" }],
    location: { latitude: 52.52, longitude: 13.405, name: "Bistro", address: "" },
    text: "Table?",
    options: [
      { kind: "reply", id: "o:1:0", text: "Yes", description: "2 seats" },
      { kind: "link", label: "Menu", url: "https://ex.example.test/menu" },
    ],
    sections: [{ title: "Drinks", rows: [{ kind: "reply", id: "o:1:2", text: "Tea", description: "hot" }] }],
    footer: "By noon",
    form: false,
    said: null,
  });
});

test("a part without a required key is marked and takes nothing with it", () => {
  const frame = read({
    text: "kept",
    header: { kind: "image" },
    media: [{ url: "https://ex.example.test/" }, 7],
    location: { latitude: 91, longitude: 0 },
    options: [{ kind: "reply", text: "no id" }, { kind: "link", label: "no url" }, { kind: "new" }],
    sections: [{ rows: [{ id: "o:1:0" }] }, {}],
  });
  assert.ok(frame);
  assert.equal(frame.text, "kept");
  assert.equal(frame.header, null);
  assert.deepEqual(frame.media, [null, null]);
  assert.equal(frame.location, null);
  assert.deepEqual(frame.options, [null, null, null]);
  assert.deepEqual(frame.sections, [{ title: "", rows: [null] }, null]);
});

test("a form is a frame even without a text", () => {
  assert.equal(read({}, true)?.form, true);
  assert.equal(read({}), null);
});
