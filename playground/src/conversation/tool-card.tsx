import type { PendingApproval, ToolResult } from '../../../src/index.ts'
import { escapeControls, textOf } from '../../../src/index.ts'
import type { ToolStatus, ToolView } from '../../../src/store/index.ts'

/** What a person can say about a request: about what its card shows, and nothing else. */
export interface Decisions {
  approve(request: PendingApproval): void
  deny(request: PendingApproval): void
}

interface ToolCardProps {
  tool: ToolView
  argumentsText: string
  /** The call's own request, or those of the sub-agent that it is. */
  asked: readonly PendingApproval[]
  decisions: Decisions | undefined
}

const labels: Record<ToolStatus, string> = {
  streaming: 'writing arguments',
  ready: 'waiting',
  pendingApproval: 'needs your approval',
  running: 'running',
  done: 'done',
  failed: 'failed',
  denied: 'denied',
  cancelled: 'cancelled',
}

const signs: Partial<Record<ToolStatus, string>> = { pendingApproval: '?', done: '✓', failed: '✕', denied: '⊘', cancelled: '–' }

/** A tool call: its name, where it is, and on opening what went in and what came out. Whoever decides by it sees what hides or reorders text. */
export function ToolCard({ tool, argumentsText, asked, decisions }: ToolCardProps) {
  const { status, toolName, durationMs, progress, reason } = tool
  const shown = tool.result ?? tool.partialResult
  const time = durationMs === undefined ? '' : ` · ${(durationMs / 1000).toFixed(1)} s`
  return (
    <details class="tool" data-testid="tool-card" data-status={status} open={status === 'pendingApproval' || status === 'running'}>
      <summary>
        <span class="tool-sign" aria-hidden="true">
          {signs[status] ?? '…'}
        </span>
        <code class="tool-name">{escapeControls(toolName)}</code>
        <span class="tool-hint">{escapeControls(argumentsText)}</span>
        <span class="tool-status">{labels[status] + time}</span>
      </summary>
      <Labelled name="Arguments" text={pretty(tool, argumentsText)} />
      {progress !== undefined && status === 'running' && <p class="tool-progress">{escapeControls(progress)}</p>}
      {shown !== undefined && <Labelled name={tool.result === undefined ? 'So far' : 'Result'} text={resultText(shown)} />}
      {reason !== undefined && <p class="tool-progress">Reason: {escapeControls(reason)}</p>}
      {asked.map((request) => (
        <Request key={`${request.subAgent?.loopId} ${request.toolCallId}`} request={request} decisions={decisions} />
      ))}
    </details>
  )
}

function Request({ request, decisions }: { request: PendingApproval; decisions: Decisions | undefined }) {
  const { toolName, subAgent, arguments: args } = request
  return (
    <>
      {subAgent !== undefined && (
        <Labelled name={`${subAgent.toolName} wants to call ${toolName}`} text={JSON.stringify(args, undefined, 2)} />
      )}
      {decisions !== undefined && (
        <div class="tool-actions">
          <button type="button" class="primary" onClick={() => decisions.approve(request)}>
            Approve
          </button>
          <button type="button" onClick={() => decisions.deny(request)}>
            Deny
          </button>
        </div>
      )}
    </>
  )
}

function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div class="tool-part">
      <span class="tool-label">{escapeControls(name)}</span>
      <pre>{escapeControls(text)}</pre>
    </div>
  )
}

function pretty(tool: ToolView, argumentsText: string): string {
  return tool.args === undefined ? argumentsText : JSON.stringify(tool.args, undefined, 2)
}

function resultText(result: ToolResult): string {
  return textOf(result.content) || '(no text)'
}
