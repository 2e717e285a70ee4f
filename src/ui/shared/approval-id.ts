import type { ApprovalRef } from '../../types/run/question.ts'

/** What a person decided about one request, as a client sent it. `run.approve` and `run.deny` take it as it is. */
export interface ToolDecision extends Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> {
  approved: boolean
  /** Why not; the model is told. */
  reason?: string
}

/** The id of a request, bound to the arguments that were shown: a decision about other arguments has another id. */
export function approvalIdOf({ toolCallId, argumentsHash }: Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'>): string {
  return `${toolCallId}:${argumentsHash}`
}

/** The request that `id` of `approvalIdOf` names; `undefined` for any other text. */
export function parseApprovalId(id: string): Pick<ApprovalRef, 'toolCallId' | 'argumentsHash'> | undefined {
  const [, toolCallId, argumentsHash] = /^(.+):([0-9a-f]{64})$/s.exec(id) ?? []
  return toolCallId === undefined || argumentsHash === undefined ? undefined : { toolCallId, argumentsHash }
}
