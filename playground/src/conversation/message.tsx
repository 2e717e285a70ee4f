import { escapeControls } from '../../../src/index.ts'
import type { BlockView, MessageView, RunState } from '../../../src/store/index.ts'
import { Thinking } from './thinking.tsx'
import { type Decisions, ToolCard } from './tool-card.tsx'

interface MessageProps {
  view: MessageView
  tools: RunState['tools']
  approvals: RunState['approvals']
  decisions: Decisions | undefined
}

/** One message. Tool results have no place of their own: they are part of the card of their call. */
export function Message({ view, tools, approvals, decisions }: MessageProps) {
  if (view.role !== 'user' && view.role !== 'assistant') return null
  const { message } = view
  const errorMessage = message?.role === 'assistant' ? message.errorMessage : undefined
  return (
    <article class={`message ${view.role}`} data-testid={`message-${view.role}`} data-status={view.status}>
      <h3 class="visually-hidden">{view.role === 'user' ? 'You' : 'Assistant'}</h3>
      {view.blocks.map((block, index) => {
        // A block never changes its place in a message.
        const key = `${view.id}-${index}`
        if (block.type !== 'toolCall') return <Block key={key} block={block} isLast={index === view.blocks.length - 1} view={view} />
        const tool = tools[block.toolCallId]
        const asked = approvals.filter(({ toolCallId, subAgent }) => (subAgent?.toolCallId ?? toolCallId) === block.toolCallId)
        return tool && <ToolCard key={key} tool={tool} argumentsText={block.argumentsText} asked={asked} decisions={decisions} />
      })}
      {errorMessage !== undefined && <p class="message-error">{escapeControls(errorMessage)}</p>}
    </article>
  )
}

function Block({ block, isLast, view }: { block: Exclude<BlockView, { type: 'toolCall' }>; isLast: boolean; view: MessageView }) {
  const isGrowing = isLast && view.status === 'streaming'
  if (block.type === 'thinking') return <Thinking block={block} isGrowing={isGrowing} />
  if (block.type === 'image') return <img alt="Attached by the user" src={`data:${block.mimeType};base64,${block.data}`} />
  return <p class={isGrowing ? 'text growing' : 'text'}>{block.text}</p>
}
