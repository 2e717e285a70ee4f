import { useSignal } from '@preact/signals'
import { textOf } from '../../../src/index.ts'
import { type BlockView, escapeControls, type MessageView, type RunState } from '../../../src/store/index.ts'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import { Picture } from '../parts/picture.tsx'
import type { Selection } from '../state/selection.ts'
import type { Decisions } from '../tools/decisions.ts'
import { ToolCard } from '../tools/tool-card.tsx'
import { EditMessage } from './edit-message.tsx'
import { MessageFooter } from './message-footer.tsx'
import { Thinking } from './thinking.tsx'

/** What a person can do with a message. */
export interface MessageActions extends Decisions {
  regenerate(): void
  editAndResend(messageId: string, text: string): void
}

export interface MessageProps {
  view: MessageView
  tools: RunState['tools']
  approvals: RunState['approvals']
  /** Loops of the calls that run now. */
  runs: RunState['children']
  isSelected: boolean
  actions: MessageActions | undefined
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
}

/** One message. Tool results have no place of their own: they are part of the card of their call. */
export function Message(props: MessageProps) {
  const { view, isSelected, actions, onSelect, onBranch } = props
  const isEdited = useSignal(false)
  const { message, role } = view
  if (role !== 'user' && role !== 'assistant') return null
  const turn = message !== undefined && 'turnId' in message ? message.turnId : undefined
  // That somebody stopped it is said at the end, and is no failure.
  const errorMessage = message?.role === 'assistant' && message.stopReason !== 'aborted' ? message.errorMessage : undefined
  const isUser = role === 'user'

  return (
    <article class={`message ${role}`} data-testid={`message-${role}`} data-status={view.status} data-selected={isSelected} tabIndex={-1}>
      <h3 class="visually-hidden">{isUser ? 'You' : 'Assistant'}</h3>
      {isEdited.value && message?.role === 'user' ? (
        <EditMessage
          text={textOf(message.content)}
          onCancel={() => (isEdited.value = false)}
          onSend={(text) => actions?.editAndResend(view.id, text)}
        />
      ) : (
        // A block never changes its place in a message.
        view.blocks.map((block, at) => (
          <Block key={`${view.id}-${at}`} block={block} isLast={at === view.blocks.length - 1} {...props} turn={turn} />
        ))
      )}
      {errorMessage !== undefined && <p class="message-error">{escapeControls(errorMessage)}</p>}
      {view.status === 'done' && message !== undefined && !isEdited.value && (
        <MessageFooter
          view={view}
          isScripted={message.role === 'assistant' && message.provider === 'scripted'}
          onSelect={turn && (() => onSelect(turn))}
          onEdit={isUser && actions ? () => (isEdited.value = true) : undefined}
          onRerun={isUser || !actions ? undefined : actions.regenerate}
          onBranch={isUser || turn === undefined ? undefined : () => onBranch(turn.loopId)}
        />
      )}
    </article>
  )
}

interface BlockProps extends MessageProps {
  block: BlockView
  isLast: boolean
  turn: { loopId: string; turnIndex: number } | undefined
}

function Block({ block, isLast, view, tools, approvals, runs, actions, turn, onSelect }: BlockProps) {
  const isGrowing = isLast && view.status === 'streaming'
  if (block.type === 'thinking') return <Thinking block={block} isGrowing={isGrowing} />
  if (block.type === 'image' && block.data !== undefined)
    return <Picture data={block.data} mimeType={block.mimeType} alt="Part of the message" />
  if (block.type === 'text') {
    if (view.role === 'user') return <p class="text plain">{block.text}</p>
    return <LazyMarkdown text={block.text} isGrowing={isGrowing} />
  }
  if (block.type !== 'toolCall') return null
  const { toolCallId } = block
  const tool = tools[toolCallId]
  if (tool === undefined) return null
  return (
    <ToolCard
      tool={tool}
      argumentsText={block.argumentsText}
      asked={approvals.filter((request) => (request.subAgent?.toolCallId ?? request.toolCallId) === toolCallId)}
      child={runs[toolCallId] ?? tool.child}
      decisions={actions}
      onSelect={turn && (() => onSelect({ ...turn, toolCallId }))}
    />
  )
}
