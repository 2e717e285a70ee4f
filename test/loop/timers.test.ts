import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Agent, type AgentEvent, type AgentOptions, type AgentTool, ToolError } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { approveWaiting, gate, ofType, seen, tool } from '../support/play.ts'

const call = { toolCalls: [{ id: 'c1', name: 't', arguments: {} }] }
const tenDaysMs = 10 * 24 * 3_600_000
const maxMs = 2 ** 31

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Starts a run and lets ten days pass after its first event of `type`. */
async function wait(type: AgentEvent['type'], script: Script, options: Partial<AgentOptions>) {
  const agent = new Agent({ model: scripted(script), ...options })
  const run = agent.prompt('go')
  await seen(run, type)
  await vi.advanceTimersByTimeAsync(tenDaysMs)
  return { agent, run }
}

describe.each([maxMs, Number.POSITIVE_INFINITY])('a timeout of %d ms, above the maximum of setTimeout', (ms) => {
  it('does not end a tool call immediately', async () => {
    const { opened, open } = gate()
    const { agent, run } = await wait('toolExecutionStart', [call, { text: 'ok' }], {
      tools: [tool('t', () => opened.then(() => 'fine'))],
      toolTimeoutMs: ms,
    })
    expect(agent.isStreaming).toBe(true)
    open()
    expect((await run.result).messages[2]).toMatchObject({ isError: false, content: [{ text: 'fine' }] })
  })

  it('does not pause an approval immediately', async () => {
    const asking = tool('t', () => 'fine', { needsApproval: true })
    const { run } = await wait('approvalRequested', [call, { text: 'ok' }], { tools: [asking], approvalTimeoutMs: ms })
    approveWaiting(run)
    expect((await run.result).text).toBe('ok')
  })

  it('does not retry a model call immediately', async () => {
    // Any part of the delay is waited for, each as likely.
    vi.spyOn(Math, 'random').mockReturnValue(0.99)
    const retry = { maxRetries: 1, initialDelayMs: ms, backoffMultiplier: 1, maxDelayMs: ms }
    const { agent, run } = await wait('providerRetry', [{ fail: { code: 'network', message: 'cut' } }, { text: 'ok' }], { retry })
    expect(agent.isStreaming).toBe(true)
    run.abort()
    await run.result
  })
})

describe('timer cleanup', () => {
  it('clears all timers after a run with tools and approvals', async () => {
    const tools = [tool('t', () => 'fine', { needsApproval: true })]
    const options = { tools, toolTimeoutMs: 1e6, approvalTimeoutMs: 2 * tenDaysMs }
    const { run } = await wait('approvalRequested', [call, { text: 'ok' }], options)
    approveWaiting(run)
    expect((await run.result).status).toBe('completed')
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each(['providerRetry', 'approvalRequested', 'toolExecutionStart'] as const)('clears all timers after an abort at %s', async (type) => {
    const script = type === 'providerRetry' ? [{ fail: { code: 'network' as const, message: 'cut' } }] : [call]
    const hang = tool('t', () => new Promise<string>(() => undefined), { needsApproval: type === 'approvalRequested' })
    const agent = new Agent({ model: scripted(script), tools: [hang], toolTimeoutMs: 1e6, approvalTimeoutMs: 1e6 })
    const run = agent.prompt('go')
    await seen(run, type)
    expect(vi.getTimerCount()).toBe(1)
    run.abort()
    expect((await run.result).status).toBe('aborted')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a tool with endsOnAbort', () => {
  /** What is told of a call that was cut off, with a tool that needs `ms` after its signal. */
  async function cutOffAfter(ms: number, how: 'abort' | 'timeout', more: Partial<AgentTool> = { endsOnAbort: true }) {
    const late = { content: [{ type: 'text' as const, text: 'half' }], details: { done: 1 }, childLoopId: 'child' }
    const slow = tool(
      't',
      (_, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => setTimeout(() => resolve(late), ms))),
      { ...more, ...(how === 'timeout' && { timeoutMs: 1000 }) },
    )
    const agent = new Agent({ model: scripted([call, { text: 'ok' }]), tools: [slow] })
    const events: AgentEvent[] = []
    agent.subscribe((event) => events.push(event))
    const run = agent.prompt('go')
    await seen(run, 'toolExecutionStart')
    if (how === 'abort') run.abort()
    else await vi.advanceTimersByTimeAsync(1000)
    await vi.advanceTimersByTimeAsync(2999)
    const isOpen = agent.isStreaming
    await vi.advanceTimersByTimeAsync(1)
    const { status } = await run.result
    const [end] = ofType(events, 'toolExecutionEnd')
    return { isOpen, status, result: end?.result, childLoopId: end?.childLoopId }
  }

  it.each([
    ['abort', 'aborted', 'Cancelled'],
    ['timeout', 'completed', 'Tool exceeded timeout of 1s'],
  ] as const)('has three seconds to report its result: %s', async (how, status, text) => {
    const content = [{ type: 'text', text }]
    expect(await cutOffAfter(2999, how)).toEqual({
      isOpen: false,
      status,
      result: { content, details: { done: 1 }, childLoopId: 'child', isError: true },
      childLoopId: 'child',
    })
    expect(await cutOffAfter(3001, how)).toEqual({ isOpen: true, status, result: { content, isError: true }, childLoopId: undefined })
  })

  it.each([
    ['abort', new ToolError('cancelled', 'Cancelled after line 1'), 'Cancelled after line 1'],
    ['timeout', new ToolError('timeout', 'Too slow after line 1'), 'Too slow after line 1'],
    ['abort', new ToolError('failed', 'odd'), 'Cancelled'],
    ['timeout', new ToolError('cancelled', 'odd'), 'Tool exceeded timeout of 1s'],
    ['timeout', new Error('odd'), 'Tool exceeded timeout of 1s'],
  ] as const)('sends its own text to the model: %s, %s', async (how, late, text) => {
    const execute: AgentTool['execute'] = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(late)))
    expect(await cutOffAfter(0, how, { endsOnAbort: true, execute })).toMatchObject({
      result: { content: [{ type: 'text', text }], isError: true },
    })
  })

  it('does not wait for tools without endsOnAbort', async () => {
    expect(await cutOffAfter(0, 'abort', {})).toMatchObject({
      isOpen: false,
      result: { content: [{ text: 'Cancelled' }] },
      childLoopId: undefined,
    })
  })
})
