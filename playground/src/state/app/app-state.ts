import type { ReadonlySignal } from '@preact/signals'
import type { RunStatus } from '../../../../src/index.ts'
import { sessionIn } from '../../tree/shared-page.ts'
import type { OnOtherTab, SettableBackend } from '../backend/chat-port.ts'
import type { Conversation } from '../conversation/conversation.ts'
import { dropDraft, moveDraft } from '../conversation/draft.ts'
import { createNotices, type Notices } from '../notices/notices.ts'
import { importWords } from '../notices/words.ts'
import type { RunRace } from '../race/race.ts'
import { createSelection, readAddress, type SelectionState } from '../selection.ts'
import { createDrafts, type DraftList, tellOfDraft } from './drafts.ts'
import { createTabWatch, type Interference } from './interference.ts'
import { isBusy } from './open-conversations.ts'
import { createOpener } from './opener.ts'
import { createPlaces, isSamePlace, type Places, tellOfPlace } from './places.ts'
import { createStoredList, type StoredList } from './stored-list.ts'
import { createView, type View } from './view.ts'

/**
 * All conversations: the current one, those that run in the background, and the stored ones.
 *
 * **Contract**
 * - Never throws or rejects. Failures are in `notices`, with possible actions.
 * - Showing another conversation neither stops runs nor decides requests.
 */
export interface AppState extends SelectionState, Pick<View, 'current' | 'activity'>, Pick<Places, 'isMoving' | 'configure' | 'handOver'> {
  readonly backend: SettableBackend
  readonly notices: Notices
  readonly stored: StoredList
  readonly drafts: DraftList
  /** Set while the shown conversation differs from the stored one. Sending is then disabled. */
  interference: ReadonlySignal<Interference | undefined>
  /** Shows a conversation, optionally from `loopId`: the next prompt creates a branch there. */
  open(sessionId: string, loopId?: string): Promise<void>
  /** Continues the shown conversation in this tab. The tab that owns it is notified. */
  takeOver(): Promise<void>
  create(): void
  remove(sessionIds: readonly string[]): Promise<void>
  importFrom(file: Blob): Promise<void>
  /** Lets several configurations respond to `prompt`, and continues with the selected response. */
  race(prompt: string, run?: RunRace): void
  /** Replays the conversation without sending anything. */
  replay(): Promise<void>
  /** Lists the stored conversations, and reports if nothing can be stored. Call once, before or after the first output. */
  settle(): Promise<void>
}

/** Opens the conversation in the URL, so that reloads and links work. Otherwise opens a new one. */
export async function createAppState(backendFor: (onOtherTab: OnOtherTab) => Promise<SettableBackend>): Promise<AppState> {
  const notices = createNotices()
  const backend = await backendFor((...news) => void watch.heard(...news))
  const selection = createSelection((sessionId) => void open(sessionId))
  const stored = createStoredList(backend, notices)
  const drafts = createDrafts(stored)
  const opener = createOpener({ backend, notices, onPrompt, onEnd: (...end) => void ended(...end) })
  const { sessionId: named } = readAddress(location.hash)
  const first = named === undefined ? opener.begin() : await opener.read(named)
  const view = createView({ first, settings: backend.settings, onShow, onLetGo: () => void stored.refresh() })
  const { current, show } = view
  const watch = createTabWatch({ backend, notices, stored, view })
  const places = createPlaces({ backend, notices, opener, view })

  async function list(): Promise<void> {
    await stored.refresh()
    await drafts.refresh()
  }

  function onShow({ sessionId }: Conversation): void {
    watch.clear()
    selection.moveTo(sessionId)
    void list()
  }

  /** From now on the conversation can be exported. */
  function onPrompt(conversation: Conversation): void {
    void list()
    if (conversation.record.value === undefined) void conversation.refresh()
  }

  async function ended(conversation: Conversation, status: RunStatus): Promise<void> {
    await Promise.all([list(), conversation.refresh()])
    if (isBusy(conversation)) return
    if (conversation !== current.value) await view.ended(conversation, status)
    else if (places.isOutdated(conversation)) show(await opener.read(conversation.sessionId))
  }

  async function open(sessionId: string, loopId?: string): Promise<void> {
    notices.dismiss('draft', sessionId)
    const hidden = view.hidden(sessionId)
    if (hidden !== undefined) {
      if (!isSamePlace(hidden.settings, backend.settings.value) && !(await places.use(hidden.settings))) return
      return show(hidden.conversation)
    }
    if (sessionId === current.value.sessionId) {
      if (isBusy(current.value)) {
        const text = 'This conversation has an active run. Wait for it to end or stop it before you continue from another point.'
        if (loopId !== undefined) notices.tell({ topic: 'open', kind: 'failure', sessionId, text, remedies: ['stop'] })
        return
      }
      await current.value.close()
    }
    const conversation = await opener.read(sessionId, loopId)
    show(conversation)
    void watch.look(conversation)
  }

  async function takeOver(): Promise<void> {
    const { sessionId } = current.value
    const isTaken = await notices.attempt({ topic: 'open', failure: 'Cannot continue the conversation here' }, async () => {
      await backend.takeOver(sessionId)
      return true
    })
    if (isTaken) show(await opener.read(sessionId))
  }

  function create(): void {
    const { sessionId } = current.value
    const next = opener.begin()
    // A deleted conversation cannot be reopened.
    if (watch.interference.value === 'deleted') moveDraft(sessionId, next.sessionId)
    show(next)
  }

  async function remove(sessionIds: readonly string[]): Promise<void> {
    await notices.attempt({ topic: 'remove', failure: 'Some data was not deleted' }, async () => {
      for (const sessionId of sessionIds) {
        await view.hidden(sessionId)?.conversation.stop()
        if (current.value.sessionId === sessionId) {
          await current.value.stop()
          show(opener.begin())
        }
        await backend.remove(sessionId)
        await dropDraft(sessionId)
      }
    })
    await list()
  }

  async function importFrom(file: Blob): Promise<void> {
    const attempt = { topic: 'import', failure: 'Cannot import the file' }
    const sessionId = await notices.attempt(attempt, async () => {
      const text = await file.text()
      return backend.importFrom(sessionIn(text)).catch((error: unknown) => {
        throw new Error(importWords(error), { cause: error })
      })
    })
    if (sessionId !== undefined) await open(sessionId)
  }

  async function race(prompt: string, run = current.value.chat.race): Promise<void> {
    const conversation = current.value
    if (run === undefined) return
    const chosen = await conversation.startRace(prompt, run)
    if (current.value !== conversation) await view.ended(conversation, chosen === undefined ? 'error' : 'completed')
    else if (chosen !== undefined) await open(conversation.sessionId, chosen)
  }

  async function replay(): Promise<void> {
    const { sessionId, loopId, chat } = current.value
    const played = await notices.attempt({ topic: 'replay', failure: 'Cannot replay this conversation' }, async () => {
      const [{ createReplay }, session] = await Promise.all([import('../../replay/replay.ts'), backend.read(sessionId)])
      const made = createReplay(session, loopId.value, chat.model)
      if (made.replay.timeline.moments.length === 0) throw new Error('Its store has no events.')
      return made
    })
    if (played === undefined) return
    selection.select(undefined)
    show(played)
    played.replay.play()
  }

  async function settle(): Promise<void> {
    const failure = 'Cannot open conversations'
    const isOpen = await notices.attempt({ topic: 'place', failure, remedies: ['reload'] }, async () => {
      await backend.opened?.()
      return true
    })
    if (isOpen !== true) return
    tellOfPlace(backend, notices)
    await stored.refresh()
    void drafts.refresh().then(() => named === undefined && tellOfDraft(drafts, current.value.sessionId, notices))
    void watch.look(current.value)
  }

  flushAtTheEnd(view)
  selection.moveTo(current.value.sessionId)
  return {
    ...selection,
    ...{ backend, notices, stored, drafts, current, activity: view.activity, interference: watch.interference },
    ...{ isMoving: places.isMoving, configure: places.configure, handOver: places.handOver },
    ...{ open, takeOver, create, remove, importFrom, replay, settle },
    race: (prompt, run) => void race(prompt, run),
  }
}

/** Flushes recorded events when the page is about to end. Otherwise, the store flushes every second. */
function flushAtTheEnd(view: View): void {
  const flush = () => {
    for (const { chat } of view.open()) chat.flush?.()
  }
  // Work started in `pagehide` may not finish, so an earlier event is better, if there is one.
  for (const sign of ['beforeunload', 'pagehide']) addEventListener(sign, flush)
  document.addEventListener('visibilitychange', flush)
}
