// The scrolling log of the chat: bubbles under their day, the newest in sight unless the person reads back.
import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Bubble, BrokenBubble, SayingBubble, type BubbleContext } from "./Bubble.tsx";
import { Copy } from "./Heading.tsx";
import { DownIcon } from "./icons.tsx";
import type { Saying, Transcript } from "./transcript.ts";

type Props = { transcript: Transcript; context: BubbleContext; again: (saying: Saying) => void };

export function Log({ transcript, context, again }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const [unread, setUnread] = useState(false);
  const { entries, sayings, ready } = transcript;

  const toEnd = (): void => {
    const log = box.current;
    if (log !== null) log.scrollTop = log.scrollHeight;
  };
  useLayoutEffect(() => {
    if (atEnd.current) toEnd();
    else if (ready) setUnread(true);
  }, [entries.length]);
  // What the person says themselves they want to see.
  useLayoutEffect(() => {
    if (sayings.length > 0) toEnd();
  }, [sayings.length]);
  // Pictures arrive late, the keyboard of a phone opens: the end stays in sight.
  useEffect(() => {
    const watch = new ResizeObserver(() => {
      if (atEnd.current) toEnd();
    });
    watch.observe(box.current!);
    watch.observe(inner.current!);
    return () => watch.disconnect();
  }, []);
  const scrolled = (): void => {
    const log = box.current!;
    atEnd.current = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    if (atEnd.current) setUnread(false);
  };

  // One flat, keyed list: the bubble of a saying makes room for that of its frame.
  const drawn: VNode[] = [];
  let day = "";
  const dated = (at: string): void => {
    const next = dayOf(at);
    if (next !== day) drawn.push(<h2 class="day" key={`day:${next}`}>{next}</h2>);
    day = next;
  };
  for (const { key, frame } of entries) {
    if (frame === null) {
      drawn.push(<BrokenBubble key={key} />);
      continue;
    }
    dated(frame.at);
    drawn.push(<Bubble key={key} frame={frame} context={context} />);
  }
  for (const saying of sayings) {
    dated(saying.at);
    drawn.push(<SayingBubble key={`said:${saying.id}`} saying={saying} again={again} over={context.over} />);
  }
  return (
    <div class="log-frame">
      <div class="log" ref={box} role="log" aria-live="polite" aria-label="Messages" aria-busy={!ready}
        tabIndex={0} onScroll={scrolled}>
        <div class="log-inner" ref={inner}>
          {ready && drawn.length === 0 && <Nothing address={context.page.address} channel={context.page.channel} />}
          {drawn}
        </div>
      </div>
      {unread && (
        <button type="button" class="to-end" onClick={() => { toEnd(); setUnread(false); }}>
          <DownIcon /> New messages
        </button>
      )}
    </div>
  );
}

function Nothing({ address, channel }: { address: string; channel: string }) {
  const command = `tidings notify "hello" --channel ${channel} --recipient ${address}`;
  return (
    <div class="nothing">
      <p>No messages yet.</p>
      {address !== "" && (
        <>
          <p>Send one to this page from a terminal:</p>
          <pre><code>{command}</code></pre>
          <Copy text={command} label="Copy the command" />
        </>
      )}
    </div>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });

function dayOf(at: string): string {
  const date = new Date(at);
  const today = new Date();
  if (date.toDateString() === today.toDateString()) return "Today";
  today.setDate(today.getDate() - 1);
  if (date.toDateString() === today.toDateString()) return "Yesterday";
  return DAY.format(date);
}
