import type { UserConfig } from 'vite'

export default {
  // Two dev servers must not share a cache, so this folder has its own.
  cacheDir: 'node_modules/.vite',
  // Sends `/chat` to server.ts. The host stays that of the page: the server refuses pages of other origins.
  server: { proxy: { '/chat': { target: `http://127.0.0.1:${process.env.PORT ?? 3000}`, changeOrigin: false } } },
  build: { target: 'es2023' },
} satisfies UserConfig
