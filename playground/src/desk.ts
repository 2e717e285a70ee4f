import { type ReadonlySignal, signal } from '@preact/signals'
import { Agent, type AgentEvent, resumeAgent, SessionError } from '../../src/index.ts'
import { demoOptions } from './demo/agent.ts'
import { createSession, type Session } from './session.ts'
import { openSessions, type StoredSession } from './sessions/stored-sessions.ts'

/** What another tab did to the conversation that is shown here. */
export type Interference = 'continued' | 'deleted'

/** All conversations: the one that is shown, and those that are stored. */
export interface Desk {
  current: ReadonlySignal<Session>
  stored: ReadonlySignal<readonly StoredSession[]>
  /** Set while what is shown is not what is stored: nothing can be said here then. */
  interference: ReadonlySignal<Interference | undefined>
  /** Why conversations are not kept, or why one could not be opened. */
  warning: ReadonlySignal<string | undefined>
  /** Reads a conversation and shows it. */
  open(sessionId: string): Promise<void>
  /** Goes on here with the conversation that is shown, as it is by now. The tab that writes to it is told. */
  takeOver(): Promise<void>
  create(): void
  remove(sessionId: string): Promise<void>
}

/** Opens the conversation that the address names, `#<session id>`, so that a reload and a link lead to it; otherwise a new one. */
export async function createDesk(): Promise<Desk> {
  const sessions = await openSessions((sessionId) => void heard(sessionId))
  const { store } = sessions
  const stored = signal<readonly StoredSession[]>([])
  const interference = signal<Interference | undefined>(undefined)
  const warning = signal(sessions.warning)
  const current = signal(await read(addressed()))

  async function read(sessionId: string | undefined): Promise<Session> {
    if (sessionId === undefined) return begin()
    try {
      return listen(createSession(await resumeAgent(store, sessionId, demoOptions())))
    } catch (error) {
      // One that was never written to has no records yet.
      if (SessionError.isInstance(error) && error.code === 'notFound') return begin(sessionId)
      warning.value = `This conversation cannot be opened: ${error instanceof Error ? error.message : String(error)}`
      return begin()
    }
  }

  function begin(sessionId?: string): Session {
    const agent = new Agent({ ...demoOptions(), session: store, ...(sessionId !== undefined && { sessionId }) })
    return listen(createSession(agent))
  }

  function listen(session: Session): Session {
    session.agent.subscribe((event: AgentEvent) => {
      // By then what was said is stored.
      const wasSaid = event.type === 'messageEnd' && event.message.role === 'user'
      if (wasSaid || event.type === 'agentEnd') void refresh()
    })
    return session
  }

  function show(session: Session): void {
    if (session !== current.value) void current.value.close()
    current.value = session
    interference.value = undefined
    if (addressed() !== session.agent.sessionId) location.hash = session.agent.sessionId
    void refresh()
  }

  async function refresh(): Promise<void> {
    stored.value = await sessions.list()
  }

  /** Another tab is at work: on the conversation that is shown, or on another one. */
  async function heard(sessionId: string): Promise<void> {
    await refresh()
    const session = current.value
    if (session.agent.sessionId !== sessionId) return
    session.abort()
    const isThere = stored.value.some((one) => one.sessionId === sessionId)
    interference.value = isThere || (await sessions.isOpen(sessionId)) ? 'continued' : 'deleted'
  }

  /** The page before a reload takes a moment to let go; another tab that writes keeps on. */
  async function lookForOtherTabs(session: Session): Promise<void> {
    for (let look = 0; look < 5; look++) {
      if (!(await sessions.isOpen(session.agent.sessionId))) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (current.value === session && session.state.value.runId === undefined) interference.value = 'continued'
  }

  async function open(sessionId: string): Promise<void> {
    await current.value.close()
    const session = await read(sessionId)
    show(session)
    void lookForOtherTabs(session)
  }

  async function takeOver(): Promise<void> {
    const { agentId, sessionId } = current.value.agent
    await (await store.open(sessionId, { agentId })).close()
    show(await read(sessionId))
  }

  async function remove(sessionId: string): Promise<void> {
    if (current.value.agent.sessionId === sessionId) show(begin())
    await store.delete(sessionId)
    await refresh()
  }

  addEventListener('hashchange', () => {
    const sessionId = addressed()
    if (sessionId !== undefined && sessionId !== current.value.agent.sessionId) void open(sessionId)
  })
  history.replaceState(undefined, '', `#${current.value.agent.sessionId}`)
  await refresh()
  void lookForOtherTabs(current.value)
  return { current, stored, interference, warning, open, takeOver, create: () => show(begin()), remove }
}

function addressed(): string | undefined {
  return location.hash.slice(1) || undefined
}
