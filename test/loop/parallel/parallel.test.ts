import { describe, expect, it } from 'vitest'
import { emptyUsage, type Usage } from '../../../src/contract/model/usage.ts'
import { type AgentEvent, ConfigError, userMessage } from '../../../src/index.ts'
import type { ParallelOptions, ParallelResult } from '../../../src/loop/parallel/parallel-loop.ts'
import {
  type AgentContext,
  agentLoop,
  continueLoop,
  type EvaluationStrategy,
  elaborate,
  type LoopConfig,
  llmJudge,
  parallelLoop,
  pickFirst,
  tokenEfficient,
  transparent,
} from '../../../src/loop.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { add, fastRetry, gate, ofType } from '../../support/play.ts'

const blank = (): AgentContext => ({ systemPrompt: 'be brief', messages: [], tools: [add] })
const never = new AbortController().signal

function config(script: Script, more: Partial<LoopConfig> = {}): LoopConfig {
  return { model: scripted(script), retry: fastRetry, ...more }
}

function says(text: string, usage: Partial<Usage> = {}, more: Partial<LoopConfig> = {}): LoopConfig {
  return config([{ text, usage }], more)
}

const fails = () => config([{ fail: { code: 'api', message: 'down' } }])

/** Runs to the end; checks what holds for every parallel loop. */
async function race(options: Partial<ParallelOptions> & Pick<ParallelOptions, 'configs' | 'strategy'>) {
  const events: AgentEvent[] = []
  const context = options.context ?? blank()
  const prompted = 'context' in options && !('prompt' in options) ? {} : { prompt: options.prompt ?? 'go' }
  const emit = (event: AgentEvent) => {
    events.push(event)
    return options.emit?.(event)
  }
  const result = await parallelLoop({ signal: never, ...prompted, ...options, context, emit })
  expect(events[0]?.type).toBe('parallelLoopStart')
  expect(events.at(-1)?.type).toBe('parallelLoopEnd')
  for (const branch of demultiplexed(events).values()) expect(grammarFaults(branch)).toEqual([])
  return { result, events, context }
}

/** The events of each loop, without those of the whole. */
function demultiplexed(events: readonly AgentEvent[]): Map<string, AgentEvent[]> {
  const ids = new Set(events.slice(1, -1).map(({ loopId }) => loopId))
  return new Map([...ids].map((id) => [id, events.filter(({ loopId }) => loopId === id)]))
}

const order = (result: ParallelResult) => result.outcomes.map(({ index }) => index)

describe('evaluation strategies', () => {
  it('returns the only branch with transparent (parallel_transparent, transparent_single_branch)', async () => {
    const { result, events } = await race({ configs: [says('only', { input: 2, output: 3 })], strategy: transparent })
    expect(result).toMatchObject({ selectedIndex: 0, outcomes: [], evaluationUsage: emptyUsage(), totalUsage: { totalTokens: 5 } })
    expect(result.selectedMessages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(ofType(events, 'parallelLoopEnd')).toMatchObject([{ selectedConfigIndex: 0, selectedLoopId: result.selectedLoopId }])
  })

  it('rejects two branches with transparent and zero with any strategy (transparent_panics_on_multiple)', async () => {
    const context = blank()
    const refused = (configs: LoopConfig[], strategy: EvaluationStrategy) =>
      expect(race({ context, prompt: 'go', configs, strategy })).rejects.toMatchObject({ code: 'branchCount' })
    await refused([says('a'), says('b')], transparent)
    await refused([], pickFirst)
    expect(context).toEqual(blank())
  })

  it('selects the first branch with pickFirst (parallel_pick_first, pick_first)', async () => {
    const { result, events } = await race({ configs: [says('a'), says('b')], strategy: pickFirst })
    expect(result).toMatchObject({ selectedIndex: 0, result: { text: 'a' } })
    const starts = ofType(events, 'agentStart')
    expect(starts).toHaveLength(2)
    expect(new Set(starts.map(({ sessionId }) => sessionId)).size).toBe(1)
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(2)
  })

  it('selects the first branch with pickFirst even if it failed', async () => {
    const { result } = await race({ configs: [fails(), says('b')], strategy: pickFirst })
    expect(result).toMatchObject({ selectedIndex: 0, result: { status: 'error' } })
  })

  it('selects the branch with the fewest tokens with tokenEfficient (parallel_token_efficient, token_efficient)', async () => {
    const configs = [says('a', { output: 30 }), says('b', { output: 10 }), says('c', { output: 10 })]
    const { result } = await race({ configs, strategy: tokenEfficient })
    expect(result.selectedIndex).toBe(1)
    expect(order(result)).toEqual([0, 2])
    expect(result.totalUsage.totalTokens).toBe(50)
  })

  it('selects the branch with the most tokens with elaborate (parallel_elaborate, elaborate)', async () => {
    const { result } = await race({ configs: [says('a', { output: 10 }), says('b', { output: 30 })], strategy: elaborate })
    expect(result.selectedIndex).toBe(1)
    expect(order(result)).toEqual([0])
  })

  it('selects a failed branch only if no branch completed', async () => {
    const { result } = await race({ configs: [fails(), says('b', { output: 500 })], strategy: tokenEfficient })
    expect(result.selectedIndex).toBe(1)
    const none = await race({ configs: [fails(), fails()], strategy: elaborate })
    expect(none.result).toMatchObject({ selectedIndex: 0, result: { status: 'error' } })
  })

  it('runs the llmJudge model as a third loop (parallel_llm_judge)', async () => {
    const judge = says('2', { input: 7 })
    const { result, events } = await race({ configs: [says('a'), says('b')], strategy: llmJudge({ config: judge }) })
    expect(result).toMatchObject({ selectedIndex: 1, evaluationUsage: { totalTokens: 7 }, totalUsage: { totalTokens: 7 } })
    expect(ofType(events, 'agentStart')).toHaveLength(3)
    expect(ofType(events, 'parallelLoopEnd')).toMatchObject([
      { selectedConfigIndex: 1, selectedLoopId: result.selectedLoopId, evaluationUsage: { input: 7 } },
    ])
    expect(demultiplexed(events).size).toBe(3)
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1)
  })

  it('accepts a plain object as a custom strategy', async () => {
    const longest: EvaluationStrategy = {
      name: 'longest',
      evaluate: ({ outcomes }) => {
        const lengths = outcomes.map(({ result }) => result.text.length)
        return { selectedIndex: lengths.indexOf(Math.max(...lengths)), usage: emptyUsage() }
      },
    }
    expect((await race({ configs: [says('a'), says('long'), says('b')], strategy: longest })).result.selectedIndex).toBe(1)
  })

  it.each([
    ['throws', () => Promise.reject(new Error('no idea'))],
    [
      'throws synchronously',
      () => {
        throw new Error('no idea')
      },
    ],
    ['selects a branch that does not exist', () => ({ selectedIndex: 3, usage: emptyUsage() })],
    ['selects a fractional index', () => ({ selectedIndex: 0.5, usage: emptyUsage() })],
  ] as const)('warns about a strategy that %s and selects the first completed branch', async (_what, evaluate) => {
    const warnings: unknown[] = []
    const logger = { warn: (event: string, fields: object) => void warnings.push({ event, ...fields }) }
    const { result } = await race({ configs: [fails(), says('b', {}, { logger }), says('c')], strategy: { name: 'broken', evaluate } })
    expect(result.selectedIndex).toBe(1)
    expect(warnings).toContainEqual(expect.objectContaining({ event: 'evaluationFailed', message: expect.stringContaining('"broken"') }))
  })

  it('evaluates at the end if the early decision throws or is invalid', async () => {
    for (const settled of [
      () => 17,
      () => {
        throw new Error('no idea')
      },
    ]) {
      const strategy: EvaluationStrategy = { name: 'hasty', settled, evaluate: () => ({ selectedIndex: 1, usage: emptyUsage() }) }
      expect((await race({ configs: [says('a'), says('b')], strategy })).result.selectedIndex).toBe(1)
    }
  })
})

describe('events of a parallel loop', () => {
  it("interleaves the branches' events, distinguished by loopId", async () => {
    const bothAsked = gate()
    let asked = 0
    const together =
      (text: string): Script =>
      async () => {
        asked += 1
        if (asked === 2) bothAsked.open()
        await bothAsked.opened
        return { text: [text, text] }
      }
    const { events, result } = await race({ configs: [config(together('a')), config(together('b'))], strategy: elaborate })
    const [start] = ofType(events, 'parallelLoopStart')
    const branches = demultiplexed(events)
    expect([...branches.keys()]).toEqual(start?.loopIds)
    expect(start?.loopIds).toHaveLength(2)
    const text = (loopId = '') =>
      ofType(branches.get(loopId) ?? [], 'messageUpdate')
        .map(({ delta }) => ('delta' in delta ? delta.delta : ''))
        .join('')
    expect(start?.loopIds.map(text)).toEqual(['aa', 'bb'])
    const kinds = events.map((event) => (event.type === 'agentEnd' ? 'end' : event.type === 'agentStart' ? 'start' : ''))
    expect(kinds.filter(Boolean)).toEqual(['start', 'start', 'end', 'end'])
    expect(start?.loopIds).toContain(result.selectedLoopId)
  })

  it('numbers parallelLoopStart and parallelLoopEnd under the given runId', async () => {
    const { events } = await race({ configs: [says('a'), says('b')], strategy: pickFirst, runId: 'whole', metadata: { n: 1 } })
    const whole = events.filter(({ runId }) => runId === 'whole')
    expect(whole.map(({ type, seq }) => [type, seq])).toEqual([
      ['parallelLoopStart', 1],
      ['parallelLoopEnd', 2],
    ])
    expect(ofType(events, 'agentStart').map(({ metadata }) => metadata)).toEqual([{ n: 1 }, { n: 1 }])
  })

  it('ignores a sink that throws or rejects', async () => {
    for (const emit of [
      () => {
        throw new Error('full')
      },
      () => Promise.reject(new Error('full')),
    ]) {
      const { result } = await race({ configs: [says('a'), says('b')], strategy: llmJudge({ config: says('2') }), emit })
      expect(result.selectedIndex).toBe(1)
    }
  })
})

describe('branch contexts', () => {
  it('continues each branch from the history in continue mode (parallel_continue_mode)', async () => {
    const context = { ...blank(), agentId: 'agent', sessionId: 'ses', messages: [{ ...userMessage('hello'), id: 'm1' }] }
    const models = [says('a'), says('b')]
    const { result } = await race({ context, configs: models, strategy: elaborate })
    expect([result.selectedContext, ...result.outcomes.map((outcome) => outcome.context)].map(({ messages }) => messages.length)).toEqual([
      2, 2,
    ])
    expect(result.selectedMessages.map(({ role }) => role)).toEqual(['assistant'])
    expect(result.outcomes[0]?.originalContextLength).toBe(1)
    expect(context.messages).toHaveLength(1)
  })

  it('requires ids and a non-empty history in continue mode', async () => {
    const refused = (context: AgentContext, code: string) =>
      expect(race({ context, configs: [says('a')], strategy: pickFirst })).rejects.toMatchObject({ code })
    await refused(blank(), 'missingIds')
    await refused({ ...blank(), agentId: 'a', sessionId: 's' }, 'emptyHistory')
  })

  it('rejects invalid options before any branch starts', async () => {
    const context = blank()
    const bad = [
      race({ context, prompt: ' ', configs: [says('a')], strategy: pickFirst }),
      race({ context, prompt: 'go', configs: [says('a'), says('b', {}, { maxTokens: -1 })], strategy: pickFirst }),
    ]
    for (const attempt of bad) await expect(attempt).rejects.toThrow(ConfigError)
    expect(context).toEqual(blank())
  })

  it('copies the message list for each branch but shares its entries', async () => {
    const first = { ...userMessage('hello'), id: 'm1' }
    const context = { ...blank(), messages: [first] }
    const { result } = await race({ context, prompt: 'go', configs: [says('a'), says('b')], strategy: elaborate })
    const lists = [result.selectedContext.messages, ...result.outcomes.map((outcome) => outcome.context.messages), context.messages]
    expect(new Set(lists).size).toBe(3)
    for (const list of lists) expect(list[0]).toBe(first)
    expect(context.messages).toEqual([first])
  })

  it('assigns unique loop ids across calls, branches, judges and continuations', async () => {
    const context = blank()
    const ids: string[] = []
    const again = async () => {
      const { events } = await race({ context, prompt: 'go', configs: [says('a'), says('b')], strategy: llmJudge({ config: says('1') }) })
      ids.push(...new Set(events.map(({ loopId }) => loopId)))
    }
    await again()
    await again()
    expect(ids).toHaveLength(8)
    expect(new Set(ids).size).toBe(8)
    const { result } = await race({ context, prompt: 'go', configs: [says('a'), says('b')], strategy: llmJudge({ config: says('1') }) })
    const { loopId } = await agentLoop('next', result.selectedContext, says('c'), { emit: () => undefined, signal: never })
    const used = Object.values(context.loopCounts ?? {}).reduce((sum, count) => sum + count, 0)
    expect(loopId).toBe(`${context.sessionId}.scripted.scripted.10`)
    expect(used).toBe(12)
  })

  it('sets the previous loop as the parent of each branch and judge', async () => {
    const context = blank()
    const { loopId } = await agentLoop('hi', context, says('hello'), { emit: () => undefined, signal: never })
    const { events } = await race({ context, prompt: 'go', configs: [says('a'), says('b')], strategy: llmJudge({ config: says('1') }) })
    expect(ofType(events, 'agentStart').map(({ parentLoopId }) => parentLoopId)).toEqual([loopId, loopId, loopId])
  })
})

describe('session continuity', () => {
  it('continues the selected branch with agentLoop', async () => {
    const { result } = await race({ configs: [says('a', { output: 9 }), says('b')], strategy: tokenEfficient })
    const next = scripted([{ text: 'more' }])
    const starts: AgentEvent[] = []
    const { loopId } = await agentLoop(
      'and now?',
      result.selectedContext,
      { model: next },
      { emit: (event) => starts.push(event), signal: never },
    )
    expect(next.provider.requests[0]?.messages.map(({ content }) => content[0])).toMatchObject([
      { text: 'go' },
      { text: 'b' },
      { text: 'and now?' },
    ])
    expect(ofType(starts, 'agentStart')[0]).toMatchObject({ parentLoopId: result.selectedLoopId, sessionId: result.result.sessionId })
    expect(loopId).not.toBe(result.selectedLoopId)
  })

  it('continues a selected branch that failed with continueLoop', async () => {
    const { result } = await race({ configs: [fails()], strategy: transparent })
    const starts: AgentEvent[] = []
    const emit = (event: AgentEvent) => void starts.push(event)
    const again = await continueLoop(result.selectedContext, says('better'), { emit, signal: never })
    expect(again.text).toBe('better')
    expect(ofType(starts, 'agentStart')[0]?.parentLoopId).toBe(result.selectedLoopId)
  })

  it('continues the selected branch with another parallel loop', async () => {
    const first = await race({ configs: [says('a'), says('b')], strategy: pickFirst })
    const { result, events } = await race({
      context: first.result.selectedContext,
      prompt: 'again',
      configs: [says('c'), says('d')],
      strategy: pickFirst,
    })
    expect(result.selectedContext.messages).toHaveLength(4)
    expect(ofType(events, 'agentStart')[0]?.parentLoopId).toBe(first.result.selectedLoopId)
  })
})
