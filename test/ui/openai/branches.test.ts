import { expect, it } from 'vitest'
import { noEcho as echo } from '../../../src/ui/openai/responses/response.ts'
import { type ChatChunk, chatCompletionEncoder, responseEncoder } from '../../../src/ui/openai.ts'
import { scenarios } from '../scenarios.ts'

async function branchEvents() {
  const { events } = (await scenarios.branches?.()) ?? { events: [] }
  expect(events.at(-1)?.type).toBe('parallelLoopEnd')
  return events
}

it('sends only the selected branch of a chat completion', async () => {
  const encoder = chatCompletionEncoder({ id: 'c', model: 'm', created: 1 })
  const chunks = (await branchEvents()).flatMap((event) => encoder.encode(event)) as ChatChunk[]
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  expect(text).toBe('one\n\none done')
  expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter((reason) => reason !== null)).toEqual(['stop'])
  expect(encoder.end()).toEqual([])
})

it('sends only the selected branch of a response', async () => {
  const encoder = responseEncoder({ model: 'm', created: 1, echo })
  const last = (await branchEvents()).flatMap((event) => encoder.encode(event)).at(-1)
  expect(last).toMatchObject({
    type: 'response.completed',
    response: { output: [{ content: [{ text: 'one' }] }, { content: [{ text: 'one done' }] }] },
  })
})
