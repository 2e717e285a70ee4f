import { plural } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { QueuedMessage } from '../state/conversation/queue.ts'

interface MessageQueueProps {
  queued: readonly QueuedMessage[]
  /** Absent if the queue cannot be changed. */
  onWithdraw: ((message: QueuedMessage) => void) | undefined
  onEdit: ((message: QueuedMessage) => void) | undefined
}

/** Queued messages. A message leaves the list when it is delivered or goes back to the composer. */
export function MessageQueue({ queued, onWithdraw, onEdit }: MessageQueueProps) {
  if (queued.length === 0) return null
  return (
    <ul class="queued" aria-label="Queued messages">
      {queued.map((message) => (
        <li key={message.id} data-testid="queued" data-kind={message.kind}>
          <span class="badge">{message.kind === 'steer' ? 'steering' : 'follow-up'}</span>
          <span class="queued-text">{message.text}</span>
          {message.media.length > 0 && <span class="badge">{plural(message.media.length, 'file')}</span>}
          {onEdit && <IconButton icon="edit" label={`Edit “${message.text}”`} onClick={() => onEdit(message)} />}
          {onWithdraw && <IconButton icon="close" label={`Remove “${message.text}”`} onClick={() => onWithdraw(message)} />}
        </li>
      ))}
    </ul>
  )
}
