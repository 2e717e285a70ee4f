import { type Signal, signal } from '@preact/signals'
import type { Attachment } from './attachments.ts'
import { keepFiles, keptFiles } from './kept-files.ts'
import { keepWords, keptWords } from './kept-words.ts'

/** What is not said yet. */
export interface Draft {
  text: Signal<string>
  attached: Signal<readonly Attachment[]>
  /** Whether its words are there again after a reload. */
  isKept: Signal<boolean>
  /** Whether its files are being stored: a page that ends now may lose them. */
  isStoring: Signal<boolean>
  /** Why other files do not go with it. */
  refused: Signal<readonly string[]>
  /** What waits in the queue of a run of this page: it is said by the run, or it is in the draft again when the page ends before. */
  waiting: Signal<readonly QueuedPrompt[]>
  /** What is to be said instead of a message; `undefined` where nobody changes it. */
  edited(messageId: string): Signal<string | undefined>
  /** Puts words that were not heard before what is there by now. */
  giveBack(text: string, media: readonly Attachment[]): void
}

/** Words, and what goes with them. */
export interface QueuedPrompt {
  text: string
  media: readonly Attachment[]
}

const drafts = new Map<string, Draft>()

/** The draft of a conversation: there again when one comes back to it, and after the page has ended, however it did. */
export function draftOf(sessionId: string): Draft {
  const known = drafts.get(sessionId)
  if (known !== undefined) return known
  const kept = keptWords(sessionId)
  const text = signal(kept.text)
  const attached = signal<readonly Attachment[]>([])
  const waiting = signal<readonly QueuedPrompt[]>([])
  const edits = new Map<string, Signal<string | undefined>>()

  function keep(): void {
    if (drafts.get(sessionId) !== draft) return
    const changed = [...edits].flatMap(([id, { value }]) => (value === undefined ? [] : [[id, value] as const]))
    draft.isKept.value = keepWords(sessionId, {
      text: joined([...waiting.value.map((queued) => queued.text), text.value]),
      edits: Object.fromEntries(changed),
    })
  }

  let stores = 0
  const keepMedia = async () => {
    if (drafts.get(sessionId) !== draft) return
    stores += 1
    const store = stores
    draft.isStoring.value = true
    await keepFiles(sessionId, [...waiting.value.flatMap(({ media }) => media), ...attached.value])
    // A newer one takes more time.
    if (store === stores) draft.isStoring.value = false
  }

  function edited(messageId: string): Signal<string | undefined> {
    const found = edits.get(messageId) ?? signal(kept.edits[messageId])
    if (!edits.has(messageId)) {
      edits.set(messageId, found)
      found.subscribe(keep)
    }
    return found
  }

  const draft: Draft = {
    text,
    attached,
    isKept: signal(true),
    isStoring: signal(true),
    refused: signal<readonly string[]>([]),
    waiting,
    edited,
    giveBack(words, media) {
      text.value = joined([words, text.value])
      if (media.length > 0) attached.value = [...media, ...attached.value]
    },
  }
  for (const messageId of Object.keys(kept.edits)) edited(messageId)
  drafts.set(sessionId, draft)
  void keptFiles(sessionId).then((media) => {
    // Not what was attached meanwhile.
    if (media.length > 0) draft.giveBack('', media)
    for (const part of [attached, waiting]) part.subscribe(() => void keepMedia())
  })
  for (const part of [text, waiting]) part.subscribe(keep)
  return draft
}

/** What was written in one conversation is the draft of another one. */
export function moveDraft(from: string, to: string): void {
  const { text, attached } = draftOf(from)
  draftOf(to).giveBack(text.value, attached.value)
  void dropDraft(from)
}

/** Of a conversation that is no more. Resolves when nothing of it is kept. */
export async function dropDraft(sessionId: string): Promise<void> {
  drafts.delete(sessionId)
  keepWords(sessionId, { text: '', edits: {} })
  await keepFiles(sessionId, [])
}

const joined = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n')
