// One bubble: header, media, location, text, choice, footer, in this order.
import { Component, type ComponentChildren } from "preact";
import type { Frame } from "./frame.ts";
import { Choice } from "./Choice.tsx";
import { SentIcon } from "./icons.tsx";
import { direction, linkify, plain } from "./linkify.ts";
import { MediaItem } from "./Media.tsx";
import type { Page } from "./page.ts";
import { PlaceCard } from "./Place.tsx";
import type { Saying } from "./transcript.ts";

export type BubbleContext = { page: Page; tap: (id: string, text: string) => void; over: boolean };

type Props = { frame: Frame; context: BubbleContext };

/** A frame is drawn once: a new one below it does not draw a thousand others again. */
export class Bubble extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return next.frame !== this.props.frame || next.context !== this.props.context;
  }

  override render({ frame, context }: Props) {
    const mine = frame.dir === "in";
    return (
      <Shell mine={mine} at={frame.at} sent={mine} dir={direction(frame.text)}>
        {frame.header !== undefined && <MediaItem item={frame.header} page={context.page} />}
        {frame.media.map((item, n) => <MediaItem key={n} item={item} page={context.page} />)}
        {frame.location !== undefined && <PlaceCard place={frame.location} mapLink={context.page.mapLink} />}
        <Text text={frame.text} />
        {frame.form && <p class="unshown" dir="ltr">A form came here, which this page cannot show yet.</p>}
        <Choice frame={frame} context={context} />
        {frame.footer !== "" && <p class="footer" dir="auto">{plain(frame.footer)}</p>}
      </Shell>
    );
  }
}

export function BrokenBubble() {
  return (
    <div class="bubble theirs broken">
      <p>A message came here that cannot be shown.</p>
    </div>
  );
}

/** What the person said, until the stream shows it. */
export function SayingBubble({ saying, again, over }: { saying: Saying; again: (s: Saying) => void; over: boolean }) {
  const failed = saying.state === "failed" || saying.state === "refused";
  return (
    <Shell mine at={saying.at} dir={direction(saying.text)} sent={saying.state === "sent"} greyed={saying.state === "sending"} failed={failed}>
      <Text text={saying.text} />
      {saying.state === "sending" && <span class="unseen">Sending</span>}
      {failed && (
        <p class="failure" dir="ltr" role="alert">
          <span>Not sent{saying.reason !== "" ? `. ${saying.reason}` : ""}</span>
          {saying.state === "failed" && !over && (
            <>
              {saying.reason === "" ? ", " : " "}
              <button type="button" onClick={() => again(saying)}>try again</button>
            </>
          )}
        </p>
      )}
    </Shell>
  );
}

type ShellProps = {
  mine: boolean;
  at: string;
  sent: boolean;
  dir: "ltr" | "rtl";
  greyed?: boolean;
  failed?: boolean;
  children: ComponentChildren;
};

function Shell({ mine, at, sent, dir, greyed = false, failed = false, children }: ShellProps) {
  const kind = ["bubble", mine ? "mine" : "theirs", greyed && "greyed", failed && "failed"].filter(Boolean).join(" ");
  return (
    // What the person said themselves is not read out to them again.
    <div class={kind} dir={dir} {...(mine ? { "aria-live": "off" as const } : {})}>
      <span class="unseen">{mine ? "You:" : "They:"}</span>
      {children}
      <p class="stamp" dir="ltr">
        <time dateTime={at} title={WHOLE.format(new Date(at))}>{CLOCK.format(new Date(at))}</time>
        {mine && sent && <><SentIcon /><span class="unseen">Sent</span></>}
      </p>
    </div>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });

function Text({ text }: { text: string }) {
  if (text === "") return null;
  return (
    <p class="text" dir="auto">
      {linkify(text).map((run) =>
        run.href === null
          ? plain(run.text)
          : <a href={run.href} target="_blank" rel="noreferrer noopener"><bdi>{run.text}</bdi></a>,
      )}
    </p>
  );
}
