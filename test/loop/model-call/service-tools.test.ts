import { describe, expect, it } from 'vitest'
import type { Content } from '../../../src/contract/message/content.ts'
import { Agent, type RunResult } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { fastRetry, ofType, outline, play, playOn } from '../../support/play.ts'

/** What keeps a block as it is for the service that sent it. */
const providerState = { api: 'scripted', model: scripted([]).config.id, payload: {} }

type ServiceTool = Extract<Content, { type: 'serviceTool' }>

function search(status: ServiceTool['status'], more: Partial<ServiceTool> = {}): ServiceTool {
  return { type: 'serviceTool', id: 'ws_1', name: 'web_search', input: { query: 'tea' }, status, ...more }
}

const halfOne: ScriptedStep = {
  text: 'I look. ',
  blocks: [search('running', { providerState })],
  stopReason: 'paused',
  usage: { input: 100, output: 10, searches: 1 },
}
const halfTwo: ScriptedStep = {
  blocks: [search('done', { output: [{ url: 'https://example.org/tea', title: 'Tea' }] })],
  text: 'Tea is a drink.',
  usage: { input: 130, output: 20, searches: 1 },
}

function answers({ messages }: RunResult) {
  return messages.filter((message) => message.role === 'assistant')
}

describe('a response paused by the provider', () => {
  it('continues within the same message and turn', async () => {
    const { model, events, result } = await play([halfOne, halfTwo])
    expect(result.status).toBe('completed')
    const [answer, ...more] = answers(result)
    expect(more).toEqual([])
    expect(answer).toMatchObject({
      stopReason: 'stop',
      content: [{ text: 'I look. ' }, { type: 'serviceTool', status: 'done' }, { text: 'Tea is a drink.' }],
      usage: { input: 230, output: 30, searches: 2, contextTokens: 150 },
    })
    expect(result.usage).toMatchObject({ input: 230, output: 30, searches: 2 })
    expect(ofType(events, 'turnStart')).toHaveLength(1)
    expect(outline(events).filter((name) => name.endsWith('assistant'))).toHaveLength(2)
    expect(grammarFaults(events)).toEqual([])
    const [, second] = model.provider.requests
    expect(second?.messages.at(-1)).toMatchObject({
      role: 'assistant',
      stopReason: 'paused',
      content: [{ text: 'I look. ' }, search('running', { providerState })],
    })
  })

  it('emits one start and one end event per hosted tool', async () => {
    const { events } = await play([halfOne, halfTwo])
    const told = events.filter(({ type }) => type.startsWith('serviceTool'))
    expect(told).toMatchObject([
      { type: 'serviceToolStart', toolCallId: 'ws_1', toolName: 'web_search' },
      { type: 'serviceToolEnd', toolCallId: 'ws_1', outcome: 'done' },
    ])
  })

  it('reports a hosted tool as open if it is running when the message ends', async () => {
    const { events } = await play([{ text: 'x', blocks: [search('running')] }])
    expect(ofType(events, 'serviceToolEnd')).toMatchObject([{ outcome: 'open' }])
  })

  it('ends the run with status limit after ten continuations', async () => {
    const { model, result } = await play(() => ({ text: 'more ', stopReason: 'paused' }))
    expect(model.provider.requests).toHaveLength(11)
    expect(result).toMatchObject({ status: 'limit', limit: { name: 'maxContinuations', max: 10 } })
  })

  it('ends the run at limits.maxContinuations and lets the agent continue later', async () => {
    const model = scripted((_request, turn) => (turn < 3 ? { text: 'more ', stopReason: 'paused' } : { text: 'done' }))
    const { agent, result } = await playOn(model, { limits: { maxContinuations: 2 } })
    expect(result.status).toBe('limit')
    expect((await agent.prompt('Go on.').result).text).toBe('done')
  })

  it('stops when the cost limit is reached between two requests', async () => {
    const model = scripted(() => ({ text: 'x', stopReason: 'paused', usage: { reportedCost: 0.4 } }))
    const cost = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
    const priced = { ...model, config: { ...model.config, cost } }
    const { result } = await playOn(priced, { limits: { maxCost: 1 } })
    expect(model.provider.requests).toHaveLength(3)
    expect(result).toMatchObject({ status: 'limit', limit: { name: 'maxCost', used: expect.closeTo(1.2) } })
  })

  it('retries a continuation that failed before any output', async () => {
    const steps: ScriptedStep[] = [halfOne, { fail: { code: 'network', message: 'cut' } }, halfTwo]
    const { events, result, model } = await play(steps)
    expect(result.status).toBe('completed')
    expect(answers(result)).toHaveLength(1)
    expect(result.usage.input).toBe(230)
    expect(ofType(events, 'providerRetry')).toMatchObject([{ afterOutput: false }])
    expect(model.provider.requests.map(({ continues }) => continues !== undefined)).toEqual([false, true, true])
  })

  it('charges an empty paused response once and repeats the request', async () => {
    const nothing: ScriptedStep = { stopReason: 'paused', usage: { input: 100, output: 10 } }
    const steps: ScriptedStep[] = [nothing, { usage: { input: 1 } }, { text: 'Tea.', usage: { input: 1000 } }]
    const { result, model } = await play(steps)
    expect(result.text).toBe('Tea.')
    expect(model.provider.requests).toHaveLength(3)
    expect(result.usage).toMatchObject({ input: 1101, output: 10 })
  })

  it('ends the message if a continuation fails, and resumes in a new one', async () => {
    const failed: ScriptedStep = { text: 'Te', fail: { code: 'network', message: 'cut', afterText: true } }
    const { events, result, model } = await play([halfOne, failed, halfTwo])
    const whole = { stopReason: 'stop', content: [{ text: 'I look. ' }, { type: 'serviceTool', status: 'done' }, { type: 'text' }] }
    expect(answers(result)).toMatchObject([{ stopReason: 'error' }, whole])
    expect(model.provider.requests.map(({ messages }) => messages.at(-1)?.content.length)).toEqual([1, 2, 2])
    expect(result.usage.input).toBe(230)
    expect(grammarFaults(events)).toEqual([])
  })

  it('ends the run as aborted on an abort between two requests', async () => {
    const agent = new Agent({
      retry: fastRetry,
      model: scripted((_request, turn) => {
        if (turn === 1) agent.abort()
        return turn === 0 ? halfOne : halfTwo
      }),
    })
    const result: RunResult = await agent.prompt('go').result
    expect(result).toMatchObject({ status: 'aborted', usage: { input: 100 } })
    expect(answers(result)).toMatchObject([{ stopReason: 'aborted', content: [{ text: 'I look. ' }, { type: 'serviceTool' }] }])
  })
})

describe('limits.maxSearches', () => {
  it('ends the run when hosted searches reach the limit', async () => {
    const model = scripted(() => ({ toolCalls: [{ name: 'none', arguments: {} }], usage: { searches: 2 } }))
    const { result } = await playOn(model, { limits: { maxSearches: 3, maxSameRefusals: 9 } })
    expect(result).toMatchObject({ status: 'limit', limit: { name: 'maxSearches', used: 4, max: 3 } })
  })
})

describe('a hosted tool with a pending approval', () => {
  const asking: ScriptedStep = {
    blocks: [search('running', { id: 'mcpr_1', name: 'mcp.docs.delete_page', input: { id: 'p1' }, needsApproval: true, providerState })],
    stopReason: 'toolUse',
  }

  it.each([
    { isAllowed: true, told: { isError: false, content: [{ text: 'Approved.' }] } },
    { isAllowed: false, told: { isError: true, content: [{ text: expect.stringContaining('not this one') }] } },
  ])('requests approval like a local tool call: $isAllowed', async ({ isAllowed, told }) => {
    const model = scripted([asking, { text: 'ok' }])
    const agent = new Agent({ model })
    const run = agent.prompt('go')
    for await (const event of run) {
      if (event.type !== 'approvalRequested') continue
      expect(event).toMatchObject({ toolCallId: 'mcpr_1', toolName: 'mcp.docs.delete_page', args: { id: 'p1' } })
      if (isAllowed) run.approve(event)
      else run.deny(event, 'not this one')
    }
    expect((await run.result).status).toBe('completed')
    expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'toolResult', toolCallId: 'mcpr_1', ...told })
  })

  it('pauses the run without an approver and accepts a later decision', async () => {
    const { agent, result } = await play([asking, { text: 'ok' }], { approvalTimeoutMs: 1 })
    expect(result).toMatchObject({ status: 'paused', pendingApprovals: [{ toolCallId: 'mcpr_1' }] })
    const [pending] = agent.pendingApprovals()
    expect(pending).toMatchObject({ toolName: 'mcp.docs.delete_page' })
  })

  it('fails the call when a hook replaces its arguments', async () => {
    const hooks = { beforeToolExecution: () => ({ arguments: { id: 'p2' } }) }
    const model = scripted([asking, { text: 'ok' }])
    const agent = new Agent({ model, hooks })
    const run = agent.prompt('go')
    for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
    expect(model.provider.requests[1]?.messages.at(-1)).toMatchObject({ role: 'toolResult', isError: true })
  })
})

it('reports the error of a failed hosted tool', async () => {
  const failed = search('failed', { error: { code: 'max_uses_exceeded' } })
  const { events } = await play([{ text: 'I cannot.', blocks: [failed] }])
  expect(ofType(events, 'serviceToolEnd')).toMatchObject([{ outcome: 'failed', error: { code: 'max_uses_exceeded' } }])
})

describe('a hosted tool interrupted while running', () => {
  const closed = { status: 'failed', error: { code: 'interrupted' } }

  it('stores the call as failed after the run was aborted', async () => {
    const model = scripted([{ text: 'I look. ', blocks: [search('running'), search('running', { id: 'ws_2' })] }])
    const agent = new Agent({ model })
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type === 'messageUpdate' && event.delta.type === 'block') run.abort()
    })
    expect((await run.result).status).toBe('aborted')
    expect(agent.messages.at(-1)).toMatchObject({ stopReason: 'aborted', content: [{ text: 'I look. ' }, closed] })
  })

  it('stores the call as failed after the continuation failed', async () => {
    const failed: ScriptedStep = { text: 'Te', fail: { code: 'auth', message: 'no', afterText: true } }
    const { result } = await play([halfOne, failed])
    expect(answers(result)).toMatchObject([{ stopReason: 'error', content: [{ text: 'I look. ' }, closed, { text: 'Te' }] }])
  })
})
