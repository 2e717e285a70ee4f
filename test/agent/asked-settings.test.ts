import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { SubAgentTool } from '../../src/agents.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import { Agent, memorySessionStore, type PromptOptions, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { parseSnapshot } from '../../src/session.ts'
import { add } from '../support/play.ts'

/** What a prompt says of its requests, as far as a record may hold it. */
const asked = { temperature: 0.2, topP: 0.5, seed: 7, thinking: 'high', maxTokens: 99, user: 'hash', strict: true, cacheTtl: '1h' } as const
const sent = { temperature: 0.2, topP: 0.5, seed: 7, thinking: 'high', maxTokens: 99, user: 'hash', strict: true, cacheTtl: '1h' }
const adding = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const never = () => new Promise<never>(() => undefined)

/** A session whose process ends while the model answers for the second time. */
async function cutOff(options: PromptOptions, sessionId = 's') {
  const store = memorySessionStore()
  await new Promise<void>((begun) => {
    const model = scripted(({ messages }) => {
      if (messages.at(-1)?.role !== 'toolResult') return adding
      begun()
      return never()
    })
    new Agent({ model, tools: [add], session: store, sessionId, topP: 0.9 }).prompt('Add.', options)
  })
  return store
}

async function resumed(store: Awaited<ReturnType<typeof cutOff>>, turns = [{ text: 'Three.' }, { text: 'More.' }]) {
  const model = scripted(turns)
  const agent = await resumeAgent(store, 's', { model, tools: [add], topP: 0.9, logger: false })
  return { agent, requests: model.provider.requests }
}

describe('prompt settings after a restart', () => {
  it('applies prompt settings to the rest of the run in another process', async () => {
    const { agent, requests } = await resumed(await cutOff(asked))
    await agent.continueLoop().result
    expect(requests[0]).toMatchObject(sent)
  })

  it('applies prompt settings after a second crash until the prompt has a response', async () => {
    const store = await cutOff(asked)
    const first = scripted(() => never())
    const lost = await resumeAgent(store, 's', { model: first, tools: [add], logger: false })
    lost.continueLoop({ seed: 8 })
    await expect.poll(() => first.provider.requests.length).toBe(1)
    const { agent, requests } = await resumed(store)
    await agent.continueLoop().result
    expect(requests[0]).toMatchObject({ ...sent, seed: 8 })
    await agent.prompt('And one more?').result
    expect(requests[1]).toMatchObject({ topP: 0.9, thinking: 'off' })
    expect(requests[1]).not.toHaveProperty('seed')
    expect((await resumed(store)).agent.checkpoint().asked).toBeUndefined()
  })

  it('prefers the options of continueLoop and of a new message', async () => {
    const { agent, requests } = await resumed(await cutOff(asked))
    await agent.continueLoop({ temperature: 1 }).result
    expect(requests[0]).toMatchObject({ ...sent, temperature: 1 })
    const other = await resumed(await cutOff(asked))
    await other.agent.send('Never mind.', { topK: 3 }).result
    expect(other.requests[0]).toMatchObject({ topK: 3, topP: 0.9, thinking: 'off' })
  })

  it('restores response format, repair and body fields without secrets', async () => {
    const words = { type: 'array', items: { type: 'string' } } as const
    const body = { provider: { sort: 'price', only: ['azure'] }, top_a: 0.2 }
    const store = await cutOff({ responseFormat: words, repair: 1, body })
    const { agent, requests } = await resumed(store, [{ text: 'No list.' }, { text: '{"value":["three"]}' }])
    const { output } = await agent.continueLoop().result
    expect(output).toEqual(['three'])
    expect(requests).toHaveLength(2)
    expect(requests[0]).toMatchObject({ body, responseFormat: { type: 'jsonSchema', schema: { properties: { value: words } } } })
  })

  it('warns about unrecorded settings, which the caller can pass again', async () => {
    const secret = 'sk-live-0123456789abcdef'
    const format = z.object({ sum: z.number() }).transform(({ sum }) => `${sum}`)
    const lost = {
      headers: { 'X-Api-Key': secret, 'x-title': secret },
      body: { mcp_servers: [{ authorization_token: secret }] },
      responseFormat: format,
    }
    const warnings: JsonObject[] = []
    const logger = { warn: (event: string, fields: JsonObject) => void (event === 'promptSettingsMissing' && warnings.push(fields)) }
    const goOn = async (given: PromptOptions) => {
      const store = await cutOff({ ...asked, ...lost })
      expect(JSON.stringify((await store.tail('s')).records)).not.toContain(secret)
      const model = scripted([{ text: '{"sum":3}' }])
      const agent = await resumeAgent(store, 's', { model, tools: [add], logger })
      return { result: await agent.continueLoop(given).result, request: model.provider.requests[0] }
    }
    const { result, request } = await goOn({})
    expect(result.output).toEqual({ sum: 3 })
    expect(request).not.toHaveProperty('body')
    expect(warnings).toMatchObject([{ message: expect.stringContaining('headers.X-Api-Key, headers.x-title, body, responseFormat') }])
    expect((await goOn(lost)).result.output).toBe('3')
    expect(warnings).toHaveLength(1)
  })

  it('includes prompt settings in a snapshot taken during the run', async () => {
    const model = scripted(() => never())
    const agent = new Agent({ model, tools: [add] })
    agent.prompt('Add.', { ...asked, headers: { 'x-secret': 's3cret' }, body: { key: 's3cret' } })
    await expect.poll(() => model.provider.requests.length).toBe(1)
    const text = JSON.stringify(agent.checkpoint())
    expect(text).not.toContain('s3cret')
    const next = scripted([{ text: 'Three.' }])
    const restored = new Agent({ model: next, tools: [add] })
    restored.restore(parseSnapshot(text))
    await restored.continueLoop().result
    expect(next.provider.requests[0]).toMatchObject(sent)
    expect(restored.checkpoint().asked).toBeUndefined()
  })

  it('applies prompt settings when a failed, aborted or paused run continues', async () => {
    const model = scripted([{ fail: { code: 'auth', message: 'no' } }, { text: 'Three.' }, { text: 'Four.' }, { text: 'Five.' }])
    const agent = new Agent({ model, tools: [add] })
    expect((await agent.prompt('Add.', asked).result).status).toBe('error')
    await agent.compact().result
    expect((await agent.continueLoop().result).status).toBe('completed')
    expect(model.provider.requests[1]).toMatchObject(sent)
    await agent.regenerate().result
    expect(model.provider.requests[2]).toMatchObject(sent)
    agent.appendMessage({ role: 'user', content: 'And?' })
    await agent.continueLoop().result
    expect(model.provider.requests[3]).not.toHaveProperty('seed')
  })

  it('does not force a tool call that already ran', async () => {
    const { agent, requests } = await resumed(await cutOff({ toolChoice: 'required' }))
    await agent.continueLoop().result
    expect(requests[0]?.toolChoice).not.toBe('required')
  })

  it('reads prompt settings from the log of the latest writer', async () => {
    const store = await cutOff(asked)
    const { agent, requests } = await resumed(store)
    const hung = scripted(() => never())
    const other = await resumeAgent(store, 's', { model: hung, tools: [add], logger: false })
    other.send('Something else.', { seed: 9 })
    await expect.poll(() => hung.provider.requests.length).toBe(1)
    await agent.continueLoop().result
    expect(requests[0]).toMatchObject({ seed: 9, topP: 0.9, thinking: 'off' })
  })

  it('applies prompt settings when only background reports remain', async () => {
    const store = memorySessionStore()
    const helper = (model = scripted(() => never())) =>
      new SubAgentTool({ name: 'helper', description: 'Helps.', model, background: true, logger: false })
    const first = scripted([{ toolCalls: [{ name: 'helper', arguments: { task: 'Look.' } }] }, { text: 'It looks.' }])
    new Agent({ model: first, tools: [helper()], session: store, sessionId: 's', logger: false }).prompt('Look.', asked)
    await expect.poll(async () => (await store.tail('s')).records.filter(({ entry }) => entry.type === 'assistant').length).toBe(2)
    const model = scripted([{ text: 'Nobody knows.' }])
    const agent = await resumeAgent(store, 's', { model, tools: [helper()], logger: false })
    await agent.continueLoop().result
    expect(JSON.stringify(model.provider.requests[0]?.messages)).toMatch(/not known|unknown/)
    expect(model.provider.requests[0]).toMatchObject(sent)
  })

  it('recomputes prepareTurn changes instead of restoring them', async () => {
    const store = await cutOff(asked)
    const model = scripted([{ text: 'Three.' }])
    const agent = await resumeAgent(store, 's', {
      model,
      tools: [add],
      hooks: { prepareTurn: ({ messages }) => (messages.length > 1 ? { temperature: 0.7 } : undefined) },
      logger: false,
    })
    await agent.continueLoop().result
    expect(model.provider.requests[0]).toMatchObject({ ...sent, temperature: 0.7 })
  })
})
