import { describe, expect, it } from 'vitest'
import { type SubAgentOptions, SubAgentTool } from '../../src/agents.ts'
import { emptyUsage } from '../../src/context.ts'
import {
  Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentOptions,
  ConfigError,
  type ToolContext,
  type ToolResult,
  textOf,
} from '../../src/index.ts'
import type { BackgroundTask } from '../../src/loop.ts'
import type { Script } from '../../src/providers/scripted/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { BackgroundTasks } from '../../src/types/tool/tool.ts'
import { grammarFaults, unansweredCalls } from '../support/grammar.ts'
import { gate, ofType, tool } from '../support/play.ts'

const begin = (task = 'Look.', id = 'p1') => ({ toolCalls: [{ id, name: 'helper', arguments: { task } }] })
const callOf = (name: string, args: object, id = name) => ({ toolCalls: [{ id, name, arguments: { ...args } }] })

/** An agent with a sub-agent in the background, whose tool waits until it is let go. */
function setup(script: Script, own: Partial<SubAgentOptions> = {}, options: Partial<AgentOptions> = {}) {
  const held = gate()
  const begun = gate()
  const hold = tool('hold', async (_args, ctx) => {
    begun.open()
    await Promise.race([held.opened, new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))])
    return 'let go'
  })
  const helper = new SubAgentTool({
    name: 'helper',
    description: 'Helps.',
    model: scripted([callOf('hold', {}, 'x1'), { text: 'It is about bees.', usage: { ...emptyUsage(), output: 5, totalTokens: 5 } }]),
    tools: [hold],
    background: true,
    ...own,
  })
  const model = scripted(script)
  const agent = new Agent({ model, tools: [helper], logger: false, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  return { agent, events, held, begun, model, helper }
}

const said = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === 'extension' ? [`(${message.kind})`] : [`${message.role}: ${textOf(message.content)}`]))
const reportsIn = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => (message.role === 'user' && message.provenanceHint?.kind === 'background' ? [textOf(message.content)] : []))
const sound = (events: readonly AgentEvent[], messages: readonly AgentMessage[]) => {
  expect(grammarFaults(events)).toEqual([])
  expect(unansweredCalls(messages)).toEqual([])
  expect(events.filter(({ type }) => type === 'agentEnd')).toHaveLength(1)
  expect(ofType(events, 'backgroundEnd')).toHaveLength(ofType(events, 'backgroundStart').length)
}

describe('a background sub-agent', () => {
  it('returns an id immediately and reports to the run when it ends', async () => {
    const { agent, events, held, model } = setup([begin(), { text: 'Meanwhile.' }, { text: 'Bees, then.' }])
    const run = agent.prompt('go')
    run.subscribe((event) => {
      // The parent has said all it had to say, and waits.
      if (event.type === 'turnEnd' && event.turnIndex === 1) held.open()
    })
    const { status, text, messages } = await run.result
    expect([status, text]).toEqual(['completed', 'Bees, then.'])
    expect(said(messages)).toEqual([
      'user: go',
      'assistant: ',
      expect.stringMatching(/^toolResult: Started in the background as "helper-1"/),
      'assistant: Meanwhile.',
      expect.stringMatching(/^user: \[Background: "helper-1" has ended\. .*not the words of the user:\]\n\nIt is about bees\.$/),
      'assistant: Bees, then.',
    ])
    const [start] = ofType(events, 'backgroundStart')
    const [end] = ofType(events, 'backgroundEnd')
    expect(start).toMatchObject({ backgroundId: 'helper-1', toolCallId: 'p1', toolName: 'helper', task: 'Look.' })
    expect(end).toMatchObject({
      backgroundId: 'helper-1',
      isError: false,
      result: { details: { subAgent: 'helper', status: 'completed' } },
    })
    expect(messages[4]).toMatchObject({
      role: 'user',
      provenanceHint: { kind: 'background', backgroundId: 'helper-1', toolName: 'helper' },
    })
    expect(model.provider.requests[0]?.tools?.map(({ name }) => name)).toEqual([
      'helper',
      'background_status',
      'background_steer',
      'background_stop',
    ])
    sound(events, messages)
  })

  it('adds control tools only if it runs in the background', async () => {
    const { agent, model } = setup([{ text: 'ok' }], { background: false })
    await agent.prompt('go').result
    expect(model.provider.requests[0]?.tools?.map(({ name }) => name)).toEqual(['helper'])
  })

  it('reports in the next turn if the parent is running a tool', async () => {
    const slow = tool('slow', async () => {
      held.open()
      await ended.opened
      return 'slow is done'
    })
    const ended = gate()
    const { agent, events, held, helper } = setup([begin(), callOf('slow', {}), { text: 'done' }])
    agent.setTools([helper, slow])
    agent.subscribe((event) => void (event.type === 'backgroundEnd' && ended.open()))
    const { messages } = await agent.prompt('go').result
    expect(said(messages).slice(4)).toEqual(['toolResult: slow is done', expect.stringContaining('It is about bees.'), 'assistant: done'])
    sound(events, messages)
  })

  it('reports after the complete response if the parent is streaming', async () => {
    const { agent, events, held } = setup([begin(), { text: 'one two three four' }, { text: 'done' }])
    agent.subscribe((event) => void (event.type === 'messageUpdate' && held.open()))
    const { messages } = await agent.prompt('go').result
    expect(said(messages).slice(3)).toEqual(['assistant: one two three four', expect.stringContaining('bees'), 'assistant: done'])
    sound(events, messages)
  })

  it("stops with onRunEnd: 'stop' and reports in the next run", async () => {
    const { agent, events, begun } = setup([begin(), { text: 'done' }, { text: 'I see.' }], { background: { onRunEnd: 'stop' } })
    const result = await agent.prompt('go').result
    expect(said(result.messages).at(-2)).toBe('assistant: done')
    expect(said(result.messages).at(-1)).toBe('(backgroundReport)')
    expect([result.status, result.text]).toEqual(['completed', 'done'])
    sound(events, result.messages)
    await begun.opened
    const next = await agent.prompt('And now?').result
    expect(said(next.messages)).toEqual([
      expect.stringMatching(/"helper-1" has failed\. [\s\S]*Stopped because the run ended first\./),
      'user: And now?',
      'assistant: I see.',
    ])
    expect((await agent.prompt('Again?').result).messages).toHaveLength(2)
  })

  it('keeps running when the user steers the waiting run', async () => {
    const { agent, events, held } = setup([begin(), { text: 'waiting' }, { text: 'heard' }, { text: 'done' }])
    const run = agent.prompt('go')
    run.subscribe((event) => {
      if (event.type !== 'turnEnd') return
      if (event.turnIndex === 1) queueMicrotask(() => run.followUp('Still there?'))
      if (event.turnIndex === 2) held.open()
    })
    const { messages } = await run.result
    expect(said(messages).slice(3)).toEqual([
      'assistant: waiting',
      'user: Still there?',
      'assistant: heard',
      expect.stringContaining('bees'),
      'assistant: done',
    ])
    sound(events, messages)
  })

  it('reports each of two tasks that end at the same time once', async () => {
    const both = { toolCalls: ['p1', 'p2'].map((id) => ({ id, name: 'helper', arguments: { task: id } })) }
    const { agent, events, held } = setup([both, { text: 'waiting' }, { text: 'one' }, { text: 'two' }], {
      model: scripted((request) => (request.messages.length === 1 ? callOf('hold', {}, 'x') : { text: 'bees' })),
    })
    agent.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === 1 && held.open()))
    const { messages } = await agent.prompt('go').result
    expect(
      reportsIn(messages)
        .map((report) => /"(helper-\d)"/.exec(report)?.[1])
        .toSorted(),
    ).toEqual(['helper-1', 'helper-2'])
    sound(events, messages)
  })

  it('rejects tasks beyond maxRunning and reports the limit to the model', async () => {
    const { agent, events, held } = setup([begin('a', 'p1'), begin('b', 'p2'), { text: 'x' }, { text: 'y' }], {
      background: { maxRunning: 1 },
    })
    agent.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === 2 && held.open()))
    const { messages } = await agent.prompt('go').result
    expect(said(messages)[4]).toBe(
      'toolResult: 1 "helper" tasks are already running in the background, which is the limit: helper-1. Wait for a report, or stop one.',
    )
    expect(ofType(events, 'backgroundStart')).toHaveLength(1)
    sound(events, messages)
  })

  it('reports an error if it fails', async () => {
    const model = scripted([{ fail: { code: 'api', message: 'no such model' } }])
    const { agent, events } = setup([begin(), { text: 'waiting' }, { text: 'done' }], { model })
    const { messages, status } = await agent.prompt('go').result
    expect(status).toBe('completed')
    expect(reportsIn(messages)).toEqual([expect.stringMatching(/"helper-1" has failed.*no such model/s)])
    sound(events, messages)
  })

  it('ends at its own timeout', async () => {
    const { agent, events } = setup([begin(), { text: 'waiting' }, { text: 'done' }], { timeoutMs: 5 })
    const { messages } = await agent.prompt('go').result
    expect(reportsIn(messages)).toEqual([expect.stringContaining('Tool exceeded timeout of 5ms')])
    sound(events, messages)
  })

  it('requests approvals through the parent run', async () => {
    const ask = tool('ask', () => 'asked', { needsApproval: true })
    const model = scripted([callOf('ask', {}), { text: 'It is allowed.' }])
    const { agent, events } = setup([begin(), { text: 'waiting' }, { text: 'done' }], { model, tools: [ask] })
    const run = agent.prompt('go')
    run.subscribe((event) => void (event.type === 'approvalRequested' && run.approve(event)))
    const { messages } = await run.result
    expect(ofType(events, 'approvalRequested')[0]).toMatchObject({ toolName: 'ask', subAgent: { toolCallId: 'p1', toolName: 'helper' } })
    expect(reportsIn(messages)[0]).toContain('It is allowed.')
    sound(events, messages)
  })

  it('applies result hooks to its report and counts its usage toward the run', async () => {
    const hooks: AgentOptions['hooks'] = {
      beforeToolExecutionEnd: ({ toolName, result }) =>
        toolName === 'helper'
          ? { result: { content: [{ type: 'text', text: textOf(result.content).replace('bees', '****') }] } }
          : undefined,
    }
    const { agent, events, held } = setup([begin(), { text: 'waiting' }, { text: 'done' }], {}, { hooks })
    held.open()
    const { messages } = await agent.prompt('go').result
    expect(JSON.stringify([messages, ofType(events, 'backgroundEnd')])).not.toContain('bees')
    expect(reportsIn(messages)[0]).toContain('It is about ****.')
    const [end] = ofType(events, 'agentEnd')
    expect(end?.totalUsage?.totalTokens).toBeGreaterThan(end?.usage.totalTokens ?? 0)
  })

  it('forwards its events with the call id if requested', async () => {
    const { agent, events, held } = setup([begin(), { text: 'waiting' }, { text: 'done' }], { forward: 'events' })
    agent.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === 1 && held.open()))
    const { messages } = await agent.prompt('go').result
    expect(ofType(events, 'progressMessage')).toMatchObject([{ toolCallId: 'p1', text: 'calling tool: hold' }])
    const inner = ofType(events, 'childEvent')
    expect(new Set(inner.map(({ toolCallId }) => toolCallId))).toEqual(new Set(['p1']))
    expect(inner.filter(({ event }) => event.type === 'agentEnd')).toHaveLength(1)
    expect(ofType(events, 'backgroundEnd')[0]?.childLoopId).toBe(inner[0]?.event.loopId)
    sound(events, messages)
  })

  it('adds its control tools to tools supplied by prepareTurn', async () => {
    const { agent, model, held, helper } = setup([{ text: 'a' }])
    held.open()
    agent.setTools([])
    agent.configure({ hooks: { prepareTurn: () => ({ tools: [helper] }) } })
    await agent.prompt('go').result
    expect(model.provider.requests[0]?.tools).toHaveLength(4)
  })

  it('rejects editing a report and regenerates the response to the prompt', async () => {
    const { agent, held } = setup([begin(), { text: 'waiting' }, { text: 'done' }, { text: 'again' }])
    held.open()
    const { messages } = await agent.prompt('go').result
    const report = messages.find((message) => message.role === 'user' && message.provenanceHint?.kind === 'background')
    expect(() => agent.editAndResend(report?.id ?? '', 'other words')).toThrow(
      expect.objectContaining({ code: 'unknownMessage', message: expect.stringContaining('is not a user message') }),
    )
    await agent.regenerate().result
    expect(said(agent.messages)).toEqual(['user: go', 'assistant: again'])
  })

  it('reserves the names of its control tools', () => {
    const { helper, model } = setup([])
    const mine = tool('background_stop', () => 'mine')
    expect(() => new Agent({ model, tools: [helper, mine] })).toThrow(ConfigError)
  })
})

describe('background control tools', () => {
  it('reports the status of a task, steers it and stops it', async () => {
    const seen: string[] = []
    const model = scripted((request) => {
      seen.push(request.messages.map((message) => textOf(message.content)).join('|'))
      return request.messages.length === 1
        ? { text: 'I begin.', toolCalls: [{ id: 'x', name: 'hold', arguments: {} }] }
        : { text: 'Wasps.' }
    })
    const script = [
      begin(),
      callOf('background_status', {}),
      callOf('background_steer', { id: 'helper-1', message: 'Wasps!' }),
      { text: 'w' },
    ]
    const { agent, events, held, begun, helper } = setup([callOf('settle', {}, 's0'), ...script, { text: 'done' }], { model })
    agent.setTools([helper, tool('settle', () => 'ok')])
    agent.subscribe((event) => void (event.type === 'turnEnd' && event.turnIndex === 4 && held.open()))
    const hooks = { beforeTurn: async ({ turnIndex }: { turnIndex: number }) => void (turnIndex === 2 && (await begun.opened)) }
    agent.configure({ hooks })
    const { messages } = await agent.prompt('go').result
    const told = said(messages).filter((line) => line.startsWith('toolResult'))
    expect(told[2]).toMatch(/^toolResult: helper-1: running, 0 s\. Task: Look\.\nI begin\./)
    expect(told[3]).toBe('toolResult: Told "helper-1".')
    expect(seen.at(-1)).toContain('|let go|Wasps!')
    expect(reportsIn(messages)[0]).toContain('Wasps.')
    sound(events, messages)
  })

  it('reports an ended task but does not steer or stop it', async () => {
    const script = [
      begin(),
      { text: 'waiting' },
      callOf('background_status', { id: 'helper-1' }),
      callOf('background_steer', { id: 'helper-1', message: 'x' }),
      callOf('background_stop', { id: 'helper-1' }),
      callOf('background_stop', { id: 'other' }),
      { text: 'done' },
    ]
    const { agent, events, held } = setup(script)
    held.open()
    const { messages } = await agent.prompt('go').result
    const told = said(messages)
      .filter((line) => line.startsWith('toolResult'))
      .slice(1)
    expect(told).toEqual([
      expect.stringMatching(/helper-1: ended, \d+ s\. Task: Look\.\nIt is about bees\./),
      'toolResult: "helper-1" has ended. See its report for the outcome.',
      'toolResult: "helper-1" has ended. See its report for the outcome.',
      'toolResult: No background task has the id "other". Known ids: helper-1.',
    ])
    sound(events, messages)
  })

  it('stops a task, reports it as stopped and continues the run', async () => {
    const { agent, events } = setup([begin(), callOf('background_stop', { id: 'helper-1' }), { text: 'waiting' }, { text: 'done' }])
    const { messages, status } = await agent.prompt('go').result
    expect(status).toBe('completed')
    expect(reportsIn(messages)).toEqual([expect.stringContaining('Stopped at your request.')])
    sound(events, messages)
  })
})

describe('ctx.background of a custom tool', () => {
  const task = (work: () => Promise<ToolResult>): BackgroundTask => ({
    ...{ task: 'Wait.', onRunEnd: 'wait', maxRunning: 2, steer: () => false },
    work,
  })
  const answer = (words: string): ToolResult => ({ content: [{ type: 'text', text: words }] })
  async function play(leave: (tasks: BackgroundTasks | undefined, ctx: ToolContext) => ToolResult | Promise<ToolResult>) {
    const later = tool('later', async (_args, ctx) => leave(await ctx.background?.(), ctx), { isBackground: true })
    const { agent, events } = setup([callOf('later', {}), { text: 'waiting' }, { text: 'done' }])
    agent.setTools([later])
    const { messages } = await agent.prompt('go').result
    sound(events, messages)
    return { agent, messages, events }
  }

  it('reports its outcome like a sub-agent', async () => {
    const { messages } = await play((tasks) => tasks?.start(task(async () => answer('It rang.'))) ?? answer(''))
    expect(reportsIn(messages)).toEqual([expect.stringContaining('It rang.')])
  })

  it('starts at most one task per call, and only during the call', async () => {
    const faults: string[] = []
    let kept: BackgroundTasks | undefined
    const attempt = (act: () => void) => {
      try {
        act()
      } catch (error) {
        faults.push(String(error))
      }
    }
    await play((tasks) => {
      kept = tasks
      const started = tasks?.start(task(async () => answer('one'))) ?? answer('')
      attempt(() => tasks?.start(task(async () => answer('two'))))
      return started
    })
    attempt(() => kept?.start(task(async () => answer('three'))))
    attempt(() => kept?.steer('later-1', 'x'))
    expect(faults).toEqual([
      expect.stringContaining('This "later" call cannot start another background task.'),
      expect.stringContaining('This "later" call cannot start another background task.'),
      expect.stringContaining('"later-1" has ended.'),
    ])
  })

  it('reports an error thrown by the task', async () => {
    const { messages, events } = await play((tasks) => tasks?.start(task(() => Promise.reject(new Error('no bell')))) ?? answer(''))
    expect(ofType(events, 'backgroundEnd')).toMatchObject([{ isError: true }])
    expect(reportsIn(messages)).toEqual([expect.stringMatching(/"later-1" has failed[\s\S]*no bell/)])
  })
})
