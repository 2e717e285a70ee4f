import { allMessages, type BlockView, escapeControls, type RunState } from '../../../src/store.ts'
import { LazyMarkdown } from '../markdown/lazy-markdown.tsx'
import { duration, plural } from '../parts/figures.ts'
import { runWords, toolWords } from '../state/log/run-words.ts'

/** Output and calls of a nested agent. */
export function ChildRun({ run }: { run: RunState }) {
  const messages = allMessages(run).filter(({ role }) => role === 'assistant')
  return (
    <section class="child-run" aria-label="Sub-agent" data-testid="child-run" data-status={run.status}>
      <p class="tool-label">
        sub-agent · {runWords[run.status].toLowerCase()} · {plural(run.turns.length, 'turn')}
      </p>
      {messages.flatMap((view) =>
        view.blocks.map((block, at) => (
          <ChildBlock
            key={`${view.id}-${at}`}
            block={block}
            tools={run.tools}
            isGrowing={view.status === 'streaming' && at === view.blocks.length - 1}
          />
        )),
      )}
    </section>
  )
}

function ChildBlock({ block, tools, isGrowing }: { block: BlockView; tools: RunState['tools']; isGrowing: boolean }) {
  if (block.type === 'text') return <LazyMarkdown text={block.text} isGrowing={isGrowing} />
  if (block.type === 'thinking') return <p class="child-thinking">{block.text}</p>
  if (block.type !== 'toolCall') return null
  const tool = tools[block.toolCallId]
  return (
    <p class="child-call" data-status={tool?.status}>
      <code>{escapeControls(block.toolName)}</code> <span class="tool-hint">{escapeControls(block.argumentsText)}</span>
      <span class="tool-status">
        {tool && toolWords[tool.status]}
        {tool?.durationMs === undefined ? '' : ` · ${duration(tool.durationMs)}`}
      </span>
    </p>
  )
}
