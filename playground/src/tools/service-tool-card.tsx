import type { PendingApproval, ServiceToolContent } from '../../../src/index.ts'
import { escapeControls, type ToolView } from '../../../src/store.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import { toolWords } from '../state/log/run-words.ts'
import { ApprovalRequestCard } from './approval-request.tsx'
import type { Decisions } from './decisions.ts'
import { Labelled } from './result-view.tsx'
import '../styles/conversation/tools.css'

type Status = ServiceToolContent['status'] | 'pendingApproval' | 'allowed' | 'denied'

const labels: Record<Status, string> = {
  running: toolWords.running,
  done: toolWords.done,
  failed: toolWords.failed,
  pendingApproval: toolWords.pendingApproval,
  allowed: 'approved',
  denied: toolWords.denied,
}
const signs: Record<Status, IconName> = {
  running: 'spinner',
  done: 'check',
  failed: 'close',
  pendingApproval: 'help',
  allowed: 'check',
  denied: 'ban',
}
/** The block for a call that needed a decision does not change. The outcome is a block in a later message. */
const decisions: Partial<Record<ToolView['status'], Status>> = { done: 'allowed', failed: 'denied', denied: 'denied' }

interface ServiceToolCardProps {
  block: ServiceToolContent
  /** The decision about the call, if it needs an approval. */
  decided: ToolView | undefined
  /** The call's own request. */
  asked: readonly PendingApproval[]
  decisions: Decisions | undefined
}

/** A provider-executed tool with its name and status. Opening it shows its input and output. */
export function ServiceToolCard({ block, decided, asked, decisions: actions }: ServiceToolCardProps) {
  const { name, input, output, error } = block
  const own = (block.status === 'running' && decided && decisions[decided.status]) || block.status
  const status = asked.length > 0 ? 'pendingApproval' : own
  const given = input === undefined ? '' : JSON.stringify(input)
  return (
    <details class="tool" data-testid="service-tool" data-status={status} open={asked.length > 0}>
      <summary>
        <Icon name={signs[status]} class={`tool-sign ${signs[status]}`} />
        <code class="tool-name">{escapeControls(name)}</code>
        <span class="tool-hint">{escapeControls(given)}</span>
        <span class="tool-status">{labels[status]} · by the service</span>
      </summary>
      {input !== undefined && <Labelled name="Arguments" text={textOf(input)} />}
      {output !== undefined && <Labelled name="Result" text={textOf(output)} />}
      {error !== undefined && <Labelled name="Error" text={error.message ?? error.code} />}
      {asked.map((request) => (
        <ApprovalRequestCard key={request.toolCallId} request={request} decisions={actions} canEdit={false} />
      ))}
    </details>
  )
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, undefined, 2)
}
