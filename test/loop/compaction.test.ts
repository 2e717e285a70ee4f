import { describe, expect, it } from 'vitest'
import { defaultCompaction, estimateTokens, llmCompaction, totalTokens } from '../../src/context/index.ts'
import {
  Agent,
  type AgentContext,
  type AgentEvent,
  type AgentOptions,
  agentLoop,
  type CompactionInput,
  type CompactionStrategy,
  type ContextConfig,
  type Journal,
  type JournalEntry,
  type Logger,
  textOf,
  userMessage,
} from '../../src/index.ts'
import { parallelLoop, pickFirst } from '../../src/loop/parallel/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { grammarFaults } from '../support/grammar.ts'
import { brokenPairs, longHistory, requestText, requestTokens, words } from '../support/long-history.ts'
import { fastRetry, gate, ofType, outline, play, seen, tool } from '../support/play.ts'

/** Room for 1,000 tokens: compacted from 850 on, down to some 640. */
const small: Partial<ContextConfig> = { maxContextTokens: 1000, systemPromptTokens: 0 }
const keeping = (first: number, recent: number, more: Partial<ContextConfig['compaction'] & object> = {}): Partial<ContextConfig> => ({
  ...small,
  compaction: { keepFirstTurns: first, keepRecentTurns: recent, maxSummaryTokens: 200, ...more },
})
/** 20 turns of 100 tokens each. */
const messages = longHistory(20, 100)
const overflow = { fail: { code: 'contextOverflow' as const, message: 'prompt is too long' } }

const compactions = ['compactionStarted', 'compactionEnded']
const only = (events: readonly AgentEvent[], types: readonly string[]) => outline(events).filter((type) => types.includes(type))

async function playLong(options: Partial<AgentOptions> = {}, script: Script = [{ text: 'fine' }]) {
  const played = await play(script, { messages, contextConfig: keeping(2, 3), ...options }, 'now')
  expect(grammarFaults(played.events)).toEqual([])
  return played
}

describe('what the model is sent', () => {
  it('really shrinks: first and recent turns as they were, one line for each answer between, the history whole', async () => {
    const { agent, model, events } = await playLong()
    const [request] = model.provider.requests
    expect(requestTokens(request)).toBeLessThan(850)
    expect(totalTokens(agent.messages)).toBeGreaterThan(2000)
    const sent = requestText(request)
    for (const kept of ['answer old-0;', 'answer old-1;', 'answer old-18;', 'answer old-19;', '"now"']) expect(sent).toContain(kept)
    for (const gone of ['answer old-2;', 'answer old-9;', 'answer old-16;']) expect(sent).not.toContain(gone)
    expect(sent).toContain('[Summary] [Assistant response]')
    expect(agent.messages.slice(0, messages.length)).toEqual(messages)
    expect(agent.messages).toHaveLength(messages.length + 2)
    const [ended] = ofType(events, 'compactionEnded')
    expect(ended?.estimatedTokensAfter).toBe(requestTokens(request))
    expect(ended?.messagesAfter).toBe(request?.messages.length)
    expect(ended?.messagesBefore).toBe(messages.length + 1)
  })

  it('comes between the input and the request, with its events in a pair', async () => {
    const { events } = await playLong({ captureTurnRequests: true })
    expect(outline(events).slice(0, 7)).toEqual([
      'agentStart',
      'turnStart',
      'messageStart user',
      'messageEnd user',
      'compactionStarted',
      'compactionEnded',
      'turnRequest',
    ])
  })

  it('cuts tool outputs from both ends before it summarises, and keeps calls with their results', async () => {
    const output = Array.from({ length: 400 }, (_, line) => `line ${line}`).join('\n')
    const look = tool('look', () => output)
    const script = [{ toolCalls: [{ name: 'look', arguments: {} }] }, { toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
    const { agent, model } = await play(script, { tools: [look], contextConfig: keeping(2, 10, { toolOutputMaxLines: 10 }) })
    const last = model.provider.requests.at(-1)
    expect(requestText(last)).toContain('[... 390 lines truncated ...]')
    expect(requestText(last)).toContain('line 0\\nline 1')
    expect(requestText(last)).toContain('line 399')
    expect(brokenPairs(last?.messages ?? [])).toEqual([])
    expect(agent.messages.filter(({ role }) => role === 'toolResult').map((each) => 'content' in each && textOf(each.content))).toEqual([
      output,
      output,
    ])
  })

  it('is what the second prompt begins with', async () => {
    const { agent, model } = await playLong({}, [{ text: 'one' }, { text: 'two' }])
    await agent.prompt('again').result
    const [first, second] = model.provider.requests
    expect(second?.messages.slice(0, first?.messages.length)).toEqual(first?.messages)
    // The same objects: what was encoded of them is found again.
    second?.messages.slice(0, first?.messages.length).forEach((message, at) => {
      expect(message).toBe(first?.messages[at])
    })
    expect(requestText(second)).not.toContain('answer old-9;')
  })

  it('stays small over many prompts, one loop each; loops out of scope leave only a marker', async () => {
    const agent = new Agent({
      model: scripted((_, turn) => ({ text: words(`reply ${turn};`, 100) })),
      contextConfig: keeping(1, 3, { scope: { type: 'fixedCount', count: 4 } }),
    })
    let compacted = 0
    agent.subscribe((event) => {
      if (event.type === 'compactionEnded') compacted += event.loopsCompacted
    })
    const sizes: number[] = []
    for (let at = 0; at < 40; at += 1) {
      const run = agent.prompt(`prompt ${at};`)
      await run.result
      sizes.push(requestTokens(modelOf(agent).provider.requests.at(-1)))
    }
    expect(compacted).toBeGreaterThan(4)
    expect(Math.max(...sizes)).toBeLessThan(850)
    const sent = requestText(modelOf(agent).provider.requests.at(-1))
    expect(sent).toContain('prompt 0;')
    expect(sent).toMatch(/\[Context compacted: \d+ messages removed to fit context window\]/)
    expect(sent).not.toContain('prompt 3;')
    expect(sent).toContain('prompt 38;')
    expect(agent.messages).toHaveLength(80)
  })
})

function modelOf(agent: Agent): ReturnType<typeof scripted> {
  return agent.model as ReturnType<typeof scripted> // made by this test
}

describe('trigger', () => {
  /** A history that is, together with the prompt `now`, of exactly so many tokens by our estimate. */
  const ofTokens = (tokens: number) => {
    const long = longHistory(20, 4000)
    const filler = { ...userMessage(''), id: 'filler' }
    const rest = tokens - totalTokens(long) - 4 - estimateTokens('now') - 4
    return [{ ...filler, content: [{ type: 'text' as const, text: 'x'.repeat(rest * 4) }] }, ...long]
  }

  it.each([
    [80_999, []],
    [81_000, compactions],
  ])('by estimate, at %i tokens of the default 100,000', async (tokens, expected) => {
    const { events, model } = await playLong({ messages: ofTokens(tokens), contextConfig: {} })
    expect(only(events, compactions)).toEqual(expected)
    const [started] = ofType(events, 'compactionStarted')
    expect(started?.estimatedTokens).toBe(expected.length === 0 ? undefined : tokens)
    if (expected.length === 0) expect(requestTokens(model.provider.requests[0])).toBe(tokens)
    else expect(requestTokens(model.provider.requests[0])).toBeLessThan(81_000 * 0.8)
  })

  it.each([
    [80_994, []],
    [80_995, compactions],
  ])('by what the service counted: %i tokens, and an estimate of what came since', async (input, expected) => {
    // The prompt `now` takes 5.
    const agent = new Agent({ model: scripted([{ text: 'one', usage: { input } }, { text: 'two' }]), messages })
    await agent.prompt('first').result
    const run = agent.prompt('now')
    const events: string[] = []
    run.subscribe(({ type }) => events.push(type))
    await run.result
    expect(events.filter((type) => compactions.includes(type))).toEqual(expected)
  })

  it('follows a smaller model, and another counter', async () => {
    const narrow = { config: { contextWindow: 2000 } }
    const model = scripted([{ text: 'fine' }], narrow)
    const { events } = await playLong({ model, contextConfig: { systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } } })
    expect(only(events, compactions)).toEqual(compactions)
    const tokenCounter = { text: () => 1, message: () => 1 }
    const counted = await playLong({ contextConfig: { ...keeping(2, 3), tokenCounter } })
    expect(only(counted.events, compactions)).toEqual([])
  })

  it('counts what is shown beside the messages: node ids in revert mode', async () => {
    const { revertTool } = await import('../../src/tools/index.ts')
    const many = Array.from({ length: 150 }, (_, n) => ({ ...userMessage('x'), id: `m${n}`, nodeId: n }))
    const config = { ...small, compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 50 } }
    const plain = await playLong({ messages: many, contextConfig: config })
    expect(only(plain.events, compactions)).toEqual([])
    const numbered = await playLong({ messages: many, contextConfig: config, tools: [revertTool()] })
    expect(only(numbered.events, compactions)).toEqual(compactions)
    const [ended] = ofType(numbered.events, 'compactionEnded')
    expect(ended?.estimatedTokensAfter).toBe(requestTokens(numbered.model.provider.requests[0]))
  })

  it('is off with contextConfig false, compaction false, or contextManagement false', async () => {
    for (const off of [
      { contextConfig: false as const },
      { contextConfig: { compaction: false as const } },
      { contextManagement: false },
    ]) {
      const { events, model } = await playLong({ messages: longHistory(100, 1000), ...off })
      expect(only(events, compactions)).toEqual([])
      expect(requestTokens(model.provider.requests[0])).toBeGreaterThan(100_000)
    }
  })

  it('has no events when nothing would change, at every turn', async () => {
    const script = [{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
    const options = { tools: [tool('look', () => 'ok')], contextConfig: keeping(2, 3) }
    const { events, model } = await play(script, options, words('all at once', 2000))
    expect(only(events, compactions)).toEqual([])
    for (const request of model.provider.requests) expect(requestText(request)).toContain('all at once')
  })

  it('does not come again in the next turn', async () => {
    const look = tool('look', () => 'ok')
    const call = { toolCalls: [{ name: 'look', arguments: {} }] }
    const { events } = await playLong({ tools: [look] }, [call, call, call, { text: 'done' }])
    expect(only(events, compactions)).toEqual(compactions)
  })
})

describe('hooks', () => {
  it('hear of a compaction before and after', async () => {
    const heard: unknown[] = []
    const { events } = await playLong({
      hooks: {
        beforeCompactionStart: ({ estimatedTokens, messageCount }) => void heard.push({ estimatedTokens, messageCount }),
        afterCompactionEnd: (figures) => heard.push(figures),
      },
    })
    const [started] = ofType(events, 'compactionStarted')
    const [ended] = ofType(events, 'compactionEnded')
    expect(heard).toEqual([
      { estimatedTokens: started?.estimatedTokens, messageCount: started?.messageCount },
      {
        messagesBefore: ended?.messagesBefore,
        messagesAfter: ended?.messagesAfter,
        tokensBefore: ended?.estimatedTokensBefore,
        tokensAfter: ended?.estimatedTokensAfter,
      },
    ])
  })

  it.each([
    ['false', () => false],
    ['a failure', () => Promise.reject(new Error('no'))],
  ])('that answer with %s stop it: no event, nothing changed', async (_, beforeCompactionStart) => {
    const { events, model, result } = await playLong({ hooks: { beforeCompactionStart } })
    expect(only(events, compactions)).toEqual([])
    expect(result.status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('answer old-9;')
  })

  it('may ask a model first (async_before_compaction_hook_can_call_llm)', async () => {
    const adviser = scripted([{ text: 'yes' }])
    const { events, model } = await playLong({
      hooks: {
        beforeCompactionStart: async ({ signal }) => {
          const context: AgentContext = { systemPrompt: '', messages: [], tools: [] }
          const { text } = await agentLoop('Compact now?', context, { model: adviser }, { emit: () => undefined, signal })
          return text === 'yes'
        },
      },
    })
    expect(adviser.provider.requests).toHaveLength(1)
    expect(only(events, compactions)).toEqual(compactions)
    expect(requestTokens(model.provider.requests[0])).toBeLessThan(850)
  })

  it('of two agents wait at the same time (async_compaction_hooks_concurrent_runtime)', async () => {
    const both = gate()
    let waiting = 0
    const hooks = {
      beforeCompactionStart: async () => {
        waiting += 1
        if (waiting === 2) both.open()
        await both.opened
      },
    }
    const played = await Promise.all([playLong({ hooks }), playLong({ hooks })])
    for (const { events } of played) expect(only(events, compactions)).toEqual(compactions)
  })
})

describe('strategies', () => {
  const summary = (text: string) => [{ ...userMessage(text), id: `summary ${text}` }]

  it('of one section each: the other sections are the default’s', async () => {
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

  it('that is asked once for each section gets config, counter, room, signal and budget', async () => {
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

  it('that throws is replaced by the default, and the failure is logged', async () => {
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

  it('llmCompaction asks its model, with the focus; what that costs is charged to the run', async () => {
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

  it('llmCompaction that fails leaves it to the default', async () => {
    const writer = scripted([{ fail: { code: 'api', message: 'down' } }])
    const { model, result } = await playLong({ contextConfig: keeping(2, 3, { strategy: llmCompaction({ model: writer }) }) })
    expect(result.status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('[Summary] [Assistant response]')
  })
})

describe('parallel loops', () => {
  it('begin with what was compacted; what one compacts goes on with it alone', async () => {
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
  it('is a loop of its own, with kind compaction, after the last one; the model is not asked', async () => {
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

  it('hands its focus to the strategy', async () => {
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
  ])('does nothing with %s', async (_, options) => {
    const agent = new Agent({ model: scripted([]), messages, ...options })
    const run = agent.compact()
    const types: string[] = []
    run.subscribe(({ type }) => types.push(type))
    expect(await run.result).toMatchObject({ status: 'completed' })
    expect(types).toEqual(['agentStart', 'agentEnd'])
    expect(agent.checkpoint().state).toEqual({})
  })

  it('a second time has nothing to do', async () => {
    const agent = new Agent({ model: scripted([]), messages })
    await agent.compact().result
    const { state } = agent.checkpoint()
    await agent.compact().result
    expect(agent.checkpoint().state).toEqual(state)
  })

  it('keeps the agent busy, and ends when it is stopped', async () => {
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

describe('a prompt that the service finds too long', () => {
  it('is compacted once and sent again, without counting as a retry', async () => {
    const { events, model, result, agent } = await playLong({ contextConfig: {}, retry: { maxRetries: 0 } }, [overflow, { text: 'fine' }])
    expect(result).toMatchObject({ status: 'completed', text: 'fine' })
    expect(only(events, [...compactions, 'providerRetry'])).toEqual(compactions)
    const [first, second] = model.provider.requests
    expect(requestTokens(second)).toBeLessThanOrEqual(requestTokens(first) / 2)
    expect(agent.messages).toHaveLength(messages.length + 2)
    expect(ofType(events, 'turnStart')).toHaveLength(1)
  })

  it('and is too long again, ends the run with the error', async () => {
    const { model, result } = await playLong({ contextConfig: {} }, [overflow, overflow, { text: 'never' }])
    expect(result).toMatchObject({ status: 'error', error: { code: 'contextOverflow' } })
    expect(model.provider.requests).toHaveLength(2)
  })

  it('ends the run at once where compaction is off, or nothing can be left out', async () => {
    for (const options of [{ contextConfig: false as const }, { messages: [] }]) {
      const { events, model, result } = await playLong(options, [overflow, { text: 'never' }])
      expect(result).toMatchObject({ status: 'error', error: { code: 'contextOverflow' } })
      expect(model.provider.requests).toHaveLength(1)
      expect(only(events, compactions)).toEqual([])
    }
  })

  it('in a later turn of the run is compacted again', async () => {
    const call = { toolCalls: [{ name: 'look', arguments: {} }] }
    const look = tool('look', () => words('found', 300))
    const { model, result } = await playLong({ contextConfig: {}, tools: [look] }, [overflow, call, overflow, { text: 'fine' }])
    expect(result.status).toBe('completed')
    expect(model.provider.requests).toHaveLength(4)
    for (const request of model.provider.requests) expect(brokenPairs(request.messages)).toEqual([])
  })
})

describe('compaction that is stopped or cannot be stored', () => {
  it('ends with the run when that is aborted; the model is not asked', async () => {
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

  it('is in the journal before the request that uses it', async () => {
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

  it('that the journal refuses changes nothing: the run ends with an error, the model is not asked', async () => {
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

describe('history', () => {
  it('that is replaced, cleared or reset is sent whole', async () => {
    for (const change of [
      (agent: Agent) => agent.replaceMessages(longHistory(3, 10, 'new')),
      (agent: Agent) => agent.clearMessages(),
      (agent: Agent) => agent.reset(),
    ]) {
      const { agent, model } = await playLong({}, [{ text: 'one' }, { text: 'two' }])
      change(agent)
      const kept = agent.messages.length
      await agent.prompt('again').result
      expect(model.provider.requests[1]?.messages).toHaveLength(kept + 1)
    }
  })
})
