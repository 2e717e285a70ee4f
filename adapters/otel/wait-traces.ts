import type { Attributes, Context } from '@opentelemetry/api'
import type { ApprovalResolvedEvent, ClientCallRequestedEvent, ClientCallResolvedEvent } from '../../src/contract/run/call-event.ts'
import type { CompactionEndedEvent, CompactionStartedEvent } from '../../src/contract/run/event.ts'
import { isToolName } from '../../src/contract/tool/tool-result.ts'
import type { ApprovalRequestedEvent } from '../../src/loop.ts'
import { nameOf, usageAttributes } from './conventions.ts'
import type { Operation, Tracing } from './tracing.ts'

type Requested = ApprovalRequestedEvent | ClientCallRequestedEvent
type Resolved = ApprovalResolvedEvent | ClientCallResolvedEvent

/** Kinds of waits in a loop, apart from model calls and its own tools: approvals, client calls, and compactions. */
export class WaitTraces {
  readonly #tracing: Tracing
  readonly #asked = new Map<string, Operation>()
  #compaction: Operation | undefined

  constructor(tracing: Tracing) {
    this.#tracing = tracing
  }

  requested(event: Requested, place: { parent: Context; at: number | undefined }): void {
    const { toolCallId, toolName, type } = event
    const key = keyOf(event)
    const isNamed = isToolName(toolName)
    this.#asked.get(key)?.end({ at: place.at })
    const attributes: Attributes = { 'gen_ai.tool.call.id': nameOf(toolCallId), ...(isNamed && { 'gen_ai.tool.name': toolName }) }
    const wait = type === 'approvalRequested' ? 'wait_for_approval' : 'wait_for_page'
    const name = isNamed ? `${wait} ${toolName}` : wait
    this.#asked.set(key, this.#tracing.begin({ ...place, name, attributes }))
  }

  resolved(event: Resolved, at: number | undefined): void {
    const key = keyOf(event)
    const attributes = (): Attributes =>
      event.type === 'approvalResolved' ? { 'phi.approval.approved': event.approved } : { 'phi.client_call.outcome': event.outcome }
    this.#asked.get(key)?.end({ attributes, at })
    this.#asked.delete(key)
  }

  compacts({ estimatedTokens, messageCount }: CompactionStartedEvent, place: { parent: Context; at: number | undefined }): void {
    this.#compaction?.end({ at: place.at })
    const attributes = { 'phi.compaction.tokens_before': estimatedTokens, 'phi.compaction.messages_before': messageCount }
    this.#compaction = this.#tracing.begin({ ...place, name: 'compact_context', attributes })
  }

  compacted({ estimatedTokensAfter, messagesAfter, usage, error }: CompactionEndedEvent, at: number | undefined): void {
    const figures = { 'phi.compaction.tokens_after': estimatedTokensAfter, 'phi.compaction.messages_after': messagesAfter }
    const attributes = () => ({ ...figures, ...(usage !== undefined && usageAttributes(usage)) })
    this.#compaction?.end({ attributes, at, ...(error !== undefined && { error: { type: nameOf(error.code), message: error.message } }) })
    this.#compaction = undefined
  }

  /** Ends all open spans. */
  cut(at?: number): void {
    for (const wait of this.#asked.values()) wait.end({ at })
    this.#asked.clear()
    this.#compaction?.end({ at })
    this.#compaction = undefined
  }
}

/**
 * Includes the loop, because sub-agents may have pending calls with the same id. Includes the kind, because a client tool call may follow
 * the approval of the same call.
 */
function keyOf({ type, toolCallId, subAgent }: Requested | Resolved): string {
  return JSON.stringify([type.startsWith('approval'), toolCallId, subAgent?.loopId])
}
