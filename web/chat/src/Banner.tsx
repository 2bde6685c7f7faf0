// What the person must know about the line, and nothing while it is well.
import { useEffect, useState } from "preact/hooks";
import type { LinkState } from "./connection.ts";

export function Banner({ link, online }: { link: LinkState; online: boolean }) {
  const patient = usePatience(link.kind !== "live");
  const words = link.kind === "stopped" ? "" : told(link, online, patient);
  return (
    <>
      <div class="banner" role="status">{words !== "" && <p>{words}</p>}</div>
      {link.kind === "stopped" && (
        <div class="banner ended" role="alert">
          <p>{ENDED[link.why]}</p>
          <button type="button" onClick={() => location.reload()}>Reload</button>
        </div>
      )}
    </>
  );
}

const ENDED = {
  session: "This chat has ended on this browser. Reload to begin a new one.",
  gone: "This chat does not exist any more.",
  refused: "This chat cannot be shown here.",
};

function told(link: LinkState, online: boolean, patient: boolean): string {
  if (!online) return "You are offline. New messages appear when you are back.";
  if (link.kind === "live" || patient) return "";
  if (link.kind === "waiting" && link.crowded) {
    return "This chat is open in too many windows. Close one of them.";
  }
  return link.kind === "waiting" ? "The connection is lost. Trying again…" : "Connecting…";
}

// A line that mends itself in a moment is not worth a word.
function usePatience(troubled: boolean): boolean {
  const [patient, setPatient] = useState(true);
  useEffect(() => {
    setPatient(true);
    if (!troubled) return;
    const timer = setTimeout(() => setPatient(false), 2500);
    return () => clearTimeout(timer);
  }, [troubled]);
  return patient;
}
