import { type ReadonlySignal, signal } from '@preact/signals'
import type { RunStatus } from '../../../src/index.ts'
import { SessionError } from '../../../src/session/index.ts'
import { serverUrl } from '../remote/server-url.ts'
import type { Settings } from '../settings/settings.ts'
import { sessionIn } from '../tree/shared-page.ts'
import type { SettableBackend } from './chat-port.ts'
import { dropDraft, moveDraft } from './conversation/draft.ts'
import { createTabWatch, type Interference } from './desk/interference.ts'
import { createNotices, type Notices } from './desk/notices.ts'
import { type Activity, isBusy, openConversations } from './desk/open-conversations.ts'
import { createStoredList, type StoredList } from './desk/stored-list.ts'
import { importWords } from './desk/words.ts'
import type { RunRace } from './race/race.ts'
import { createSelection, isOwnAddress, readAddress, type SelectionState } from './selection.ts'
import { type Conversation, createConversation } from './session.ts'

/**
 * All conversations: the one that is shown, those that run out of sight, and those that are stored.
 *
 * **Contract**
 * - Nothing here throws or rejects: what fails is in `notices`, with what can be done about it.
 * - Showing another conversation stops nothing, and decides nothing.
 */
export interface Desk extends SelectionState {
  readonly backend: SettableBackend
  readonly notices: Notices
  readonly stored: StoredList
  current: ReadonlySignal<Conversation>
  /** What runs, waits for a person, or has ended unseen, by session. */
  activity: ReadonlySignal<ReadonlyMap<string, Activity>>
  /** Set while what is shown is not what is stored: nothing can be said here then. */
  interference: ReadonlySignal<Interference | undefined>
  /** Whether the conversation is on its way to another place: what is said now would stay behind. */
  isMoving: ReadonlySignal<boolean>
  /** Shows a conversation, from `loopId` on where one is given: what is said next is a branch there. */
  open(sessionId: string, loopId?: string): Promise<void>
  /** Goes on here with the conversation that is shown, as it is by now. The tab that writes to it is told. */
  takeOver(): Promise<void>
  create(): void
  remove(sessionIds: readonly string[]): Promise<void>
  importFrom(file: Blob): Promise<void>
  /** Goes on as `settings` say: with this conversation, or with a new one where they lead to another place. Resolves with whether that worked. */
  configure(settings: Settings): Promise<boolean>
  /** Takes the conversation to the other place, with everything that waits in it, and goes on there. */
  handOver(settings: Settings): Promise<void>
  /** Has several configurations answer `prompt`, and goes on with the answer that was chosen. */
  race(prompt: string, run?: RunRace): void
  /** Shows the conversation again as it came, without sending anything. */
  replay(): Promise<void>
}

/** Conversations of a server that are heard out of sight; each holds a connection, and a browser has six. */
const mostHidden = 3

/** Opens the conversation that the address names, so that a reload and a link lead to it; otherwise a new one. */
export async function createDesk(backendFor: (onOtherTab: (sessionId: string) => void) => Promise<SettableBackend>): Promise<Desk> {
  const notices = createNotices()
  const backend = await backendFor((sessionId) => void watch.heard(sessionId))
  const selection = createSelection((sessionId) => void open(sessionId))
  const stored = createStoredList(backend, notices)
  const isMoving = signal(false)
  tellOfPlace()
  const current = signal(await read(readAddress(location.hash).sessionId))
  const all = openConversations(current)
  const watch = createTabWatch({ backend, notices, current, stored, hidden: (sessionId) => all.hidden(sessionId)?.conversation, drop })
  /** Their settings have changed while they ran. */
  const outdated = new WeakSet<Conversation>()

  /** Why the place that was chosen is not there, or keeps nothing. */
  function tellOfPlace(): void {
    if (backend.warning === undefined) notices.dismiss('place')
    else
      notices.tell({
        topic: 'place',
        kind: 'failure',
        text: backend.warning,
        remedies: backend.settings.value.place === 'tab' && backend.settings.value.model.source === 'scripted' ? [] : ['settings'],
      })
  }

  async function read(sessionId: string | undefined, loopId?: string): Promise<Conversation> {
    if (sessionId === undefined) return begin()
    const opened = await notices.attempt({ topic: 'open', failure: 'This conversation cannot be opened' }, async () => {
      try {
        const chat = await backend.open(sessionId, loopId)
        return listen(createConversation(chat, { notices, recorded: await chat.recorded(), loopId }))
      } catch (error) {
        // One that was never written to has no records yet.
        if (SessionError.isInstance(error) && error.code === 'notFound' && loopId === undefined) {
          if (!isOwnAddress(sessionId)) tellOfNothing(sessionId)
          return begin(sessionId)
        }
        throw error
      }
    })
    return opened ?? begin()
  }

  /** Somebody followed a link to it. */
  function tellOfNothing(sessionId: string): void {
    const place = backend.settings.value.place === 'server' ? 'on this server' : 'in this browser'
    const text = `There is no conversation of this address ${place}: it was deleted, or it is kept elsewhere. What you write here begins a new one.`
    notices.tell({ topic: 'nothing', kind: 'news', sessionId, text, remedies: [] })
  }

  function begin(sessionId?: string): Conversation {
    return listen(createConversation(backend.begin(sessionId), { notices }))
  }

  function listen(conversation: Conversation): Conversation {
    const { agent } = conversation.chat
    let run = agent.currentRun
    agent.subscribe((event) => {
      run = agent.currentRun ?? run
      // By then what was said is stored.
      const wasSaid = event.type === 'messageEnd' && event.message.role === 'user'
      if (wasSaid) void stored.refresh()
      // The end of a run is stored after its last event.
      if (event.type === 'agentEnd') void Promise.resolve(run?.result).then(() => ended(conversation, event.status))
    })
    return conversation
  }

  async function ended(conversation: Conversation, status: RunStatus): Promise<void> {
    await Promise.all([stored.refresh(), conversation.refresh()])
    if (isBusy(conversation)) return
    if (conversation !== current.value) await leave(conversation, status)
    else if (outdated.has(conversation)) show(await read(conversation.sessionId))
  }

  /** Its run is over, and nobody sees it. */
  async function leave(conversation: Conversation, status: RunStatus): Promise<void> {
    const { sessionId } = conversation
    if (all.hidden(sessionId)?.conversation !== conversation) return
    drop(sessionId)
    all.ended(sessionId, status === 'completed' ? 'answered' : 'failed')
    await conversation.close()
  }

  function drop(sessionId: string): void {
    all.take(sessionId)
  }

  function show(conversation: Conversation): void {
    const before = current.value
    current.value = conversation
    all.take(conversation.sessionId)
    all.seen(conversation.sessionId)
    if (conversation !== before) release(before)
    watch.clear()
    selection.moveTo(conversation.sessionId)
    void stored.refresh()
  }

  /** What runs in it goes on. */
  function release(conversation: Conversation): void {
    const settings = backend.settings.value
    const isThere = conversation.sessionId === current.value.sessionId
    const hasRoom = settings.place === 'tab' || all.activity.value.size < mostHidden
    if (isBusy(conversation) && !isThere && hasRoom) all.hide({ conversation, settings })
    else void conversation.close()
  }

  async function open(sessionId: string, loopId?: string): Promise<void> {
    const hidden = all.hidden(sessionId)
    if (hidden !== undefined) {
      if (!isSamePlace(hidden.settings, backend.settings.value) && !(await use(hidden.settings))) return
      return show(hidden.conversation)
    }
    if (sessionId === current.value.sessionId) {
      if (isBusy(current.value)) {
        const text = 'This conversation is running. Wait for its end, or stop it, to go on from elsewhere in it.'
        if (loopId !== undefined) notices.tell({ topic: 'open', kind: 'failure', sessionId, text, remedies: ['stop'] })
        return
      }
      await current.value.close()
    }
    const conversation = await read(sessionId, loopId)
    show(conversation)
    void watch.look(conversation)
  }

  async function takeOver(): Promise<void> {
    const { sessionId } = current.value
    const isTaken = await notices.attempt({ topic: 'open', failure: 'The conversation cannot go on here' }, async () => {
      await backend.takeOver(sessionId)
      return true
    })
    if (isTaken) show(await read(sessionId))
  }

  function create(): void {
    const { sessionId } = current.value
    const next = begin()
    // Nobody comes back to one that is deleted.
    if (watch.interference.value === 'deleted') moveDraft(sessionId, next.sessionId)
    show(next)
  }

  async function remove(sessionIds: readonly string[]): Promise<void> {
    const attempt = { topic: 'remove', failure: 'Not everything was deleted' }
    await notices.attempt(attempt, async () => {
      for (const sessionId of sessionIds) {
        await all.hidden(sessionId)?.conversation.stop()
        if (current.value.sessionId === sessionId) {
          await current.value.stop()
          show(begin())
        }
        await backend.remove(sessionId)
        dropDraft(sessionId)
      }
    })
    await stored.refresh()
  }

  async function runRace(prompt: string, run = current.value.chat.race): Promise<void> {
    const conversation = current.value
    if (run === undefined) return
    const chosen = await conversation.startRace(prompt, run)
    if (current.value !== conversation) await leave(conversation, chosen === undefined ? 'error' : 'completed')
    else if (chosen !== undefined) await open(conversation.sessionId, chosen)
  }

  async function replay(): Promise<void> {
    const { sessionId, loopId, chat } = current.value
    const played = await notices.attempt({ topic: 'replay', failure: 'This conversation cannot be replayed' }, async () => {
      const [{ createReplay }, session] = await Promise.all([import('../replay/replay.ts'), backend.read(sessionId)])
      const made = createReplay(session, loopId.value, chat.model)
      if (made.replay.timeline.moments.length === 0) throw new Error('Its events were not kept where it is stored.')
      return made
    })
    if (played === undefined) return
    selection.select(undefined)
    show(played)
    played.replay.play()
  }

  async function importFrom(file: Blob): Promise<void> {
    const attempt = { topic: 'import', failure: 'The file cannot be imported' }
    const sessionId = await notices.attempt(attempt, async () => {
      const text = await file.text()
      return backend.importFrom(sessionIn(text)).catch((error: unknown) => {
        throw new Error(importWords(error), { cause: error })
      })
    })
    if (sessionId !== undefined) await open(sessionId)
  }

  async function use(settings: Settings): Promise<boolean> {
    const attempt = { topic: 'settings', failure: 'These settings cannot be used', remedies: ['settings'] as const }
    const isUsed = await notices.attempt(attempt, async () => {
      await backend.use(settings)
      return true
    })
    if (isUsed) tellOfPlace()
    return isUsed ?? false
  }

  async function configure(settings: Settings): Promise<boolean> {
    const before = backend.settings.value
    const conversation = current.value
    if (!(await use(settings))) return false
    if (!isSamePlace(before, settings)) showAway(begin(), before)
    else if (isBusy(conversation)) {
      outdated.add(conversation)
      notices.tell({ topic: 'settings', kind: 'news', text: 'The settings hold from the next answer on.', remedies: [] })
    } else {
      await conversation.close()
      show(conversation.record.value === undefined ? begin(conversation.sessionId) : await read(conversation.sessionId))
    }
    return true
  }

  /** Shows a conversation of another place than that of the one before. */
  function showAway(conversation: Conversation, before: Settings): void {
    const left = current.value
    if (isBusy(left)) all.hide({ conversation: left, settings: before })
    else void left.close()
    current.value = conversation
    show(conversation)
  }

  async function handOver(settings: Settings): Promise<void> {
    const { sessionId } = current.value
    const before = backend.settings.value
    isMoving.value = true
    await current.value.stop()
    await current.value.close()
    const moved = await notices.attempt({ topic: 'move', failure: 'The conversation was not handed over', sessionId }, async () => {
      const { text } = await backend.exportAs(sessionId, 'phi')
      await backend.use(settings)
      return backend.importFrom(text, { replace: true })
    })
    // Otherwise it is still where it was.
    if (moved === undefined) await use(before)
    show(await read(moved ?? sessionId))
    isMoving.value = false
  }

  const flush = () => {
    for (const { chat } of [current.value, ...all.hiddenOnes()]) chat.flush?.()
  }
  // What is begun when a page is hidden for good may not be finished: the earlier sign is the better one, where there is one.
  for (const sign of ['beforeunload', 'pagehide']) addEventListener(sign, flush)
  document.addEventListener('visibilitychange', flush)
  selection.moveTo(current.value.sessionId)
  await stored.refresh()
  void watch.look(current.value)
  return {
    ...selection,
    ...{ backend, notices, stored, current, isMoving },
    activity: all.activity,
    interference: watch.interference,
    ...{ open, takeOver, create, remove, importFrom, configure, handOver, replay },
    race: (prompt, run) => void runRace(prompt, run),
  }
}

function isSamePlace(a: Settings, b: Settings): boolean {
  return a.place === b.place && serverUrl(a) === serverUrl(b)
}
