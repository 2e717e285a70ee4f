import { describe, expect, it } from 'vitest'
import { type CompactionInput, type CompactionStrategy, defaultCompaction, llmCompaction } from '../../../src/context.ts'
import { Agent, type AgentEvent, type Logger, userMessage } from '../../../src/index.ts'
import { type AgentContext, parallelLoop, pickFirst } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { Journal, JournalEntry } from '../../../src/session.ts'
import { compactions, keeping, messages, only, playLong } from '../../support/compacting.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { brokenPairs, longHistory, requestText, requestTokens, words } from '../../support/long-history.ts'
import { fastRetry, ofType, outline, play, seen, tool } from '../../support/play.ts'

const overflow = { fail: { code: 'contextOverflow' as const, message: 'prompt is too long' } }

describe('compaction strategies', () => {
  const summary = (text: string) => [{ ...userMessage(text), id: `summary ${text}` }]

  it('uses the default for functions that the strategy omits', async () => {
    const sent = async (strategy: CompactionStrategy) => {
      const { model } = await playLong({ contextConfig: keeping(2, 3, { strategy }) })
      return requestText(model.provider.requests[0])
    }
    const first = await sent({ keepFirst: async () => 1 })
    expect(first).toContain('answer old-0;')
    expect(first).not.toContain('answer old-1;')
    expect(first).toContain('answer old-19;')
    const middle = await sent({ keepCompacted: async ({ turns }) => summary(`summary of ${turns.length} turns`) })
    expect(middle).toContain('summary of 16 turns')
    expect(middle).toContain('answer old-1;')
    expect(middle).not.toContain('[Assistant response]')
    const recent = await sent({ keepRecent: async ({ turns }) => [...summary('just before'), ...(turns.at(-1) ?? [])] })
    expect(recent).toContain('just before')
    expect(recent).not.toContain('answer old-19;')
    expect(recent).toContain('"now"')
    expect(recent).toContain('answer old-1;')
  })

  it('passes config, counter, room, signal and budget to each section', async () => {
    const asked: CompactionInput[] = []
    const remember = (input: CompactionInput) => {
      asked.push(input)
      return input
    }
    const strategy: CompactionStrategy = {
      keepFirst: (input) => defaultCompaction.keepFirst(remember(input)),
      keepCompacted: (input) => defaultCompaction.keepCompacted(remember(input)),
      keepRecent: (input) => defaultCompaction.keepRecent(remember(input)),
    }
    await playLong({ contextConfig: keeping(2, 3, { strategy, focusMessage: 'file names' }) })
    expect(asked).toHaveLength(3)
    for (const { config, counter, maxTokens, signal, budget } of asked) {
      expect(config).toMatchObject({ focusMessage: 'file names', keepFirstTurns: 2, keepRecentTurns: 3, toolOutputMaxLines: 50 })
      expect(counter.text('four')).toBe(1)
      expect(maxTokens).toBeGreaterThan(0)
      expect(signal.aborted).toBe(false)
      expect(budget.exceeded()).toBeUndefined()
    }
  })

  it('falls back to the default and logs a strategy that throws', async () => {
    const logged: unknown[] = []
    const logger: Logger = { warn: (event, fields) => logged.push([event, fields?.part]) }
    const broken = (): never => {
      throw new Error('broken')
    }
    const strategy: CompactionStrategy = { keepFirst: broken, keepCompacted: () => Promise.reject(new Error('down')), keepRecent: broken }
    const custom = await playLong({ logger, contextConfig: keeping(2, 3, { strategy }) })
    const byDefault = await playLong()
    const texts = ({ model }: typeof custom) => model.provider.requests[0]?.messages.map(({ role, content }) => [role, content])
    expect(texts(custom)?.length).toBeGreaterThan(3)
    expect(new Set(logged.map((entry) => JSON.stringify(entry)))).toEqual(
      new Set(['keepFirst', 'keepCompacted', 'keepRecent'].map((part) => JSON.stringify(['compactionStrategyFailed', part]))),
    )
    expect(requestText(custom.model.provider.requests[0])).toContain('[Summary] [Assistant response]')
    expect(requestTokens(custom.model.provider.requests[0])).toBeLessThanOrEqual(requestTokens(byDefault.model.provider.requests[0]))
  })

  it('charges llmCompaction to the run and forwards the focus', async () => {
    const writer = scripted([{ text: 'They asked twenty questions.', usage: { input: 900, output: 50 } }])
    const strategy = llmCompaction({ model: writer })
    const look = tool('look', () => 'ok')
    const { agent, model, result } = await playLong(
      { tools: [look], limits: { maxTotalTokens: 940 }, contextConfig: keeping(2, 3, { strategy, focusMessage: 'the questions' }) },
      [{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'never' }],
    )
    const [asked] = writer.provider.requests
    expect(requestText(asked)).toContain('Keep above all: the questions')
    expect(requestText(asked)).toContain('answer old-9;')
    expect(requestText(model.provider.requests[0])).toContain('[Summary] They asked twenty questions.')
    expect(result.status).toBe('limit')
    expect(agent.messages.at(-1)).toMatchObject({
      content: [{ type: 'text', text: '[Agent stopped: Max tokens reached (950/940)]' }],
    })
  })

  it.each([
    ['success', [{ text: 'A summary.', usage: { input: 300, output: 20 } }], 300],
    ['failure', [{ text: 'half', fail: { code: 'api' as const, message: 'down', afterText: true }, usage: { input: 40 } }], 0],
  ])('reports the usage of llmCompaction on %s in the event and the total', async (_, script, atLeast) => {
    const { events, result } = await playLong({ contextConfig: keeping(2, 3, { strategy: llmCompaction({ model: scripted(script) }) }) })
    const [ended] = ofType(events, 'compactionEnded')
    const spent = ended?.usage?.input ?? 0
    expect(spent).toBeGreaterThanOrEqual(atLeast)
    expect(result.totalUsage.input).toBe(result.usage.input + spent)
    expect(ofType(events, 'agentEnd')[0]?.totalUsage).toEqual(result.totalUsage)
  })

  it('omits usage if the compaction calls no model', async () => {
    const { events } = await playLong({ contextConfig: keeping(2, 3) })
    expect(ofType(events, 'compactionEnded')[0]).not.toHaveProperty('usage')
  })

  it('falls back to the default if llmCompaction fails', async () => {
    const writer = scripted([{ fail: { code: 'api', message: 'down' } }])
    const { model, result } = await playLong({ contextConfig: keeping(2, 3, { strategy: llmCompaction({ model: writer }) }) })
    expect(result.status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('[Summary] [Assistant response]')
  })
})

describe('compaction in parallel loops', () => {
  it('starts every branch compacted and compacts each branch separately', async () => {
    const base = new Agent({ model: scripted([]), messages })
    await base.compact().result
    const { messages: history, state, ...rest } = base.checkpoint()
    const context: AgentContext = { systemPrompt: '', tools: [], messages: history, state, ...rest }
    const models = [scripted([{ text: 'a' }]), scripted([{ text: 'b' }])]
    const configs = models.map((model, at) => ({ model, contextConfig: at === 0 ? keeping(1, 2) : (false as const) }))
    const { signal } = new AbortController()
    const options = { prompt: 'go', context, configs, strategy: pickFirst, emit: () => undefined, signal }
    const { selectedContext, outcomes } = await parallelLoop(options)
    for (const model of models) expect(requestText(model.provider.requests[0])).not.toContain('answer old-5;')
    expect(requestTokens(models[0]?.provider.requests[0])).toBeLessThan(850)
    expect(requestTokens(models[1]?.provider.requests[0])).toBeGreaterThan(850)
    expect(selectedContext.state).not.toEqual(state)
    expect([context.state, outcomes[0]?.context.state]).toEqual([state, state])
  })
})

describe('agent.compact()', () => {
  it('runs as a separate loop of kind compaction without a model call', async () => {
    const { agent, model, result } = await play([{ text: 'fine' }, { text: 'after' }], { messages: longHistory(20, 100) })
    const run = agent.compact()
    const list: AgentEvent[] = []
    run.subscribe((event) => list.push(event))
    const compacted = await run.result
    expect(outline(list)).toEqual(['agentStart', ...compactions, 'agentEnd'])
    expect(grammarFaults(list)).toEqual([])
    expect(ofType(list, 'agentStart')).toMatchObject([{ continuationKind: { kind: 'compaction' }, parentLoopId: result.loopId }])
    expect(compacted).toMatchObject({ status: 'completed', messages: [], text: '' })
    expect(compacted.loopId).not.toBe(result.loopId)
    expect(model.provider.requests).toHaveLength(1)
    expect(agent.messages).toHaveLength(42)
    await agent.prompt('and now').result
    expect(requestTokens(model.provider.requests[1])).toBeLessThan(requestTokens(model.provider.requests[0]) - 500)
  })

  it('passes the focus to the strategy', async () => {
    const focus: (string | undefined)[] = []
    const strategy: CompactionStrategy = {
      keepCompacted: (input) => {
        focus.push(input.config.focusMessage)
        return defaultCompaction.keepCompacted(input)
      },
    }
    const compaction = { strategy, focusMessage: 'always' }
    const agent = new Agent({ model: scripted([]), messages, contextConfig: { compaction } })
    await agent.compact({ focusMessage: 'names' }).result
    expect(focus).toEqual(['names'])
  })

  it.each([
    ['an empty history', { messages: [] }],
    ['one turn', { messages: longHistory(1, 10) }],
    ['compaction switched off', { contextConfig: false as const }],
  ])('changes nothing for %s', async (_, options) => {
    const agent = new Agent({ model: scripted([]), messages, ...options })
    const run = agent.compact()
    const types: string[] = []
    run.subscribe(({ type }) => types.push(type))
    expect(await run.result).toMatchObject({ status: 'completed' })
    expect(types).toEqual(['agentStart', 'agentEnd'])
    expect(agent.checkpoint().state).toEqual({})
  })

  it('changes nothing when compact() is called again', async () => {
    const agent = new Agent({ model: scripted([]), messages })
    await agent.compact().result
    const { state } = agent.checkpoint()
    await agent.compact().result
    expect(agent.checkpoint().state).toEqual(state)
  })

  it('marks the agent as busy and stops on an abort', async () => {
    const strategy: CompactionStrategy = { keepCompacted: () => new Promise(() => undefined) }
    const agent = new Agent({ model: scripted([]), messages, contextConfig: { compaction: { strategy } } })
    const run = agent.compact()
    expect(() => agent.prompt('hi')).toThrow(/busy|running/i)
    await seen(run, 'compactionStarted')
    run.abort()
    expect(await run.result).toMatchObject({ status: 'aborted' })
    expect(agent.checkpoint().state).toEqual({})
    agent.configure({ contextConfig: {} })
    expect((await agent.compact().result).status).toBe('completed')
  })
})

describe('a context overflow error', () => {
  it('compacts once and resends the request without using a retry', async () => {
    const { events, model, result, agent } = await playLong({ contextConfig: {}, retry: { maxRetries: 0 } }, [overflow, { text: 'fine' }])
    expect(result).toMatchObject({ status: 'completed', text: 'fine' })
    expect(only(events, [...compactions, 'providerRetry'])).toEqual(compactions)
    const [first, second] = model.provider.requests
    expect(requestTokens(second)).toBeLessThanOrEqual(requestTokens(first) / 2)
    expect(agent.messages).toHaveLength(messages.length + 2)
    expect(ofType(events, 'turnStart')).toHaveLength(1)
  })

  it('ends the run with the error on a second overflow', async () => {
    const { model, result } = await playLong({ contextConfig: {} }, [overflow, overflow, { text: 'never' }])
    expect(result).toMatchObject({ status: 'error', error: { code: 'contextOverflow' } })
    expect(model.provider.requests).toHaveLength(2)
  })

  it('ends the run immediately if compaction is off or cannot remove anything', async () => {
    for (const options of [{ contextConfig: false as const }, { messages: [] }]) {
      const { events, model, result } = await playLong(options, [overflow, { text: 'never' }])
      expect(result).toMatchObject({ status: 'error', error: { code: 'contextOverflow' } })
      expect(model.provider.requests).toHaveLength(1)
      expect(only(events, compactions)).toEqual([])
    }
  })

  it('compacts again in a later turn', async () => {
    const call = { toolCalls: [{ name: 'look', arguments: {} }] }
    const look = tool('look', () => words('found', 300))
    const { model, result } = await playLong({ contextConfig: {}, tools: [look] }, [overflow, call, overflow, { text: 'fine' }])
    expect(result.status).toBe('completed')
    expect(model.provider.requests).toHaveLength(4)
    for (const request of model.provider.requests) expect(brokenPairs(request.messages)).toEqual([])
  })
})

describe('compaction with an abort or a failing journal', () => {
  it('ends the run before the request on an abort during compaction', async () => {
    const strategy: CompactionStrategy = { keepCompacted: () => new Promise(() => undefined) }
    const model = scripted([{ text: 'never' }, { text: 'later' }])
    const agent = new Agent({ model, messages, contextConfig: keeping(2, 3, { strategy }), retry: fastRetry })
    const run = agent.prompt('now')
    const events: AgentEvent[] = []
    run.subscribe((event) => events.push(event))
    await seen(run, 'compactionStarted')
    run.abort()
    expect(await run.result).toMatchObject({ status: 'aborted' })
    expect(grammarFaults(events)).toEqual([])
    const [ended] = ofType(events, 'compactionEnded')
    expect(ended?.estimatedTokensAfter).toBe(ended?.estimatedTokensBefore)
    expect(model.provider.requests).toHaveLength(0)
    expect(agent.checkpoint().state).toEqual({})
  })

  it('records the compaction before the request that uses it', async () => {
    const order: string[] = []
    const entries: JournalEntry[] = []
    const journal: Journal = {
      append: async ({ entry }) => {
        await undefined
        entries.push(entry)
        order.push(entry.type)
      },
    }
    const { agent } = await playLong({ journal }, () => {
      order.push('request')
      return { text: 'fine' }
    })
    expect(order).toEqual(['loopStart', 'turnStart', 'input', 'compaction', 'request', 'assistant', 'loopEnd'])
    const overlay = entries.flatMap((entry) => (entry.type === 'compaction' ? [entry.overlay] : []))[0]
    expect(agent.checkpoint().state).toEqual({ overlay })
  })

  it('ends the run before the request if recording the compaction fails', async () => {
    const journal: Journal = {
      append: async ({ entry }) => {
        if (entry.type === 'compaction') throw new Error('disk full')
      },
    }
    const { agent, events, model, result } = await playLong({ journal })
    expect(result).toMatchObject({ status: 'error', error: { code: 'journal' } })
    expect(ofType(events, 'compactionEnded')).toMatchObject([{ error: { code: 'journal' } }])
    expect(model.provider.requests).toHaveLength(0)
    expect(agent.checkpoint().state).toEqual({})
  })
})
