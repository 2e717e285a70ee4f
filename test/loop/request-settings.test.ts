import { describe, expect, it } from 'vitest'
import { applyProfile, SubAgentTool } from '../../src/agents.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { add } from '../support/play.ts'

/** A service that says what it was sent, and answers with the next of `answers`. */
function recordingService(...answers: readonly object[]) {
  const sent: Record<string, unknown>[] = []
  const service: typeof fetch = async (_url, init) => {
    sent.push({ ...JSON.parse(String(init?.body)), sentHeaders: Object.fromEntries(new Headers(init?.headers)) })
    const delta = answers[sent.length - 1] ?? { content: 'Done.' }
    const reason = 'tool_calls' in delta ? 'tool_calls' : 'stop'
    const chunks = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, delta: {}, finish_reason: reason }] }]
    const body = `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  return { sent, fetch: service }
}

const call = { tool_calls: [{ index: 0, id: 'c1', function: { name: 'add', arguments: '{"a":1,"b":2}' } }] }

describe('precedence of request settings', () => {
  it('prefers prompt settings to agent settings and those to model settings', async () => {
    const { sent, fetch } = recordingService()
    const model = openai('gpt-4.1', { fetch, seed: 1, topP: 0.1, presencePenalty: 1 })
    const agent = new Agent({ model, topP: 0.2, stopSequences: ['A'] })
    await agent.prompt('go', { stopSequences: ['B'], temperature: 0.3 }).result
    expect(sent[0]).toMatchObject({ seed: 1, top_p: 0.2, presence_penalty: 1, stop: ['B'], temperature: 0.3 })
    await agent.prompt('again').result
    expect(sent[1]).toMatchObject({ stop: ['A'] })
    expect(sent[1]).not.toHaveProperty('temperature')
  })

  it('accepts thinking on the model, the agent or the prompt', async () => {
    const { sent, fetch } = recordingService()
    const model = openai('gpt-5.6', { fetch, thinking: 'low' })
    await new Agent({ model }).prompt('go').result
    await new Agent({ model, thinking: 'xhigh' }).prompt('go').result
    await new Agent({ model, thinking: 'xhigh' }).prompt('go', { thinking: 'max' }).result
    await new Agent({ model, thinking: 'off' }).prompt('go').result
    expect(sent.map((body) => body.reasoning_effort)).toEqual(['low', 'xhigh', 'max', 'none'])
  })

  it('applies settings of a profile and a sub-agent', async () => {
    const { sent, fetch } = recordingService()
    const model = openai('gpt-4.1', { fetch })
    await new Agent(applyProfile({ topP: 0.4, seed: 3 }, { model, seed: 4 })).prompt('go').result
    expect(sent[0]).toMatchObject({ top_p: 0.4, seed: 4 })
    const child = new SubAgentTool({ name: 'child', description: 'Helps.', model, user: 'u-1' })
    const parent = recordingService({ tool_calls: [{ index: 0, id: 'c1', function: { name: 'child', arguments: '{"task":"help"}' } }] })
    await new Agent({ model: openai('gpt-4.1', { fetch: parent.fetch }), tools: [child] }).prompt('go').result
    expect(sent[1]).toMatchObject({ safety_identifier: 'u-1' })
  })
})

describe('toolChoice', () => {
  it('forces a call only until the run has made one', async () => {
    const { sent, fetch } = recordingService(call)
    const agent = new Agent({ model: openai('gpt-4.1', { fetch }), tools: [add], toolChoice: 'required' })
    const result = await agent.prompt('1 + 2?').result
    expect(result).toMatchObject({ status: 'completed', text: 'Done.' })
    expect(sent.map((body) => body.tool_choice)).toEqual(['required', 'auto'])
    await agent.prompt('again').result
    expect(sent[2]).toMatchObject({ tool_choice: 'required' })
  })

  it('applies to the whole run unless it forces a call', async () => {
    const { sent, fetch } = recordingService(call)
    const agent = new Agent({ model: openai('gpt-4.1', { fetch }), tools: [add], toolChoice: { allowed: ['add'] } })
    await agent.prompt('1 + 2?').result
    expect(sent.map((body) => body.tool_choice)).toEqual([sent[0]?.tool_choice, sent[0]?.tool_choice])
  })
})

describe('recorded settings', () => {
  it('appears in capture, record and snapshot, without headers', async () => {
    const { sent, fetch } = recordingService()
    const session = memorySessionStore()
    const settings = { seed: 7, headers: { 'x-team': 'secret-team' }, body: { metadata: { team: 'secret-field' } } }
    const agent = new Agent({ model: openai('gpt-4.1', { fetch }), session, captureTurnRequests: true, ...settings })
    const events: unknown[] = []
    for await (const event of agent.prompt('go')) events.push(event)
    expect(sent[0]).toMatchObject({ seed: 7, metadata: { team: 'secret-field' }, sentHeaders: { 'x-team': 'secret-team' } })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'turnRequest', request: expect.objectContaining({ settings: { seed: 7 } }) }),
    )
    const kept = await session.load(agent.sessionId)
    expect(JSON.stringify([events, kept, agent.checkpoint()])).not.toContain('secret')
    expect(agent.checkpoint().settings).toMatchObject({ request: { seed: 7 } })
    const again = new Agent({ model: openai('gpt-4.1', { fetch }) })
    again.restore(agent.checkpoint())
    await again.prompt('and now?').result
    expect(sent[1]).toMatchObject({ seed: 7 })
  })

  it('warns once about unsupported settings and rejects them in strict mode', async () => {
    const warnings: string[] = []
    const logger = { warn: (event: string, fields: object) => void warnings.push(`${event} ${JSON.stringify(fields)}`) }
    const { sent, fetch } = recordingService(call)
    const model = openai('gpt-5', { fetch })
    await new Agent({ model, tools: [add], seed: 1, stopSequences: ['A'], logger }).prompt('go').result
    expect(warnings.filter((warning) => warning.includes('stopSequences'))).toHaveLength(1)
    const result = await new Agent({ model, stopSequences: ['A'], strict: true, logger: false }).prompt('go').result
    expect(result).toMatchObject({ status: 'error', error: { code: 'unsupported', message: expect.stringContaining('stopSequences') } })
    expect(sent).toHaveLength(2)
  })
})
