import { serve } from '../../test/harness/serve.ts'
import type { Protocol, Turn } from '../../test/harness/server/scenarios.ts'

/** One call, as it came. */
export interface ModelRequest {
  path: string
  headers: Headers
  /** Texts of the tool results that stand after the last answer. */
  toolResults: string[]
  body: unknown
}

/** A service on this machine that plays a model. */
export interface ModelServer extends AsyncDisposable {
  url: string
  requests: readonly ModelRequest[]
}

type Answer = Turn | Response

/** Speaks `protocol` on loopback, and lets pages of every origin call, as Ollama does where it is told to. A `Response` is sent as it is. */
export async function serveModel(protocol: Protocol, answer: (request: ModelRequest) => Answer | Promise<Answer>): Promise<ModelServer> {
  const requests: ModelRequest[] = []
  const service = await serve(async (request) => {
    if (request.method === 'OPTIONS') return new Response(null, { headers: anyPage })
    const body: unknown = await request.json()
    const call = { path: new URL(request.url).pathname, headers: request.headers, toolResults: protocol.toolResults(body), body }
    requests.push(call)
    const turn = await answer(call)
    if (turn instanceof Response) return turn
    const frames = protocol.frames(turn).map(String).join('')
    return new Response(frames, { headers: { ...anyPage, 'content-type': 'text/event-stream' } })
  })
  return { url: service.url, requests, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

/** What a server says to the pages that it lets in. */
export const anyPage = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': '*',
  'access-control-allow-methods': 'POST',
}
