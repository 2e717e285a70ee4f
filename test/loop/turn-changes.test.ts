import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentOptions, memorySessionStore, textOf, userMessage } from '../../src/index.ts'
import type { TurnChanges, UpcomingTurn } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { add, ofType, play, tool } from '../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }

describe('prepareTurn', () => {
  it('overrides model, prompt, settings and tools for one turn', async () => {
    const strong = scripted([{ text: 'Three.' }])
    const { model, agent, events, result } = await play([sum, { text: 'never' }], {
      tools: [add, tool('sub', () => '-1')],
      systemPrompt: 'Be brief.',
      hooks: {
        prepareTurn: ({ turnIndex, systemPrompt }) =>
          turnIndex === 0
            ? { activeTools: ['add'], toolChoice: 'required', temperature: 0 }
            : { model: strong, systemPrompt: `${systemPrompt} Explain.`, thinking: 'high' },
      },
    })
    expect(result).toMatchObject({ status: 'completed', text: 'Three.' })
    expect(model.provider.requests).toHaveLength(1)
    expect(model.provider.requests[0]).toMatchObject({ systemPrompt: 'Be brief.', toolChoice: 'required', temperature: 0 })
    expect(model.provider.requests[0]?.tools.map(({ name }) => name)).toEqual(['add'])
    expect(strong.provider.requests[0]).toMatchObject({ systemPrompt: 'Be brief. Explain.', thinking: 'high' })
    expect(strong.provider.requests[0]?.tools).toHaveLength(2)
    expect(ofType(events, 'turnPrepared').map(({ changes }) => changes)).toEqual([
      { tools: ['add'], temperature: 0, settings: { toolChoice: 'required' } },
      { model: 'scripted', provider: 'scripted', thinking: 'high', systemPrompt: 'Be brief. Explain.' },
    ])
    expect(agent.settings.systemPrompt).toBe('Be brief.')
  })

  it('replaces the sent messages but not the history', async () => {
    const { model, agent } = await play([{ text: 'ok' }], { hooks: { prepareTurn: () => ({ messages: [userMessage('Only this.')] }) } })
    expect(model.provider.requests[0]?.messages.map(({ content }) => textOf(content))).toEqual(['Only this.'])
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it.each(['prepareTurn', 'systemPrompt'])('reports a run stopped during %s as aborted', async (name) => {
    const stop = () => {
      agent.abort()
      return new Promise<never>(() => undefined)
    }
    const asked = name === 'systemPrompt' ? { systemPrompt: stop } : { hooks: { prepareTurn: stop } }
    const agent: Agent = new Agent({ model: scripted([]), logger: false, ...asked })
    const { status, error } = await agent.prompt('Hi.').result
    expect([status, error]).toEqual(['aborted', undefined])
    expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'aborted', errorMessage: 'Cancelled' })
  })

  describe('prepareTurn with a pending approval', () => {
    const paused = async (options: Parameters<typeof play>[1]) => {
      const asking = {
        toolCalls: [
          { name: 'deploy', arguments: {} },
          { name: 'add', arguments: { a: 1, b: 2 } },
        ],
      }
      const { agent, result } = await play([asking], { approvalTimeoutMs: 1, ...options })
      expect(result.status).toBe('paused')
      return agent
    }
    const goOn = async (agent: Agent, options: Partial<AgentOptions>, decide: 'approve' | 'nobody' = 'approve') => {
      const model = scripted([{ text: 'Done.' }])
      const next = new Agent({ model, tools: [add], logger: false, ...(decide === 'nobody' && { approvalTimeoutMs: 1 }), ...options })
      next.restore(JSON.parse(JSON.stringify(agent.checkpoint())))
      const run = next.continueLoop()
      run.subscribe((event) => decide === 'approve' && event.type === 'approvalRequested' && run.approve(event))
      return { next, result: await run.result, sent: model.provider.requests }
    }
    const deploy = (ran: string[], name = 'deploy') => tool(name, () => String(ran.push(name)), { needsApproval: true })
    const results = ({ messages }: Agent) =>
      messages.flatMap((message) => (message.role === 'toolResult' ? [[message.toolName, textOf(message.content)]] : []))

    it("runs the approved call once with the hook's tool", async () => {
      const ran: string[] = []
      const hooks = { prepareTurn: ({ tools }: UpcomingTurn) => ({ tools: [...tools, deploy(ran)] }) }
      const agent = await paused({ tools: [add], hooks })
      const { next, result } = await goOn(agent, { hooks })
      expect([result.status, ran]).toEqual(['completed', ['deploy']])
      expect(
        results(next)
          .map(([name]) => name)
          .toSorted(),
      ).toEqual(['add', 'deploy'])
    })

    it("requests approval again if the hook's tool has a stricter guard", async () => {
      const ran: string[] = []
      const open = tool('deploy', () => String(ran.push('unguarded')))
      const hooks = { prepareTurn: () => ({ tools: [add, deploy(ran)] }) }
      const agent = await paused({ tools: [add, open], hooks })
      expect((await goOn(agent, { tools: [add, open], hooks }, 'nobody')).result.status).toBe('paused')
      expect(ran).toEqual([])
    })

    it('logs a warning and fails the call if its tool no longer exists', async () => {
      const agent = await paused({ tools: [add], hooks: { prepareTurn: () => ({ tools: [add, deploy([])] }) } })
      const warned: string[] = []
      const logger = { warn: (event: string, { message }: { message?: unknown }) => void warned.push(`${event}: ${message}`) }
      const { next, sent } = await goOn(agent, { logger })
      const [, said] = results(next).find(([name]) => name === 'deploy') ?? []
      expect(said).toMatch(/deploy.*was removed while the call was pending.*not run/)
      expect(JSON.stringify(sent)).toContain('was removed while the call was pending')
      expect(warned.join()).toMatch(/callRefused.*deploy/)
    })

    it('keeps the call pending if the hook fails or the run stops', async () => {
      const ran: string[] = []
      const agent = await paused({ tools: [add], hooks: { prepareTurn: () => ({ tools: [add, deploy(ran)] }) } })
      const throwing = () => {
        throw new Error('no')
      }
      const failed = await goOn(agent, { hooks: { prepareTurn: throwing } })
      expect(failed.result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
      const stopped = new Agent({ model: scripted([]), tools: [add], logger: false, hooks: { prepareTurn: () => void stopped.abort() } })
      stopped.restore(failed.next.checkpoint())
      expect((await stopped.continueLoop().result).status).toBe('aborted')
      const { result } = await goOn(stopped, { hooks: { prepareTurn: () => ({ tools: [add, deploy(ran)] }) } })
      expect([result.status, ran]).toEqual(['completed', ['deploy']])
    })
  })

  it('reports a call of an inactive tool as unknown', async () => {
    let ran = 0
    const { result } = await play([{ toolCalls: [{ name: 'sub', arguments: {} }] }, { text: 'ok' }], {
      tools: [add, tool('sub', () => String(++ran))],
      hooks: { prepareTurn: () => ({ activeTools: ['add'] }) },
    })
    expect(ran).toBe(0)
    expect(JSON.stringify(result.messages)).toContain('Tool sub not found')
  })

  it.each<[string, () => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
      /prepareTurn hook failed: broken/,
    ],
    ['returns an unknown option', () => ({ temprature: 1 }), /temprature/],
    ['returns an unknown tool', () => ({ activeTools: ['mul'] }), /activeTools names "mul"; the turn has add/],
    ['returns an invalid model', () => ({ model: 'gpt' }), /model/],
    ['returns two tools with one name', () => ({ tools: [add, { ...add }] }), /prepareTurn hook failed: Two tools are named "add"/],
    [
      'returns a tool named like a companion tool',
      () => ({ tools: [add, { ...tool('sub', () => '-1'), companions: [{ ...add }] }] }),
      /Two tools are named "add"/,
    ],
  ])('ends the run before the request if it %s', async (_name, prepareTurn, message) => {
    const hooks = { prepareTurn: prepareTurn as () => TurnChanges }
    const { model, result } = await play([{ text: 'never' }], { tools: [add], hooks, logger: false })
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringMatching(message) } })
    expect(model.provider.requests).toHaveLength(0)
  })

  it('records the changed settings with the response and the captured request', async () => {
    const session = memorySessionStore()
    const { agent, events } = await play([{ text: 'ok' }], {
      session,
      captureTurnRequests: true,
      hooks: { prepareTurn: () => ({ seed: 7, systemPrompt: 'Now.' }) },
    })
    expect(ofType(events, 'turnRequest')[0]?.request).toMatchObject({ systemPrompt: 'Now.', settings: { seed: 7 } })
    expect(JSON.stringify(await session.load(agent.sessionId))).toContain('Now.')
  })

  it('does not apply its changes to sub-agents', async () => {
    const inner = scripted([{ text: 'inner' }])
    const child = new SubAgentTool({ name: 'child', description: 'Helps.', model: inner, systemPrompt: 'I help.' })
    await play([{ toolCalls: [{ name: 'child', arguments: { task: 'go' } }] }, { text: 'ok' }], {
      tools: [child],
      hooks: { prepareTurn: () => ({ systemPrompt: 'Changed.' }) },
    })
    expect(inner.provider.requests[0]?.systemPrompt).toBe('I help.')
  })

  it("charges the responding model's rates", async () => {
    const rates = (perMillion: number) => ({
      inputPerMillion: perMillion,
      outputPerMillion: perMillion,
      cacheReadPerMillion: 0,
      cacheWritePerMillion: 0,
    })
    const usage = { input: 1_000_000, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 1_000_000 }
    const cheap = scripted([
      { ...sum, usage },
      { ...sum, usage },
    ])
    const dear = scripted([{ ...sum, usage }])
    cheap.config.cost = rates(1)
    dear.config.cost = rates(5)
    const costs: number[] = []
    const prepareTurn = ({ turnIndex, costUsd }: { turnIndex: number; costUsd: number }) => {
      costs.push(costUsd)
      return turnIndex === 1 ? { model: dear } : undefined
    }
    const agent = new Agent({ model: cheap, tools: [add], limits: { maxTurns: 3, maxTotalTokens: 1e9 }, hooks: { prepareTurn } })
    await agent.prompt('go').result
    expect(costs).toEqual([0, 1, 6])
  })
})

describe('a system prompt function', () => {
  it('calls the system prompt function before each turn', async () => {
    const { model } = await play([sum, { text: 'ok' }], { tools: [add], systemPrompt: ({ turnIndex }) => `Turn ${turnIndex}.` })
    expect(model.provider.requests.map(({ systemPrompt }) => systemPrompt)).toEqual(['Turn 0.', 'Turn 1.'])
  })

  it('survives the restore of a snapshot', async () => {
    const { agent } = await play([{ text: 'ok' }, { text: 'ok' }], { systemPrompt: () => 'Mine.' })
    const snapshot = agent.checkpoint()
    expect(snapshot.settings?.systemPrompt).toBe('')
    agent.restore(snapshot)
    expect(typeof agent.settings.systemPrompt).toBe('function')
  })

  it('ends the run if it throws', async () => {
    const { result } = await play([{ text: 'never' }], { systemPrompt: () => Promise.reject(new Error('no prompt today')), logger: false })
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringContaining('no prompt today') } })
  })
})

describe('setTools', () => {
  it('applies from the next turn and ignores later mutations of the list', async () => {
    const tools = [add]
    let agent: Agent | undefined
    const more = tool('more', () => {
      agent?.setTools([add, tool('late', () => 'late')])
      return 'ok'
    })
    tools.push(more)
    const model = scripted([
      { toolCalls: [{ name: 'more', arguments: {} }] },
      { toolCalls: [{ name: 'late', arguments: {} }] },
      { text: 'done' },
    ])
    agent = new Agent({ model, tools })
    tools.push(tool('pushed', () => 'never'))
    const { messages } = await agent.prompt('go').result
    expect(model.provider.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
      ['add', 'more'],
      ['add', 'late'],
      ['add', 'late'],
    ])
    expect(JSON.stringify(messages)).toContain('"late"')
  })
})

describe('a model for one turn', () => {
  it("uses its factory's settings instead of the agent model's", async () => {
    const usual = scripted([{ text: 'never' }])
    usual.config.settings = { temperature: 0.2, topK: 3, thinking: 'low' }
    const other = scripted([{ text: 'ok' }])
    other.config.settings = { topP: 0.5 }
    await new Agent({ model: usual, seed: 7, hooks: { prepareTurn: () => ({ model: other }) } }).prompt('go').result
    expect(other.provider.requests[0]).toMatchObject({ topP: 0.5, seed: 7, thinking: 'off' })
    expect(other.provider.requests[0]).not.toHaveProperty('temperature')
    expect(other.provider.requests[0]).not.toHaveProperty('topK')
  })
})
