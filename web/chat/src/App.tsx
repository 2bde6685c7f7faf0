// Wires the stream, the transcript and the person together.
import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { Banner } from "./Banner.tsx";
import { Composer } from "./Composer.tsx";
import { Connection, type LinkState, type World } from "./connection.ts";
import { Heading } from "./Heading.tsx";
import { Log } from "./Log.tsx";
import type { Page } from "./page.ts";
import { Outbox, post, sayingId } from "./say.ts";
import type { StreamEvent } from "./sse.ts";
import { advance, EMPTY, type Saying, type Step, type Transcript } from "./transcript.ts";

const WORLD: World = {
  fetch: (url, init) => fetch(url, init),
  random: Math.random,
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

export function App({ page }: { page: Page }) {
  const [transcript, step] = useReducer<Transcript, Step>(advance, EMPTY);
  const [link, setLink] = useState<LinkState>({ kind: "connecting" });
  const base = `/chat/${encodeURIComponent(page.channel)}`;
  const online = useOnline();
  useStream(base, step, setLink);
  useUnread(page.title, transcript);

  const outbox = useRef(new Outbox());
  const send = useCallback((saying: Saying) => {
    outbox.current.add(async () => {
      const outcome = await post(`${base}/messages${page.query}`, saying, WORLD.fetch);
      step({ kind: "outcome", id: saying.id, ...outcome });
    });
  }, []);
  const say = useCallback((body: Saying["body"], text: string) => {
    const id = sayingId(crypto.getRandomValues(new Uint8Array(11)));
    const saying: Saying = { id, body, text, at: new Date().toISOString(), state: "sending", reason: "" };
    step({ kind: "say", saying });
    send(saying);
  }, []);
  const again = useCallback((saying: Saying) => {
    step({ kind: "retry", id: saying.id });
    send(saying);
  }, []);
  const tap = useCallback((id: string, text: string) => say({ reply_id: id }, text), []);
  const write = useCallback((text: string) => say({ text }, text), []);

  const over = link.kind === "stopped";
  const context = useMemo(() => ({ page, tap, over }), [page, over]);
  return (
    <div class="chat">
      <Heading page={page} />
      <main>
        <Log transcript={transcript} context={context} again={again} />
        <Banner link={link} online={online} />
        <Composer write={write} over={over} />
      </main>
    </div>
  );
}

function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const read = (): void => setOnline(navigator.onLine);
    addEventListener("online", read);
    addEventListener("offline", read);
    return () => {
      removeEventListener("online", read);
      removeEventListener("offline", read);
    };
  }, []);
  return online;
}

function useStream(base: string, step: (step: Step) => void, setLink: (state: LinkState) => void): void {
  useEffect(() => {
    // The connection asks for the cursor at once, before any drawing: it has a transcript of its own
    // to read it from.
    let seen = EMPTY;
    // A long backlog comes in many pieces: they are drawn some at a time, the rest as it comes.
    let waiting: StreamEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = (): void => {
      clearTimeout(timer);
      timer = undefined;
      const events = waiting;
      waiting = [];
      step({ kind: "stream", events });
    };
    const connection = new Connection(`${base}/stream`, WORLD, {
      events: (events) => {
        seen = advance(seen, { kind: "stream", events });
        waiting.push(...events);
        if (seen.ready && seen.rebuilt === null) draw();
        else timer ??= setTimeout(draw, 250);
        return seen.closed;
      },
      state: setLink,
      cursor: () => seen.cursor,
    });
    void connection.run();
    // A line that was open when the network went may hang without an error.
    addEventListener("online", () => connection.renew());
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") connection.hurry();
    });
  }, []);
}

// Says in the tab's title how much came while nobody looked.
function useUnread(title: string, transcript: Transcript): void {
  const looked = useRef("");
  useEffect(() => {
    const last = transcript.entries.at(-1)?.order ?? "";
    const show = (): void => {
      if (document.visibilityState === "visible" || !transcript.ready) {
        looked.current = last;
        document.title = title;
        return;
      }
      const from = transcript.entries.findIndex((e) => e.order === looked.current);
      const count = transcript.entries.slice(from + 1).filter((e) => e.frame?.dir !== "in").length;
      document.title = count > 0 ? `(${count}) ${title}` : title;
    };
    show();
    document.addEventListener("visibilitychange", show);
    return () => document.removeEventListener("visibilitychange", show);
  }, [transcript.entries, transcript.ready]);
}
