import { expect, vi } from 'vitest'
import type { SessionRecord } from '../../../../src/session.ts'
import type { NewSessionRecord } from '../../../../src/types/session/session-store.ts'
import { patient } from '../../../support/patience.ts'
import { type Frame, frames } from '../../http/read-sse.ts'

/** What a client does with one live session of test/workers/live-worker.ts. */
export class LiveClient {
  readonly sessionId: string
  readonly #base: URL

  constructor(base: URL | string, kind: string, sessionId = `${kind}-${crypto.randomUUID()}`) {
    this.#base = new URL(base)
    this.sessionId = sessionId
  }

  /** The same client, when the Worker has another address. */
  at(base: URL | string): LiveClient {
    return new LiveClient(base, '', this.sessionId)
  }

  prompt(text = 'Go.', more: Record<string, string> = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', ...more }
    return this.ask('/runs', { method: 'POST', headers, body: JSON.stringify({ prompt: text }) })
  }

  events(loopId: string, after?: number): Promise<Response> {
    return this.ask(`/runs/${encodeURIComponent(loopId)}/events`, after === undefined ? {} : { headers: { 'last-event-id': `${after}` } })
  }

  ask(path: string, init?: RequestInit): Promise<Response> {
    return fetch(new URL(`/sessions/${this.sessionId}${path}`, this.#base), init)
  }

  /** Looks behind the scenes. The answer is that of the object, or the failure of one that was ended. */
  behind(path: string): Promise<Response> {
    return fetch(new URL(`/test/${this.sessionId}/${path}`, this.#base))
  }

  async records(): Promise<SessionRecord[]> {
    const response = await fetch(new URL(`/tail/${this.sessionId}`, this.#base))
    return response.ok ? response.json() : []
  }

  /** Writes records of a session, as a process does that ends after them. */
  async seed(records: readonly NewSessionRecord[]): Promise<void> {
    await fetch(new URL(`/seed/${this.sessionId}`, this.#base), { method: 'POST', body: JSON.stringify(records) })
  }

  async delete(): Promise<boolean> {
    return (await fetch(new URL(`/delete/${this.sessionId}`, this.#base))).json()
  }

  /** The ends of loops in the log, once there are `count`. */
  async ends(count = 1): Promise<{ status: string; error?: { code: string } }[]> {
    return vi.waitFor(async () => {
      const ends = (await this.records()).flatMap(({ entry }) => (entry.type === 'loopEnd' ? [entry] : []))
      expect(ends.length).toBeGreaterThanOrEqual(count)
      return ends
    }, patient)
  }
}

/** Reads until an event of this type, and leaves. */
export async function readUntil(response: Response, type: string): Promise<Frame[]> {
  const seen: Frame[] = []
  for await (const frame of frames(response)) {
    seen.push(frame)
    if (frame.event === type) return seen
  }
  throw new Error(`The stream ended without ${type}, after ${seen.map((frame) => frame.event).join(' ')}.`)
}

/** What the model said in these frames. */
export function textIn(seen: readonly Frame[]): string {
  return seen.map(({ event, data }) => (event === 'messageUpdate' && data.delta.type === 'text' ? data.delta.delta : '')).join('')
}
