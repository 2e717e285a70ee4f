import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { ConfigError } from '../../../../src/index.ts'

/** Pages may load nothing from elsewhere and ask nobody else, and no other page may show this one. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // Another program may listen on this port tomorrow.
  'cache-control': 'no-store',
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** The playground as the package has it: gives the file at a path, or `undefined` where it has none. Its agent is the one behind `endpoint`. */
export async function playgroundFiles(endpoint: string): Promise<(path: string) => Promise<Response | undefined>> {
  const folder = builtFolder()
  const names = new Set((await readdir(new URL('assets/', folder))).map((name) => `/assets/${name}`))
  const index = await readFile(new URL('index.html', folder), 'utf8')
  // The page talks to this server alone, and is not kept for when it is gone.
  const page = index.replace('<head>', `<head>\n    <meta name="phi-endpoint" content="${endpoint}" />`)
  return async (path) => {
    if (path === '/') return answer(page, '.html')
    // Only what the folder has: nothing of a path reaches the disk.
    return names.has(path) ? answer(await readFile(new URL(`.${path}`, folder), 'utf8'), extname(path)) : undefined
  }
}

function answer(body: string, extension: string): Response {
  return new Response(body, { headers: { ...headers, 'content-type': types[extension] ?? 'application/octet-stream' } })
}

function builtFolder(): URL {
  // Beside the built file, and in what the sources were built to.
  for (const place of ['./playground/', '../playground/', '../../../../dist/playground/']) {
    const folder = new URL(place, import.meta.url)
    if (existsSync(new URL('assets', folder))) return folder
  }
  throw new ConfigError(
    'invalidOption',
    'Cannot serve the page of phi: its files are missing. Install phi-core again, or run `npm run build` in a clone.',
  )
}
