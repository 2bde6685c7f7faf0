// Where the person writes.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { SendIcon } from "./icons.tsx";
import { LONGEST, measure } from "./say.ts";

export function Composer({ write, over }: { write: (text: string) => void; over: boolean }) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const length = measure(text);
  const tooLong = length > LONGEST;
  const blank = text.trim() === "";

  useLayoutEffect(() => {
    const box = field.current;
    if (box === null) return;
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight + 2}px`;
  }, [text]);

  const send = (): void => {
    if (blank || tooLong || over) return;
    write(text);
    setText("");
    field.current?.focus();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label class="unseen" for="message">Your message</label>
      <textarea
        id="message"
        ref={field}
        rows={1}
        dir="auto"
        placeholder="Write a message"
        enterkeyhint="send"
        value={text}
        disabled={over}
        aria-invalid={tooLong}
        aria-describedby="length"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Enter that ends a word in an input method is not the end of the message.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <button type="submit" class="send" disabled={over || blank || tooLong} aria-label="Send">
        <SendIcon />
      </button>
      <p id="length" class="length" role="status">
        {length > LONGEST - 500 && `${length} of ${LONGEST} characters${tooLong ? ": too long to send" : ""}`}
      </p>
    </form>
  );
}
