import { defineConfig } from "vite";
import { page } from "../page.config.ts";

export default defineConfig(page("docs", "/docs/", ""));
