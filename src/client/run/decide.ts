import type { ApprovalRef } from '../../types/run/approval.ts'
import { codeOf } from '../remote-error.ts'
import type { Wire } from '../wire/wire.ts'

/** What a person says about a call. */
interface Decision {
  approved: boolean
  reason?: string
}

/** Sends a decision until the server has said what came of it. Resolves with the loop that goes on; rejects with `RemoteError`. */
export async function decide(
  wire: Wire,
  { toolCallId, argumentsHash }: Partial<ApprovalRef>,
  decision: Decision,
): Promise<string | undefined> {
  const body = { ...decision, ...(argumentsHash !== undefined && { argumentsHash }) }
  let mayBeDone = false
  const answer = await wire.insist(async () => {
    try {
      return await wire.ask({ method: 'POST', path: `/approvals/${encodeURIComponent(String(toolCallId))}`, body })
    } catch (error) {
      // The answer to the attempt before was lost: nothing waits because that was taken.
      if (mayBeDone && codeOf(error) === 'notFound') return {}
      mayBeDone = true
      throw error
    }
  })
  const { loopId }: { loopId?: unknown } = Object(answer)
  return typeof loopId === 'string' ? loopId : undefined
}
