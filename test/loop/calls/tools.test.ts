import { describe, expect, it } from 'vitest'
import { type AgentTool, type RunResult, type ToolContext, textOf } from '../../../src/index.ts'
import type { ToolExecutionStrategy } from '../../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { add, gate, ofType, play, tool } from '../../support/play.ts'

const call = (name: string, args = {}) => ({ name, arguments: args })
const results = (result: RunResult) => result.messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []))
const resultTexts = (result: RunResult) => results(result).map((message) => textOf(message.content))

/** Not an instance of Promise: what a polyfill or another realm returns. */
function rejectedThenable(): never {
  const thenable: object = Object.defineProperty({}, 'then', {
    value: (_: unknown, reject: (error: Error) => void) => reject(new Error('no')),
  })
  return thenable as never
}

describe('tool errors sent to the model', () => {
  const one = async (tools: AgentTool[], name: string, args = {}, options = {}) =>
    play([{ toolCalls: [call(name, args)] }, { text: 'ok' }], { tools, ...options })

  it.each<[string, AgentTool, string]>([
    ['throws', tool('t', () => Promise.reject(new Error('disk on fire'))), 'disk on fire'],
    ['throws synchronously', tool('t', () => JSON.parse('{')), "Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
  ])('sends the model the error of a tool that %s', async (_, broken, text) => {
    const { events, result } = await one([broken], 't')
    expect(resultTexts(result)).toEqual([text])
    expect(ofType(events, 'toolExecutionEnd').map((event) => event.isError)).toEqual([true])
    expect(result.status).toBe('completed')
    expect(grammarFaults(events)).toEqual([])
  })

  it('reports an unknown tool to the model', async () => {
    const { events, result } = await one([add], 'subtract')
    expect(resultTexts(result)).toEqual(['Tool subtract not found'])
    expect(ofType(events, 'toolExecutionEnd')).toHaveLength(1)
  })

  it('reports an unknown tool named after an Object member', async () => {
    expect(resultTexts((await one([add], 'constructor')).result)).toEqual(['Tool constructor not found'])
  })

  it('reports invalid arguments without running the tool', async () => {
    const ran: unknown[] = []
    const strict: AgentTool = { ...add, execute: (args) => String(ran.push(args)) }
    const { result } = await one([strict], 'add', { a: 'one' })
    expect(resultTexts(result)[0]).toMatch(/^Invalid arguments: [\s\S]*\bb\b/)
    expect(ran).toEqual([])
  })

  it.each<[string, AgentTool['parameters']]>([
    ['returns nothing', { '~standard': { version: 1, vendor: 'odd', validate: () => undefined as never } }],
    ['throws', { '~standard': { version: 1, vendor: 'odd', validate: () => JSON.parse('{') } }],
    ['rejects a custom thenable', { '~standard': { version: 1, vendor: 'odd', validate: rejectedThenable } }],
  ])('reports a schema that %s and continues the run', async (_, parameters) => {
    const { result } = await one([tool('t', () => 'ran', { parameters, jsonSchema: { type: 'object' } }), add], 't')
    expect(results(result).map((message) => message.isError)).toEqual([true])
    expect(result.status).toBe('completed')
  })
})

describe('arguments of a tool call', () => {
  it('leaves history and events unchanged when a tool mutates them', async () => {
    const grabby = tool('t', (args) => {
      Object.assign(args, { path: 'changed', more: 1 })
      return 'ok'
    })
    const { agent, events } = await play([{ toolCalls: [call('t', { path: 'a', list: [1] })] }, { text: 'ok' }], { tools: [grabby] })
    const written = { path: 'a', list: [1] }
    expect(agent.messages[1]).toMatchObject({ content: [{ type: 'toolCall', arguments: written }] })
    expect(ofType(events, 'toolExecutionStart')[0]?.args).toEqual(written)
  })

  it('accepts any argument name without prototype pollution', async () => {
    const seen: unknown[] = []
    const args = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')
    await play([{ toolCalls: [call('t', args)] }, { text: 'ok' }], { tools: [tool('t', (given) => `ok ${seen.push(given)}`)] })
    expect(JSON.stringify(seen)).toBe('[{"__proto__":{"polluted":true},"constructor":1}]')
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('tool timeouts', () => {
  const hang = (more: Partial<AgentTool> = {}) => tool('hang', () => new Promise<string>(() => undefined), more)
  const script = [{ toolCalls: [call('hang')] }, { text: 'moved on' }]

  it('fails the call at the timeout even if the tool ignores its signal', async () => {
    const { result } = await play(script, { tools: [hang()], toolTimeoutMs: 5 })
    expect(resultTexts(result)).toEqual(['Tool exceeded timeout of 5ms'])
    expect(result.text).toBe('moved on')
  })

  it("prefers the tool's own timeout over the agent's", async () => {
    const { result } = await play(script, { tools: [hang({ timeoutMs: 7 })], toolTimeoutMs: 1_500_000 })
    expect(resultTexts(result)).toEqual(['Tool exceeded timeout of 7ms'])
  })

  it.each([
    ['tool_within_timeout_succeeds_normally', { toolTimeoutMs: 60_000 }],
    ['tool_no_timeout_preserves_legacy_unbounded_behavior', {}],
  ])('does not affect a fast tool: %s', async (_, options) => {
    const { events, result } = await play([{ toolCalls: [call('add', { a: 1, b: 1 })] }, { text: 'ok' }], { tools: [add], ...options })
    expect(resultTexts(result)).toEqual(['sum 2'])
    expect(ofType(events, 'toolExecutionEnd').map((event) => event.isError)).toEqual([false])
  })

  it('does not affect sibling calls and drops late updates', async () => {
    const late = gate()
    const noisy = tool('hang', async (_, ctx) => {
      await late.opened
      ctx.update({ content: [] })
      ctx.progress('too late')
      return 'too late'
    })
    const { agent, events, result } = await play([{ toolCalls: [call('hang'), call('add', { a: 1, b: 1 })] }, { text: 'ok' }], {
      tools: [noisy, add],
      toolTimeoutMs: 5,
    })
    late.open()
    await agent.prompt('next').result
    expect(resultTexts(result)).toEqual(['Tool exceeded timeout of 5ms', 'sum 2'])
    expect(ofType(events, 'progressMessage')).toEqual([])
  })

  it('exposes currentToolTimeoutMs only while the tool runs', async () => {
    const seen: (number | undefined)[] = []
    const watch: { agent?: { currentToolTimeoutMs: number | undefined } } = {}
    const tools = [tool('look', () => `ok ${seen.push(watch.agent?.currentToolTimeoutMs)}`, { timeoutMs: 9000 })]
    const { agent } = await play([{ text: 'first' }, { toolCalls: [call('look')] }, { text: 'ok' }], { tools })
    watch.agent = agent
    await agent.prompt('go').result
    expect(seen).toEqual([9000])
    expect(agent.currentToolTimeoutMs).toBeUndefined()
  })
})

describe('execution strategies', () => {
  /** Runs four calls and returns how many ran at the same time, and the order of the results. */
  async function overlap(toolExecution: ToolExecutionStrategy) {
    let running = 0
    let most = 0
    const step = tool('step', async (args) => {
      most = Math.max(most, ++running)
      // The first call finishes last: results must still come in call order.
      for (let turns = 10 - Number(args.n); turns > 0; turns -= 1) await Promise.resolve()
      running -= 1
      return String(args.n)
    })
    const calls = [0, 1, 2, 3].map((n) => call('step', { n }))
    const { events, result } = await play([{ toolCalls: calls }, { text: 'ok' }], { tools: [step], toolExecution })
    expect(grammarFaults(events)).toEqual([])
    expect(unansweredCalls(result.messages)).toEqual([])
    return { most, order: resultTexts(result).join('') }
  }

  it('runs all calls concurrently if parallel, with results in call order', async () => {
    expect(await overlap({ type: 'parallel' })).toEqual({ most: 4, order: '0123' })
  })
  it('runs one call at a time if sequential', async () => {
    expect(await overlap({ type: 'sequential' })).toEqual({ most: 1, order: '0123' })
  })
  it('runs at most one batch of calls at a time if batched', async () => {
    expect(await overlap({ type: 'batched', size: 2 })).toEqual({ most: 2, order: '0123' })
  })
  it('returns separate results for two calls with the same provider id', async () => {
    const twins = [
      { id: 'x', name: 'add', arguments: { a: 1, b: 1 } },
      { id: 'x', name: 'add', arguments: { a: 2, b: 2 } },
    ]
    const { result } = await play([{ toolCalls: twins }, { text: 'ok' }], { tools: [add] })
    expect(resultTexts(result)).toEqual(['sum 2', 'sum 4'])
    expect(new Set(results(result).map((message) => message.toolCallId)).size).toBe(2)
  })
})

describe('updates and progress', () => {
  it('arrives in order between the start and end events', async () => {
    const steps = tool('steps', (_, { update, progress }) => {
      for (const n of [1, 2, 3]) update({ content: [{ type: 'text', text: `step ${n}/3` }] })
      progress('Almost done')
      return 'done'
    })
    const { events } = await play([{ toolCalls: [call('steps')] }, { text: 'ok' }], { tools: [steps] })
    const texts = ofType(events, 'toolExecutionUpdate').map((event) => textOf(event.partialResult.content))
    expect(texts).toEqual(['step 1/3', 'step 2/3', 'step 3/3'])
    expect(ofType(events, 'progressMessage')).toMatchObject([{ text: 'Almost done', toolName: 'steps' }])
    expect(grammarFaults(events)).toEqual([])
  })

  it('emits no event for a tool that reports nothing (tool_ignoring_progress_no_panic)', async () => {
    const { events } = await play([{ toolCalls: [call('add', { a: 1, b: 1 })] }, { text: 'ok' }], { tools: [add] })
    expect(events.filter((event) => event.type === 'progressMessage' || event.type === 'toolExecutionUpdate')).toEqual([])
  })

  it('identifies the sending tool when two run in parallel', async () => {
    const tools = ['a', 'b'].map((name) =>
      tool(name, (_, ctx) => {
        ctx.progress('working')
        return 'ok'
      }),
    )
    const { events } = await play([{ toolCalls: [call('a'), call('b')] }, { text: 'ok' }], { tools })
    expect(ofType(events, 'progressMessage').map((event) => event.toolName)).toEqual(['a', 'b'])
  })
})

describe('tool context', () => {
  const seenThrough = async (view: (ctx: ToolContext) => ToolContext) => {
    let seen: unknown
    const looking = tool('look', (_, ctx) => {
      const { signal, guards, toolCallId } = view(ctx)
      seen = [signal instanceof AbortSignal, typeof guards?.options.approvalRule, toolCallId === ctx.toolCallId, signal === ctx.signal]
      return 'ok'
    })
    await play([{ toolCalls: [call('look')] }, { text: 'ok' }], { tools: [looking] })
    return seen
  }

  it.each<[string, (ctx: ToolContext) => ToolContext]>([
    ['itself', (ctx) => ctx],
    ['a copy', (ctx) => ({ ...ctx })],
    ['an object that inherits from it', (ctx) => Object.create(ctx)],
    ['a proxy', (ctx) => new Proxy(ctx, {})],
  ])('exposes its signal and methods through %s', async (_, view) =>
    expect(await seenThrough(view)).toEqual([true, 'function', true, true]),
  )
})
