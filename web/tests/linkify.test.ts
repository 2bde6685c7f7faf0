import assert from "node:assert/strict";
import { test } from "node:test";
import { direction, linkify, plain } from "../chat/src/linkify.ts";
import { degrees, imageAddress, mapAddress, webAddress } from "../chat/src/href.ts";

const links = (text: string): string[] => linkify(text).filter((r) => r.href !== null).map((r) => r.text);

test("wb_15: http and https runs become links, and nothing else", () => {
  const cases: [string, string[]][] = [
    ["see https://ex.example.test/a.", ["https://ex.example.test/a"]],
    ["(https://ex.example.test/a_(b)), or", ["https://ex.example.test/a_(b)"]],
    ["HTTP://EX.example.test?x=1&y=2#z!", ["HTTP://EX.example.test?x=1&y=2#z"]],
    ["a http://a.test b https://b.test\nhttps://c.test", ["http://a.test", "https://b.test", "https://c.test"]],
    ["https://münchen.example.test/grüße", ["https://münchen.example.test/grüße"]],
    ["javascript:alert(1) data:text/html,x ftp://a.test www.a.test", []],
    ["xhttps://a.test", []],
    ["https:// and http://", []],
    ["https://bank.example@evil.test/", []],
    ["**https://a.test**", ["https://a.test**"]],
    ["<https://a.test>", ["https://a.test"]],
    ["https://a.test/\u202Egpj.exe", ["https://a.test/"]],
  ];
  for (const [text, expected] of cases) assert.deepEqual(links(text), expected, text);
});

test("the runs joined are the text", () => {
  const alphabet = ["https://a.test", "http://", ".", ")", "(", " ", "\n", "é", "💬", "\u202e", "javascript:", "<b>"];
  let seed = 7;
  for (let round = 0; round < 2000; round += 1) {
    let text = "";
    for (let n = 0; n < 8; n += 1) {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      text += alphabet[(seed >> 8) % alphabet.length]!;
    }
    const runs = linkify(text);
    assert.equal(runs.map((r) => r.text).join(""), text);
    for (const { href } of runs) if (href !== null) assert.match(href, /^https?:\/\//);
  }
});

test("wb_20: only web addresses are opened", () => {
  for (const bad of ["javascript:alert(1)", "java\nscript:alert(1)", " javascript:x", "data:text/html,x", "blob:x", "https://", "file:///etc"]) {
    assert.equal(webAddress(bad, "https://here.test"), null, bad);
    assert.equal(imageAddress(bad, "https://here.test"), null, bad);
  }
  assert.equal(webAddress("/api/interactions/media/med_1", "https://here.test")?.href, "https://here.test/api/interactions/media/med_1");
  assert.equal(webAddress("/relative"), null);
  assert.equal(imageAddress("data:image/png;base64,AAAA", "https://here.test"), "data:image/png;base64,AAAA");
  assert.equal(imageAddress("data:image/svg+xml;base64,AAAA", "https://here.test"), null);
});

test("a forced reading direction is taken out, everything else stays", () => {
  assert.equal(plain("a\u202Eb\u202Dc\u2068\u05d0\u2069\u200fd"), "abc\u2068\u05d0\u2069\u200fd");
});

test("a text reads from the side of its first letter", () => {
  const cases: [string, string][] = [["مرحبا", "rtl"], ["1: שלום abc", "rtl"], ["abc שלום", "ltr"], ["123", "ltr"], ["", "ltr"], ["\u{1e900}", "rtl"]];
  for (const [text, side] of cases) assert.equal(direction(text), side, text);
});

test("a place becomes a map's address", () => {
  const map = "https://map.example.test/?mlat={lat}&mlon={lon}#map=16/{lat}/{lon}";
  assert.equal(mapAddress(map, 52.520008, -13.4), "https://map.example.test/?mlat=52.520008&mlon=-13.4#map=16/52.520008/-13.4");
  assert.equal(mapAddress("javascript:{lat}", 1, 2), null);
  assert.deepEqual([1, 0.1, -0, 1e-9, 179.123456789].map(degrees), ["1", "0.1", "0", "0", "179.1234568"]);
});
