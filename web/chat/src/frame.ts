// Reads a frame of the transcript. Nothing of it is trusted to be there: what is missing becomes a
// visible error, never a blank.

export type Media = { kind: string; url: string; caption: string; filename: string };
export type Place = { latitude: number; longitude: number; name: string; address: string };
export type Reply = { kind: "reply"; id: string; text: string; description: string };
export type Link = { kind: "link"; label: string; url: string };
export type Section = { title: string; rows: Part<Reply>[] };
/** A part that was read, or null for one whose required keys are missing. */
export type Part<T> = T | null;

export type Frame = {
  id: string;
  dir: "in" | "out";
  at: string;
  header: Part<Media> | undefined;
  media: Part<Media>[];
  location: Part<Place> | undefined;
  text: string;
  options: Part<Reply | Link>[];
  sections: Part<Section>[];
  footer: string;
  form: boolean;
  said: string | null;
};

type Keys = Record<string, unknown>;

const ID = /^\d{1,15}-\d{1,10}$/;

/** The frame in `json`, or null when a required key is missing or nothing would be drawn. */
export function readFrame(json: string, form: boolean): Frame | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isKeys(value)) return null;
  const { id, dir, at } = value;
  if (typeof id !== "string" || !ID.test(id)) return null;
  if (dir !== "in" && dir !== "out") return null;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at))) return null;
  const frame: Frame = {
    id,
    dir,
    at,
    header: value["header"] === undefined ? undefined : media(value["header"]),
    media: list(value["media"], media),
    location: value["location"] === undefined ? undefined : place(value["location"]),
    text: text(value["text"]),
    options: list(value["options"], option),
    sections: list(value["sections"], section),
    footer: text(value["footer"]),
    form,
    said: typeof value["client_message_id"] === "string" ? value["client_message_id"] : null,
  };
  return form || drawsSomething(frame) ? frame : null;
}

/** Orders two frame ids: negative, zero or positive, as for `sort`. */
export function compareIds(a: string, b: string): number {
  const [aMs = "", aN = ""] = a.split("-");
  const [bMs = "", bN = ""] = b.split("-");
  return Number(aMs) - Number(bMs) || Number(aN) - Number(bN);
}

/** Whether `id` is one the store gives. */
export function isFrameId(id: string): boolean {
  return ID.test(id);
}

function drawsSomething(frame: Frame): boolean {
  return (
    frame.header !== undefined ||
    frame.location !== undefined ||
    frame.media.length + frame.options.length + frame.sections.length > 0 ||
    frame.text.trim() !== "" ||
    frame.footer.trim() !== ""
  );
}

function isKeys(value: unknown): value is Keys {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list<T>(value: unknown, read: (item: unknown) => Part<T>): Part<T>[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map(read) : [null];
}

function media(value: unknown): Part<Media> {
  if (!isKeys(value)) return null;
  const { kind, url } = value;
  if (typeof kind !== "string" || typeof url !== "string" || url === "") return null;
  return { kind, url, caption: text(value["caption"]), filename: text(value["filename"]) };
}

function place(value: unknown): Part<Place> {
  if (!isKeys(value)) return null;
  const { latitude, longitude } = value;
  if (typeof latitude !== "number" || typeof longitude !== "number") return null;
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return { latitude, longitude, name: text(value["name"]), address: text(value["address"]) };
}

function reply(value: unknown): Part<Reply> {
  if (!isKeys(value)) return null;
  const { id } = value;
  if (typeof id !== "string" || id === "" || text(value["text"]).trim() === "") return null;
  return { kind: "reply", id, text: text(value["text"]), description: text(value["description"]) };
}

function option(value: unknown): Part<Reply | Link> {
  if (!isKeys(value)) return null;
  if (value["kind"] === "reply") return reply(value);
  if (value["kind"] !== "link") return null;
  const { url } = value;
  if (typeof url !== "string" || url === "") return null;
  return { kind: "link", label: text(value["label"]) || url, url };
}

function section(value: unknown): Part<Section> {
  if (!isKeys(value) || !Array.isArray(value["rows"])) return null;
  return { title: text(value["title"]), rows: value["rows"].map(reply) };
}
