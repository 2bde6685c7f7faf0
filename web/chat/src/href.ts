// Which addresses the page will open, and how their host is shown.

/** An `http(s)` address without credentials; anything else (`javascript:` first) is null. */
export function webAddress(text: string, base?: string): URL | null {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    return null;
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  // `https://bank.example@evil.example/` is written to be misread.
  if (url.username !== "" || url.password !== "" || url.hostname === "") return null;
  return url;
}

/** What an `<img>` may show: a web address, or one of the image types the gateway itself stores. */
export function imageAddress(text: string, base: string): string | null {
  if (/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(text)) return text;
  return webAddress(text, base)?.href ?? null;
}

/** The map's address for a place: `{lat}` and `{lon}` filled in; null when it is no web address. */
export function mapAddress(template: string, latitude: number, longitude: number): string | null {
  const filled = template
    .replaceAll("{lat}", encodeURIComponent(degrees(latitude)))
    .replaceAll("{lon}", encodeURIComponent(degrees(longitude)));
  return webAddress(filled)?.href ?? null;
}

/** A coordinate as text: seven decimals at most, no trailing zeros. */
export function degrees(value: number): string {
  const text = value.toFixed(7).replace(/\.?0+$/, "");
  return text === "-0" ? "0" : text;
}
