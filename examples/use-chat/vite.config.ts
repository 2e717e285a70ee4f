import type { UserConfig } from 'vite'

export default {
  // A separate cache: two dev servers that share a cache delete each other's dependencies.
  cacheDir: 'node_modules/.vite',
  // Proxies `/chat` to server.ts. It keeps the host of the page, because the server rejects pages from other origins.
  server: { proxy: { '/chat': { target: `http://127.0.0.1:${process.env.PORT ?? 3000}`, changeOrigin: false } } },
  build: { target: 'es2023' },
} satisfies UserConfig
