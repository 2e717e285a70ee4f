import { describe, expect, it } from 'vitest'
import { extensionMessage } from '../../../src/context.ts'
import { Agent, type AgentEvent, type AgentMessage, type AgentOptions, RunError, type RunResult, textOf } from '../../../src/index.ts'
import { agentLoop } from '../../../src/loop.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, fastRetry, play } from '../../support/play.ts'

const said = (messages: readonly AgentMessage[]) =>
  messages.map((message) => ('content' in message ? textOf(message.content) : message.kind))

/** Runs one prompt, with steering and a follow-up for that run alone. */
async function given(
  script: Script,
  options: Partial<AgentOptions>,
  start: (agent: Agent) => { result: Promise<RunResult> } & ReturnType<Agent['prompt']>,
) {
  const model = scripted(script)
  const agent = new Agent({ model, tools: [add], ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  const run = start(agent)
  const receipts = [run.steer('steered'), run.followUp('followed')]
  const result = await run.result
  expect(grammarFaults(events)).toEqual([])
  expect(receipts.map(({ status }) => status)).toEqual(
    receipts.map(({ message }) => (result.returned.includes(message) ? 'returned' : 'delivered')),
  )
  const end = events.findLast((event) => event.type === 'agentEnd')
  expect(end?.type === 'agentEnd' ? (end.returned ?? []) : []).toEqual(result.returned)
  return { agent, model, result }
}

describe('result.returned', () => {
  it.each<[string, Partial<AgentOptions>, RunResult['status']]>([
    ['a limit before the first turn', { limits: { maxTurns: 0 } }, 'limit'],
    ['a filter', { inputFilters: [() => ({ type: 'reject', reason: 'no' })] }, 'rejected'],
    ['beforeLoop', { hooks: { beforeLoop: () => false } }, 'rejected'],
    ['beforeTurn', { hooks: { beforeTurn: () => false } }, 'rejected'],
    ['a hook that fails', { hooks: { beforeTurn: () => Promise.reject(new Error('broken')) } }, 'error'],
    ['an abort in a hook', { hooks: { beforeTurn: () => stop() } }, 'aborted'],
  ])('contains all undelivered input after %s', async (_, options, status) => {
    const { agent, model, result } = await given(
      () => ({ text: 'ok' }),
      options,
      (agent) => {
        stop = () => agent.abort()
        return agent.prompt('asked')
      },
    )
    expect(result.status).toBe(status)
    expect(said(result.returned)).toEqual(['asked', 'steered', 'followed'])
    expect(said(agent.messages)).not.toContain('asked')
    agent.configure({ limits: false, hooks: {}, inputFilters: [] })
    const next = await agent.prompt('next').result
    expect(next.returned).toEqual([])
    expect(JSON.stringify(model.provider.requests.at(-1)?.messages)).not.toMatch(/asked|steered|followed/)
  })
  let stop = (): void => undefined

  it('contains undelivered input after a limit, an error or a pause', async () => {
    const limited = await given([{ text: 'a' }], { limits: { maxTurns: 1 } }, (agent) => agent.prompt('asked'))
    expect(limited.result).toMatchObject({ status: 'limit', returned: [{ content: [{ text: 'followed' }] }] })
    const failed = await given([{ fail: { code: 'api', message: 'down' } }], {}, (agent) => agent.prompt('asked'))
    expect(said(failed.result.returned)).toEqual(['followed'])
    const asking = { ...add, needsApproval: true }
    const paused = await given(
      [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }],
      { tools: [asking], approvalTimeoutMs: 1 },
      (agent) => agent.prompt('asked'),
    )
    expect(paused.result.status).toBe('paused')
    expect(said(paused.result.returned)).toEqual(['followed'])
  })

  it('contains the message of an aborted send, which no later run sends', async () => {
    const { agent, model, result } = await given(
      () => ({ text: 'ok' }),
      { messages: [{ role: 'user', content: 'unanswered' }] },
      (agent) => {
        const run = agent.send('said')
        run.abort()
        return run
      },
    )
    expect(said(result.returned)).toEqual(['said', 'steered', 'followed'])
    await agent.prompt('next').result
    expect(JSON.stringify(model.provider.requests)).not.toContain('said')
  })

  it('omits input queued while the agent was idle', async () => {
    const model = scripted(() => ({ text: 'ok' }))
    const agent = new Agent({ model, limits: { maxTurns: 0 } })
    const idle = agent.followUp('idle')
    expect(said((await agent.prompt('asked').result).returned)).toEqual(['asked'])
    expect(idle.status).toBe('queued')
    agent.configure({ limits: false })
    expect((await agent.prompt('again').result).returned).toEqual([])
    expect(idle.status).toBe('delivered')
  })

  it('contains withdrawn messages and messages the supplier failed to deliver', async () => {
    const agent = new Agent({ model: scripted([{ text: 'ok' }]) })
    const run = agent.prompt('asked')
    run.steer('taken back')
    agent.clearQueues()
    expect(said((await run.result).returned)).toEqual(['taken back'])
    const taken = [{ role: 'user' as const, id: 'q1', timestamp: 1, content: [{ type: 'text' as const, text: 'queued' }] }]
    const steering = { waiting: () => taken.length > 0, take: () => taken.splice(0) }
    const filters = { inputFilters: [() => ({ type: 'reject' as const, reason: 'no' })], steering }
    const context = { systemPrompt: '', messages: [], tools: [] }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    const result = await agentLoop('asked', context, { model: scripted([]), ...filters, hooks: { beforeTurn: () => false } }, options)
    expect(said(result.returned).toSorted()).toEqual(['asked'])
    const passing = { inputFilters: [() => ({ type: 'pass' as const })], steering }
    const refused = await agentLoop('asked', context, { model: scripted([]), ...passing, hooks: { beforeTurn: () => false } }, options)
    expect(said(refused.returned)).toEqual(['asked', 'queued'])
  })
})

describe('result.limit', () => {
  it.each([
    ['maxTurns', 1, 1],
    ['maxTotalTokens', 10, 30],
    ['maxCost', 0.00001, 0.00003],
  ] as const)('reports the name, maximum and usage of %s', async (name, max, used) => {
    const config = { cost: { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 1, cacheWritePerMillion: 1 } }
    const step = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }], usage: { input: 20, output: 10 } }
    const { result, events } = await play(() => step, { model: scripted(() => step, { config }), tools: [add], limits: { [name]: max } })
    const limit = { name, max, used: expect.closeTo(used, 8), reason: expect.stringMatching(/^Max /) }
    expect(result).toMatchObject({ status: 'limit', limit })
    expect(events.at(-1)).toMatchObject({ type: 'agentEnd', limit })
  })

  it('reports the reason of a custom budget', async () => {
    const agent = new Agent({ model: scripted([]) })
    const budget = { charge: () => undefined, exceeded: () => 'The team has spent its money' }
    expect(await agent.prompt('go', { budget }).result).toMatchObject({
      status: 'limit',
      limit: { name: 'budget', reason: 'The team has spent its money' },
    })
  })
})

describe('text()', () => {
  it.each<[string, Script, Partial<AgentOptions>, object]>([
    ['an error', [{ fail: { code: 'auth', message: 'The key was rejected.' } }], {}, { code: 'auth', message: 'The key was rejected.' }],
    ['a limit', [], { limits: { maxTurns: 0 } }, { code: 'limit', message: expect.stringContaining('Max turns reached (0/0)') }],
    [
      'a filter',
      [],
      { inputFilters: [() => ({ type: 'reject', reason: 'rude' })] },
      { code: 'rejected', message: expect.stringContaining('rude') },
    ],
    [
      'a pause',
      [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }],
      { approvalTimeoutMs: 1 },
      { code: 'paused', message: expect.stringContaining('add') },
    ],
  ])('rejects after %s, while result resolves', async (_, script, options, expected) => {
    const agent = new Agent({ model: scripted(script), tools: [{ ...add, needsApproval: true }], ...options })
    const run = agent.prompt('go')
    await expect(run.text()).rejects.toMatchObject(expected)
    const error = await run.text().catch((thrown: unknown) => thrown)
    expect(RunError.isInstance(error) && error.result).toBe(await run.result)
    expect(JSON.stringify(error)).not.toContain('"messages"')
  })

  it('rejects after an abort with an error containing the partial text', async () => {
    const agent = new Agent({ model: scripted([{ text: ['half', ' and more'] }]) })
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'messageUpdate' && run.abort())
    const error = await run.text().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'aborted', result: { text: 'half' } })
  })

  it('resolves to the text of a completed run, even if it is empty', async () => {
    expect(await new Agent({ model: scripted([{ text: 'fine' }]) }).prompt('go').text()).toBe('fine')
    expect(await new Agent({ model: scripted([{}, {}]), retry: fastRetry }).prompt('go').text()).toBe('')
  })
})

describe('extension messages', () => {
  const note = extensionMessage('note', { a: 1 })

  it('stores extension messages without a model call', async () => {
    const { agent, model, result, events } = await play([{ text: 'never' }], {}, note)
    expect(result).toMatchObject({ status: 'completed', text: '', messages: [note], returned: [] })
    expect(model.provider.requests).toEqual([])
    expect(agent.messages).toEqual([note])
    expect(events.map(({ type }) => type)).toEqual(['agentStart', 'messageStart', 'messageEnd', 'agentEnd'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('stores extension messages from steering or follow-ups without a model call', async () => {
    const model = scripted([{ text: 'a' }, { text: 'never' }])
    const agent = new Agent({ model })
    const run = agent.prompt('go')
    run.followUp(note)
    run.subscribe((event) => event.type === 'turnEnd' && run.steer(extensionMessage('seen', 1)))
    const result = await run.result
    expect(result.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'extension', 'extension'])
    expect(model.provider.requests).toHaveLength(1)
  })

  it('skips the model call if steering is withdrawn before the turn', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }, { text: 'never' }])
    const agent: Agent = new Agent({ model, hooks: { beforeTurn: ({ turnIndex }) => (turnIndex === 1 ? agent.clearQueues() : undefined) } })
    const run = agent.prompt('go')
    run.subscribe((event) => event.type === 'turnEnd' && run.steer('more'))
    expect((await run.result).status).toBe('completed')
    expect(model.provider.requests).toHaveLength(1)
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant' })
  })

  it('does not return a message delivered when the turn starts', async () => {
    const model = scripted([{ text: 'a' }, { text: 'b' }])
    const agent = new Agent({ model })
    const run = agent.prompt('go')
    const receipt = run.followUp('more')
    run.subscribe((event) => event.type === 'turnStart' && event.turnIndex === 1 && agent.clearQueues())
    expect((await run.result).text).toBe('b')
    expect(receipt.status).toBe('delivered')
  })

  it('calls the model if convertToLlm converts extension messages to user messages', async () => {
    const convertToLlm = () => [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'as words' }], timestamp: 1 }]
    const { model } = await play([{ text: 'ok' }], { convertToLlm }, note)
    expect(model.provider.requests).toHaveLength(1)
  })

  it('completes the run if a queue reports messages but delivers none', async () => {
    const context = { systemPrompt: '', messages: [], tools: [] }
    const options = { emit: () => undefined, signal: new AbortController().signal }
    const empty = { waiting: () => true, take: () => [] }
    for (const more of [{}, { inputFilters: [() => ({ type: 'pass' as const })] }]) {
      const model = scripted(() => ({ text: 'ok' }))
      const result = await agentLoop('go', context, { model, steering: empty, followUps: empty, ...more }, options)
      expect(result.status).toBe('completed')
      expect(model.provider.requests).toHaveLength(1)
    }
  })
})
