import { textOf } from '../../../src/index.ts'
import type { MessageView } from '../../../src/store/index.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { duration, short } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import { stopWord } from './why-ended.ts'

interface MessageFooterProps {
  view: MessageView
  /** Its answers are prepared. */
  isScripted: boolean
  onSelect: (() => void) | undefined
  onEdit: (() => void) | undefined
  onRerun: (() => void) | undefined
  onBranch: (() => void) | undefined
}

/** What a message took and cost, and what can be done with it. */
export function MessageFooter({ view, isScripted, onSelect, onEdit, onRerun, onBranch }: MessageFooterProps) {
  const { message } = view
  if (message === undefined || message.role === 'extension') return null
  const text = textOf(message.content)
  const stopped = stopWord(view)
  return (
    <footer class="message-footer">
      {message.role === 'assistant' && (
        <span class="message-facts">
          {stopped !== undefined && (
            <span class="badge" data-testid="stop-reason">
              {stopped}
            </span>
          )}
          {[isScripted ? `${message.model} (scripted)` : message.model, ...pace(view), ...produced(message.usage.output)].join(' · ')}
        </span>
      )}
      <span class="message-actions">
        {onSelect && message.role === 'assistant' && <IconButton icon="panel" label="Inspect the turn" onClick={onSelect} />}
        {text !== '' && <CopyButton label="Copy the message" text={() => text} />}
        {onEdit && <IconButton icon="edit" label="Edit and send again" onClick={onEdit} />}
        {onRerun && <IconButton icon="rerun" label="Answer the last question again" onClick={onRerun} />}
        {onBranch && <IconButton icon="branch" label="Branch from here" onClick={onBranch} />}
      </span>
    </footer>
  )
}

/** How long it took, and how fast it came. */
function pace({ startedAt, endedAt, message }: MessageView): string[] {
  if (endedAt === undefined || endedAt <= startedAt || message?.role !== 'assistant') return []
  const seconds = (endedAt - startedAt) / 1000
  const speed = message.usage.output / seconds
  return [duration(endedAt - startedAt), ...(seconds >= 0.2 && speed > 0 ? [`${short(speed)} tok/s`] : [])]
}

/** Nothing, where the answer broke off before the service had counted. */
function produced(tokens: number): string[] {
  return tokens === 0 ? [] : [`${short(tokens)} tok out`]
}
