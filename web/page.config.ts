// What both pages' builds share: flat, hashed, the same bytes on every machine.
import type { UserConfig } from "vite";

/** The build of the page in `room`, served below `base`, whose code carries `notice`. */
export function page(room: string, base: string, notice: string): UserConfig {
  return {
    root: new URL(`./${room}/`, import.meta.url).pathname,
    base,
    logLevel: "warn",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir: process.env["TIDINGS_WEB_OUT"]
        ? `${process.env["TIDINGS_WEB_OUT"]}/${room}`
        : new URL(`./dist/${room}/`, import.meta.url).pathname,
      emptyOutDir: true,
      assetsDir: "",
      // A strict policy admits no inlined file.
      assetsInlineLimit: 0,
      modulePreload: false,
      target: "es2022",
      rolldownOptions: {
        output: {
          entryFileNames: `${room}-[hash].js`,
          chunkFileNames: `${room}-[name]-[hash].js`,
          assetFileNames: `${room}-[hash][extname]`,
          hashCharacters: "hex",
          postBanner: notice,
        },
      },
    },
  };
}
