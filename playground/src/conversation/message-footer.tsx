import { textOf } from '../../../src/index.ts'
import type { MessageView } from '../../../src/store.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { duration, short } from '../parts/figures.ts'
import type { IconName } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import type { Mark } from '../state/backend/marks.ts'
import type { Marking } from '../state/conversation/feedback.ts'
import type { Misfits } from '../state/log/answer-fit.ts'
import { stopWord } from '../state/log/why-ended.ts'

interface MessageFooterProps {
  view: MessageView
  misfits: Misfits
  /** Whether responses are scripted. */
  isScripted: boolean
  /** Absent if the message cannot be rated. */
  feedback: Marking | undefined
  onSelect: (() => void) | undefined
  onEdit: (() => void) | undefined
  onRerun: (() => void) | undefined
  onBranch: (() => void) | undefined
}

/** A message's duration, cost and actions. */
export function MessageFooter({ view, misfits, isScripted, feedback, onSelect, onEdit, onRerun, onBranch }: MessageFooterProps) {
  const { message } = view
  if (message === undefined || message.role === 'extension') return null
  const text = textOf(message.content)
  const stopped = stopWord(view, misfits)
  const mark = feedback?.marks?.value[view.id]
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
      <span class="message-actions" data-mark={mark}>
        {onSelect && message.role === 'assistant' && <IconButton icon="panel" label="Inspect the turn" onClick={onSelect} />}
        {text !== '' && <CopyButton label="Copy the message" text={() => text} />}
        {onEdit && <IconButton icon="edit" label="Edit and send again" onClick={onEdit} />}
        {feedback?.marks !== undefined && message.role === 'assistant' && text !== '' && (
          <Marks mark={mark} onMark={(next) => feedback.mark(view.id, next)} />
        )}
        {onRerun && <IconButton icon="rerun" label="Regenerate the last response" onClick={onRerun} />}
        {onBranch && <IconButton icon="branch" label="Branch from here" onClick={onBranch} />}
      </span>
    </footer>
  )
}

/** Rates a response as good or bad. Clicking the same rating again removes it. */
function Marks({ mark, onMark }: { mark: Mark | undefined; onMark: (mark: Mark | undefined) => void }) {
  const button = (own: Mark, icon: IconName, label: string) => (
    <IconButton icon={icon} label={label} isPressed={mark === own} onClick={() => onMark(mark === own ? undefined : own)} />
  )
  return (
    <>
      {button('good', 'good', 'Good answer')}
      {button('bad', 'bad', 'Bad answer')}
    </>
  )
}

/** Duration and speed. */
function pace({ startedAt, endedAt, message }: MessageView): string[] {
  if (endedAt === undefined || endedAt <= startedAt || message?.role !== 'assistant') return []
  const seconds = (endedAt - startedAt) / 1000
  const speed = message.usage.output / seconds
  return [duration(endedAt - startedAt), ...(seconds >= 0.2 && speed > 0 ? [`${short(speed)} tok/s`] : [])]
}

/** Empty if the response was interrupted before the provider reported usage. */
function produced(tokens: number): string[] {
  return tokens === 0 ? [] : [`${short(tokens)} tok out`]
}
