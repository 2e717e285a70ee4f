import { type ReadonlySignal, signal } from '@preact/signals'
import { isMissingPart } from '../../late/missing-part.ts'
import { type Remedy, remediesFor } from './remedies.ts'
import { wordsOf } from './words.ts'

/** Something that a person should know, and what can be done about it. */
export interface Notice {
  /** What it is about: a newer notice of the same takes its place, and it goes when that is tried again. */
  topic: string
  /** The conversation that it is about; absent where it is about the page. */
  sessionId?: string
  kind: 'failure' | 'news'
  text: string
  remedies: readonly Remedy[]
}

/** What is done, for the notice that says that it failed. */
export interface Attempt {
  topic: string
  /** “The file cannot be imported”. */
  failure: string
  sessionId?: string
  /** What else helps. */
  remedies?: readonly Remedy[]
}

/** Everything the page has to say, in one list: nothing fails unheard, and nothing stays that is no longer so. */
export interface Notices {
  list: ReadonlySignal<readonly Notice[]>
  tell(notice: Notice): void
  dismiss(topic: string, sessionId?: string): void
  /** Tries it. Resolves with `undefined` where it fails, and tells of that; what was told of the last try goes first. */
  attempt<Value>(what: Attempt, act: () => Value | Promise<Value>): Promise<Value | undefined>
}

/** Tries something in one conversation, as `Notices.attempt` does. */
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
