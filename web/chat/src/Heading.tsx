// The top of the page: picture, title, and the visitor's own address where the server shows it.
import { useState } from "preact/hooks";
import { plain } from "./linkify.ts";
import type { Page } from "./page.ts";

export function Heading({ page }: { page: Page }) {
  const title = plain(page.title);
  return (
    <header class="heading">
      {page.avatar === "" ? (
        <span class="avatar" aria-hidden="true">{firstLetter(title)}</span>
      ) : (
        <img class="avatar" src={page.avatar} alt="" width="40" height="40" />
      )}
      <div class="heading-words">
        <h1 dir="auto">{title}</h1>
        {page.address !== "" && (
          <p class="address">
            <span>Your address</span>
            <code>{page.address}</code>
            <Copy text={page.address} label="Copy your address" />
          </p>
        )}
      </div>
    </header>
  );
}

/** A button that copies `text` and says so. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState<"" | "Copied" | "Select it and copy">("");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied("Copied");
    } catch {
      // No clipboard without a secure context.
      setCopied("Select it and copy");
    }
    setTimeout(() => setCopied(""), 3000);
  };
  return (
    <>
      <button type="button" class="copy" aria-label={label} onClick={copy}>
        {copied === "Copied" ? "Copied" : "Copy"}
      </button>
      <span class="unseen" role="status">{copied}</span>
    </>
  );
}

function firstLetter(title: string): string {
  const [first] = new Intl.Segmenter().segment(title.trim());
  return (first?.segment ?? "?").toUpperCase();
}
