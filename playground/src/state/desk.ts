import { type ReadonlySignal, signal } from '@preact/signals'
import { SessionError } from '../../../src/session/index.ts'
import { serverUrl } from '../remote/server-url.ts'
import type { SettableBackend } from '../settings/settable-backend.ts'
import type { Settings } from '../settings/settings.ts'
import type { StoredSession } from './chat-port.ts'
import type { RunRace } from './race/race.ts'
import { createSelection, readAddress, type SelectionState } from './selection.ts'
import { type Conversation, createConversation } from './session.ts'

/** What another tab did to the conversation that is shown here. */
export type Interference = 'continued' | 'deleted'

/** All conversations: the one that is shown, and those that are stored. */
export interface Desk extends SelectionState {
  readonly backend: SettableBackend
  current: ReadonlySignal<Conversation>
  stored: ReadonlySignal<readonly StoredSession[]>
  /** Set while what is shown is not what is stored: nothing can be said here then. */
  interference: ReadonlySignal<Interference | undefined>
  /** Whether the conversation is on its way to another place: what is said now would stay behind. */
  isMoving: ReadonlySignal<boolean>
  /** Why conversations are not kept, or why something could not be done. */
  warning: ReadonlySignal<string | undefined>
  /** Reads a conversation and shows it, from `loopId` on where one is given: what is said next is a branch there. */
  open(sessionId: string, loopId?: string): Promise<void>
  /** Goes on here with the conversation that is shown, as it is by now. The tab that writes to it is told. */
  takeOver(): Promise<void>
  create(): void
  remove(sessionId: string): Promise<void>
  importFrom(text: string): Promise<void>
  /** Goes on as `settings` say: with this conversation, or with a new one where they lead to another place. Resolves with whether that worked. */
  configure(settings: Settings): Promise<boolean>
  /** Takes the conversation to the other place, with everything that waits in it, and goes on there. */
  handOver(settings: Settings): Promise<void>
  /** Has several configurations answer `prompt`, and goes on with the answer that was chosen. */
  race(prompt: string, run?: RunRace): void
  /** Shows the conversation again as it came, without sending anything. */
  replay(): Promise<void>
  refresh(): Promise<void>
  warn(error: unknown): void
}

/** Opens the conversation that the address names, so that a reload and a link lead to it; otherwise a new one. */
export async function createDesk(backendFor: (onOtherTab: (sessionId: string) => void) => Promise<SettableBackend>): Promise<Desk> {
  const backend = await backendFor((sessionId) => void heard(sessionId))
  const selection = createSelection((sessionId) => void open(sessionId))
  const stored = signal<readonly StoredSession[]>([])
  const interference = signal<Interference | undefined>(undefined)
  const isMoving = signal(false)
  const warning = signal(backend.warning)
  const current = signal(await read(readAddress(location.hash).sessionId))

  async function read(sessionId: string | undefined, loopId?: string): Promise<Conversation> {
    if (sessionId === undefined) return begin()
    try {
      const chat = await backend.open(sessionId, loopId)
      return listen(createConversation(chat, await chat.recorded(), loopId))
    } catch (error) {
      // One that was never written to has no records yet.
      if (SessionError.isInstance(error) && error.code === 'notFound' && loopId === undefined) return begin(sessionId)
      warn(error, 'This conversation cannot be opened')
      return begin()
    }
  }

  function begin(sessionId?: string): Conversation {
    return listen(createConversation(backend.begin(sessionId), undefined))
  }

  function listen(conversation: Conversation): Conversation {
    const { agent } = conversation.chat
    let run = agent.currentRun
    const readAgain = () => void Promise.all([refresh(), conversation.refresh()])
    agent.subscribe((event) => {
      run = agent.currentRun ?? run
      // By then what was said is stored.
      const wasSaid = event.type === 'messageEnd' && event.message.role === 'user'
      if (wasSaid) void refresh()
      // The end of a run is stored after its last event.
      if (event.type === 'agentEnd') void Promise.resolve(run?.result).then(readAgain, readAgain)
    })
    return conversation
  }

  function show(conversation: Conversation): void {
    if (conversation !== current.value) void current.value.close()
    current.value = conversation
    interference.value = undefined
    selection.moveTo(conversation.sessionId)
    void refresh()
  }

  async function refresh(): Promise<void> {
    stored.value = await backend.list()
  }

  /** Another tab is at work: on the conversation that is shown, or on another one. */
  async function heard(sessionId: string): Promise<void> {
    await refresh()
    const conversation = current.value
    if (conversation.sessionId !== sessionId) return
    conversation.abort()
    const isThere = stored.value.some((one) => one.sessionId === sessionId)
    interference.value = isThere || (await backend.isOpen(sessionId)) ? 'continued' : 'deleted'
  }

  /** The page before a reload takes a moment to let go; another tab that writes keeps on. */
  async function lookForOtherTabs(conversation: Conversation): Promise<void> {
    for (let look = 0; look < 5; look++) {
      if (!(await backend.isOpen(conversation.sessionId))) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    if (current.value === conversation && conversation.state.value.runId === undefined) interference.value = 'continued'
  }

  async function open(sessionId: string, loopId?: string): Promise<void> {
    // Whoever goes back behind what runs has no use for it.
    if (loopId !== undefined && current.value.sessionId === sessionId) await current.value.stop()
    await current.value.close()
    const conversation = await read(sessionId, loopId)
    show(conversation)
    void lookForOtherTabs(conversation)
  }

  async function takeOver(): Promise<void> {
    const { sessionId } = current.value
    await backend.takeOver(sessionId)
    show(await read(sessionId))
  }

  async function remove(sessionId: string): Promise<void> {
    if (current.value.sessionId === sessionId) show(begin())
    await backend.remove(sessionId)
    await refresh()
  }

  async function runRace(prompt: string, race = current.value.chat.race): Promise<void> {
    const conversation = current.value
    if (race === undefined) return
    try {
      const chosen = await conversation.startRace(prompt, race)
      if (current.value === conversation) await open(conversation.sessionId, chosen)
    } catch (error) {
      warn(error)
    }
  }

  async function replay(): Promise<void> {
    const { sessionId, loopId, chat } = current.value
    try {
      const [{ createReplay }, session] = await Promise.all([import('../replay/replay.ts'), backend.read(sessionId)])
      const played = createReplay(session, loopId.value, chat.model)
      if (played.replay.timeline.moments.length === 0) throw new Error('Its events were not kept where it is stored.')
      selection.select(undefined)
      show(played)
      played.replay.play()
    } catch (error) {
      warn(error, 'This conversation cannot be replayed')
    }
  }

  async function importFrom(text: string): Promise<void> {
    try {
      await open(await backend.importFrom(text))
    } catch (error) {
      warn(error, 'The file cannot be imported')
    }
  }

  async function configure(settings: Settings): Promise<boolean> {
    const before = backend.settings.value
    const { sessionId, record } = current.value
    const isSamePlace = before.place === settings.place && serverUrl(before) === serverUrl(settings)
    const wasSaid = record.value !== undefined
    await current.value.close()
    let isDone = true
    try {
      await backend.use(settings)
      warning.value = backend.warning
    } catch (error) {
      warn(error, 'These settings cannot be used')
      isDone = false
    }
    show((isSamePlace || !isDone) && wasSaid ? await read(sessionId) : begin())
    return isDone
  }

  async function handOver(settings: Settings): Promise<void> {
    const { sessionId, draft } = current.value
    const before = backend.settings.value
    isMoving.value = true
    try {
      await current.value.stop()
      await current.value.close()
      const { text } = await backend.exportAs(sessionId, 'phi')
      await backend.use(settings)
      show(await read(await backend.importFrom(text, { replace: true })))
    } catch (error) {
      // It is still where it was.
      await backend.use(before)
      show(await read(sessionId))
      warn(error, 'The conversation was not handed over')
    } finally {
      isMoving.value = false
    }
    current.value.draft.value = draft.value
  }

  function warn(error: unknown, what = 'That did not work'): void {
    warning.value = `${what}: ${error instanceof Error ? error.message : String(error)}`
  }

  selection.moveTo(current.value.sessionId)
  await refresh()
  void lookForOtherTabs(current.value)
  const create = () => show(begin())
  const race = (prompt: string, run?: RunRace) => void runRace(prompt, run)
  return {
    ...selection,
    backend,
    current,
    stored,
    interference,
    isMoving,
    warning,
    open,
    takeOver,
    create,
    remove,
    importFrom,
    configure,
    handOver,
    race,
    replay,
    refresh,
    warn,
  }
}
