import { totalTokens } from '../../src/context/tokens/estimate.ts'
import type { LlmMessage } from '../../src/context.ts'
import { withId } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { AgentMessage } from '../../src/index.ts'
import type { StreamRequest } from '../../src/providers.ts'

/** Text of exactly this many tokens by the default counter, beginning with `head`. */
export function words(head: string, tokens: number): string {
  return head.padEnd(tokens * 4, ' filler')
}

/** A question and a long answer. */
function longTurn(loopId: string, turnIndex: number, tokens: number): LlmMessage[] {
  const turnId = { loopId, turnIndex }
  const name = `${loopId}-${turnIndex}`
  const common = { timestamp: 1, turnId }
  return [
    { ...common, role: 'user', id: `q-${name}`, content: [{ type: 'text', text: `question ${name};` }] },
    {
      ...common,
      role: 'assistant',
      id: `a-${name}`,
      content: [{ type: 'text', text: words(`answer ${name};`, tokens) }],
      stopReason: 'stop',
      model: 'm',
      provider: 'p',
      usage: emptyUsage(),
    },
  ]
}

/** `turns` turns of one loop. */
export function longHistory(turns: number, tokensPerAnswer: number, loopId = 'old'): LlmMessage[] {
  return Array.from({ length: turns }, (_, index) => longTurn(loopId, index, tokensPerAnswer)).flat()
}

/** Estimated tokens of the messages of a request. */
export function requestTokens(request: StreamRequest | undefined): number {
  return totalTokens((request?.messages ?? []).map(withId))
}

/** All that a request says, as one text. */
export function requestText(request: StreamRequest | undefined): string {
  return JSON.stringify(request?.messages ?? [])
}

/** Ids of the calls in `messages` without a result, and of results without a call. */
export function brokenPairs(messages: StreamRequest['messages'] | readonly AgentMessage[]): string[] {
  const open = new Set<string>()
  const broken: string[] = []
  for (const message of messages) {
    if (message.role === 'assistant') for (const block of message.content) if (block.type === 'toolCall') open.add(block.id)
    if (message.role === 'toolResult' && !open.delete(message.toolCallId)) broken.push(message.toolCallId)
  }
  return [...broken, ...open]
}

/** `text` without the marks around summaries, memos, node ids and notes. */
export function unfenced(text: string): string {
  return text.replace(/<<([0-9a-z]{8}) (.*?) \1>>/gs, '$2')
}
