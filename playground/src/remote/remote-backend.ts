import { type RemoteSession, remoteSession } from '../../../src/client/index.ts'
import { type Session, SessionError } from '../../../src/index.ts'
import { parseSession } from '../../../src/session/index.ts'
import { keyOf } from '../models/key-vault.ts'
import type { Settings } from '../settings/settings.ts'
import type { Backend, ChatPort, ExportFormat, ModelFacts, SessionFile, StoredSession } from '../state/chat-port.ts'
import { type ServerCalls, serverCalls } from './server-calls.ts'
import { serverOwner, serverUrl } from './server-url.ts'

/** Conversations behind `createAgentApp`: their agents run there, and go on when this page is closed. Rejects where it is not reached. */
export async function openRemoteBackend(settings: Settings): Promise<Backend> {
  const url = serverUrl(settings)
  const headers = () => {
    const token = keyOf(serverOwner(url))
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }
  const calls = serverCalls(url, headers)
  // Whoever may not ask for the list may not talk either.
  await calls.json('/sessions?limit=1')
  return new RemoteBackend(url, headers, calls, factsFrom(await calls.json('/about').catch(() => undefined)))
}

class RemoteBackend implements Backend {
  readonly #url: string
  readonly #headers: () => Record<string, string>
  readonly #calls: ServerCalls
  readonly #model: ModelFacts

  constructor(url: string, headers: () => Record<string, string>, calls: ServerCalls, model: ModelFacts) {
    this.#url = url
    this.#headers = headers
    this.#calls = calls
    this.#model = model
  }

  begin(sessionId: string = crypto.randomUUID()): ChatPort {
    return this.#port(remoteSession({ url: this.#url, sessionId, headers: this.#headers }))
  }

  async open(sessionId: string, loopId?: string): Promise<ChatPort> {
    if (loopId !== undefined) throw new Error('A conversation on the server goes on where it ended. Take it into this tab to branch it.')
    const agent = remoteSession({ url: this.#url, sessionId, headers: this.#headers })
    await agent.load()
    return this.#port(agent)
  }

  #port(agent: RemoteSession): ChatPort {
    return {
      agent,
      model: this.#model,
      // Nobody has to ask about what was never said.
      recorded: async () => (agent.messages.length === 0 ? undefined : this.read(agent.sessionId).catch(undefinedWhereUnknown)),
      close: async () => agent.close(),
    }
  }

  async list(): Promise<StoredSession[]> {
    const page = Object(await this.#calls.json('/sessions?limit=100'))
    const sessions: unknown = page.sessions
    return Array.isArray(sessions) ? sessions.map(summaryFrom) : []
  }

  async read(sessionId: string): Promise<Session> {
    const { session } = Object(await this.#calls.json(path(sessionId)))
    return parseSession(JSON.stringify(session))
  }

  async isOpen(): Promise<boolean> {
    // The server is the only writer, whoever looks on.
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
    const { sessionId } = Object(JSON.parse(text.slice(0, text.indexOf('\n'))))
    if (typeof sessionId !== 'string') throw new Error('The server takes whole sessions only, as “Whole session (phi)” gives them.')
    await this.#calls.send('POST', `${path(sessionId)}/import${replace ? '?replace=true' : ''}`, text)
    return sessionId
  }
}

const path = (sessionId: string) => `/sessions/${encodeURIComponent(sessionId)}`

function summaryFrom(value: unknown): StoredSession {
  const { sessionId, title = '', createdAt = 0, lastActiveAt = 0, loops = 0, error } = Object(value)
  return {
    sessionId: String(sessionId),
    title: error === undefined ? String(title) : 'This conversation cannot be read.',
    startedAt: Number(createdAt),
    lastActiveAt: Number(lastActiveAt),
    loops: Number(loops),
    isOpen: false,
  }
}

/** What the server says of its model; what it does not say is unknown. */
function factsFrom(about: unknown): ModelFacts {
  const { model, isScripted, contextTokens } = Object(about)
  const tokens = typeof contextTokens === 'number' && contextTokens > 0 ? contextTokens : 200_000
  return {
    name: typeof model === 'string' ? model : 'Server',
    isScripted: isScripted === true,
    contextTokens: tokens,
    compactsAt: tokens * 0.85,
    cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
  }
}

function undefinedWhereUnknown(error: unknown): undefined {
  if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
  throw error
}
