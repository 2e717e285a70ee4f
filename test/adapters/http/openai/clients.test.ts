import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, Output, stepCountIs, streamText, tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Agent, type Model } from '../../../../src/index.ts'
import { openaiCompatible } from '../../../../src/providers/openai.ts'
import { openaiResponses } from '../../../../src/providers/openai-responses/index.ts'
import type { Script } from '../../../../src/providers/scripted/index.ts'
import { deployTool, served } from './served.ts'

type App = ReturnType<typeof served>['app']

/** How a client reaches the server. */
function reach(app: App) {
  const fetchLike: typeof fetch = async (url, init) => app.request(url instanceof Request ? url : String(url), init)
  return { apiKey: 'key-of-ada', baseURL: 'http://127.0.0.1/v1', fetch: fetchLike }
}

/** A script that calls the caller's tool, then says what came of it. */
const asksCaller: Script = ({ messages }) => {
  const last = messages.at(-1)
  if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'look_up', arguments: { word: 'phi' } }] }
  return { text: `Found: ${last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}` }
}
const tools = {
  look_up: tool({ description: 'Finds.', inputSchema: z.object({ word: z.string() }), execute: ({ word }) => `${word} is a letter` }),
}

describe('AI SDK clients', () => {
  const models = [
    ['@ai-sdk/openai, chat completions', (app: App) => createOpenAI(reach(app)).chat('helper')],
    ['@ai-sdk/openai, responses', (app: App) => createOpenAI(reach(app)).responses('helper')],
    ['@ai-sdk/openai-compatible', (app: App) => createOpenAICompatible({ name: 'phi', ...reach(app) }).chatModel('helper')],
  ] as const

  it.each(models)("runs the client's tools with an agent: %s", async (_name, modelOf) => {
    const { app } = served(asksCaller)
    const asked = { model: modelOf(app), prompt: 'What is phi?', system: 'Be brief.', tools, stopWhen: stepCountIs(3), maxRetries: 0 }
    const whole = await generateText(asked)
    expect([whole.text, whole.finishReason, whole.steps.length]).toEqual(['Found: phi is a letter', 'stop', 2])
    const streamed = streamText(asked)
    expect([await streamed.text, await streamed.finishReason]).toEqual(['Found: phi is a letter', 'stop'])
  })

  it.each(models)('returns a structured object: %s', async (_name, modelOf) => {
    const { app } = served(() => ({ text: '{"city":"Oslo"}' }))
    const output = Output.object({ schema: z.object({ city: z.string() }) })
    expect((await generateText({ model: modelOf(app), prompt: 'Where?', output, maxRetries: 0 })).output).toEqual({ city: 'Oslo' })
  })

  it('continues a conversation of responses', async () => {
    const { app } = served(({ messages }) => ({ text: `You said ${messages.filter(({ role }) => role === 'user').length} things.` }))
    const model = createOpenAI(reach(app)).responses('helper')
    const first = await generateText({ model, prompt: 'one', maxRetries: 0 })
    const second = await generateText({
      model,
      messages: [{ role: 'user', content: 'one' }, ...first.response.messages, { role: 'user', content: 'two' }],
      maxRetries: 0,
    })
    expect([first.text, second.text]).toEqual(['You said 1 things.', 'You said 2 things.'])
  })
})

describe('agents that use another agent as their model', () => {
  const models = [
    ['chat completions', (app: App): Model => openaiCompatible('helper', { baseUrl: 'http://127.0.0.1/v1', ...ours(app) })],
    ['responses', (app: App): Model => openaiResponses('helper', { baseUrl: 'http://127.0.0.1/v1', ...ours(app) })],
  ] as const
  const ours = (app: App) => ({ apiKey: 'key-of-ada', fetch: reach(app).fetch, capabilities: { thinking: 'none' as const } })

  it.each(models)("runs the outer agent's tools: %s", async (_name, modelOf) => {
    const { app } = served(asksCaller)
    const { execute, ...described } = { execute: () => 'a letter', name: 'look_up', label: 'Look up', description: 'Finds.' }
    const lookUp = { ...described, parameters: { type: 'object', properties: { word: { type: 'string' } } }, execute }
    const run = new Agent({ model: modelOf(app), tools: [lookUp] }).prompt('What is phi?')
    expect([await run.text(), (await run.result).messages.map(({ role }) => role)]).toEqual([
      'Found: a letter',
      ['user', 'assistant', 'toolResult', 'assistant'],
    ])
  })

  it('forwards approval requests and decisions', async () => {
    const { deploy, done } = deployTool()
    const { app } = served([{ toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }, { text: 'Done.' }], { tools: [deploy] })
    const model = openaiResponses('helper', { baseUrl: 'http://127.0.0.1/v1', ...ours(app), headers: { 'x-session-id': 'deployments' } })
    const run = new Agent({ model }).prompt('Deploy 2.')
    const asked: unknown[] = []
    run.subscribe((event) => {
      if (event.type !== 'approvalRequested') return
      asked.push(event.args)
      run.approve(event)
    })
    expect([await run.text(), asked, done]).toEqual(['Done.', [{ version: '2' }], ['2']])
  })
})
