import { type ReadonlySignal, signal } from '@preact/signals'
import { isMissingPart } from '../../late/missing-part.ts'
import { type Remedy, remediesFor } from './remedies.ts'
import { wordsOf } from './words.ts'

/** A notice with possible actions. */
export interface Notice {
  /** Its topic. A newer notice with the same topic replaces it, and a retry removes it. */
  topic: string
  /** Its conversation. Absent if it concerns the page. */
  sessionId?: string
  kind: 'failure' | 'news'
  text: string
  remedies: readonly Remedy[]
}

/** The failed action. */
export interface Attempt {
  topic: string
  /** “Cannot import the file”. */
  failure: string
  sessionId?: string
  /** Further advice. */
  remedies?: readonly Remedy[]
}

/** All notices in one list, so that no failure is hidden. Outdated notices disappear. */
export interface Notices {
  list: ReadonlySignal<readonly Notice[]>
  tell(notice: Notice): void
  dismiss(topic: string, sessionId?: string): void
  /** Runs an action. On failure, adds a notice and resolves with `undefined`. Removes the action's earlier notice. */
  attempt<Value>(what: Attempt, act: () => Value | Promise<Value>): Promise<Value | undefined>
}

/** Runs an action in one conversation, like `Notices.attempt`. */
export type Attempts = <Value>(topic: string, failure: string, act: () => Value | Promise<Value>) => Promise<Value | undefined>

export function createNotices(): Notices {
  const list = signal<readonly Notice[]>([])

  function others(topic: string, sessionId: string | undefined): readonly Notice[] {
    const rest = list.value.filter((notice) => notice.topic !== topic || notice.sessionId !== sessionId)
    return rest.length === list.value.length ? list.value : rest
  }

  function dismiss(topic: string, sessionId?: string): void {
    list.value = others(topic, sessionId)
  }

  return {
    list,
    dismiss,
    tell(notice) {
      list.value = [...others(notice.topic, notice.sessionId), notice]
    },
    async attempt({ topic, failure, sessionId, remedies = [] }, act) {
      dismiss(topic, sessionId)
      try {
        return await act()
      } catch (error) {
        const text = `${failure}: ${wordsOf(error)}`
        const about = sessionId === undefined ? {} : { sessionId }
        list.value = [
          ...list.value,
          { topic, kind: 'failure', text, remedies: isMissingPart(error) ? ['reload'] : [...remedies, ...remediesFor(error)], ...about },
        ]
        return undefined
      }
    },
  }
}
