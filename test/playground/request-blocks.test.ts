import { expect, it } from 'vitest'
import { blocksOf } from '../../playground/src/inspector/request/request-blocks.ts'
import type { AnnotatedRequest } from '../../src/context.ts'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { openai } from '../../src/providers/openai.ts'

/** A stream of one text, which is cut before its end the first two times. */
function cutTwice() {
  let asked = 0
  const chunk = (choice: object) => `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, ...choice }] })}\n\n`
  return async () => {
    asked += 1
    const end = asked > 2 ? `${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n` : ''
    return new Response(chunk({ delta: { content: `try ${asked}` } }) + end, { headers: { 'content-type': 'text/event-stream' } })
  }
}

it('shows a failed response as omitted from the request', async () => {
  const agent = new Agent({
    model: openai('gpt-5.1', { apiKey: 'k', fetch: cutTwice() }),
    captureTurnRequests: { httpBody: true },
    retry: { maxRetries: 0 },
    logger: false,
  })
  const requests: AnnotatedRequest[] = []
  const follow = (event: AgentEvent) => void (event.type === 'turnRequest' && requests.push(event.request))
  agent.subscribe(follow)
  await agent.prompt('one').result
  await agent.continueLoop().result
  await agent.continueLoop().result
  await agent.prompt('two').result
  const [, , , last] = requests
  const blocks = last === undefined ? [] : blocksOf(last, undefined)
  expect(blocks.map(({ origin, text, isSent, tokens }) => [origin, text, isSent, tokens > 0])).toEqual([
    ['question', 'one', true, true],
    ['failed response', 'try 1', false, false],
    ['failed response', 'try 2', false, false],
    ['answer', 'try 3', true, true],
    ['question', 'two', true, true],
  ])
  const sent: { content: string }[] = JSON.parse(last?.http?.body ?? '{}').messages
  expect(sent.map(({ content }) => content)).toEqual(blocks.filter(({ isSent }) => isSent).map(({ text }) => text))
})
