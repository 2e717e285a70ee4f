import { type ReadonlySignal, signal } from '@preact/signals'
import { textOf } from '../../../../src/index.ts'
import { taken } from '../../../../src/store.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import type { Attempts } from '../notices/notices.ts'
import { type Attachment, mediaOf, promptOf } from './attachments.ts'
import { type Draft, draftOf } from './draft.ts'
import { createQueue, type QueuedMessage } from './queue.ts'

/** What a person says in a conversation. Words leave the draft when they are in the conversation or in its queue, and not before. */
export interface Speech {
  readonly draft: Draft
  /** The draft is on its way: it is not in the conversation yet. */
  isSending: ReadonlySignal<boolean>
  queued: ReadonlySignal<readonly QueuedMessage[]>
  /** Says the draft: begins a run, or steers the one that is on. `followUp` has it answered when that would otherwise end. Resolves with whether it was heard. */
  submit(kind: QueuedMessage['kind']): Promise<boolean>
  /** Says something else than the draft. What was not heard is put into the draft. */
  send(text: string, media?: readonly Attachment[]): Promise<boolean>
  /** Says `text` instead of what was said in this message; its pictures and files stay. Resolves with whether it was heard. */
  editAndResend(messageId: string, text: string): Promise<boolean>
  /** Takes a message out of the queue, as long as nobody has heard it; says whether that came in time. Absent where nothing can be said. */
  withdraw?(message: QueuedMessage): Promise<boolean>
  /** Whether the draft was to be said last, and was not heard. */
  isUnheard(): boolean
}

export function createSpeech(chat: ChatPort, attempt: Attempts): Speech {
  const { agent, queued } = chat
  const draft = draftOf(agent.sessionId)
  const queue = createQueue(draft, { endsWithPage: queued === undefined })
  const isSending = signal(false)
  let wasUnheard = false

  async function deliver(kind: QueuedMessage['kind'], text: string, media: readonly Attachment[]): Promise<boolean> {
    const isHeard = await attempt('send', 'Not sent', async () => {
      await chat.ready?.()
      if (agent.currentRun === undefined) return taken(agent.send(promptOf(text, media)))
      queue.add({ kind, text, media, receipt: agent[kind](promptOf(text, media)) })
      return true
    })
    return isHeard ?? false
  }

  async function submit(kind: QueuedMessage['kind']): Promise<boolean> {
    const [text, media] = [draft.text.value.trim(), draft.attached.value]
    if (isSending.value || (text === '' && media.length === 0)) return false
    isSending.value = true
    const isHeard = await deliver(kind, text, media)
    isSending.value = false
    wasUnheard = !isHeard
    if (!isHeard) return false
    draft.text.value = ''
    draft.attached.value = draft.attached.value.filter((block) => !media.includes(block))
    draft.refused.value = []
    return true
  }

  async function send(text: string, media: readonly Attachment[] = []): Promise<boolean> {
    const isHeard = await deliver('steer', text, media)
    if (!isHeard) draft.giveBack(text, media)
    return isHeard
  }

  async function editAndResend(messageId: string, text: string): Promise<boolean> {
    const message = agent.messages.find(({ id }) => id === messageId)
    const media = message?.role === 'user' ? mediaOf(message.content) : []
    const isHeard = await attempt('send', 'Not sent', async () => {
      await chat.ready?.()
      return taken(agent.editAndResend(messageId, promptOf(text, media)))
    })
    return isHeard ?? false
  }

  for (const receipt of queued ?? []) {
    const { message, kind } = receipt
    if (message.role === 'user') queue.add({ kind, text: textOf(message.content), media: mediaOf(message.content), receipt })
  }

  return {
    ...{ draft, isSending, queued: queue.waiting },
    ...{ submit, send, editAndResend, withdraw: queue.withdraw },
    isUnheard: () => wasUnheard && draft.text.value !== '',
  }
}
