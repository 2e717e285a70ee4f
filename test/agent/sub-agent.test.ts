import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSubAgentTool, SubAgentTool } from '../../src/agents.ts'
import {
  Agent,
  type AgentEvent,
  type AgentTool,
  ConfigError,
  type ToolContext,
  type ToolResult,
  textOf,
  type Usage,
} from '../../src/index.ts'
import { type Script, type ScriptedModel, scripted } from '../../src/providers/scripted/index.ts'
import { loadSkills, memoryWorkspace } from '../../src/tools.ts'
import type { Budget } from '../../src/types/run/budget.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { add, fastRetry, gate, ofType, outline, play, tool } from '../support/play.ts'

const description = 'Does what it is told.'

function subAgent(model: ScriptedModel, options: Partial<ConstructorParameters<typeof SubAgentTool>[0]> = {}): SubAgentTool {
  return new SubAgentTool({ name: 'helper', description, model, retry: fastRetry, ...options })
}

/** A call outside a loop, and everything reported through it. */
function callContext(options: { signal?: AbortSignal; exceeded?: string } = {}) {
  const seen = { updates: [] as string[], lines: [] as string[], events: [] as AgentEvent[], charged: [] as Usage[] }
  const budget: Budget = { charge: (usage) => seen.charged.push(usage), exceeded: () => options.exceeded }
  const ctx: ToolContext = {
    context: undefined,
    data: () => undefined,
    toolCallId: 'call-1',
    toolName: 'helper',
    sessionId: 'parent',
    loopId: 'parent.main.1',
    signal: options.signal ?? new AbortController().signal,
    budget,
    update: (partial) => seen.updates.push(textOf(partial.content)),
    progress: (line) => seen.lines.push(line),
    childEvent: (event) => seen.events.push(event),
    changeContext: () => undefined,
  }
  return { ctx, ...seen }
}

async function work(script: Script, options: Partial<ConstructorParameters<typeof SubAgentTool>[0]> = {}, call = callContext()) {
  const model = scripted(script)
  const result = await subAgent(model, options).execute({ task: 'do it' }, call.ctx)
  return { ...call, model, result, text: textOf(result.content) }
}

/** A sub-agent whose results are seen even where the run no longer waits for them. */
function watched(helper: SubAgentTool, see: (result: ToolResult) => void): AgentTool {
  return {
    ...helper,
    execute: async (args, ctx) => {
      const result = await helper.execute(args, ctx)
      see(result)
      return result
    },
  }
}

const callAdd = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const delegate = (...tasks: string[]) => ({ toolCalls: tasks.map((task) => ({ name: 'helper', arguments: { task } })) })

describe('SubAgentTool', () => {
  it('lists its skills after the system prompt', async () => {
    const files = { 'skills/roses/SKILL.md': '---\nname: roses\ndescription: How to prune roses.\n---\nCut.\n' }
    const skills = await loadSkills(memoryWorkspace(files), ['skills'])
    const { model } = await work([{ text: 'ok' }], { systemPrompt: 'You garden.', skills })
    expect(model.provider.requests[0]?.systemPrompt).toMatch(/^You garden\.\n\n<available_skills>[\s\S]*How to prune roses\./)
    expect(() => subAgent(scripted([]), { skills: ['roses'] as never })).toThrow('skills')
  })

  it('returns the last text of the sub-agent (sub_agent_basic)', async () => {
    const { result, model, text } = await work([{ text: 'found it', usage: { input: 3, output: 4 } }], { systemPrompt: 'Be brief.' })
    expect(text).toBe('found it')
    expect(result.isError).toBeUndefined()
    expect(result.details).toMatchObject({
      subAgent: 'helper',
      turns: 2,
      status: 'completed',
      usage: { input: 3, output: 4, totalTokens: 7 },
    })
    expect(model.provider.requests[0]).toMatchObject({ systemPrompt: 'Be brief.', messages: [{ role: 'user' }] })
  })

  it('runs its own tools and returns the last text (sub_agent_with_tools)', async () => {
    const { result, text, model } = await work([{ text: 'let me see', ...callAdd }, { text: 'sum 3' }], { tools: [add] })
    expect(text).toBe('sum 3')
    expect(result.details).toMatchObject({ turns: 4 })
    expect(model.provider.requests[0]?.tools.map(({ name }) => name)).toEqual(['add'])
  })

  it('falls back to earlier text if the last response has none', async () => {
    const { text } = await work([{ text: 'it is 3', ...callAdd }, { text: '' }, { text: '' }], { tools: [add] })
    expect(text).toBe('it is 3')
  })

  it('reports that the sub-agent produced no text', async () => {
    const { text, result } = await work([{ text: '' }, { text: '' }])
    expect(text).toBe('(sub-agent produced no text output)')
    expect(result.isError).toBeUndefined()
  })

  it("aborts with the call's signal (sub_agent_cancellation)", async () => {
    const { result, text, model } = await work([{ text: 'never' }], {}, callContext({ signal: AbortSignal.abort() }))
    expect(text).toBe('(sub-agent produced no text output)\n\nCancelled')
    expect(result).toMatchObject({ isError: true, details: { status: 'aborted' } })
    expect(model.provider.requests).toEqual([])
  })

  it('stops at maxTurns and fails if there is no text (sub_agent_max_turns)', async () => {
    const { result, text, model } = await work([callAdd, callAdd, { text: 'too late' }], { tools: [add], maxTurns: 2 })
    expect(text).toBe('(sub-agent produced no text output)\n\n[Agent stopped: Max turns reached (2/2)]')
    expect(result).toMatchObject({ isError: true, details: { status: 'limit' } })
    expect(model.provider.requests).toHaveLength(2)
  })

  it('returns the partial text with a notice when it reaches a limit', async () => {
    const { result, text } = await work([{ text: 'half of it', ...callAdd }, { text: 'rest' }], { tools: [add], maxTurns: 1 })
    expect(text).toBe('half of it\n\n[Agent stopped: Max turns reached (1/1)]')
    expect(result.isError).toBeUndefined()
  })

  it('applies token and time limits to the sub-agent', async () => {
    const tokens = await work([{ ...callAdd, usage: { input: 10 } }, { text: 'late' }], { tools: [add], maxTotalTokens: 10 })
    expect(tokens.text).toContain('Max tokens reached (10/10)')
    const time = await work([{ text: 'late' }], { maxDurationMs: 0 })
    expect(time.text).toContain('Max duration reached')
  })

  it('returns an error with the partial text and the message (AMB-003)', async () => {
    const failed = await work([{ fail: { code: 'api', message: 'no such model' } }])
    expect(failed.text).toBe('(sub-agent produced no text output)\n\nno such model')
    expect(failed.result).toMatchObject({ isError: true, details: { status: 'error' } })
    const halfway = await work([{ text: 'begun', fail: { code: 'api', message: 'broke off', afterText: true } }])
    expect(halfway.text).toBe('begun\n\nbroke off')
    expect(halfway.result.isError).toBe(true)
  })

  it('reports the call that cannot be approved', async () => {
    const risky = tool('risky', () => 'done', { needsApproval: true })
    const { result, text } = await work([{ toolCalls: [{ name: 'risky', arguments: {} }] }], { tools: [risky] })
    expect(text).toContain('"risky" needs approval')
    expect(result).toMatchObject({ isError: true, details: { status: 'paused' } })
  })

  it('rejects a call without a task (sub_agent_missing_task_parameter)', async () => {
    const { ctx } = callContext()
    for (const args of [{}, { task: '' }, { task: ' \n' }, { task: 7 }]) {
      await expect(subAgent(scripted([])).execute(args, ctx)).rejects.toMatchObject({
        code: 'invalidArguments',
        message: "Missing required 'task' parameter",
      })
    }
    const { events } = await play([{ toolCalls: [{ name: 'helper', arguments: {} }] }, { text: 'ok' }], { tools: [subAgent(scripted([]))] })
    expect(ofType(events, 'toolExecutionEnd')[0]).toMatchObject({
      isError: true,
      result: { content: [{ text: expect.stringContaining('task') }] },
    })
  })

  it('starts a new session for every call', async () => {
    const model = scripted([{ text: 'one' }, { text: 'two' }])
    const agent = subAgent(model, { forward: 'events' })
    const first = callContext()
    const second = callContext()
    await agent.execute({ task: 'a' }, first.ctx)
    await agent.execute({ task: 'b' }, second.ctx)
    expect(model.provider.requests.map(({ messages }) => messages.map((message) => textOf(message.content)))).toEqual([['a'], ['b']])
    const [a, b] = [first, second].map(({ events }) => ofType(events, 'agentStart')[0])
    expect(a?.sessionId).not.toBe(b?.sessionId)
    for (const start of [a, b]) {
      expect(start?.loopId).toBe(`${start?.sessionId}.sub.1`)
      expect(start?.parentLoopId).toBe('parent.main.1')
    }
    expect(ofType(first.events, 'turnStart')[0]?.triggeredBy).toBe('subAgent')
  })
})

describe('progress of a sub-agent', () => {
  it('emits updates with text and tool calls (sub_agent_event_forwarding)', async () => {
    const script = [{ text: ['look', 'ing'], ...callAdd }, { text: ['it ', 'is 3'] }]
    const { updates, events } = await work(script, { tools: [add] })
    expect(updates[0]).toBe('look')
    expect(updates).toContain('looking\n[sub-agent calling tool: add]\n')
    expect(updates.at(-1)).toBe('looking\n[sub-agent calling tool: add]\nit is 3')
    expect(events).toEqual([])
  })

  it('emits updates whose total size is linear in the text', async () => {
    const turn = fc.record({ text: fc.array(fc.string({ unit: 'grapheme', maxLength: 40 }), { maxLength: 60 }), calls: fc.nat(3) })
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
        const calls = (count: number) => Array.from({ length: count }, () => ({ name: 'add', arguments: { a: 1, b: 2 } }))
        const script = [...turns.map(({ text, calls: count }) => ({ text, toolCalls: calls(count + 1) })), { text: 'the end' }]
        const { updates } = await work(script, { tools: [add] })
        const whole = updates.at(-1) ?? ''
        expect(whole.endsWith('the end')).toBe(true)
        for (const [at, update] of updates.entries()) expect(update.startsWith(updates[at - 1] ?? '')).toBe(true)
        for (const { text } of turns) expect(whole).toContain(text.join(''))
        expect(updates.join('').length).toBeLessThanOrEqual(whole.length * 16 + 16_384)
      }),
      { numRuns: 50 },
    )
  })

  it('emits updates of linear size for a long response', async () => {
    const { updates } = await work([{ text: 'x'.repeat(200_000) }])
    expect(updates.at(-1)).toHaveLength(200_000)
    expect(updates.join('').length).toBeLessThan(200_000 * 7)
  })

  it('forwards progress messages of its tools', async () => {
    const busy = tool('add', (_args, { progress }) => {
      progress('half way')
      return 'ok'
    })
    expect((await work([callAdd, { text: 'done' }], { tools: [busy] })).lines).toEqual(['half way'])
  })

  it("forwards every event with forward: 'events'", async () => {
    const { events, updates, result } = await work([callAdd, { text: 'done' }], { tools: [add], forward: 'events' })
    expect(grammarFaults(events)).toEqual([])
    expect(events.every((event) => event.loopId === result.childLoopId)).toBe(true)
    expect(outline(events).filter((type) => !type.startsWith('message'))).toEqual([
      'agentStart',
      'turnStart',
      'toolExecutionStart',
      'toolExecutionEnd',
      'turnEnd',
      'turnStart',
      'turnEnd',
      'agentEnd',
    ])
    expect(updates.at(-1)).toContain('done')
  })
})

describe('nested sub-agents', () => {
  const inner = () => subAgent(scripted([]), { name: 'inner' })

  it('throws in the constructor, also for a copied sub-agent', () => {
    for (const nested of [inner(), { ...inner(), execute: () => 'x' }]) {
      expect(() => subAgent(scripted([]), { tools: [add, nested] })).toThrow(expect.objectContaining({ code: 'nestedSubAgent' }))
    }
    expect(isSubAgentTool(inner())).toBe(true)
    expect(isSubAgentTool(add)).toBe(false)
  })

  it('ignores a sub-agent added to the tool list later', async () => {
    const tools: AgentTool[] = [add]
    const model = scripted([{ text: 'ok' }])
    const outer = subAgent(model, { tools })
    tools.push(inner())
    await outer.execute({ task: 'x' }, callContext().ctx)
    expect(model.provider.requests[0]?.tools.map(({ name }) => name)).toEqual(['add'])
  })

  it('rejects other invalid sub-agent options', () => {
    const model = scripted([])
    expect(() => subAgent(model, { name: 'my agent' })).toThrow(ConfigError)
    expect(() => subAgent(model, { tools: [add, add] })).toThrow(/unique/)
    expect(() => subAgent(model, { maxTurns: Number.NaN })).toThrow(/maxTurns/)
    expect(() => subAgent(model, { timeoutMs: 0 })).toThrow(/timeoutMs/)
  })
})

describe('a sub-agent in a parent loop', () => {
  const parentScript = [delegate('sum'), { text: 'all done' }]

  it('runs like any other tool (sub_agent_in_parent_loop)', async () => {
    const helper = subAgent(scripted([{ text: 'three' }]))
    const { agent, events } = await play(parentScript, { tools: [helper] })
    expect(grammarFaults(events)).toEqual([])
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant'])
    const [end] = ofType(events, 'toolExecutionEnd')
    expect(end).toMatchObject({ isError: false, childLoopId: expect.stringMatching(/\.sub\.1$/) })
    expect(agent.messages[2]).toMatchObject({ childLoopId: end?.childLoopId })
    expect(ofType(events, 'toolExecutionUpdate').at(-1)?.partialResult.content).toEqual([{ type: 'text', text: 'three' }])
  })

  it('emits child events with child ids during its call', async () => {
    const helper = subAgent(scripted([{ text: 'three' }]), { forward: 'events' })
    const { events, result } = await play(parentScript, { tools: [helper] })
    const children = ofType(events, 'childEvent').map(({ event }) => event)
    expect(grammarFaults(events)).toEqual([])
    expect(grammarFaults(children)).toEqual([])
    const [end] = ofType(events, 'toolExecutionEnd')
    expect(new Set(children.map(({ loopId }) => loopId))).toEqual(new Set([end?.childLoopId]))
    expect(ofType(children, 'agentStart')[0]?.parentLoopId).toBe(result.loopId)
  })

  it('runs two sub-agents at the same time (sub_agent_parallel)', async () => {
    const bothAsked = gate()
    let asked = 0
    const answer: Script = async () => {
      asked += 1
      if (asked === 2) bothAsked.open()
      await bothAsked.opened
      return { text: 'done' }
    }
    const helper = subAgent(scripted(answer))
    const { events } = await play([delegate('a', 'b'), { text: 'both' }], { tools: [helper] })
    const ids = ofType(events, 'toolExecutionEnd').map(({ childLoopId }) => childLoopId)
    expect(new Set(ids).size).toBe(2)
  })

  it('charges its usage to the run once', async () => {
    const helper = subAgent(scripted([{ text: 'three', usage: { input: 60, output: 40 } }]))
    const { result, agent } = await play(parentScript, { tools: [helper], limits: { maxTotalTokens: 100 } })
    expect(result.status).toBe('limit')
    expect(agent.messages.at(-1)).toMatchObject({ content: [{ text: '[Agent stopped: Max tokens reached (100/100)]' }] })
  })

  it('counts its usage toward a limit only once', async () => {
    const helper = subAgent(scripted([{ text: 'three', usage: { input: 60, output: 40 } }]))
    const { result } = await play(parentScript, { tools: [helper], limits: { maxTotalTokens: 101 } })
    expect(result.status).toBe('completed')
  })

  it('stops when the parent run reaches a limit', async () => {
    const child = scripted([{ ...callAdd, usage: { output: 500 } }, { text: 'never asked' }])
    const helper = subAgent(child, { tools: [add] })
    const { events, result } = await play(parentScript, { tools: [helper], limits: { maxTotalTokens: 500 } })
    expect(child.provider.requests).toHaveLength(1)
    expect(result.status).toBe('limit')
    const [end] = ofType(events, 'toolExecutionEnd')
    expect(end?.result.details).toMatchObject({ status: 'limit' })
    expect(end?.isError).toBe(true)
  })

  it('ends with the parent run after an abort at any event', async () => {
    for (let at = 1; at < 40; at += 1) {
      const child = scripted([{ text: 'looking', ...callAdd }, { text: 'never whole' }], { chunkSize: 4 })
      const statuses: unknown[] = []
      const helper = watched(subAgent(child, { tools: [add], forward: 'events' }), (result) => statuses.push(result.details))
      const agent = new Agent({ model: scripted(parentScript), tools: [helper], retry: fastRetry })
      const run = agent.prompt('go')
      const events: AgentEvent[] = []
      run.subscribe((event) => {
        if (events.push(event) === at) run.abort()
      })
      const result = await run.result
      expect(result.status).toBe(events.length >= at ? 'aborted' : 'completed')
      expect(grammarFaults(events)).toEqual([])
      expect(unansweredCalls(agent.messages)).toEqual([])
      expect(statuses.length).toBeLessThan(2)
    }
  })

  it('aborts when its call times out', async () => {
    const child = scripted([{ text: 'never' }], { gate: () => new Promise(() => undefined) })
    const ended = gate()
    const statuses: unknown[] = []
    const helper = watched(subAgent(child, { timeoutMs: 1 }), (result) => {
      statuses.push(result.details)
      ended.open()
    })
    const { events } = await play(parentScript, { tools: [helper] })
    await ended.opened
    expect(ofType(events, 'toolExecutionEnd')[0]?.result.content).toEqual([{ type: 'text', text: 'Tool exceeded timeout of 1ms' }])
    expect(statuses).toMatchObject([{ status: 'aborted' }])
  })
})

it('ends the parent run if a sub-agent price is invalid', async () => {
  const rates = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
  const inner = scripted([{ text: 'inner', usage: { input: 10, output: 5 } }])
  // What it costs is known when it has answered, and is no price.
  const priced = {
    ...inner,
    config: { ...inner.config, cost: rates },
    answeredBy: () => ({ ...inner.config, cost: { ...rates, cacheReadPerMillion: Number.NaN } }),
  }
  const child = new SubAgentTool({ name: 'child', description: 'Helps.', model: priced, logger: false })
  const parent = scripted([{ toolCalls: [{ name: 'child', arguments: { task: 'go' } }] }, { text: 'goes on' }])
  parent.config.cost = rates
  const limited = await new Agent({ model: parent, tools: [child], limits: { maxCost: 1 }, logger: false }).prompt('go').result
  expect(limited).toMatchObject({ status: 'limit', limit: { name: 'budget', reason: expect.stringContaining('Cannot compute the cost') } })
  expect(parent.provider.requests).toHaveLength(1)
})
