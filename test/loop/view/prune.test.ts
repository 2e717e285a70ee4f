import { describe, expect, it } from 'vitest'
import { exploreBranches, SubAgentTool } from '../../../src/agents.ts'
import { type AgentEvent, type AgentOptions, textOf } from '../../../src/index.ts'
import { type Script, type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamRequest } from '../../../src/providers.ts'
import type { Journal, JournalEntry } from '../../../src/session.ts'
import { prunTools } from '../../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { brokenPairs, longHistory, requestText, requestTokens, unfenced, words } from '../../support/long-history.ts'
import { ofType, outline, play, seen, tool } from '../../support/play.ts'

let looked = 0
/** Answers with 100 tokens and a number of its own. */
const look = tool('look', () => {
  looked += 1
  return words(`seen ${looked};`, 100)
})
const looking: ScriptedStep = { toolCalls: [{ name: 'look', arguments: {} }] }
const prun = (tokens: number): ScriptedStep => ({ toolCalls: [{ name: 'prun', arguments: { tokens } }] })
const withMemo = (tokens: number, memo: string): ScriptedStep => ({ toolCalls: [{ name: 'prun_with_memo', arguments: { tokens, memo } }] })
const done: ScriptedStep = { text: 'done' }

async function playPrunes(script: Script, options: Partial<AgentOptions> = {}) {
  looked = 0
  const played = await play(script, { tools: [look, ...prunTools()], ...options }, 'the prompt')
  expect(grammarFaults(played.events)).toEqual([])
  for (const request of played.model.provider.requests) expect(brokenPairs(request.messages)).toEqual([])
  return played
}

const roles = (request: StreamRequest | undefined) => request?.messages.map(({ role }) => role)

describe('prun', () => {
  it('removes whole call-result pairs, newest first, except in the current turn', async () => {
    const { agent, events, model } = await playPrunes([looking, looking, looking, prun(150), done])
    const [, , , before, after] = model.provider.requests
    expect(roles(before)).toHaveLength(7)
    const sent = requestText(after)
    expect(sent).toContain('seen 1;')
    expect(sent).not.toContain('seen 2;')
    expect(sent).not.toContain('seen 3;')
    expect(sent).toContain('Prun request recorded: 150 tokens will be removed before next turn.')
    expect(roles(after)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'toolResult'])
    const gone = agent.messages.slice(3, 7)
    expect(ofType(events, 'prunApplied')).toMatchObject([{ messagesRemoved: 4, prunedMessageIds: gone.map(({ id }) => id) }])
    const [applied] = ofType(events, 'prunApplied')
    expect(applied?.memo).toBeUndefined()
    expect(requestTokens(before) - requestTokens(after)).toBeGreaterThan(150)
    expect(applied?.tokensRemoved).toBeGreaterThanOrEqual(150)
  })

  it('removes the calls from all later requests but not from the history', async () => {
    const { agent, model } = await playPrunes([looking, prun(1), done, { text: 'again' }])
    await agent.prompt('and now?').result
    expect(unansweredCalls(agent.messages)).toEqual([])
    expect(JSON.stringify(agent.messages)).toContain('seen 1;')
    expect(requestText(model.provider.requests[2])).not.toContain('seen 1;')
    expect(requestText(model.provider.requests[3])).not.toContain('seen 1;')
    expect(requestText(model.provider.requests[3])).toContain('and now?')
  })

  it('emits prunApplied after the tool results, before turnEnd', async () => {
    const { events } = await playPrunes([looking, prun(1), done])
    const at = events.findIndex(({ type }) => type === 'prunApplied')
    expect(outline(events.slice(at - 1, at + 2))).toEqual(['messageEnd toolResult', 'prunApplied', 'turnEnd'])
  })

  it('keeps every user message, including steering', async () => {
    const { agent, model } = await playPrunes([done, looking, looking, prun(1_000_000), done])
    const run = agent.prompt('second prompt')
    await seen(run, 'toolExecutionStart')
    run.steer('steered words')
    await run.result
    const last = model.provider.requests.at(-1)
    for (const said of ['the prompt', 'second prompt', 'steered words']) expect(requestText(last)).toContain(said)
    expect(requestText(last)).not.toContain('done')
    expect(roles(last)).toEqual(['user', 'user', 'user', 'assistant', 'toolResult'])
  })

  it('logs nothingToPrune without an event if nothing can be removed', async () => {
    const logged: string[] = []
    const { events, result } = await playPrunes([prun(10), done], { logger: { warn: (event) => logged.push(event) } })
    expect(ofType(events, 'prunApplied')).toEqual([])
    expect(logged).toEqual(['nothingToPrune'])
    expect(result.status).toBe('completed')
  })

  it('returns an error to the model for zero tokens', async () => {
    const { events } = await playPrunes([looking, prun(0), done])
    expect(ofType(events, 'prunApplied')).toEqual([])
    expect(ofType(events, 'toolExecutionEnd').at(-1)).toMatchObject({ isError: true })
  })

  it("continues where the turn's first prune stopped", async () => {
    const both: ScriptedStep = { toolCalls: [...(prun(1).toolCalls ?? []), ...(withMemo(1, 'older').toolCalls ?? [])] }
    const { events, model } = await playPrunes([looking, looking, looking, both, done])
    expect(ofType(events, 'prunApplied').map(({ memo, messagesRemoved }) => [memo, messagesRemoved])).toEqual([
      [undefined, 2],
      ['older', 2],
    ])
    const sent = requestText(model.provider.requests.at(-1))
    expect(sent).toContain('seen 1;')
    expect(sent).toContain('[Pruned context summary: older]')
    expect(sent).not.toContain('seen 2;')
    expect(sent).not.toContain('seen 3;')
  })
})

describe('prun_with_memo', () => {
  it('inserts one memo at the earliest pruned message', async () => {
    const { events, model } = await playPrunes([looking, looking, looking, withMemo(150, 'It uses JWT.'), done])
    const last = model.provider.requests.at(-1)
    expect(roles(last)).toEqual(['user', 'assistant', 'toolResult', 'assistant', 'user', 'assistant', 'toolResult'])
    expect(unfenced(textOf(last?.messages[3]?.content ?? []))).toBe('[Pruned context summary: It uses JWT.]')
    expect(requestText(last).match(/Pruned context summary/g)).toHaveLength(1)
    expect(ofType(events, 'prunApplied')).toMatchObject([{ memo: 'It uses JWT.', messagesRemoved: 4 }])
  })

  it('reuses the same message objects in later requests', async () => {
    const { agent, model } = await playPrunes([looking, withMemo(1, 'note'), done, done])
    await agent.prompt('more').result
    const [, , third, fourth] = model.provider.requests
    third?.messages.forEach((message, at) => {
      expect(fourth?.messages[at]).toBe(message)
    })
  })
})

describe('prune and compaction', () => {
  const contextConfig = {
    maxContextTokens: 1000,
    systemPromptTokens: 0,
    compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 100 },
  }
  const compactions = (events: readonly AgentEvent[]) => ofType(events, 'compactionEnded').length

  it('avoids a compaction by pruning first', async () => {
    const script = [looking, looking, looking, prun(250), looking, looking, looking, looking, done]
    const without = script.map((step) => (step === script[3] ? looking : step))
    const pruned = await playPrunes(script, { contextConfig })
    const plain = await playPrunes(without, { contextConfig })
    expect([compactions(pruned.events), compactions(plain.events)]).toEqual([0, 1])
  })

  it('ignores usage reported before the prune', async () => {
    const pruneAndLook: ScriptedStep = { toolCalls: [...(prun(250).toolCalls ?? []), ...(looking.toolCalls ?? [])] }
    const steps = [looking, looking, looking, pruneAndLook, looking, done]
    // The service counts 430 tokens more than we estimate.
    const counting: Script = (request, turn) => ({ ...(steps[turn] ?? done), usage: { input: requestTokens(request) + 430 } })
    const { events } = await playPrunes(counting, { contextConfig })
    expect(ofType(events, 'prunApplied')).toHaveLength(1)
    expect(compactions(events)).toBe(0)
  })

  it('removes pruned calls and keeps memos after a compaction', async () => {
    const script = [looking, looking, withMemo(150, 'learnt'), looking, looking, looking, looking, looking, looking, looking, done]
    const { events, model } = await playPrunes(script, { contextConfig: { ...contextConfig, compaction: { keepRecentTurns: 2 } } })
    expect(compactions(events)).toBeGreaterThan(0)
    const last = model.provider.requests.at(-1)
    expect(requestTokens(last)).toBeLessThan(850)
    expect(requestText(last)).not.toContain('seen 1;')
    expect(requestText(last)).not.toContain('seen 2;')
    expect(requestText(last)).toContain('learnt')
  })

  it('does not prune messages that a compaction kept', async () => {
    const { events, model } = await playPrunes([prun(100_000), done], { messages: longHistory(20, 100), contextConfig })
    expect(compactions(events)).toBe(1)
    expect(ofType(events, 'prunApplied')).toEqual([])
    expect(requestText(model.provider.requests[1])).toContain('answer old-19;')
  })
})

describe('prune in other loops', () => {
  it('changes only the context of the sub-agent that prunes', async () => {
    const model = scripted([looking, prun(1), { text: 'found' }])
    const helper = new SubAgentTool({ name: 'helper', description: 'helps', model, tools: [look, ...prunTools()] })
    const asking: ScriptedStep = { toolCalls: [{ name: 'helper', arguments: { task: 'look' } }] }
    const { agent, events, model: parent } = await playPrunes([looking, asking, done], { tools: [look, helper] })
    expect(requestText(model.provider.requests[2])).not.toContain('seen')
    expect(requestText(parent.provider.requests[2])).toContain('seen 1;')
    expect(ofType(events, 'prunApplied')).toEqual([])
    expect(agent.checkpoint().state).toEqual({})
  })

  it('changes only the branch that prunes', async () => {
    const { agent } = await playPrunes([looking, done])
    const specs = [
      { tag: 'prunes', prompt: 'go', model: scripted([prun(1000), done]) },
      { tag: 'does not', prompt: 'go', model: scripted([looking, done]) },
    ]
    const branches = exploreBranches(agent, specs)
    await Promise.all(branches.map(({ run }) => run.result))
    const sent = specs.map(({ model }) => requestText(model.provider.requests.at(-1)).includes('seen 1;'))
    expect(sent).toEqual([false, true])
    expect(agent.checkpoint().state).toEqual({})
  })
})

describe('prune and journal', () => {
  it('records the prune with message ids before the next request', async () => {
    const entries: JournalEntry[] = []
    const journal: Journal = { append: async ({ entry }) => void entries.push(entry) }
    const script = [looking, prun(1), done]
    const before: string[][] = []
    const { agent } = await playPrunes(
      (_, turn) => {
        before.push(entries.map(({ type }) => type))
        return script[turn] ?? done
      },
      { journal },
    )
    expect(before[2]?.slice(-2)).toEqual(['prune', 'turnStart'])
    const record = entries.flatMap((entry) => (entry.type === 'prune' ? [entry.record] : []))[0]
    expect(record?.messageIds).toEqual(agent.messages.slice(1, 3).map(({ id }) => id))
    expect(agent.checkpoint().state.prunes).toEqual([record])
  })

  it('ends the run if recording the prune fails, but keeps the results', async () => {
    const journal: Journal = {
      append: async ({ entry }) => {
        if (entry.type === 'prune') throw new Error('disk full')
      },
    }
    const { agent, events, model, result } = await playPrunes([looking, prun(1), done], { journal })
    expect(result).toMatchObject({ status: 'error', error: { code: 'journal' } })
    expect(model.provider.requests).toHaveLength(2)
    expect(ofType(events, 'prunApplied')).toEqual([])
    expect(unansweredCalls(agent.messages)).toEqual([])
    expect(agent.checkpoint().state).toEqual({})
  })
})

describe('changeContext', () => {
  it('accepts changes from any tool until the tool call ends', async () => {
    let late: (() => void) | undefined
    const custom = tool('custom', (_, ctx) => {
      late = () => ctx.changeContext({ type: 'prune', tokens: 1 })
      ctx.changeContext({ type: 'prune', tokens: 1, memo: 'mine' })
      return 'ok'
    })
    const afterwards = tool('afterwards', () => {
      late?.()
      return 'ok'
    })
    const script = [
      looking,
      { toolCalls: [{ name: 'custom', arguments: {} }] },
      { toolCalls: [{ name: 'afterwards', arguments: {} }] },
      done,
    ]
    const { events } = await playPrunes(script, { tools: [look, custom, afterwards] })
    expect(ofType(events, 'prunApplied').map(({ memo }) => memo)).toEqual(['mine'])
  })
})
