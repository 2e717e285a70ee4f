import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { exportSession, parseSession, type Session, SessionError } from '../../../src/session.ts'
import { keyOf } from '../models/key-vault.ts'
import type { Settings } from '../settings/settings.ts'
import type { Backend, ChatPort, ExportFormat, ModelFacts, SessionFile, StoredSession } from '../state/backend/chat-port.ts'
import { undefinedWhereUnknown } from '../state/backend/unknown-session.ts'
import { type WatchedConnection, watchedConnection } from './connection.ts'
import { linkTokenFor } from './link-token.ts'
import { factsFrom } from './model-facts.ts'
import { type ServerCalls, serverCalls } from './server-calls.ts'
import { serverOwner, serverUrl } from './server-url.ts'

/**
 * Conversations behind `createAgentApp`. Their agents run on the server and continue when this page closes. Rejects if the server is
 * unreachable.
 */
export async function openRemoteBackend(settings: Settings): Promise<Backend> {
  const url = serverUrl(settings)
  const headers = () => {
    const token = keyOf(serverOwner(url)) ?? linkTokenFor(url)
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }
  const calls = serverCalls(url, headers)
  // A caller without access to the list has no access to conversations.
  await calls.json('/sessions?limit=1')
  return new RemoteBackend(url, headers, calls, factsFrom(await calls.json('/about').catch(() => undefined)))
}

class RemoteBackend implements Backend {
  readonly #url: string
  readonly #headers: () => Record<string, string>
  readonly #calls: ServerCalls
  readonly #model: ModelFacts
  readonly isKept = true

  constructor(url: string, headers: () => Record<string, string>, calls: ServerCalls, model: ModelFacts) {
    this.#url = url
    this.#headers = headers
    this.#calls = calls
    this.#model = model
  }

  begin(sessionId: string = crypto.randomUUID()): ChatPort {
    const connection = watchedConnection()
    return this.#port(this.#agent(sessionId, connection), connection)
  }

  async open(sessionId: string, loopId?: string): Promise<ChatPort> {
    const connection = watchedConnection()
    const agent = this.#agent(sessionId, connection)
    // Read before subscribing to the current run, so that no event is missed.
    const session = await this.read(sessionId).catch(undefinedWhereUnknown)
    await agent.load(loopId === undefined ? {} : { loopId })
    const isOutdated = agent.currentRun === undefined && session?.loops.at(-1)?.status === 'running'
    return this.#port(agent, connection, isOutdated ? await this.read(sessionId) : session)
  }

  #agent(sessionId: string, { fetch, logger }: WatchedConnection): RemoteSession {
    return remoteSession({ url: this.#url, sessionId, headers: this.#headers, fetch, logger })
  }

  #port(agent: RemoteSession, { state: connection }: WatchedConnection, session?: Session): ChatPort {
    let opened = session
    // Races exist only in imported conversations, so their events do not change.
    const groups = new Map(session?.loops.flatMap((loop) => (loop.parallelGroup === undefined ? [] : [[loop.loopId, loop.events]])))
    const recorded = async () => {
      const { loops, ...rest } = await this.read(agent.sessionId, { events: false })
      return { ...rest, loops: loops.map((loop) => ({ ...loop, events: groups.get(loop.loopId) ?? [] })) }
    }
    return {
      agent,
      model: this.#model,
      connection,
      queued: agent.queued,
      async recorded() {
        const known = opened
        opened = undefined
        // An empty conversation needs no request.
        return known ?? (agent.messages.length === 0 ? undefined : recorded().catch(undefinedWhereUnknown))
      },
      close: async () => agent.close(),
    }
  }

  async list(most: number): Promise<StoredSession[]> {
    const found: StoredSession[] = []
    let cursor: unknown
    do {
      const next = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : ''
      const { sessions, nextCursor } = Object(await this.#calls.json(`/sessions?limit=${Math.min(100, most - found.length)}${next}`))
      if (!Array.isArray(sessions) || sessions.length === 0) break
      found.push(...sessions.map(summaryFrom))
      cursor = nextCursor
    } while (typeof cursor === 'string' && found.length < most)
    return found
  }

  async read(sessionId: string, { events = true }: { events?: boolean } = {}): Promise<Session> {
    const { session } = Object(await this.#calls.json(`${path(sessionId)}${events ? '' : '?events=false'}`))
    return parseSession(JSON.stringify(session))
  }

  async isOpen(): Promise<boolean> {
    // The server is the only writer.
    return false
  }

  async takeOver(): Promise<void> {}

  remove(sessionId: string): Promise<void> {
    return this.#calls.send('DELETE', path(sessionId)).catch(undefinedWhereUnknown)
  }

  rename(sessionId: string, title: string): Promise<void> {
    return this.#calls.send('POST', `${path(sessionId)}/title`, { title })
  }

  async exportAs(sessionId: string, format: ExportFormat): Promise<SessionFile> {
    const { sessionFile } = await import('../sessions/session-file.ts')
    return sessionFile({ sessionId, format, log: () => this.#calls.text(`${path(sessionId)}/export`), read: () => this.read(sessionId) })
  }

  async importFrom(text: string, { replace = false }: { replace?: boolean } = {}): Promise<string> {
    const log = text.startsWith('{"format"') ? text : await logOfLedger(text)
    const { sessionId } = Object(JSON.parse(log.slice(0, log.indexOf('\n'))))
    const take = async (id: string) => {
      await this.#calls.send('POST', `${path(id)}/import${replace ? '?replace=true' : ''}`, log)
      return id
    }
    return take(String(sessionId)).catch((error: unknown) => {
      if (!replace && SessionError.isInstance(error) && error.code === 'conflict') return take(`imported-${crypto.randomUUID()}`)
      throw error
    })
  }
}

/** Converts a ledger from the Rust crate to an SDK session. Throws `SessionError` for an invalid ledger. */
async function logOfLedger(text: string): Promise<string> {
  const { sessionFromSpecJson } = await import('../../../src/rust.ts')
  const session = sessionFromSpecJson(text)
  const store = memorySessionStore()
  await store.save(session)
  return exportSession(store, session.sessionId)
}

const path = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}`

function summaryFrom(value: unknown): StoredSession {
  const { sessionId, title = '', createdAt = 0, lastActiveAt = 0, loops = 0, error } = Object(value)
  return {
    sessionId: String(sessionId),
    title: error === undefined ? String(title) : 'This conversation is unreadable.',
    startedAt: timeFrom(createdAt),
    lastActiveAt: timeFrom(lastActiveAt),
    loops: Number(loops),
    isOpen: false,
  }
}

/** The latest time that a `Date` can represent, in milliseconds. */
const latest = 8.64e15

/** Returns a time in milliseconds, or 0 if it is invalid. */
function timeFrom(value: unknown): number {
  return typeof value === 'number' && Math.abs(value) <= latest ? value : 0
}
