import type { ToolCallContent } from '../types/content.ts'
import { type AgentMessage, extensionMessage, toolCallsOf } from '../types/message.ts'
import { openCallsOf } from '../types/open-calls.ts'
import { addNotice } from './add-input.ts'
import type { AssistantEntry } from './assistant-stream.ts'
import type { LoopRun } from './loop-run.ts'

/** The calls of an earlier run that still have to be run, and the message they belong to: they wait for an approval, or their process ended. */
export interface PausedTurn {
  message: AssistantEntry
  calls: ToolCallContent[]
}

/** Leaves a mark in the history that says which calls wait, so that another process can continue. Models never see it. */
export function markPaused(run: LoopRun): Promise<void> {
  return addNotice(run, extensionMessage('approvalPaused', { toolCallIds: run.pausedCalls.map((pending) => pending.toolCallId) }))
}

/** The paused turn a history ends with, or `undefined`. Only calls that a marker names count: others may have run. */
export function findPausedTurn(messages: readonly AgentMessage[]): PausedTurn | undefined {
  const marked = new Set<string>()
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message === undefined || message.role === 'user') return undefined
    for (const id of openCallsOf(message)) marked.add(id)
    if (message.role !== 'assistant') continue
    const answered = new Set(messages.slice(at).flatMap((later) => (later.role === 'toolResult' ? [later.toolCallId] : [])))
    const calls = toolCallsOf(message.content).filter((call) => marked.has(call.id) && !answered.has(call.id))
    return calls.length === 0 ? undefined : { message, calls }
  }
  return undefined
}
