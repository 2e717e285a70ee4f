import { type ReadonlySignal, signal } from '@preact/signals'
import { serverUrl } from '../../remote/server-url.ts'
import type { Settings } from '../../settings/settings.ts'
import type { SettableBackend } from '../backend/chat-port.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Notices } from '../notices/notices.ts'
import { isBusy } from './open-conversations.ts'
import type { Opener } from './opener.ts'
import type { View } from './view.ts'

/** Moves conversations to other settings and other places. */
export interface Places {
  /** Whether the conversation is being moved. New messages would be left behind. */
  isMoving: ReadonlySignal<boolean>
  /** Opens later conversations with `settings`. Resolves with whether it succeeded. */
  use(settings: Settings): Promise<boolean>
  /** Continues with `settings`, in this conversation or, if they change the place, in a new one. Resolves with whether it succeeded. */
  configure(settings: Settings): Promise<boolean>
  /** Moves the conversation and its queue to the other place, and continues there. */
  handOver(settings: Settings): Promise<void>
  /** Returns whether the settings have changed while it ran. */
  isOutdated(conversation: Conversation): boolean
}

interface Around {
  backend: SettableBackend
  notices: Notices
  opener: Opener
  view: View
}

export function createPlaces({ backend, notices, opener, view: { current, show, showElsewhere } }: Around): Places {
  const isMoving = signal(false)
  const outdated = new WeakSet<Conversation>()

  async function use(settings: Settings): Promise<boolean> {
    const attempt = { topic: 'settings', failure: 'Cannot use these settings', remedies: ['settings'] as const }
    const isUsed = await notices.attempt(attempt, async () => {
      await backend.use(settings)
      return true
    })
    if (isUsed) {
      tellOfPlace(backend, notices)
      tellOfSettings(backend, notices)
    }
    return isUsed ?? false
  }

  async function configure(settings: Settings): Promise<boolean> {
    const before = backend.settings.value
    const conversation = current.value
    if (!(await use(settings))) return false
    if (!isSamePlace(before, settings)) showElsewhere(opener.begin(), before)
    else if (isBusy(conversation)) {
      outdated.add(conversation)
      notices.tell({ topic: 'settings', kind: 'news', text: 'The settings apply from the next response on.', remedies: [] })
    } else {
      const { sessionId, record } = conversation
      await conversation.close()
      show(record.value === undefined ? opener.begin(sessionId) : await opener.read(sessionId))
    }
    return true
  }

  async function handOver(settings: Settings): Promise<void> {
    const { sessionId } = current.value
    const before = backend.settings.value
    isMoving.value = true
    await current.value.stop()
    await current.value.close()
    const moved = await notices.attempt({ topic: 'move', failure: 'The conversation was not moved', sessionId }, async () => {
      const { text } = await backend.exportAs(sessionId, 'phi')
      await backend.use(settings)
      return backend.importFrom(text, { replace: true })
    })
    // Otherwise the conversation is unchanged.
    if (moved === undefined) await use(before)
    show(await opener.read(moved ?? sessionId))
    isMoving.value = false
  }

  return { isMoving, use, configure, handOver, isOutdated: (conversation) => outdated.has(conversation) }
}

/** Returns why the selected place is unavailable, or stores nothing. */
export function tellOfPlace({ warning, settings }: SettableBackend, notices: Notices): void {
  if (warning === undefined) {
    notices.dismiss('place')
    return
  }
  const { place, model } = settings.value
  const isDemo = place === 'tab' && model.source === 'scripted'
  notices.tell({ topic: 'place', kind: 'failure', text: warning, remedies: isDemo ? [] : ['settings'] })
}

/** Returns a notice if the browser does not store the selected place. */
function tellOfSettings({ keepsSettings }: SettableBackend, notices: Notices): void {
  notices.dismiss('kept settings')
  if (keepsSettings !== false) return
  const text = 'These settings last until you close this page: the browser has no storage left, or blocks storage for this page.'
  notices.tell({ topic: 'kept settings', kind: 'failure', text, remedies: ['freeSpace'] })
}

export function isSamePlace(a: Settings, b: Settings): boolean {
  return a.place === b.place && serverUrl(a) === serverUrl(b)
}
