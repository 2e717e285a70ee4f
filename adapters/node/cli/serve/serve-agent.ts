import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type Agent, ConfigError, type Logger, type SessionStore } from '../../../../src/index.ts'
import { bearer, createAgentApp, memoryLiveSessions } from '../../../http/index.ts'
import { toNodeHandler } from '../../http/to-node-handler.ts'
import type { ServedAgent } from './served-agent.ts'
import { pageHtml, pageScript, pageStyles } from './web-page.ts'

/** Pages may load nothing from elsewhere, and no other page may show this one. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data: blob:; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

/**
 * Serves the agent of an assistant on 127.0.0.1, and a page to talk to it. Sessions are those of the assistant: what is said in the page is there in a
 * terminal, and the other way round. Only whoever has the token gets in.
 */
export async function serveAgent(
  { agent, store }: { agent: Agent; store: SessionStore },
  { port, logger }: { port: number; logger: Logger },
): Promise<ServedAgent> {
  const token = randomBytes(24).toString('base64url')
  const { session: _store, journal: _none, ...settings } = agent.settings
  const sessions = memoryLiveSessions({ store, agent: () => settings, logger })
  const app = createAgentApp({ sessions, authorize: bearer(token) })
  const elements = await readElements()
  const files: Readonly<Record<string, { type: string; body: string }>> = {
    '/': { type: 'text/html; charset=utf-8', body: pageHtml },
    '/phi.js': { type: 'text/javascript', body: pageScript },
    '/phi.css': { type: 'text/css', body: pageStyles },
    '/phi-elements.js': { type: 'text/javascript', body: elements },
  }
  const handler = toNodeHandler((request, env) => {
    const url = new URL(request.url)
    if (url.pathname.startsWith('/agent/'))
      return app.fetch(new Request(new URL(url.pathname.slice('/agent'.length) + url.search, url), request), env)
    const file = request.method === 'GET' && Object.hasOwn(files, url.pathname) ? files[url.pathname] : undefined
    return file === undefined
      ? new Response('Not found', { status: 404 })
      : new Response(file.body, { headers: { ...headers, 'content-type': file.type } })
  })
  const server = createServer(handler)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ConfigError('invalidOption', `Port ${port} cannot be listened on: ${error.code}. Take another --port.`, { cause: error }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const origin = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : port}`
  return {
    link: (sessionId) => `${origin}/#token=${token}${sessionId === undefined ? '' : `&session=${encodeURIComponent(sessionId)}`}`,
    close: async () => {
      await sessions.close()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

/** The web components in one file, as the package has them. */
async function readElements(): Promise<string> {
  // Beside the built file, and in what the sources were built to.
  for (const place of ['./elements/page.js', '../elements/page.js', '../../../../dist/elements/page.js']) {
    const text = await readFile(new URL(place, import.meta.url), 'utf8').catch(() => undefined)
    if (text !== undefined) return text
  }
  throw new ConfigError('invalidOption', 'The page of phi serve is not built here. Say npm run build.')
}
