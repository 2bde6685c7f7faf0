// How each medium draws a request: the pieces bubbles are made of, and the table of drawers.
//
// How it works
// - drawers[medium](request) gives {bubble: [nodes], keyboard: node or null, tags: [text]}, or null
//   for a call that shows nothing. draw() picks one; a medium without a drawer, and a drawer that
//   throws, give a JSON card. A new medium is one function in that table.
// - A drawer reads the request as it was received (body, form or parts) and nothing else.
// - Text of callers becomes text nodes only, each in an element with dir="auto" that the stylesheet
//   isolates (class "said"). Bytes come from /_/files/<sha256>: uploads, and own media the room
//   fetched. A caller's URL is shown as kind and host, never opened.

/* ---------- elements ---------- */

/** An element; attribute names are ours, strings among the children become text nodes. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

/** An element that holds a caller's words. */
export const said = (tag, name, text) => el(tag, { class: `said ${name}`, dir: 'auto' }, words(text));
export const hidden = (text) => el('span', { class: 'unseen' }, text);
export const words = (value) => (typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value));
export const list = (value) => (Array.isArray(value) ? value : []);
export const record = (value) => (value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {});

/** JSON text as its value; anything else as it is. */
function parsed(value) {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
  use.setAttribute('href', `#icon-${name}`);
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  svg.append(use);
  return svg;
}

/** Host of an absolute URL; empty when it is none. */
function host(url) {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

function size(bytes) {
  if (!Number.isFinite(bytes)) return '';
  if (bytes < 1000) return `${bytes} bytes`;
  const [unit, name] = bytes < 1e6 ? [1e3, 'kB'] : [1e6, 'MB'];
  return `${(bytes / unit).toFixed(bytes < 10 * unit ? 1 : 0)} ${name}`;
}

/** Time of an entry: RFC 3339, or Unix seconds or milliseconds. */
export function moment(at) {
  const date = new Date(typeof at === 'number' && at < 1e11 ? at * 1000 : at);
  return Number.isNaN(date.getTime()) ? null : date;
}
export const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
export const day = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' });

/* ---------- pieces that drawers share ---------- */

const STYLES = { bold: 'strong', italic: 'em', underline: 'u', strikethrough: 's', code: 'code', pre: 'code' };

/** Text cut at every entity's border (offsets in UTF-16 units, as strings here count too); outer blanks go, as the vendor's do. */
function styledText(text, entities) {
  const from = text.length - text.trimStart().length;
  const to = Math.max(from, text.trimEnd().length);
  const known = list(entities).filter((e) => Object.hasOwn(STYLES, record(e).type) && Number.isInteger(e.offset) && Number.isInteger(e.length));
  const borders = new Set([from, to]);
  for (const e of known) for (const at of [e.offset, e.offset + e.length]) if (at > from && at < to) borders.add(at);
  const cuts = [...borders].sort((a, b) => a - b);
  const node = said('p', 'text', '');
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    let piece = document.createTextNode(text.slice(cuts[i], cuts[i + 1]));
    for (const e of known) {
      if (e.offset <= cuts[i] && e.offset + e.length >= cuts[i + 1]) piece = el(STYLES[e.type], {}, piece);
    }
    node.append(piece);
  }
  return node;
}

/** A card: icon, title (a caller's words), lines under it. */
function card(name, title, lines, more) {
  const text = el('div', { class: 'card-text' }, said('p', 'card-title', title), ...lines.filter(Boolean).map((line) => said('p', 'card-line', line)));
  return el('div', { class: `card card-${name}` }, el('span', { class: 'card-icon' }, icon(name)), text, more);
}

/** A file we hold: name, kind, size, and a link that saves it. */
function fileCard(file) {
  const name = file.name || 'file';
  const href = fileUrl(file);
  const save = href && el('a', { class: 'save', href, download: name }, 'Save', hidden(` ${name}`));
  const extension = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1].toUpperCase();
  return card('file', name, [[extension ?? file.type, size(file.size)].filter(Boolean).join(' · ')], save);
}
const fileUrl = (file) => (/^[0-9a-f]{64}$/i.test(file.sha256) ? `/_/files/${file.sha256}` : null);

/** A file the caller only pointed at: kind and host, or the vendor's file id. */
function pointerCard(kind, pointer) {
  const at = host(pointer);
  const glyph = kind === 'animation' ? 'video' : kind === 'document' ? 'file' : kind;
  return card(glyph, at || 'by file id', [`${kind[0].toUpperCase()}${kind.slice(1)} by ${at ? 'link, not fetched here' : 'file id'}`]);
}

/** The bytes as the medium shows them; bytes the browser cannot show become a file card. */
function picture(kind, file) {
  const src = fileUrl(file);
  if (!src || kind === 'document') return fileCard(file);
  const label = [kind, file.name].filter(Boolean).join(' ');
  const moving = kind === 'video' || (kind === 'animation' && words(file.type).startsWith('video/'));
  let shown;
  if (kind === 'audio') shown = el('audio', { src, controls: true, preload: 'metadata', 'aria-label': label });
  else if (moving) shown = el('video', { src, controls: true, muted: true, playsinline: true, loop: kind === 'animation', preload: 'metadata', 'aria-label': label });
  else shown = el('img', { src, alt: label, decoding: 'async' });
  const frame = el('div', { class: `media media-${kind}` }, shown);
  shown.addEventListener('error', () => frame.replaceWith(fileCard(file)));
  if (kind === 'animation' && !moving && matchMedia('(prefers-reduced-motion: reduce)').matches) {
    const play = el('button', { type: 'button', class: 'button' }, 'Show animation', hidden(` ${file.name || ''}`));
    play.addEventListener('click', () => play.replaceWith(shown));
    shown.replaceWith(play);
  }
  return frame;
}

/** Rows of buttons: [{label, url?}]. Text for now; a link shows where it leads and leads nowhere here. */
function buttonRows(rows) {
  const drawn = rows.filter((row) => row.length > 0).map((row) => el('ul', { class: 'keys', role: 'list' }, ...row.map(({ label, url }) => el('li', { class: url ? 'key key-link' : 'key' }, said('span', 'key-label', label), url && said('span', 'key-host', host(url) || url), url && icon('link')))));
  return el('div', { class: 'keyboard', role: 'group', 'aria-label': 'Buttons' }, ...drawn);
}

/** Pretty JSON whose invisible and direction-changing characters are written as escapes. */
export function pretty(value) {
  const escape = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (text ?? '').replace(/[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, escape);
}
/** A value inside a form or a part: JSON as such, other text quoted so that line ends show. */
function quoted(value) {
  if (typeof value === 'string' && !/^\s*[[{]/.test(value)) return JSON.stringify(value);
  return JSON.stringify(parsed(value), null, 2) ?? '';
}

/** The content as it came: JSON or text, or one line per form field or part. */
export function content(request) {
  if (request.form) return pretty(list(request.form).map(([name, value]) => `${name}: ${quoted(value)}`).join('\n'));
  if (!request.parts) return pretty(request.body);
  const line = (part) => (part.sha256 ? [JSON.stringify(part.filename), part.content_type, size(part.size), part.sha256].filter(Boolean).join(', ') : quoted(part.value));
  return pretty(list(request.parts).map((part) => `${part.name}: ${line(part)}`).join('\n'));
}

/** What the medium does not draw, as JSON. */
function plainCard(request) {
  return { bubble: [el('p', { class: 'call' }, said('span', '', request.call || request.path)), said('pre', 'json', content(request))], keyboard: null, tags: [] };
}

/* ---------- drawers: one function per medium ---------- */

const drawers = { telegram: drawTelegram };

const SILENT = new Set(['getMe', 'setWebhook', 'getWebhookInfo', 'answerCallbackQuery', 'getFile', 'file']);
const FILES = { sendPhoto: 'photo', sendAnimation: 'animation', sendVideo: 'video', sendAudio: 'audio', sendDocument: 'document' };

/** Telegram's arguments: a JSON body, or text parts and form values, whose objects are JSON inside. */
function telegramArguments(request) {
  if (!request.parts && !request.form) return record(request.body);
  const pairs = request.form ?? list(request.parts).filter((part) => part.value !== undefined).map((part) => [part.name, part.value]);
  const prose = new Set(['text', 'caption', 'title', 'address']);
  return Object.fromEntries(list(pairs).map(([name, value]) => [name, prose.has(name) ? value : parsed(value)]));
}

function telegramFile(request, kind, value) {
  const name = words(value).startsWith('attach://') ? value.slice(9) : kind;
  const part = list(request.parts).find((one) => one.name === name && one.sha256);
  if (part) return picture(kind, { sha256: part.sha256, name: part.filename, type: part.content_type, size: part.size });
  const own = list(request.media).find((one) => one.url === value);
  if (own) return picture(kind, { sha256: own.sha256, name: words(value).split('/').pop(), type: own.content_type });
  return pointerCard(kind, words(value));
}

function telegramPlace(args) {
  const at = [args.latitude, args.longitude].map((value) => (Number.isFinite(Number(value)) ? Number(value).toFixed(5) : words(value))).join(', ');
  const pin = el('div', { class: 'map', 'aria-hidden': 'true' }, icon('pin'));
  const lines = args.title ? [args.address, at] : [at];
  return el('div', { class: 'place' }, pin, el('div', { class: 'card-text' }, said('p', 'card-title', args.title || 'Location'), ...lines.filter(Boolean).map((line) => said('p', 'card-line', line))));
}

function drawTelegram(request) {
  if (SILENT.has(request.call)) return null;
  const args = telegramArguments(request);
  const kind = FILES[request.call];
  const bubble = [];
  if (kind) bubble.push(telegramFile(request, kind, args[kind]));
  else if (request.call === 'sendLocation' || request.call === 'sendVenue') bubble.push(telegramPlace(args));
  else if (request.call !== 'sendMessage') return plainCard(request);
  const text = kind ? args.caption : args.text;
  if (text) bubble.push(styledText(words(text), kind ? args.caption_entities : args.entities));
  const rows = list(record(args.reply_markup).inline_keyboard).map((row) => list(row).map((key) => ({ label: words(record(key).text), url: record(key).url })));
  const tags = [];
  if (args.message_thread_id) tags.push(`topic ${words(args.message_thread_id)}`);
  if (record(args.reply_parameters).message_id) tags.push(`reply to ${words(args.reply_parameters.message_id)}`);
  if (String(args.disable_notification) === 'true') tags.push('silent');
  return { bubble, keyboard: rows.flat().length ? buttonRows(rows) : null, tags };
}

/** A received request as its medium shows it; null when the medium shows nothing for it. */
export function draw(request) {
  let drawn;
  try {
    drawn = Object.hasOwn(drawers, request.medium) ? drawers[request.medium](request) : plainCard(request);
  } catch (error) {
    console.error('request', request.n, error);
    drawn = plainCard(request);
  }
  return drawn;
}
