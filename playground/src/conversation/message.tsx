import type { Signal } from '@preact/signals'
import { textOf } from '../../../src/index.ts'
import { escapeControls, type MessageView, type RunState, sourcesOf } from '../../../src/store.ts'
import { EditMessage, Media, ServiceToolCard, Sources, ToolCard } from '../late/conversation-parts.tsx'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import type { Marking } from '../state/conversation/feedback.ts'
import type { Misfits } from '../state/log/answer-fit.ts'
import { originLabel, speakerOf } from '../state/log/run-words.ts'
import { wordsOfService } from '../state/notices/failure-words.ts'
import type { Selection } from '../state/selection.ts'
import type { Decisions } from '../tools/decisions.ts'
import { LongText } from './long-text.tsx'
import { MessageFooter } from './message-footer.tsx'
import { type Passage, passagesOf } from './passages.ts'
import type { FindBlock } from './sources.tsx'
import { Thinking } from './thinking.tsx'
import { toSource } from './to-source.ts'

/** The actions on a message. */
export interface MessageActions extends Decisions, Marking {
  regenerate(): void
  editAndResend(messageId: string, text: string): Promise<boolean>
  readonly draft: {
    /** The edited text of a message. `undefined` if it is not being edited. */
    edited(messageId: string): Signal<string | undefined>
  } & Decisions['draft']
}

export interface MessageProps {
  view: MessageView
  tools: RunState['tools']
  data: RunState['data']
  approvals: RunState['approvals']
  /** Pending requests of running calls. */
  inputs: RunState['inputs']
  /** Loops of the running calls. */
  runs: RunState['children']
  isSelected: boolean
  actions: MessageActions | undefined
  find: FindBlock
  misfits: Misfits
  onSelect: (selection: Selection) => void
  onBranch: (loopId: string) => void
}

/** One message. Tool results are not rendered separately, but in the card of their call. */
export function Message(props: MessageProps) {
  const { view, isSelected, actions, find, misfits, onSelect, onBranch } = props
  const edited = actions?.draft.edited(view.id)
  const isEdited = edited?.value !== undefined
  const { message, role } = view
  if (role !== 'user' && role !== 'assistant') return null
  const turn = message !== undefined && 'turnId' in message ? message.turnId : undefined
  // A stop by the user is shown at the end, and is not an error.
  const errorMessage = message?.role === 'assistant' && message.stopReason !== 'aborted' ? message.errorMessage : undefined
  const spoken = message === undefined || message.role === 'extension' ? { role } : message
  const isFromUser = originLabel(spoken) === undefined
  const isUser = role === 'user'
  const sources = sourcesOf(view.blocks)

  return (
    // biome-ignore lint/a11y: the links within are what is clicked.
    <article
      class={`message ${role}`}
      data-testid={`message-${role}`}
      data-message={view.id}
      data-status={view.status}
      data-report={!isFromUser || undefined}
      data-selected={isSelected}
      tabIndex={-1}
      onClick={toSource}
    >
      <h3 class="visually-hidden">{speakerOf(spoken)}</h3>
      {edited !== undefined && isEdited && message?.role === 'user' ? (
        <EditMessage
          draft={edited}
          content={message.content}
          onSend={async (text) => (await actions?.editAndResend(view.id, text)) ?? false}
        />
      ) : (
        // A block never changes its index in a message.
        passagesOf(view.blocks, sources, view.status === 'streaming').map((passage) => (
          <PassageView key={`${view.id}-${passage.at}`} passage={passage} {...props} turn={turn} />
        ))
      )}
      {sources.length > 0 && <Sources sources={sources} find={find} />}
      {errorMessage !== undefined && <p class="message-error">{escapeControls(wordsOfService(errorMessage))}</p>}
      {view.status === 'done' && message !== undefined && !isEdited && (
        <MessageFooter
          view={view}
          misfits={misfits}
          isScripted={message.role === 'assistant' && message.provider === 'scripted'}
          feedback={actions}
          onSelect={turn && (() => onSelect(turn))}
          onEdit={message.role === 'user' && isFromUser && edited ? () => (edited.value = textOf(message.content)) : undefined}
          onRerun={isUser || !actions ? undefined : actions.regenerate}
          onBranch={isUser || turn === undefined ? undefined : () => onBranch(turn.loopId)}
        />
      )}
    </article>
  )
}

interface PassageProps extends MessageProps {
  passage: Passage
  turn: { loopId: string; turnIndex: number } | undefined
}

function PassageView({ passage, view, tools, data, approvals, inputs, runs, actions, turn, onSelect }: PassageProps) {
  const isGrowing = passage.isLast && view.status === 'streaming'
  if (passage.type === 'text') {
    if (view.role === 'user') return <LongText text={passage.text} />
    return <LazyMarkdown text={passage.text} isGrowing={isGrowing} />
  }
  const { block } = passage
  if (block.type === 'thinking') return <Thinking block={block} isGrowing={isGrowing} />
  if (block.type === 'image' || block.type === 'file') return <Media block={block} alt="Part of the message" />
  if (block.type === 'serviceTool')
    return (
      <ServiceToolCard
        block={block}
        decided={tools[block.id]}
        asked={approvals.filter(({ toolCallId }) => toolCallId === block.id)}
        decisions={actions}
      />
    )
  if (block.type === 'opaque')
    return <p class="opaque">The service sent “{escapeControls(block.kind)}”, which this version does not know. It is kept.</p>
  if (block.type !== 'toolCall') return null
  const { toolCallId } = block
  const tool = tools[toolCallId]
  if (tool === undefined) return null
  return (
    <ToolCard
      tool={tool}
      data={data}
      argumentsText={block.argumentsText}
      asked={approvals.filter((request) => (request.subAgent?.toolCallId ?? request.toolCallId) === toolCallId)}
      questions={inputs.filter((question) => (question.subAgent?.toolCallId ?? question.toolCallId) === toolCallId)}
      child={runs[toolCallId] ?? tool.child}
      decisions={actions}
      onSelect={turn && (() => onSelect({ ...turn, toolCallId }))}
    />
  )
}
