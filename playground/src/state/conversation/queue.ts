import { type ReadonlySignal, signal } from '@preact/signals'
import type { Receipt } from '../../../../src/index.ts'
import type { Draft, QueuedPrompt } from './draft.ts'

/** A message that waits for the run to take it. */
export interface QueuedMessage extends QueuedPrompt {
  id: string
  kind: 'steer' | 'followUp'
  receipt: Receipt
}

/** Queued messages. Those that a run returns are restored to the draft. */
export interface Queue {
  waiting: ReadonlySignal<readonly QueuedMessage[]>
  add(message: Omit<QueuedMessage, 'id'>): void
  /** Removes an undelivered message. Returns whether that was in time. */
  withdraw(message: QueuedMessage): Promise<boolean>
}

/** `endsWithPage` means that the queue is not stored elsewhere. */
export function createQueue(draft: Draft, { endsWithPage }: { endsWithPage: boolean }): Queue {
  const waiting = signal<readonly QueuedMessage[]>([])
  if (endsWithPage)
    waiting.subscribe((all) => {
      draft.waiting.value = all
    })
  const withdrawn = new Set<string>()

  async function follow(message: QueuedMessage): Promise<void> {
    const outcome = await message.receipt.settled
    waiting.value = waiting.value.filter((other) => other !== message)
    if (outcome === 'returned' && !withdrawn.delete(message.id)) draft.giveBack(message.text, message.media)
  }

  return {
    waiting,
    add(message) {
      const queued = { ...message, id: message.receipt.message.id }
      waiting.value = [...waiting.value, queued]
      // Receipts never reject.
      void follow(queued)
    },
    async withdraw({ id, receipt }) {
      withdrawn.add(id)
      receipt.withdraw()
      return (await receipt.settled) === 'returned'
    },
  }
}
