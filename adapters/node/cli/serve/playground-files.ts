import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ConfigError } from '../../../../src/index.ts'

/** Headers that forbid third-party content, cross-origin requests and framing. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  // Disable caching, because another program may use this port later.
  'cache-control': 'no-store',
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
}

/** Returns the file at a path, or `undefined`. `accepted` is the `accept-encoding` header. */
type FileAt = (path: string, accepted: string | null) => Promise<Response | undefined>

/** Loads the packaged playground with gzipped assets, connected to `endpoint`. */
export async function playgroundFiles(endpoint: string): Promise<FileAt> {
  const folder = builtFolder()
  const names = new Set((await readdir(new URL('assets/', folder))).map((name) => `/assets/${name}`))
  const index = await readFile(new URL('index.html', folder), 'utf8')
  // With this endpoint, the app talks only to this server and installs no offline cache.
  const page = index.replace('<head>', `<head>\n    <meta name="phi-endpoint" content="${endpoint}" />`)
  return async (path, accepted) => {
    if (path === '/') return new Response(page, { headers: headersOf('.html') })
    // Look up known files only, so that request paths never access the disk.
    if (!names.has(`${path}.gz`)) return undefined
    const packed = await readFile(new URL(`.${path}.gz`, folder))
    const asset = { ...headersOf(extname(path)), vary: 'accept-encoding' }
    if (!takesGzip(accepted)) return new Response(new Uint8Array(await unpack(packed)), { headers: asset })
    return new Response(packed, { headers: { ...asset, 'content-encoding': 'gzip' } })
  }
}

const unpack = promisify(gunzip)

/** Returns whether an `accept-encoding` header accepts gzip. A missing header does not. */
function takesGzip(accepted: string | null): boolean {
  const weights = new Map(
    (accepted ?? '').split(',').map((each) => {
      const [coding = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
      return [coding, Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1)]
    }),
  )
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

function headersOf(extension: string): Record<string, string> {
  return { ...headers, 'content-type': types[extension] ?? 'application/octet-stream' }
}

function builtFolder(): URL {
  // The path differs between the built file and the sources.
  for (const place of ['./playground/', '../playground/', '../../../../dist/playground/']) {
    const folder = new URL(place, import.meta.url)
    if (existsSync(new URL('assets', folder))) return folder
  }
  throw new ConfigError(
    'invalidOption',
    'Cannot serve the web app: its files are missing. Reinstall phi-core, or run `npm run build` in a clone.',
  )
}
