import type { JsonObject } from '../../contract/json.ts'
import type { ApprovalRef, ClientCallAnswer } from '../../types/run/question.ts'
import { codeOf } from '../remote-error.ts'
import type { Wire } from '../wire/wire.ts'

/** Asks the server for a call that a page is to run. Resolves with false where another client has it; rejects with `RemoteError`. */
export async function claimCall(wire: Wire, { toolCallId, argumentsHash }: ApprovalRef, clientId: string): Promise<boolean> {
  const answer = await wire.json({ method: 'POST', path: `${pathOf(toolCallId)}/claim`, body: { argumentsHash, clientId } })
  const { claimed }: { claimed?: unknown } = Object(answer)
  return claimed === true
}

/** Sends what came of a call until the server has recorded it. Resolves with the loop that goes on; rejects with `RemoteError`. */
export async function answerCall(
  wire: Wire,
  { toolCallId, argumentsHash }: ApprovalRef,
  answer: ClientCallAnswer,
  clientId?: string,
): Promise<string | undefined> {
  const body: JsonObject = { ...answer, argumentsHash, ...(clientId !== undefined && { clientId }) }
  let mayBeDone = false
  const answered = await wire.insist(async () => {
    try {
      return await wire.ask({ method: 'POST', path: pathOf(toolCallId), body })
    } catch (error) {
      // The answer to the attempt before was lost: nothing waits because that was taken.
      if (mayBeDone && codeOf(error) === 'notFound') return {}
      mayBeDone = true
      throw error
    }
  })
  const { loopId }: { loopId?: unknown } = Object(answered)
  return typeof loopId === 'string' ? loopId : undefined
}

function pathOf(toolCallId: string): string {
  return `/client-calls/${encodeURIComponent(toolCallId)}`
}
