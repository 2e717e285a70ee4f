import { describe, expect, it } from 'vitest'
import { estimateTokens, totalTokens } from '../../../src/context.ts'
import { Agent, textOf, userMessage } from '../../../src/index.ts'
import { type AgentContext, agentLoop } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { compactions, keeping, messages, only, playLong, small } from '../../support/compacting.ts'
import { brokenPairs, longHistory, requestText, requestTokens, words } from '../../support/long-history.ts'
import { gate, ofType, outline, play, tool } from '../../support/play.ts'

describe('the compacted request', () => {
  it('keeps the first and recent turns and shortens the turns between', async () => {
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

  it('follows the input and a pair of compaction events', async () => {
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

  it('truncates tool outputs before summarizing and keeps call-result pairs', async () => {
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

  it('repeats the prefix of the previous request', async () => {
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

  it('stays small over many prompts and marks loops out of scope', async () => {
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
  return agent.settings.model as ReturnType<typeof scripted> // made by this test
}

describe('compaction trigger', () => {
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
  ])('compacts at an estimate of %i of 100,000 tokens', async (tokens, expected) => {
    const model = scripted([{ text: 'fine' }], { config: { contextWindow: 0 } })
    const { events } = await playLong({ messages: ofTokens(tokens), contextConfig: {}, model })
    expect(only(events, compactions)).toEqual(expected)
    const [started] = ofType(events, 'compactionStarted')
    expect(started?.estimatedTokens).toBe(expected.length === 0 ? undefined : tokens)
    if (expected.length === 0) expect(requestTokens(model.provider.requests[0])).toBe(tokens)
    else expect(requestTokens(model.provider.requests[0])).toBeLessThan(81_000 * 0.8)
  })

  it.each([
    [84_994, []],
    [84_995, compactions],
  ])('compacts at a reported usage of %i tokens plus an estimate', async (input, expected) => {
    // The prompt `now` takes 5.
    const model = scripted([{ text: 'one', usage: { input } }, { text: 'two' }], { config: { contextWindow: 0 } })
    const agent = new Agent({ model, messages })
    await agent.prompt('first').result
    const run = agent.prompt('now')
    const events: string[] = []
    run.subscribe(({ type }) => events.push(type))
    await run.result
    expect(events.filter((type) => compactions.includes(type))).toEqual(expected)
  })

  it("uses the model's context window and a custom token counter", async () => {
    const narrow = { config: { contextWindow: 2000 } }
    const model = scripted([{ text: 'fine' }], narrow)
    const { events } = await playLong({ model, contextConfig: { systemPromptTokens: 0, compaction: { keepRecentTurns: 3 } } })
    expect(only(events, compactions)).toEqual(compactions)
    const tokenCounter = { text: () => 1, message: () => 1 }
    const counted = await playLong({ contextConfig: { ...keeping(2, 3), tokenCounter } })
    expect(only(counted.events, compactions)).toEqual([])
  })

  it('counts node ids in revert mode', async () => {
    const { revertTool } = await import('../../../src/tools.ts')
    const many = Array.from({ length: 150 }, (_, n) => ({ ...userMessage('x'), id: `m${n}`, nodeId: n }))
    const config = { ...small, compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 50 } }
    const plain = await playLong({ messages: many, contextConfig: config })
    expect(only(plain.events, compactions)).toEqual([])
    const numbered = await playLong({ messages: many, contextConfig: config, tools: [revertTool()] })
    expect(only(numbered.events, compactions)).toEqual(compactions)
    const [ended] = ofType(numbered.events, 'compactionEnded')
    expect(ended?.estimatedTokensAfter).toBe(requestTokens(numbered.model.provider.requests[0]))
  })

  it('does not compact if contextConfig, compaction or contextManagement is false', async () => {
    for (const off of [
      { contextConfig: false as const },
      { contextConfig: { compaction: false as const } },
      { contextManagement: false },
    ]) {
      const { events, model } = await playLong({ messages: longHistory(200, 1000), ...off })
      expect(only(events, compactions)).toEqual([])
      expect(requestTokens(model.provider.requests[0])).toBeGreaterThan(200_000)
    }
  })

  it('emits no events if compaction would change nothing', async () => {
    const script = [{ toolCalls: [{ name: 'look', arguments: {} }] }, { text: 'done' }]
    const options = { tools: [tool('look', () => 'ok')], contextConfig: keeping(2, 3) }
    const { events, model } = await play(script, options, words('all at once', 2000))
    expect(only(events, compactions)).toEqual([])
    for (const request of model.provider.requests) expect(requestText(request)).toContain('all at once')
  })

  it('does not compact again in the next turn', async () => {
    const look = tool('look', () => 'ok')
    const call = { toolCalls: [{ name: 'look', arguments: {} }] }
    const { events } = await playLong({ tools: [look] }, [call, call, call, { text: 'done' }])
    expect(only(events, compactions)).toEqual(compactions)
  })
})

describe('compaction hooks', () => {
  it('receives the compaction details before and after', async () => {
    const heard: unknown[] = []
    const { events, agent, result } = await playLong({
      hooks: {
        beforeCompactionStart: ({ signal: _, ...info }) => void heard.push(info),
        afterCompactionEnd: (info) => heard.push(info),
      },
    })
    const [started] = ofType(events, 'compactionStarted')
    const [ended] = ofType(events, 'compactionEnded')
    const who = { loopId: result.loopId, agentId: agent.agentId }
    expect(heard).toMatchObject([
      { ...who, estimatedTokens: started?.estimatedTokens, messageCount: started?.messageCount },
      {
        ...who,
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
  ])('skips the compaction without events if it returns %s', async (_, beforeCompactionStart) => {
    const { events, model, result } = await playLong({ hooks: { beforeCompactionStart } })
    expect(only(events, compactions)).toEqual([])
    expect(result.status).toBe('completed')
    expect(requestText(model.provider.requests[0])).toContain('answer old-9;')
  })

  it('calls a model before the compaction (async_before_compaction_hook_can_call_llm)', async () => {
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

  it('runs for two agents concurrently (async_compaction_hooks_concurrent_runtime)', async () => {
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

describe('compacted history', () => {
  it('sends the whole history after a replace, clear or reset', async () => {
    for (const change of [
      (agent: Agent) => agent.replaceMessages(longHistory(3, 10, 'new')),
      (agent: Agent) => agent.replaceMessages([]),
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
