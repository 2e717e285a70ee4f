import { ConfigError } from '../../contract/errors.ts'
import type { ApprovalRequestedEvent, ApprovalResolvedEvent } from '../../contract/run/event.ts'
import type { PendingApproval } from '../../contract/run/run-facts.ts'
import type { ApprovalRef } from '../../types/run/approval.ts'

/** The calls of a run that wait for a person, as its events told. */
export class WaitingCalls {
  #requests: ApprovalRequestedEvent[] = []

  requested(event: ApprovalRequestedEvent): void {
    // Somebody who goes on with a run asks again.
    this.#requests = [...this.#requests.filter((request) => !isSame(request, event)), event]
  }

  resolved(event: ApprovalResolvedEvent): void {
    this.#requests = this.#requests.filter((request) => !isSame(request, event))
  }

  clear(): void {
    this.#requests = []
  }

  pending(): PendingApproval[] {
    return this.#requests.map(({ toolCallId, toolName, arguments: args, argumentsHash, subAgent }) => {
      return { toolCallId, toolName, arguments: args, argumentsHash, ...(subAgent !== undefined && { subAgent }) }
    })
  }

  /** Throws `ConfigError` `unknownCall` where no such request waits, `argumentsChanged` where it waits with other arguments. */
  assertWaits({ toolCallId, argumentsHash }: Partial<ApprovalRef>): void {
    const ofCall = this.#requests.filter((request) => request.toolCallId === toolCallId)
    if (ofCall.some((request) => argumentsHash === undefined || request.argumentsHash === argumentsHash)) return
    if (ofCall.length === 0)
      throw new ConfigError('unknownCall', `No tool call "${toolCallId}" waits for approval. See pendingApprovals().`)
    throw new ConfigError(
      'argumentsChanged',
      `The approval of call "${toolCallId}" is for other arguments. Show the waiting ones and ask again.`,
    )
  }
}

/** The request that an approval names. Throws `ConfigError` `invalidOption` without id or hash. */
export function shownRequest(request: ApprovalRef): ApprovalRef {
  const { toolCallId, argumentsHash }: Partial<ApprovalRef> = Object(request)
  if (typeof toolCallId === 'string' && typeof argumentsHash === 'string') return { toolCallId, argumentsHash }
  const advice = 'Pass the approvalRequested event, an entry of pendingApprovals(), or { toolCallId, argumentsHash }.'
  throw new ConfigError('invalidOption', `An approval is for the request that was shown. ${advice}`)
}

function isSame(request: ApprovalRequestedEvent, { toolCallId, subAgent }: ApprovalRequestedEvent | ApprovalResolvedEvent): boolean {
  return request.toolCallId === toolCallId && request.subAgent?.toolCallId === subAgent?.toolCallId
}
