import { lastAnswerText, text, textOf } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { RunResult } from '../../types/run/run.ts'

/** What the parent is told when a sub-agent said nothing. */
const noText = '(sub-agent produced no text output)'

/**
 * What a sub-agent came to, as the result of its call: the last text it said, and why it ended if not by itself.
 *
 * **Contract**: an error unless the sub-agent completed, or said something before it reached a limit.
 *
 * Source: docs/concepts/sub-agents.md
 */
export function subAgentResult(name: string, result: RunResult): ToolResult {
  const { status, messages, usage, loopId } = result
  const said = lastAnswerText(messages)
  const reason = stopReason(result)
  const isResult = status === 'completed' || (status === 'limit' && said !== '')
  return {
    content: [text([said || noText, reason].filter((part) => part !== undefined).join('\n\n'))],
    // The specification calls the number of messages `turns`.
    details: { subAgent: name, turns: messages.length, status, usage: { ...usage } },
    ...(!isResult && { isError: true }),
    childLoopId: loopId,
  }
}

/** Why a loop did not end by itself, in words for the model that asked for it. */
function stopReason({ status, error, rejection, messages, pendingApprovals = [] }: RunResult): string | undefined {
  switch (status) {
    case 'completed':
      return undefined
    case 'limit': {
      const notice = messages.findLast((message) => message.role === 'user')
      return notice === undefined ? 'Stopped by a limit.' : textOf(notice.content)
    }
    case 'error':
      return error?.message ?? 'Failed.'
    case 'aborted':
      return 'Cancelled'
    case 'paused':
      return `Stopped: ${callNames(pendingApprovals)} must be approved by a person, and nobody answered.`
    case 'rejected':
      return `Rejected: ${rejection ?? 'no reason given'}`
  }
}

function callNames(calls: readonly { toolName: string }[]): string {
  return calls.map((call) => `the call of "${call.toolName}"`).join(', ')
}
