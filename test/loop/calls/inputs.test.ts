import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { SubAgentTool } from '../../../src/agents.ts'
import type { InputQuestion } from '../../../src/contract/run/run-facts.ts'
import { Agent, type AgentEvent, type InputAnswer, type ToolContext } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { initialState, reduce } from '../../../src/store.ts'
import { gate, ofType, outline, play, seen, tool } from '../../support/play.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const call = (name: string, args = {}) => ({ toolCalls: [{ name, arguments: args }] })
const asking = (question: InputQuestion = { message: 'Where to?', schema }, more = {}) =>
  tool('travel', async (_args, ctx) => JSON.stringify(await ctx.requestInput?.(question)), more)

function answering(answer: InputAnswer, tools = [asking()]) {
  const agent = new Agent({ model: scripted([call('travel'), { text: 'done' }]), tools })
  const events: AgentEvent[] = []
  agent.subscribe((event) => {
    events.push(event)
    if (event.type === 'inputRequested') agent.currentRun?.answer(event, answer)
  })
  return { agent, events }
}

const resultsOf = (events: readonly AgentEvent[]) =>
  ofType(events, 'toolExecutionEnd').map(({ result: { content } }) => (content[0]?.type === 'text' ? content[0].text : ''))

describe('ctx.requestInput', () => {
  it('emits the request and returns the submitted values', async () => {
    const { agent, events } = answering({ action: 'accept', content: { city: 'Oslo' } })
    await agent.prompt('go').result
    expect(resultsOf(events)).toEqual(['{"action":"accept","content":{"city":"Oslo"}}'])
    const [asked] = ofType(events, 'inputRequested')
    expect(asked).toMatchObject({ message: 'Where to?', schema, toolName: 'travel', inputId: expect.any(String) })
    expect(ofType(events, 'inputResolved')).toMatchObject([{ inputId: asked?.inputId, action: 'accept' }])
    expect(JSON.stringify(ofType(events, 'inputResolved'))).not.toContain('Oslo')
    const inside = outline(events).filter((type) => /^(tool|input)/.test(type))
    expect(inside).toEqual(['toolExecutionStart', 'inputRequested', 'inputResolved', 'toolExecutionEnd'])
  })

  it.each<InputAnswer>([{ action: 'decline' }, { action: 'cancel' }, { action: 'accept' }])('returns %j to the tool', async (answer) => {
    const { agent, events } = answering(answer)
    await agent.prompt('go').result
    expect(resultsOf(events)).toEqual([JSON.stringify(answer)])
  })

  it('cancels on timeout and pauses the tool timeout while waiting', async () => {
    const { events } = await play([call('travel'), { text: 'done' }], {
      tools: [asking(undefined, { timeoutMs: 1 })],
      approvalTimeoutMs: 30,
    })
    expect(resultsOf(events)).toEqual(['{"action":"cancel"}'])
    expect(ofType(events, 'inputResolved')).toMatchObject([{ action: 'cancel', reason: 'there was no response before the timeout' }])
  })

  it('lets a tool pause and restart its own timeout', async () => {
    const waiting = tool(
      'travel',
      async (_args, { pauseTimeout, signal }) => {
        const goOn = pauseTimeout?.()
        await new Promise((resolve) => setTimeout(resolve, 60))
        if (signal.aborted) return 'too late'
        goOn?.()
        goOn?.()
        return new Promise<string>(() => undefined)
      },
      { timeoutMs: 20 },
    )
    const { events } = await play([call('travel'), { text: 'done' }], { tools: [waiting] })
    expect(resultsOf(events)).toEqual(['Tool exceeded timeout of 20ms'])
  })

  it('restarts the timeout with restartTimeout, except during an input request', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
    const passed: string[] = []
    const waiting = tool(
      'travel',
      async (_args, { pauseTimeout, restartTimeout, signal }) => {
        await later(15)
        restartTimeout?.()
        await later(15)
        passed.push(signal.aborted ? 'too late' : 'restarted')
        const goOn = pauseTimeout?.()
        restartTimeout?.()
        await later(60)
        passed.push(signal.aborted ? 'too late' : 'paused')
        goOn?.()
        return new Promise<string>(() => undefined)
      },
      { timeoutMs: 20 },
    )
    const played = play([call('travel'), { text: 'done' }], { tools: [waiting] })
    await vi.advanceTimersByTimeAsync(200)
    expect(resultsOf((await played).events)).toEqual(['Tool exceeded timeout of 20ms'])
    expect(passed).toEqual(['restarted', 'paused'])
  })

  it('withdraws the request on an abort and rejects later responses', async () => {
    const agent = new Agent({ model: scripted([call('travel')]), tools: [asking()] })
    const run = agent.prompt('go')
    await seen(run, 'inputRequested')
    const [pending] = run.pendingInputs()
    expect(pending).toMatchObject({ message: 'Where to?' })
    run.abort()
    const { status } = await run.result
    expect(status).toBe('aborted')
    const events: AgentEvent[] = []
    for await (const event of run) events.push(event)
    const inside = outline(events).filter((type) => /^(tool|input)/.test(type))
    expect(inside).toEqual(['toolExecutionStart', 'inputRequested', 'inputResolved', 'toolExecutionEnd'])
    expect(run.pendingInputs()).toEqual([])
    expect(() => run.answer(pending?.inputId ?? '', { action: 'decline' })).toThrow(
      expect.objectContaining({ code: 'unknownInput', message: expect.stringContaining('No input request') }),
    )
  })

  it('returns cancel for a request made after the call ended', async () => {
    let late: ToolContext | undefined
    const keeping = tool('travel', (_args, ctx) => {
      late = ctx
      return 'over'
    })
    const { events } = await play([call('travel'), { text: 'done' }], { tools: [keeping] })
    expect(await late?.requestInput?.({ message: 'Still there?' })).toEqual({ action: 'cancel' })
    expect(ofType(events, 'inputRequested')).toEqual([])
  })

  it("withdraws the request when the tool's own signal aborts", async () => {
    const withdrawn = gate()
    const controller = new AbortController()
    const withdrawing = tool('travel', async (_args, ctx) => {
      const answer = ctx.requestInput?.({ message: 'Quick?' }, controller.signal)
      controller.abort()
      withdrawn.open()
      return JSON.stringify(await answer)
    })
    const { events } = await play([call('travel'), { text: 'done' }], { tools: [withdrawing] })
    await withdrawn.opened
    expect(resultsOf(events)).toEqual(['{"action":"cancel"}'])
    expect(ofType(events, 'inputResolved')).toMatchObject([{ reason: 'the request was cancelled' }])
  })

  it('rejects invalid requests and invalid responses', async () => {
    const wrong = { message: 1 } as unknown as InputQuestion
    const { events } = await play([call('travel'), { text: 'done' }], { tools: [asking(wrong)] })
    expect(ofType(events, 'toolExecutionEnd')[0]?.isError).toBe(true)
    const agent = new Agent({ model: scripted([call('travel'), { text: 'done' }]), tools: [asking()] })
    const run = agent.prompt('go')
    await seen(run, 'inputRequested')
    const [pending] = run.pendingInputs()
    if (pending === undefined) throw new Error('nothing waits')
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    for (const answer of [undefined, {}, { action: 'yes' }, { action: 'accept', content: [] }, { action: 'accept', content: cyclic }]) {
      expect(() => run.answer(pending, answer as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
    }
    run.answer(pending, { action: 'decline' })
    expect((await run.result).status).toBe('completed')
  })

  it('forwards a sub-agent request to the parent run', async () => {
    const child = new SubAgentTool({
      name: 'child',
      description: 'Travels.',
      model: scripted([call('travel'), { text: 'there' }]),
      tools: [asking()],
    })
    const agent = new Agent({ model: scripted([call('child', { task: 'go' }), { text: 'done' }]), tools: [child] })
    const events: AgentEvent[] = []
    let state = initialState()
    const shown: number[] = []
    agent.subscribe((event) => {
      events.push(event)
      state = reduce(state, event)
      shown.push(state.inputs.length)
      if (event.type === 'inputRequested') agent.currentRun?.answer(event.inputId, { action: 'accept', content: { city: 'Rome' } })
    })
    expect((await agent.prompt('go').result).status).toBe('completed')
    expect(ofType(events, 'inputRequested')).toMatchObject([{ toolName: 'travel', subAgent: { toolName: 'child' } }])
    expect(ofType(events, 'inputResolved')).toMatchObject([{ action: 'accept', subAgent: { toolName: 'child' } }])
    expect(Math.max(...shown)).toBe(1)
    expect(state.inputs).toEqual([])
  })

  it('emits request and resolution on child and parent when a sub-agent is aborted', async () => {
    const child = new SubAgentTool({
      name: 'child',
      description: 'Travels.',
      model: scripted([call('travel')]),
      tools: [asking()],
      forward: 'events',
    })
    const agent = new Agent({ model: scripted([call('child', { task: 'go' })]), tools: [child] })
    const events: AgentEvent[] = []
    agent.subscribe((event) => {
      events.push(event)
      if (event.type === 'inputRequested') agent.abort()
    })
    expect((await agent.prompt('go').result).status).toBe('aborted')
    const ofChild = ofType(events, 'childEvent').map(({ event }) => event)
    for (const told of [events, ofChild]) {
      expect(outline(told).filter((type) => type.startsWith('input'))).toEqual(['inputRequested', 'inputResolved'])
    }
  })
})
