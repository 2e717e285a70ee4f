import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { OpenAIProvider } from '@openai/agents-openai'
import { expect, it } from 'vitest'
import { ask as withAiSdk } from '../../examples/migrate/ai-sdk.ts'
import { ask as withLangChain } from '../../examples/migrate/langchain.ts'
import { ask as withOpenAiAgents } from '../../examples/migrate/openai-agents.ts'
import { ask as ours, askLimited as oursLimited } from '../../examples/migrate/phi-core.ts'
import { local } from '../../src/providers/openai.ts'
import { modelServer } from '../adapters/node/cli/model-server.ts'

/** A service that asks for the weather, and answers with what it was told. */
const service = () =>
  modelServer(({ messages, attempt }) =>
    attempt === 1
      ? { text: [], calls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }] }
      : { text: ['The tool said: ', JSON.stringify(messages.at(-1)?.content)] },
  )

type Program = (baseURL: string, prompt: string, write: (text: string) => void) => Promise<number | undefined>

const apiKey = 'test-key'
/** Each program of another package, and ours that its page shows beside it. */
const programs: Record<string, Program> = {
  'the AI SDK': (baseURL, ...rest) => withAiSdk(createOpenAICompatible({ name: 'local', baseURL })('test'), ...rest),
  'OpenAI Agents': async (baseURL, ...rest) =>
    withOpenAiAgents(await new OpenAIProvider({ apiKey, baseURL, useResponses: false }).getModel('test'), ...rest),
  'LangChain JS': (baseURL, ...rest) =>
    withLangChain(new ChatOpenAI({ model: 'test', apiKey, streaming: true, configuration: { baseURL } }), ...rest),
}

const counterparts: Record<string, typeof ours> = { 'the AI SDK': ours, 'OpenAI Agents': oursLimited, 'LangChain JS': ours }

it.each(Object.entries(programs))('sends the same messages and prints the same text as the program of %s', async (name, theirs) => {
  const [one, other] = [await service(), await service()]
  const written: [string[], string[]] = [[], []]
  const question = 'Do I need a coat in Oslo?'
  const tokens = [
    await theirs(one.env.OPENAI_BASE_URL, question, (text) => void written[0].push(text)),
    await counterparts[name]?.(local('test', { baseUrl: other.env.OPENAI_BASE_URL }), question, (text) => void written[1].push(text)),
  ]
  expect(written[1].join('')).toContain('Oslo: 4 °C, rain')
  expect(written[0].join('')).toBe(written[1].join(''))
  expect(tokens[0]).toBe(tokens[1])
  const roles = (asked: typeof one.asked) => asked.map(({ messages }) => messages.map(({ role }) => role))
  expect(roles(other.asked)).toEqual(roles(one.asked))
})

it.each(Object.entries(programs))('ends like the program of %s when the model never stops calling tools', async (name, theirs) => {
  const forever = () =>
    modelServer(({ attempt }) => ({
      text: [],
      calls: [{ id: `call_${attempt}`, name: 'weather', arguments: { city: `Oslo ${attempt}` } }],
    }))
  const [one, other] = [await forever(), await forever()]
  const ended = (program: Promise<unknown> | undefined) =>
    program?.then(
      () => 'completed',
      () => 'failed',
    )
  const ending = await ended(theirs(one.env.OPENAI_BASE_URL, 'Do I need a coat?', () => undefined))
  const model = local('test', { baseUrl: other.env.OPENAI_BASE_URL })
  expect(await ended(counterparts[name]?.(model, 'Do I need a coat?', () => undefined))).toBe(ending)
  expect(ending).toBe(name === 'OpenAI Agents' ? 'failed' : 'completed')
  expect(other.asked).toHaveLength(5)
})
