import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
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

/** Gives the file at a path, or `undefined` where there is none. `accepted` is the `accept-encoding` of who asks. */
type FileAt = (path: string, accepted: string | null) => Promise<Response | undefined>

/** The playground as the package has it, its assets compressed with gzip. Its agent is the one behind `endpoint`. */
export async function playgroundFiles(endpoint: string): Promise<FileAt> {
  const folder = builtFolder()
  const names = new Set((await readdir(new URL('assets/', folder))).map((name) => `/assets/${name}`))
  const index = await readFile(new URL('index.html', folder), 'utf8')
  // The page talks to this server alone, and is not kept for when it is gone.
  const page = index.replace('<head>', `<head>\n    <meta name="phi-endpoint" content="${endpoint}" />`)
  return async (path, accepted) => {
    if (path === '/') return new Response(page, { headers: headersOf('.html') })
    // Only what the folder has: nothing of a path reaches the disk.
    if (!names.has(`${path}.gz`)) return undefined
    const packed = await readFile(new URL(`.${path}.gz`, folder))
    const asset = { ...headersOf(extname(path)), vary: 'accept-encoding' }
    if (!takesGzip(accepted)) return new Response(new Uint8Array(await unpack(packed)), { headers: asset })
    return new Response(packed, { headers: { ...asset, 'content-encoding': 'gzip' } })
  }
}

const unpack = promisify(gunzip)

/** Whether a client with this `accept-encoding` takes gzip. One that sends none may not know how to unpack. */
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
