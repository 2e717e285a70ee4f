import { useSignal } from '@preact/signals'
import type { PendingApproval, PendingInput } from '../../../src/index.ts'
import { escapeControls, type RunState, type ToolStatus, type ToolView } from '../../../src/store.ts'
import { lazy } from '../late/lazy.tsx'
import { appOf } from '../mcp/connected-sets.ts'
import { duration } from '../parts/figures.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { toolWords } from '../state/log/run-words.ts'
import { ApprovalRequestCard } from './approval-request.tsx'
import { ChildRun } from './child-run.tsx'
import { DataParts } from './data-parts.tsx'
import type { Decisions } from './decisions.ts'
import { changeOf, FileChange } from './file-change.tsx'
import { QuestionCard } from './question-card.tsx'
import { Labelled, ResultView } from './result-view.tsx'
import '../styles/conversation/tools.css'

const McpApp = lazy(async () => (await import('../mcp/mcp-app.tsx')).McpApp)

interface ToolCardProps {
  tool: ToolView
  argumentsText: string
  /** All data parts; the card shows those that the call sent. */
  data: RunState['data']
  /** The requests of the call, or of its sub-agent. */
  asked: readonly PendingApproval[]
  /** Requests of the call, or of its sub-agent. */
  questions: readonly PendingInput[]
  /** The loop that the call runs. */
  child: RunState | undefined
  decisions: Decisions | undefined
  onSelect: (() => void) | undefined
}

const signs: Record<ToolStatus, IconName> = {
  streaming: 'spinner',
  ready: 'spinner',
  pendingClient: 'spinner',
  pendingApproval: 'help',
  running: 'spinner',
  done: 'check',
  failed: 'close',
  denied: 'ban',
  cancelled: 'minus',
  unknown: 'help',
}

function stateOf(status: ToolStatus, durationMs: number | undefined): string {
  return toolWords[status] + (durationMs === undefined ? '' : ` · ${duration(durationMs)}`)
}

function backgroundText({ backgroundId, status, durationMs }: NonNullable<ToolView['background']>): string {
  return `${escapeControls(backgroundId)} in the background: ${stateOf(status, durationMs)}`
}

/** A tool call with its name and status. Opening it shows its input and output. Invisible and reordering characters are made visible. */
export function ToolCard({ tool, argumentsText, data, asked, questions, child, decisions, onSelect }: ToolCardProps) {
  const choice = useSignal<boolean | undefined>(undefined)
  const { status, toolName, durationMs, progress, reason, background } = tool
  const shown = tool.result ?? tool.partialResult
  const change = changeOf(toolName, tool.args)
  const isInBackground = background?.status === 'running'
  const isLively = status === 'pendingApproval' || status === 'running' || isInBackground || asked.length > 0 || questions.length > 0
  // Without decisions, nothing may happen.
  const app = decisions && appOf(toolName)
  const isOpen = choice.value ?? (isLively || app !== undefined)
  const sign = questions.length > 0 ? 'help' : signs[background?.status ?? status]
  return (
    <details
      class="tool"
      data-testid="tool-card"
      data-status={status}
      data-asks={questions.length > 0 || asked.length > 0 || undefined}
      open={isOpen}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is what one clicks. */}
      <summary
        onClick={(event) => {
          event.preventDefault()
          choice.value = !isOpen
        }}
      >
        <Icon name={sign} class={`tool-sign ${sign}`} />
        <code class="tool-name">{escapeControls(toolName)}</code>
        <span class="tool-hint">{escapeControls(argumentsText)}</span>
        <span class="tool-status">
          {questions.length > 0 ? 'needs your answer' : background === undefined ? stateOf(status, durationMs) : backgroundText(background)}
        </span>
      </summary>
      {app !== undefined && <McpApp server={app} tool={tool} argumentsText={argumentsText} decisions={decisions} />}
      {tool.edited !== undefined && <Labelled name="Arguments of the model, changed before approval" text={argumentsText} />}
      {change === undefined ? (
        <Labelled name="Arguments" text={tool.args === undefined ? argumentsText : JSON.stringify(tool.args, undefined, 2)} />
      ) : (
        <FileChange change={change} />
      )}
      {progress !== undefined && (status === 'running' || isInBackground) && <p class="tool-progress">{escapeControls(progress)}</p>}
      <DataParts parts={data.filter(({ toolCallId }) => toolCallId === tool.toolCallId)} />
      {child !== undefined && <ChildRun run={child} />}
      {shown !== undefined && <ResultView name={tool.result === undefined ? 'So far' : 'Result'} result={shown} />}
      {background?.result !== undefined && <ResultView name="Report" result={background.result} />}
      {reason !== undefined && <p class="tool-progress">Reason: {escapeControls(reason)}</p>}
      {asked.map((request) => (
        <ApprovalRequestCard key={`${request.subAgent?.loopId} ${request.toolCallId}`} request={request} decisions={decisions} />
      ))}
      {questions.map((question) => (
        <QuestionCard key={question.inputId} question={question} decisions={decisions} />
      ))}
      {onSelect && (
        <span class="tool-inspect">
          <IconButton icon="panel" label="Inspect the call" onClick={onSelect} />
        </span>
      )}
    </details>
  )
}
