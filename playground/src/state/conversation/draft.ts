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
  /** Whether its files are still being stored, so that a reload may lose them. */
  isStoring: Signal<boolean>
  /** Why other files were rejected. */
  refused: Signal<readonly string[]>
  /** A run's queued messages, for a run in this page. The run sends them, or they are restored to the draft if the page ends first. */
  waiting: Signal<readonly QueuedPrompt[]>
  /** A message's edited text, or `undefined` if it is not being edited. */
  edited(messageId: string): Signal<string | undefined>
  /** Inserts unsent text before the current draft. */
  giveBack(text: string, media: readonly Attachment[]): void
}

/** A text with its files. */
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
    // A newer change is still being stored.
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
    // Keep files that were attached in the meantime.
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

/** Deletes a deleted conversation's draft. Resolves when no part of the draft is stored. */
export async function dropDraft(sessionId: string): Promise<void> {
  drafts.delete(sessionId)
  keepWords(sessionId, { text: '', edits: {} })
  await keepFiles(sessionId, [])
}

const joined = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n')
