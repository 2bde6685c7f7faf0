// What the server wrote into the page.

export type Page = {
  channel: string;
  title: string;
  /** Source of the picture beside the title; empty: the title's first letter. */
  avatar: string;
  /** The visitor's own address, shown so that something can be sent to it; empty: not shown. */
  address: string;
  mapLink: string;
  /** The page's own query: its parameters go with every message of this page load. */
  query: string;
  /** What a relative address is relative to. */
  origin: string;
};

/** Reads the page's settings from its `<meta>` elements. */
export function readPage(document: Document): Page {
  const setting = (name: string): string =>
    document.querySelector<HTMLMetaElement>(`meta[name="tidings:${name}"]`)?.content ?? "";
  return {
    channel: setting("channel"),
    title: setting("title") || "Chat",
    avatar: setting("avatar"),
    address: setting("address"),
    mapLink: setting("map-link"),
    query: document.location.search,
    origin: document.location.origin,
  };
}
