import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { expect, it } from 'vitest'
import { ask as theirs } from '../../examples/migrate/ai-sdk.ts'
import { ask as ours } from '../../examples/migrate/from-ai-sdk.ts'
import { local } from '../../src/providers/openai/index.ts'
import { modelServer } from '../adapters/node/cli/model-server.ts'

/** A service that asks for the weather, and answers with what it was told. */
const service = () =>
  modelServer(({ messages, attempt }) =>
    attempt === 1
      ? { text: [], calls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }] }
      : { text: ['The tool said: ', JSON.stringify(messages.at(-1)?.content)] },
  )

it('the program of the AI SDK and ours say the same to the model, and to a person', async () => {
  const [one, other] = [await service(), await service()]
  const said: [string[], string[]] = [[], []]
  const theirModel = createOpenAICompatible({ name: 'local', baseURL: one.env.OPENAI_BASE_URL })('test')
  await theirs(theirModel, 'Do I need a coat in Oslo?', (text) => void said[0].push(text))
  await ours(local('test', { baseUrl: other.env.OPENAI_BASE_URL }), 'Do I need a coat in Oslo?', (text) => void said[1].push(text))
  expect(said[1].join('')).toContain('Oslo: 4 °C, rain')
  expect(said[0].join('')).toBe(said[1].join(''))
  const roles = (asked: typeof one.asked) => asked.map(({ messages }) => messages.map(({ role }) => role))
  expect(roles(other.asked)).toEqual(roles(one.asked))
})
