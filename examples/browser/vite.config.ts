import type { UserConfig } from 'vite'

/** A separate cache in this folder: two dev servers that share a cache delete each other's dependencies. */
export default { cacheDir: 'node_modules/.vite' } satisfies UserConfig
