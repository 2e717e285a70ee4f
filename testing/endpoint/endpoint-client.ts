import { eventDecoder } from '../../src/client.ts'
import type { JsonValue } from '../../src/contract/json.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { createSseDecoder } from '../../src/stream/sse.ts'

/** The caller: one of two users, or an unauthenticated client (`nobody`). */
export type User = 'ada' | 'bob' | 'nobody'

/** Sends a request to the endpoint under test, with or without a user's credentials. */
export type AskEndpoint = (path: string, init?: RequestInit, user?: User) => Promise<Response>

/** A client for one session on the endpoint under test. */
export class EndpointClient {
  readonly sessionId: string
  readonly #ask: AskEndpoint
  readonly #user: User

  constructor(ask: AskEndpoint, kind: string, user: User = 'ada', sessionId = `${kind}-${crypto.randomUUID()}`) {
    this.#ask = ask
    this.#user = user
    this.sessionId = sessionId
  }

  /** Returns a client for the same session and another caller. */
  as(user: User): EndpointClient {
    return new EndpointClient(this.#ask, '', user, this.sessionId)
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.#ask(`/sessions/${this.sessionId}${path}`, { headers }, this.#user)
  }

  post(path: string, body?: JsonValue, headers: Record<string, string> = {}): Promise<Response> {
    const json = body === undefined ? {} : { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
    return this.#ask(`/sessions/${this.sessionId}${path}`, { method: 'POST', ...json }, this.#user)
  }

  /** Sends a body unchanged. */
  send(path: string, body: string): Promise<Response> {
    return this.#ask(`/sessions/${this.sessionId}${path}`, { method: 'POST', body }, this.#user)
  }

  delete(path = ''): Promise<Response> {
    return this.#ask(`/sessions/${this.sessionId}${path}`, { method: 'DELETE' }, this.#user)
  }

  list(): Promise<Response> {
    return this.#ask('/sessions?limit=200', {}, this.#user)
  }

  prompt(prompt = 'Go.', headers: Record<string, string> = {}): Promise<Response> {
    return this.post('/runs', { prompt }, headers)
  }

  events(loopId: string, after?: number): Promise<Response> {
    return this.get(`/runs/${encodeURIComponent(loopId)}/events`, after === undefined ? {} : { 'last-event-id': String(after) })
  }

  /** Returns the session's messages on the server. */
  async session(): Promise<{ session: { loops: { status: string; messages: { role: string; id: string }[] }[] }; runningLoopId?: string }> {
    return (await this.get('')).json()
  }
}

/** Yields a response's events as they arrive. Leaving the loop closes the connection. */
export async function* eventsOf(response: Response): AsyncGenerator<AgentEvent> {
  if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`)
  const arrived: AgentEvent[] = []
  const events = eventDecoder()
  const decoder = createSseDecoder((data) => arrived.push(events.decode(data)))
  const reader = response.body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      decoder.feed(next.value)
      yield* arrived.splice(0)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

/** Returns all events until the response ends. */
export async function allEvents(response: Response): Promise<AgentEvent[]> {
  const all: AgentEvent[] = []
  for await (const event of eventsOf(response)) all.push(event)
  return all
}

/** Reads a response's text until it contains `part`, then disconnects. */
export async function textUntil({ body }: Response, part: string): Promise<string> {
  const [reader, decoder] = [body?.getReader(), new TextDecoder()]
  let text = ''
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    text += decoder.decode(next.value, { stream: true })
    if (text.includes(part)) break
  }
  await reader?.cancel().catch(() => undefined)
  return text
}

/** Reads until the first event of this type, then disconnects. */
export async function eventsUntil(response: Response, type: AgentEvent['type']): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = []
  for await (const event of eventsOf(response)) {
    seen.push(event)
    if (event.type === type) return seen
  }
  throw new Error(`The response ended before a ${type} event. Received: ${seen.map((event) => event.type).join(' ')}.`)
}

/** Returns the model's text in these events. */
export function responseText(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'messageUpdate' && event.delta.type === 'text' ? event.delta.delta : '')).join('')
}

/** Returns the problem in a response. */
export async function problemOf(response: Response): Promise<{ status: number; code: string; type: string | null; continuedBy?: string }> {
  const { code, continuedBy } = await response.json()
  return { status: response.status, code, type: response.headers.get('content-type'), ...(continuedBy !== undefined && { continuedBy }) }
}
