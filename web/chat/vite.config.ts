import { readFileSync } from "node:fs";
import { defineConfig } from "vite";
import { page } from "../page.config.ts";

const licence = readFileSync(new URL("../node_modules/preact/LICENSE", import.meta.url), "utf8");
export default defineConfig(page("chat", "/chat/_/", `/*! Contains Preact. ${licence.trim()} */`));
