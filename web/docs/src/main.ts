// The reference at /docs: reads the gateway's own document and nothing else.
import { readReference, search, type Reference } from "./document.ts";
import { drawCalls, drawReference, el } from "./draw.ts";
import { counted } from "./schema.ts";
import "./style.css";

const place = (id: string): HTMLElement => document.getElementById(id)!;

async function start(): Promise<void> {
  let reference: Reference;
  try {
    const response = await fetch("/openapi.json", { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`answered ${response.status}`);
    reference = readReference(await response.json());
  } catch {
    place("loading").replaceChildren("The document could not be read. ", el("a", { href: "/openapi.json" }, "/openapi.json"));
    return;
  }
  place("about").textContent = `${reference.title} ${reference.version}. ${reference.description}`;
  const field = place("search") as HTMLInputElement;
  const draw = (): void => {
    const found = search(reference, field.value);
    place("calls").replaceChildren(drawCalls(found.operations));
    place("reference").replaceChildren(...drawReference(found));
    place("found").textContent = field.value.trim() === "" ? "" :
      [counted(found.operations.length, "call"), counted(found.schemas.length, "shape"), counted(found.codes.length, "code")].join(", ");
  };
  field.addEventListener("input", draw);
  // A link to what the search hides shows everything again.
  addEventListener("hashchange", () => {
    if (goal() !== null || field.value === "") return;
    field.value = "";
    draw();
    goal()?.scrollIntoView();
  });
  draw();
  goal()?.scrollIntoView();
}

function goal(): HTMLElement | null {
  return location.hash === "" ? null : document.getElementById(decodeURIComponent(location.hash.slice(1)));
}

void start();
