// Chips, rows under their section's title, and link buttons. A choice stays tappable after a tap.
import type { BubbleContext } from "./Bubble.tsx";
import type { Frame, Link, Part, Reply } from "./frame.ts";
import { webAddress } from "./href.ts";
import { LinkIcon } from "./icons.tsx";
import { plain } from "./linkify.ts";

type Props = { frame: Frame; context: BubbleContext };

export function Choice({ frame, context }: Props) {
  return (
    <>
      {frame.options.length > 0 && (
        <div class="chips" role="group" aria-label="Choices">
          {frame.options.map((option, n) =>
            option?.kind === "link"
              ? <LinkButton key={n} link={option} origin={context.page.origin} />
              : <ReplyButton key={n} reply={option} context={context} look="chip" />,
          )}
        </div>
      )}
      {frame.sections.map((section, n) =>
        section === null ? <p class="unshown" dir="ltr" key={n}>Choices came here that cannot be shown.</p> : (
          <section class="rows" key={n} role="group" aria-label={plain(section.title) || "Choices"}>
            {section.title !== "" && <h3 dir="auto">{plain(section.title)}</h3>}
            {section.rows.map((row, m) => <ReplyButton key={m} reply={row} context={context} look="row" />)}
          </section>
        ),
      )}
    </>
  );
}

function ReplyButton({ reply, context, look }: { reply: Part<Reply>; context: BubbleContext; look: "chip" | "row" }) {
  if (reply === null) return <p class="unshown" dir="ltr">A choice came here that cannot be shown.</p>;
  return (
    <button type="button" class={look} disabled={context.over} onClick={() => context.tap(reply.id, reply.text)}>
      <bdi class="choice-label">{plain(reply.text)}</bdi>
      {reply.description !== "" && <bdi class="choice-description">{plain(reply.description)}</bdi>}
    </button>
  );
}

function LinkButton({ link, origin }: { link: Link; origin: string }) {
  const url = webAddress(link.url, origin);
  const words = (
    <span class="choice-words">
      <bdi class="choice-label">{plain(link.label)}</bdi>
      <span class="choice-description" dir="ltr">{url?.host ?? "no web address"}</span>
    </span>
  );
  if (url === null) return <span class="chip link dead">{words}</span>;
  return (
    <a class="chip link" href={url.href} target="_blank" rel="noreferrer noopener">
      {words}
      <LinkIcon />
    </a>
  );
}
