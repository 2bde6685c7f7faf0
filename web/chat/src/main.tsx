// The chat page: one visitor's transcript, drawn from the stream, and what they answer.
import { render } from "preact";
import { App } from "./App.tsx";
import { readPage } from "./page.ts";
import "./style.css";

render(<App page={readPage(document)} />, document.body);
