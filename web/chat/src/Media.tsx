// Pictures, videos, sounds, documents and links. What cannot be shown becomes its link.
import { useState } from "preact/hooks";
import type { Media, Part } from "./frame.ts";
import { imageAddress, webAddress } from "./href.ts";
import { FileIcon, LinkIcon } from "./icons.tsx";
import { plain } from "./linkify.ts";
import type { Page } from "./page.ts";

type Props = { item: Part<Media>; page: Page };

export function MediaItem({ item, page }: Props) {
  const [broken, setBroken] = useState(false);
  if (item === null) return <p class="unshown" dir="ltr">Something came here that cannot be shown.</p>;
  const url = webAddress(item.url, page.origin)?.href ?? null;
  const failed = (): void => setBroken(true);
  const caption = plain(item.caption);
  if (item.kind === "link") return <Card item={item} page={page} icon="link" note="" />;
  if (broken) return <Card item={item} page={page} icon="file" note={`${NAMES[item.kind] ?? "file"} not available`} />;
  if (item.kind === "image") {
    const source = imageAddress(item.url, page.origin);
    if (source === null) return <Card item={item} page={page} icon="file" note="picture not available" />;
    const image = <img loading="lazy" src={source} alt={caption} onError={failed} />;
    return (
      <figure class="media">
        {url === null ? image : (
          <a href={url} target="_blank" rel="noreferrer noopener" aria-label={`Open the picture${caption && `: ${caption}`}`}>
            {image}
          </a>
        )}
        <Caption text={caption} />
      </figure>
    );
  }
  if (url !== null && item.kind === "video") {
    return (
      <figure class="media">
        <video controls preload="metadata" src={url} aria-label={caption || "Video"} onError={failed} />
        <Caption text={caption} />
      </figure>
    );
  }
  if (url !== null && item.kind === "audio") {
    return (
      <figure class="media sound">
        <audio controls preload="metadata" src={url} aria-label={caption || "Sound"} onError={failed} />
        <Caption text={caption} />
      </figure>
    );
  }
  return <Card item={item} page={page} icon="file" note="" />;
}

const NAMES: Record<string, string> = { image: "picture", video: "video", audio: "sound" };

function Caption({ text }: { text: string }) {
  return text === "" ? null : <figcaption dir="auto">{text}</figcaption>;
}

// A card names the true host beside whatever it calls itself.
function Card({ item, page, icon, note }: { item: Media; page: Page; icon: "file" | "link"; note: string }) {
  const url = webAddress(item.url, page.origin);
  const lastPart = decoded(url?.pathname.split("/").at(-1) ?? "");
  const label = plain(item.filename || item.caption || (icon === "link" ? item.url : lastPart) || item.url);
  const under = item.filename !== "" ? plain(item.caption) : "";
  const words = (
    <>
      {icon === "link" ? <LinkIcon /> : <FileIcon />}
      <span class="card-words">
        <bdi class="card-label">{label}</bdi>
        {under !== "" && <bdi class="card-caption">{under}</bdi>}
        <span class="host" dir="ltr">{[url?.host ?? "no web address", note].filter(Boolean).join(" · ")}</span>
      </span>
    </>
  );
  if (url === null) return <div class="card dead">{words}</div>;
  const download = icon === "file" && item.kind === "document" ? { download: plain(item.filename) } : {};
  return (
    <a class={note === "" ? "card" : "card dead"} href={url.href} target="_blank" rel="noreferrer noopener" {...download}>
      {words}
    </a>
  );
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
