import type { ToolResult } from '../../../src/index.ts'
import { escapeControls, textOf } from '../../../src/index.ts'
import type { ToolStatus, ToolView } from '../../../src/store/index.ts'

interface ToolCardProps {
  tool: ToolView
  argumentsText: string
  onApprove: (toolCallId: string) => void
  onDeny: (toolCallId: string) => void
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
export function ToolCard({ tool, argumentsText, onApprove, onDeny }: ToolCardProps) {
  const { status, toolCallId, toolName, durationMs, progress, reason } = tool
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
      {status === 'pendingApproval' && (
        <div class="tool-actions">
          <button type="button" class="primary" onClick={() => onApprove(toolCallId)}>
            Approve
          </button>
          <button type="button" onClick={() => onDeny(toolCallId)}>
            Deny
          </button>
        </div>
      )}
    </details>
  )
}

function Labelled({ name, text }: { name: string; text: string }) {
  return (
    <div class="tool-part">
      <span class="tool-label">{name}</span>
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
