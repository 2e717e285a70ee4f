import { type Signal, signal } from '@preact/signals'
import type { Attachment } from '../attachments.ts'

/** What is not said yet. */
export interface Draft {
  text: Signal<string>
  attached: Signal<readonly Attachment[]>
  /** Why other files do not go with it. */
  refused: Signal<readonly string[]>
  /** What is to be said instead of a message; `undefined` where nobody changes it. */
  edited(messageId: string): Signal<string | undefined>
  /** Puts words that were not heard before what is there by now. */
  giveBack(text: string, media: readonly Attachment[]): void
}

const drafts = new Map<string, Draft>()
const place = (sessionId: string) => `phi-playground-draft ${sessionId}`

/** The draft of a conversation: there again when one comes back to it, its text also after a reload of the page. */
export function draftOf(sessionId: string): Draft {
  const known = drafts.get(sessionId)
  if (known !== undefined) return known
  const text = signal(storedText(sessionId))
  const attached = signal<readonly Attachment[]>([])
  const edits = new Map<string, Signal<string | undefined>>()
  const draft: Draft = {
    edited(messageId) {
      const edited = edits.get(messageId) ?? signal(undefined)
      edits.set(messageId, edited)
      return edited
    },
    text,
    attached,
    refused: signal<readonly string[]>([]),
    giveBack(words, media) {
      if (words !== '') text.value = text.value === '' ? words : `${words}\n${text.value}`
      attached.value = [...media, ...attached.value]
    },
  }
  text.subscribe((words) => keepText(sessionId, words))
  drafts.set(sessionId, draft)
  return draft
}

/** Of a conversation that is no more. */
export function dropDraft(sessionId: string): void {
  drafts.delete(sessionId)
  keepText(sessionId, '')
}

function storedText(sessionId: string): string {
  try {
    return sessionStorage.getItem(place(sessionId)) ?? ''
  } catch {
    return ''
  }
}

/** Where the browser keeps nothing, the text lives as long as the page. */
function keepText(sessionId: string, text: string): void {
  try {
    if (text === '') sessionStorage.removeItem(place(sessionId))
    else sessionStorage.setItem(place(sessionId), text)
  } catch {
    // Full, or forbidden.
  }
}
