import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// `npm run dev` takes its data from a server that is started beside it: allstreets explore --port 8765
const SERVER = "http://127.0.0.1:8765";

export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: "../page",
    emptyOutDir: true,
    chunkSizeWarningLimit: 600,
    license: { fileName: "licenses.md" }, // of what is bundled
  },
  server: {
    proxy: {
      "/api": { target: SERVER, changeOrigin: true, headers: { origin: SERVER } },
    },
  },
  test: {
    include: ["src/**/*.test.ts"],
    css: { include: [/theme\.css/] }, // contrasts are checked
    // A process for every file would take five times as long; what a test stubs is put back.
    pool: "threads",
    isolate: false,
    unstubGlobals: true,
  },
});
