import { type ReadonlySignal, signal } from '@preact/signals'
import { textOf } from '../../../../src/index.ts'
import { taken } from '../../../../src/store.ts'
import type { ChatPort } from '../backend/chat-port.ts'
import type { Attempts } from '../notices/notices.ts'
import { type Attachment, mediaOf, promptOf } from './attachments.ts'
import { type Draft, draftOf } from './draft.ts'
import { createQueue, type QueuedMessage } from './queue.ts'

/** Sends messages. Text stays in the draft until it is in the conversation or its queue. */
export interface Speech {
  readonly draft: Draft
  /** Whether the draft is being sent and is not in the conversation yet. */
  isSending: ReadonlySignal<boolean>
  queued: ReadonlySignal<readonly QueuedMessage[]>
  /**
   * Sends the draft: starts a run, or steers the current one. `followUp` delivers it when the run would end. Resolves with whether it was
   * delivered.
   */
  submit(kind: QueuedMessage['kind']): Promise<boolean>
  /** Sends a text other than the draft. Undelivered text is restored to the draft. */
  send(text: string, media?: readonly Attachment[]): Promise<boolean>
  /** Replaces a message's text. Its files stay. Resolves with whether it was delivered. */
  editAndResend(messageId: string, text: string): Promise<boolean>
  /** Removes an undelivered message from the queue. Returns whether that was in time. Absent if sending is disabled. */
  withdraw?(message: QueuedMessage): Promise<boolean>
  /** Returns whether the draft was the last input and was not delivered. */
  isUnheard(): boolean
}

export function createSpeech(chat: ChatPort, attempt: Attempts): Speech {
  const { agent, queued } = chat
  const draft = draftOf(agent.sessionId)
  const queue = createQueue(draft, { endsWithPage: queued === undefined })
  const isSending = signal(false)
  let wasUnheard = false

  const inputOf = chat.mentions?.inputOf ?? promptOf

  async function deliver(kind: QueuedMessage['kind'], text: string, media: readonly Attachment[]): Promise<boolean> {
    const isHeard = await attempt('send', 'Not sent', async () => {
      await chat.ready?.()
      const input = await inputOf(text, media, agent)
      if (agent.currentRun === undefined) return taken(agent.send(input))
      queue.add({ kind, text, media, receipt: agent[kind](input) })
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
      return taken(agent.editAndResend(messageId, await inputOf(text, media, agent)))
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
