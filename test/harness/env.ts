declare const process: { env: Record<string, string | undefined> } | undefined
declare global {
  var __BASE_URL__: string | undefined
}

/** Address of the fixture server, without a trailing slash: set as a global by vitest and workerd, as BASE_URL for Deno and Bun. */
export function baseUrl(): string {
  const url = globalThis.__BASE_URL__ ?? (typeof process === 'undefined' ? undefined : process.env.BASE_URL)
  if (!url) throw new Error('The fixture server is not running. Start tests through vitest, or `node scripts/with-server.ts <command>`.')
  return url
}

/** The kinds of runtime the shared suite runs in. */
export type RuntimeName = 'node' | 'browser' | 'workerd' | 'deno' | 'bun'

/** The runtime this code runs in, judged by what only that runtime has. */
export function runtimeName(): RuntimeName {
  if ('Deno' in globalThis) return 'deno'
  if ('Bun' in globalThis) return 'bun'
  if (typeof navigator !== 'undefined' && navigator.userAgent === 'Cloudflare-Workers') return 'workerd'
  if ('document' in globalThis) return 'browser'
  return 'node'
}
