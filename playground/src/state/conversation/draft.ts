import { type Signal, signal } from '@preact/signals'
import type { Attachment } from './attachments.ts'
import { keepFiles, keptFiles } from './kept-files.ts'
import { keepWords, keptWords } from './kept-words.ts'

/** Unsent input. */
export interface Draft {
  text: Signal<string>
  attached: Signal<readonly Attachment[]>
  /** Whether its text survives a reload. */
  isKept: Signal<boolean>
  /** Whether its files are being stored: a reload may lose them. */
  isStoring: Signal<boolean>
  /** Why other files do not go with it. */
  refused: Signal<readonly string[]>
  /** Queued messages of a run in this page: sent by the run, or restored to the draft if the page ends first. */
  waiting: Signal<readonly QueuedPrompt[]>
  /** The edited text of a message; `undefined` without an edit. */
  edited(messageId: string): Signal<string | undefined>
  /** Inserts unsent text before the current draft. */
  giveBack(text: string, media: readonly Attachment[]): void
}

/** Text with its files. */
export interface QueuedPrompt {
  text: string
  media: readonly Attachment[]
}

const drafts = new Map<string, Draft>()

/** The draft of a conversation. It survives leaving the conversation, reloads and crashes. */
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
    // Not the files attached meanwhile.
    if (media.length > 0) draft.giveBack('', media)
    for (const part of [attached, waiting]) part.subscribe(() => void keepMedia())
  })
  for (const part of [text, waiting]) part.subscribe(keep)
  return draft
}

/** Moves a draft to another conversation. */
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
