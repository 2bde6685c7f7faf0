// The sandbox's page: draws what the rooms received, and nothing else.
//
// How it works
// - One EventSource on /_/events carries everything, from the first request on. Its events are
//   queued and flushed together, so that a burst costs one layout.
// - A chat = medium + chat address = one Column. A column keeps all its entries (received requests
//   and people's actions) and draws a window of at most WINDOW of them; older ones are a button away.
// - What a request looks like is for drawers.js to say; rows, columns and the stream live here.
// - Life of one request: event -> queue -> draw -> Column.add -> row (bubble, keyboard, its very
//   request in a disclosure filled when opened) -> out of the window -> drawn again on demand.

import { clock, content, day, draw, el, hidden, icon, list, moment, pretty, record, said, words } from './drawers.js';

const WINDOW = 500; // bubbles drawn per column
const STEP = 250; // entries one press of "earlier" goes back
const FLUSH_MS = 30; // events gathered this long are drawn together
const QUIET_MS = 400; // a pause this long ends the backlog: from then on arrivals are announced
const RETRY_MS = 2000; // the browser gives up on some answers; then we ask again

const MEDIA = { telegram: 'Telegram', slack: 'Slack', whatsapp: 'WhatsApp', graph: 'WhatsApp', twilio: 'Twilio', web: 'Web' };
const NAMES = {
  telegram: { 42: 'Ada' },
  slack: { U0ADA: 'Ada', D0ADA: 'Ada', C0TEAM: 'Team' },
  whatsapp: { 15550100: 'Ada' },
  graph: { 15550100: 'Ada' },
  twilio: { '+15550100': 'Ada' },
};

/* ---------- one row ---------- */

/** The request as it came: start line, headers, content; the answer under it when it was an error. */
function disclosure(request) {
  const details = el('details', { class: 'request', 'aria-live': 'off' }, el('summary', {}, said('span', '', request.call || request.method), hidden(`, request ${request.n}`)));
  details.addEventListener('toggle', () => {
    if (details.children.length > 1) return;
    const headers = Array.isArray(request.headers) ? request.headers : Object.entries(record(request.headers));
    const kind = request.parts ? 'Parts' : request.form ? 'Form' : 'Body';
    const blocks = [
      [`Request ${request.n}`, pretty([`${request.method} ${request.path}`, ...headers.map(([name, value]) => `${name}: ${words(value)}`)].join('\n'))],
      [kind, content(request)],
      [`Answer ${request.status ?? 'cut off'}`, pretty(request.answer ?? request.result)],
    ];
    const shown = blocks.filter(([, text]) => text !== '');
    details.append(el('div', { class: 'wire' }, ...shown.flatMap(([title, text]) => [el('p', { class: 'wire-title' }, title), el('pre', { class: 'json', dir: 'ltr' }, text)])));
  });
  return details;
}

function failure(request) {
  const answer = record(request.answer);
  const why = words(answer.description ?? record(answer.error).message ?? answer.message ?? answer.error);
  const what = request.status === null || request.status === undefined ? 'Connection cut' : `Refused, ${request.status}`;
  return el('div', { class: 'failed' }, icon('failed'), el('p', {}, el('strong', {}, what), why && ' ', why && said('bdi', '', why)));
}

function row(entry, before, name) {
  const at = moment(entry.value.at);
  const was = before && moment(before.value.at);
  const chip = at && (!was || day.format(at) !== day.format(was)) ? el('p', { class: 'day' }, day.format(at)) : null;
  const time = at && el('time', { datetime: at.toISOString() }, clock.format(at));
  if (entry.action) {
    const bubble = el('div', { class: 'bubble' }, hidden(`${name}: `), said('p', 'text', entry.value.text), el('p', { class: 'tags' }, time));
    return el('div', { class: 'row' }, chip, el('article', { class: 'message person' }, el('div', { class: 'stack' }, bubble)));
  }
  const request = entry.value;
  const drawn = entry.drawn ?? draw(request);
  entry.drawn = null; // nodes live in one row only; a row shown again is drawn again
  // Delivered, though its answer may have been lost or wrong; or plainly accepted.
  const accepted = request.result !== undefined || (request.status >= 200 && request.status < 300);
  const id = record(request.result).message_id;
  const tags = [...drawn.tags, id !== undefined && `no. ${words(id)}`].filter(Boolean).map((tag) => said('span', 'tag', tag));
  const bubble = el('div', { class: 'bubble' }, hidden('Bot: '), ...drawn.bubble, el('p', { class: 'tags' }, ...tags, time));
  const stack = el('div', { class: 'stack' }, bubble, drawn.keyboard, accepted ? null : failure(request));
  return el('div', { class: 'row' }, chip, el('article', { class: accepted ? 'message' : 'message refused' }, stack, disclosure(request)));
}

/* ---------- columns ---------- */

const wall = document.getElementById('wall');
const columns = new Map();
const byNode = new WeakMap(); // section -> Column
let live = false;

const sight = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    const column = byNode.get(target);
    column.near = isIntersecting;
    column.pin();
  }
}, { rootMargin: '300px' });

class Column {
  constructor(medium, chat) {
    const id = `chat-${columns.size}-${Date.now()}`;
    const mine = Object.hasOwn(NAMES, medium) ? NAMES[medium] : {};
    const fallback = chat === null ? 'No chat' : chat.startsWith('-') ? 'Group' : chat;
    this.name = Object.hasOwn(mine, chat) ? mine[chat] : fallback;
    this.entries = [];
    this.start = 0; // entries[start..end] are drawn
    this.end = 0;
    this.unseen = 0;
    this.stuck = true; // the reader is at the newest bubble and follows
    this.near = false; // in sight or nearly: the stylesheet leaves other columns without layout, and so do we
    const medial = Object.hasOwn(MEDIA, medium) ? MEDIA[medium] : medium;
    const under = el('p', { class: 'chat-id', id: `${id}-address` }, medial, chat === null ? '' : ' · ', chat === null ? '' : said('bdi', '', chat));
    const initial = [...this.name.replace(/^[^\p{L}\p{N}]+/u, '')][0] ?? '#';
    const head = el('header', { class: 'chat-head' }, el('span', { class: 'avatar', 'aria-hidden': 'true' }, initial.toUpperCase()), el('div', { class: 'chat-names' }, el('h2', { id, class: 'said', dir: 'auto' }, this.name), under));
    this.earlier = el('button', { type: 'button', class: 'more', hidden: true });
    this.newest = el('button', { type: 'button', class: 'more more-newest', hidden: true });
    this.log = el('div', { class: 'log', role: 'log', tabindex: '0', 'aria-live': live ? 'polite' : 'off', 'aria-label': `${medial}, messages to ${this.name}` });
    this.node = el('section', { class: 'column', 'aria-labelledby': `${id} ${id}-address`, 'data-medium': medium }, head, this.earlier, this.log, this.newest);
    this.earlier.addEventListener('click', () => this.back());
    this.newest.addEventListener('click', () => this.follow());
    this.log.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.log.addEventListener('keydown', (event) => this.key(event));
    byNode.set(this.node, this);
    sight.observe(this.node);
    // Pictures get their height late; whoever was at the end stays there.
    for (const late of ['load', 'loadedmetadata']) this.log.addEventListener(late, () => this.pin(), true);
  }

  add(entry) {
    const followed = this.end === this.entries.length;
    this.entries.push(entry);
    if (!followed || !this.stuck) this.unseen += 1;
    if (!followed) return;
    this.end += 1;
    this.log.append(this.rowAt(this.end - 1));
    for (; this.end - this.start > WINDOW; this.start += 1) this.log.firstElementChild.remove();
  }

  rowAt(index) {
    const made = row(this.entries[index], this.entries[index - 1], this.name);
    if (live) made.classList.add('fresh');
    return made;
  }

  show(start, end) {
    [this.start, this.end] = [start, end];
    const rows = this.entries.slice(start, end).map((entry, i) => row(entry, this.entries[start + i - 1], this.name));
    this.log.setAttribute('aria-live', 'off');
    this.log.replaceChildren(...rows);
    setTimeout(() => this.log.setAttribute('aria-live', live ? 'polite' : 'off'), QUIET_MS);
  }

  back() {
    const first = this.start;
    const start = Math.max(0, first - STEP);
    this.show(start, Math.min(start + WINDOW, this.entries.length));
    this.stuck = false;
    this.log.scrollTop = this.log.children[first - start].offsetTop - this.log.offsetTop;
    this.settle();
    if (this.earlier.hidden) this.log.focus();
  }

  follow() {
    if (this.end !== this.entries.length) this.show(Math.max(0, this.entries.length - WINDOW), this.entries.length);
    this.stuck = true;
    this.settle();
    this.log.focus();
  }

  scrolled() {
    const near = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < 48;
    this.stuck = near && this.end === this.entries.length;
    if (this.stuck && this.unseen > 0) this.settle();
  }

  /** Brings both buttons in line with the window, then the scroll position: a button takes height. */
  settle() {
    this.label();
    this.pin();
  }

  label() {
    if (this.stuck) this.unseen = 0;
    this.earlier.hidden = this.start === 0;
    this.earlier.textContent = `Show earlier (${this.start})`;
    this.newest.hidden = this.unseen === 0 && this.end === this.entries.length;
    this.newest.textContent = this.unseen ? `${this.unseen} new below` : 'Back to the newest';
  }

  pin() {
    if (this.stuck && this.near) this.log.scrollTop = this.log.scrollHeight;
  }

  key(event) {
    const to = { ArrowLeft: this.node.previousElementSibling, ArrowRight: this.node.nextElementSibling }[event.key];
    if (event.target !== this.log || event.ctrlKey || event.altKey || event.metaKey) return;
    to?.querySelector('.log')?.focus();
  }

  /** To the front of the wall, without losing focus, scroll position or what is opened. */
  toFront() {
    const first = wall.querySelector('.column');
    if (first === this.node) return;
    if (!this.node.isConnected) wall.insertBefore(this.node, first);
    else if (wall.moveBefore) wall.moveBefore(this.node, first);
    else if (!this.node.contains(document.activeElement)) {
      const top = this.log.scrollTop;
      wall.insertBefore(this.node, first);
      this.log.scrollTop = top;
    }
  }
}

/* ---------- the stream ---------- */

const state = document.getElementById('state');
const clear = document.getElementById('clear');
const empty = document.getElementById('empty');
let source = null;
let queue = [];
let timer = null;
let quiet = null;
let last = null; // newest request seen: {n, at}
let lastId = '';

function say(name, text) {
  if (state.textContent !== text) state.textContent = text;
  state.dataset.state = name;
}

function take(entry) {
  queue.push(entry);
  timer ??= setTimeout(flush, FLUSH_MS);
}

function flush() {
  timer = null;
  const touched = new Set();
  for (const entry of queue.splice(0)) {
    // A request that a script kept from its room reached nobody.
    if (!entry.action && (entry.value.drawn === false || (entry.drawn = draw(entry.value)) === null)) continue;
    const { medium } = entry.value;
    const chat = entry.value.chat === null || entry.value.chat === undefined ? null : String(entry.value.chat);
    const key = JSON.stringify([medium, chat]);
    if (!columns.has(key)) columns.set(key, new Column(String(medium), chat));
    const column = columns.get(key);
    column.add(entry);
    touched.delete(column); // last in the set = newest activity
    touched.add(column);
  }
  for (const column of touched) column.toFront();
  // All writes first, then the reads: one layout for the whole burst.
  for (const column of touched) column.label();
  for (const column of touched) column.pin();
  if (columns.size > 0) empty.hidden = true;
  clear.disabled = last === null && columns.size === 0;
  hush();
}

/** The backlog ends at the first pause: announcements and movement from then on, and the empty state if nothing came. */
function hush() {
  clearTimeout(quiet);
  quiet = setTimeout(() => {
    live = true;
    for (const column of columns.values()) column.log.setAttribute('aria-live', 'polite');
    empty.hidden = columns.size > 0;
  }, QUIET_MS);
}

function reset() {
  clearTimeout(timer);
  [timer, queue, last, lastId, live] = [null, [], null, '', false];
  for (const { node } of columns.values()) {
    sight.unobserve(node);
    node.remove();
  }
  columns.clear();
  clear.disabled = true;
}

function open(after) {
  source?.close();
  const mine = new EventSource(`/_/events?after=${encodeURIComponent(after)}`);
  source = mine;
  let broken = false;
  const read = (event, use) => {
    try {
      lastId = event.lastEventId || lastId;
      use(record(JSON.parse(event.data)));
    } catch (error) {
      console.error('event', event.type, error);
    }
  };
  mine.addEventListener('open', () => {
    say('live', 'Live');
    if (broken) verify();
    broken = false;
  });
  mine.addEventListener('error', () => {
    broken = true;
    say('lost', 'Reconnecting');
    if (mine.readyState !== EventSource.CLOSED) return;
    setTimeout(() => source === mine && open(lastId || '0'), RETRY_MS);
  });
  mine.addEventListener('request', (event) => read(event, (value) => {
    if (last && value.n <= last.n) return;
    last = { n: value.n, at: value.at };
    take({ value });
  }));
  mine.addEventListener('action', (event) => read(event, (value) => {
    if (typeof value.text === 'string' && value.chat !== undefined && value.medium) take({ value, action: true });
  }));
  mine.addEventListener('cleared', restart);
  hush();
}

function restart() {
  reset();
  open('0');
}

/** After a gap: if the log was emptied meanwhile, numbers started again and ours mean nothing. */
async function verify() {
  const known = last;
  if (known === null) return restart();
  try {
    const answer = await fetch(`/_/requests?after=${known.n - 1}`);
    const [first] = list((await answer.json()).requests);
    if (answer.ok && (first?.n !== known.n || first?.at !== known.at)) restart();
  } catch {
    // The next gap asks again.
  }
}

/* ---------- the bar ---------- */

async function about() {
  const answer = await fetch('/_/about');
  if (!answer.ok) return;
  const { gateway, links } = record(await answer.json());
  if (gateway) {
    const line = document.getElementById('gateway');
    line.querySelector('code').textContent = words(gateway);
    line.hidden = false;
  }
  const nav = document.getElementById('links');
  const web = list(links).filter((link) => /^https?:\/\//i.test(words(record(link).url)));
  nav.replaceChildren(...web.map((link) => el('a', { href: link.url }, words(link.label))));
  nav.hidden = web.length === 0;
}

const confirm = document.getElementById('confirm');
clear.addEventListener('click', () => {
  confirm.returnValue = '';
  confirm.showModal();
});
confirm.addEventListener('close', async () => {
  if (confirm.returnValue !== 'clear') return;
  const answer = await fetch('/_/requests', { method: 'DELETE' }).catch(() => null);
  if (answer?.ok) restart();
  else say('lost', 'Could not clear');
});

open('0');
about().catch((error) => console.error('about', error));
