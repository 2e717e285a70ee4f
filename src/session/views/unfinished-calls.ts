import { contentAfterEdit } from '../../base/edited-result.ts'
import type { ToolCallContent } from '../../contract/message/content.ts'
import { type AgentMessage, callsToAnswer, type LlmMessage, text } from '../../contract/message/message.ts'
import type { AskedClientCall } from '../../contract/run/run-facts.ts'
import type { BegunCall, LoopRecord } from '../../contract/session/session.ts'
import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { EditedArguments } from '../../contract/tool/edited-arguments.ts'
import { openCallsOf } from '../../types/tool/open-calls.ts'

type Answer = Extract<LlmMessage, { role: 'assistant' }>

/** Calls without a result in a history's last response. */
export interface OpenCalls {
  answer: Answer
  calls: ToolCallContent[]
  /** Calls that a marker lists as not yet run. */
  marked: ReadonlySet<string>
}

/** Tracks which calls of each loop's last response were started. */
export class CallLog {
  readonly #begun = new Map<string, Map<string, BegunCall>>()
  readonly #whole = new Set<string>()

  constructor(records: readonly SessionRecord[]) {
    for (const { entry, loopId = '' } of records) {
      if (entry.type === 'loop') this.#addLoop(loopId, entry.loop)
      // Clear the calls, because providers may reuse call ids in each response.
      if (entry.type === 'assistant') this.#begun.delete(loopId)
      if (entry.type !== 'toolIntent') continue
      const begun = this.#begun.get(loopId) ?? new Map<string, BegunCall>()
      this.#begun.set(loopId, begun.set(entry.toolCallId, entry))
    }
  }

  #addLoop(loopId: string, { begunCalls }: Pick<LoopRecord, 'begunCalls'>): void {
    if (begunCalls === undefined) this.#whole.add(loopId)
    else this.#begun.set(loopId, new Map(begunCalls.map((call) => [call.toolCallId, call])))
  }

  /** Returns whether a call that these loops did not finish can safely run now. `begun`: its entries from `begunIn`. */
  mayRun(begun: readonly BegunCall[], loopIds: readonly string[]): boolean {
    // A loop that was stored as a whole may not record started calls.
    return begun.length > 0 ? begun.every(({ idempotent }) => idempotent) : !loopIds.some((loopId) => this.#whole.has(loopId))
  }

  /** Returns the starts of a call in these loops. */
  begunIn(toolCallId: string, loopIds: readonly string[]): BegunCall[] {
    return loopIds.flatMap((loopId) => this.#begun.get(loopId)?.get(toolCallId) ?? [])
  }
}

/** Returns client tool calls of these loops' last response that were requested and have no result. */
export function askedClientCalls(records: readonly SessionRecord[], loopIds: ReadonlySet<string>): AskedClientCall[] {
  const asked = new Map<string, AskedClientCall>()
  for (const { entry, loopId = '' } of records) {
    if (!loopIds.has(loopId)) continue
    if (entry.type === 'assistant') asked.clear()
    else if (entry.type === 'toolResult' && entry.message.role === 'toolResult') asked.delete(entry.message.toolCallId)
    else if (entry.type === 'clientCall') {
      const { type: _, ...call } = entry
      asked.set(call.toolCallId, call)
    }
  }
  return [...asked.values()]
}

/** Returns the open calls at the end of a history, or `undefined` if a later message closed them. */
export function findOpenCalls(messages: readonly AgentMessage[]): OpenCalls | undefined {
  const marked = new Set<string>()
  const answered = new Set<string>()
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined || message.role === 'user') return undefined
    if (message.role === 'toolResult') answered.add(message.toolCallId)
    for (const id of openCallsOf(message)) marked.add(id)
    if (message.role !== 'assistant') continue
    const calls = runnableCalls(message).filter((call) => !answered.has(call.id))
    return calls.length === 0 ? undefined : { answer: message, calls, marked }
  }
  return undefined
}

/** Returns the calls that the loop would have run. Omits a truncated response's last call, whose arguments may be incomplete. */
function runnableCalls({ content, stopReason }: Answer): ToolCallContent[] {
  const calls = callsToAnswer(content)
  if (stopReason === 'length' && content.at(-1)?.type === 'toolCall') return calls.slice(0, -1)
  return stopReason === 'toolUse' || stopReason === 'stop' || stopReason === 'length' ? calls : []
}

/** Returns the error result for a call with an unknown outcome. Its id depends only on the call. */
export function outcomeUnknown(
  { id, turnId }: Answer,
  call: ToolCallContent,
  edited: EditedArguments | undefined,
  at: number,
): AgentMessage {
  const words =
    'The process ended while this call was running. The outcome is unknown: it may have had its full effect, part of it or none. Check before you repeat it.'
  return {
    role: 'toolResult',
    id: `${id}.${call.id}.unknown`,
    ...(turnId !== undefined && { turnId }),
    toolCallId: call.id,
    toolName: call.name,
    content: contentAfterEdit([text(words)], edited),
    isError: true,
    outcome: 'unknown',
    ...(edited !== undefined && { edited }),
    timestamp: at,
  }
}

/** Returns the mark that lists the calls still to be run. */
export function interruptedMark(answer: Answer, toolCallIds: string[]): AgentMessage {
  return { role: 'extension', id: `${answer.id}.interrupted`, kind: 'callsInterrupted', data: { toolCallIds } }
}
