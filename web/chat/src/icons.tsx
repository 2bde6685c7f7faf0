// The few drawings of the page; decoration, so hidden from a screen reader.
import type { ComponentChildren } from "preact";

function Icon({ children }: { children: ComponentChildren }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="2"
      stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}

export const SendIcon = () => <Icon><path d="M4 12h15M13 5l7 7-7 7" /></Icon>;
export const FileIcon = () => <Icon><path d="M6 3h8l4 4v14H6zM14 3v5h4" /></Icon>;
export const LinkIcon = () => <Icon><path d="M14 4h6v6M20 4l-9 9M18 14v6H4V6h6" /></Icon>;
export const DownIcon = () => <Icon><path d="M12 5v14M5 12l7 7 7-7" /></Icon>;
export const SentIcon = () => <Icon><path d="M5 13l5 5 9-11" /></Icon>;
export const PinIcon = () => (
  <Icon><path d="M12 21s7-6.4 7-12a7 7 0 0 0-14 0c0 5.6 7 12 7 12z" /><circle cx="12" cy="9" r="2.5" /></Icon>
);
