// Read by vitest, Deno and `npm test`: modules of Node that all of them have, and nothing else.
import { readdirSync } from 'node:fs'

/**
 * Lists the files of a smoke run. They cover what differs between runtimes, in about 40 tests:
 * - `abort`: streamed responses of every protocol over HTTP, requests aborted by a run and by a signal, AWS signatures with WebCrypto.
 * - `mcp-http`: event streams that break and resume, reconnection timers, redirects, text outside ASCII.
 * - `media`: `Request`, `FormData`, `File`, base64.
 * - `openai-endpoint`: streams that a server writes, sessions.
 * - `runtime`: whether the server saw each abandoned stream end.
 * - `skills`, `validate`: late chunks, and schemas without code generation.
 * - `snapshot`: `structuredClone`, compaction.
 * - `tracing`: nested spans without async context, retries.
 */
export const smokeFiles: readonly string[] = [
  ...['abort', 'mcp-http', 'media', 'openai-endpoint', 'skills', 'snapshot', 'tracing', 'validate'],
  'runtime', // last: it looks at what the others left
].map((name) => `test/shared/${name}.test.ts`)

/** Whether only the smoke files run in workerd, Deno and Bun. */
export const isSmoke = process.env.PHI_SMOKE === 'true'

/** Returns the files of the runtime suite, as paths from the folder of the repository: all of them, or those of a smoke run. */
export function sharedFiles(): readonly string[] {
  if (isSmoke) return smokeFiles
  const names = readdirSync(new URL('../shared/', import.meta.url)).filter((name) => name.endsWith('.test.ts'))
  return names.toSorted().map((name) => `test/shared/${name}`)
}
