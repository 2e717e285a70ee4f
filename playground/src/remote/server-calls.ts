import { SessionError, type SessionErrorCode } from '../../../src/session.ts'

/** Requests to `createAgentApp` that do not belong to a run. */
export interface ServerCalls {
  json(path: string): Promise<unknown>
  text(path: string): Promise<string>
  send(method: 'POST' | 'DELETE', path: string, body?: string | object): Promise<void>
}

/** Sends requests to the server at `url`. Calls `headers` before each request. Rejects with the server's message. */
export function serverCalls(url: string, headers: () => Record<string, string>): ServerCalls {
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${url}${path}`, { ...init, headers: { ...headers(), ...init.headers } }).catch((error: unknown) => {
      const detail = 'Is it running, and does it allow this page (cors)? '
      throw new Error(`Cannot reach the server at ${url}. ${detail}${error instanceof Error ? error.message : ''}`, { cause: error })
    })
    if (!response.ok) throw await problemIn(response)
    return response
  }
  return {
    json: async (path) =>
      (await ask(path)).json().catch((error: unknown) => {
        throw new Error(`The server at ${url} is not an agent endpoint: its response is not JSON.`, { cause: error })
      }),
    text: async (path) => (await ask(path)).text(),
    async send(method, path, body) {
      const isJson = typeof body === 'object'
      const type = isJson ? { 'content-type': 'application/json' } : { 'content-type': 'application/x-ndjson' }
      await ask(path, body === undefined ? { method } : { method, headers: type, body: isJson ? JSON.stringify(body) : body })
    },
  }
}

const codes = new Map<unknown, SessionErrorCode>([
  ['notFound', 'notFound'],
  ['exists', 'conflict'],
  ['invalidSession', 'invalidSession'],
])

async function problemIn(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined)
  const { code, detail } = Object(body)
  if (response.status === 401) return new Error('The server requires a token, or rejected this one. Enter a valid token in the settings.')
  const text = typeof detail === 'string' ? detail : `The server responded with ${response.status}, which an agent endpoint does not send.`
  const known = codes.get(code)
  return known === undefined ? new Error(text) : new SessionError(known, text)
}
