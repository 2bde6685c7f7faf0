// A stand-in for the gateway, to work on the pages without one: serves what was built, a stream,
// and scripted frames of every shape. Everybody who opens it is the same visitor.
//
//   npm run build && npm run dev [PORT] [empty]
//
// What the person writes is answered: "down" refuses the next POST, "cut" ends the stream, "end" ends
// the session, "reset" sends the transcript anew, "broken" appends an unreadable frame.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { FRAMES } from "./frames.mjs";

const dist = new URL("../../dist/", import.meta.url);
const TYPES = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8" };
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "img-src 'self' data: https:; media-src 'self' https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DOCS_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const THEME = process.env.THEME ?? "";

const transcript = [];
const streams = new Set();
const known = new Map();
let ended = false;
let down = false;
let clock = Date.now() - 90_000_000;

function append(frame) {
  clock = Math.max(clock + 1, transcript.length < FRAMES.length ? clock + 4_000_000 : Date.now());
  const { event = "chat.message", raw, ...rest } = frame;
  const id = `${clock}-0`;
  const body = raw ?? { id, dir: "out", at: new Date(clock).toISOString(), ...rest };
  const entry = { id, event, text: JSON.stringify(body) };
  transcript.push(entry);
  for (const stream of streams) write(stream, entry);
  return entry;
}

function write(response, { id, event, text }) {
  response.write(`${id ? `id: ${id}\n` : ""}event: ${event}\ndata: ${text}\n\n`);
}

function stream(request, response) {
  if (ended) return problem(response, 401, "visitor_session_missing");
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store", "x-accel-buffering": "no",
  });
  response.write("retry: 3000\n\n");
  const cursor = request.headers["last-event-id"];
  let from = 0;
  if (cursor !== undefined) {
    from = transcript.findIndex((entry) => entry.id === cursor) + 1;
    if (from === 0) write(response, { event: "chat.reset", text: "{}" });
  }
  for (const entry of transcript.slice(from)) write(response, entry);
  write(response, { event: "chat.backlog_done", text: "{}" });
  streams.add(response);
  const beat = setInterval(() => response.write(": keepalive\n\n"), 15_000);
  response.on("close", () => {
    clearInterval(beat);
    streams.delete(response);
  });
}

async function said(request, response) {
  let text = "";
  for await (const chunk of request) text += chunk;
  if (down) {
    down = false;
    return problem(response, 503, "store_unavailable");
  }
  const body = JSON.parse(text);
  const id = body.client_message_id;
  if (known.has(id)) return answer(response, 202, { id: known.get(id) });
  const option = body.reply_id && optionText(body.reply_id);
  if (body.reply_id && option === undefined) return problem(response, 404, "unknown_reply");
  known.set(id, `msg_${known.size}`);
  append({ dir: "in", text: body.text ?? option, client_message_id: id });
  answer(response, 202, { id: known.get(id) });
  command(body.text ?? option);
}

function command(text) {
  if (text === "down") down = true;
  else if (text === "cut") for (const stream of streams) stream.end();
  else if (text === "broken") append({ raw: { text: "no id" } });
  else if (text === "reset") {
    for (const stream of streams) {
      write(stream, { event: "chat.reset", text: "{}" });
      for (const entry of transcript) write(stream, entry);
      write(stream, { event: "chat.backlog_done", text: "{}" });
    }
  } else if (text === "end") {
    ended = true;
    for (const stream of streams) {
      write(stream, { event: "chat.closed", text: "{}" });
      stream.end();
    }
  } else append({ text: `You said: ${text}` });
}

function optionText(id) {
  for (const frame of FRAMES) {
    for (const option of [...(frame.options ?? []), ...(frame.sections ?? []).flatMap((s) => s.rows)]) {
      if (option.id === id) return option.text;
    }
  }
  return undefined;
}

function answer(response, status, body, type = "application/json") {
  response.writeHead(status, { "content-type": type });
  response.end(JSON.stringify(body));
}

function problem(response, status, code) {
  answer(response, status, { type: "about:blank", title: code, status, detail: code, code }, "application/problem+json");
}

function escaped(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.codePointAt(0)};`);
}

async function file(response, room, name, policy) {
  let bytes;
  try {
    bytes = await readFile(new URL(`${room}/${name}`, dist));
  } catch {
    return problem(response, 404, "not_found");
  }
  response.writeHead(200, { "content-type": TYPES[extname(name)], "content-security-policy": policy, "x-content-type-options": "nosniff" });
  response.end(bytes);
}

async function page(response) {
  const settings = {
    title: "Bistro <Königin>", channel: "web", theme: THEME === "" ? "" : "/chat/_/theme.css", avatar: "",
    address: "vis_01j0000000000000000000000a",
    map_link: "https://www.openstreetmap.org/?mlat={lat}&mlon={lon}#map=16/{lat}/{lon}",
  };
  const template = await readFile(new URL("chat/index.html", dist), "utf8");
  response.writeHead(200, { "content-type": TYPES[".html"], "content-security-policy": POLICY, "cache-control": "no-store" });
  response.end(template.replace(/\{\{(\w+)\}\}/g, (_, key) => escaped(settings[key])));
}

if (!process.argv.includes("empty")) FRAMES.forEach(append);
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, "http://localhost");
  const name = pathname.split("/").at(-1);
  if (pathname === "/chat/web") void page(response);
  else if (pathname === "/chat/_/theme.css") response.writeHead(200, { "content-type": TYPES[".css"] }).end(THEME);
  else if (pathname.startsWith("/chat/_/")) void file(response, "chat", name, POLICY);
  else if (pathname === "/chat/web/stream") stream(request, response);
  else if (pathname === "/chat/web/messages" && request.method === "POST") void said(request, response);
  else if (pathname === "/docs") void file(response, "docs", "index.html", DOCS_POLICY);
  else if (pathname.startsWith("/docs/")) void file(response, "docs", name, DOCS_POLICY);
  else if (pathname === "/openapi.json" && process.env.OPENAPI) {
    void readFile(process.env.OPENAPI).then((bytes) => response.writeHead(200, { "content-type": "application/json" }).end(bytes));
  } else if (pathname === "/api/interactions/media/med_picture") {
    response.writeHead(200, { "content-type": "image/png" });
    void readFile(new URL("../../../src/cli/sandbox_photo.b64", import.meta.url), "utf8").then((b64) => response.end(Buffer.from(b64, "base64")));
  } else problem(response, 404, "not_found");
});
server.listen(Number(process.argv[2] ?? 5180), "127.0.0.1", () => {
  const { port } = server.address();
  console.log(`READY http://127.0.0.1:${port}/chat/web http://127.0.0.1:${port}/docs`);
});
