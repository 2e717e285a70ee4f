import { describe, expect, it } from 'vitest'
import { isLlmMessage } from '../../../src/context.ts'
import type { RevertCategory } from '../../../src/contract/context/context-change.ts'
import { type AgentOptions, textOf } from '../../../src/index.ts'
import type { Script, ScriptedStep } from '../../../src/providers/scripted/index.ts'
import type { StreamRequest } from '../../../src/providers.ts'
import { type Journal, type JournalEntry, parseSnapshot } from '../../../src/session.ts'
import { prunTools, revertTool } from '../../../src/tools.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { brokenPairs, longHistory, requestText, requestTokens, unfenced, words } from '../../support/long-history.ts'
import { ofType, outline, play, seen, tool } from '../../support/play.ts'

const looking: ScriptedStep = { toolCalls: [{ name: 'look', arguments: {} }] }
const done: ScriptedStep = { text: 'done' }

function revertCall(step: string, summary?: string, category = 'failure') {
  return { name: 'revert_to_state', arguments: { category, step, ...(summary !== undefined && { summary }) } }
}

const revert = (...args: Parameters<typeof revertCall>): ScriptedStep => ({ toolCalls: [revertCall(...args)] })

async function playReverts(script: Script, options: Partial<AgentOptions> = {}) {
  let looked = 0
  const look = tool('look', () => {
    looked += 1
    return words(`seen ${looked};`, 100)
  })
  const played = await play(script, { tools: [look, revertTool(), ...prunTools()], ...options }, 'the prompt')
  expect(grammarFaults(played.events)).toEqual([])
  expect(unansweredCalls(played.agent.messages)).toEqual([])
  for (const request of played.model.provider.requests) expect(brokenPairs(request.messages)).toEqual([])
  return played
}

/** The texts of each message of a request. */
const texts = (request: StreamRequest | undefined) => request?.messages.map(({ content }) => unfenced(textOf(content)))

describe('node ids', () => {
  it('appears in requests on prompts, results, steering and follow-ups', async () => {
    const { agent, model } = await playReverts([looking, done, done])
    const run = agent.prompt('second')
    run.followUp('third')
    await run.result
    const last = model.provider.requests.at(-1)
    expect(texts(last)?.map((words) => words.slice(0, 12))).toEqual([
      '[n0]the prom',
      '',
      '[n2]seen 1; ',
      'done',
      '[n4]second',
      'done',
      '[n6]third',
    ])
    expect(agent.messages.map((message) => isLlmMessage(message) && [message.nodeId, message.parentId])).toEqual([
      [0, undefined],
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
      [5, 4],
      [6, 5],
      [7, 6],
    ])
  })

  it('does not appear in the history and keeps prefix objects identical', async () => {
    const { agent, model } = await playReverts([looking, looking, done])
    expect(JSON.stringify(agent.messages)).not.toContain('[n')
    const [, second, third] = model.provider.requests
    second?.messages.forEach((message, at) => {
      expect(third?.messages[at]).toBe(message)
    })
  })

  it('continues after the highest id in another process', async () => {
    const { agent } = await playReverts([looking, done])
    const { agent: other, model } = await playReverts([done])
    other.restore(parseSnapshot(JSON.stringify(agent.checkpoint())))
    await other.prompt('here').result
    expect(requestText(model.provider.requests.at(-1))).toContain('[n4]')
    expect(other.messages.at(-1)).toMatchObject({ nodeId: 5, parentId: 4 })
  })

  it('requires the revert tool (opt_in_guarantee_without_with_revert_tool)', async () => {
    const { agent, model } = await playReverts([looking, done], { tools: [tool('look', () => 'seen')] })
    expect(agent.messages.some((message) => 'nodeId' in message || 'parentId' in message)).toBe(false)
    for (const request of model.provider.requests) expect(requestText(request)).not.toContain('[n')
  })
})

describe('revert', () => {
  it('cuts the request at the target, appends the lesson and continues', async () => {
    const { agent, events, model } = await playReverts([looking, looking, revert('n2', 'Port 80 is taken.'), looking, done])
    const request = model.provider.requests[3]
    expect(texts(request)?.map((each) => each.slice(0, 12))).toEqual(['[n0]the prom', '', '[n2]seen 1; '])
    expect(texts(request)?.at(-1)).toMatch(/\[lesson\] Port 80 is taken\.$/)
    expect(request?.messages.at(-1)?.content.at(-1)).toEqual({
      type: 'text',
      text: expect.stringMatching(/^<<(\w{8}) \[lesson\] Port 80 is taken\. \1>>$/),
    })
    expect(ofType(events, 'revertApplied')).toMatchObject([
      { category: 'failure', target: 2, abandonedNodeIds: [3, 4, 5, 6], summary: 'Port 80 is taken.', applied: true },
    ])
    const after = model.provider.requests[4]
    expect(texts(after)?.map((each) => each.slice(0, 12))).toEqual(['[n0]the prom', '', '[n2]seen 1; ', '', '[n8]seen 3; '])
    // What follows descends from the target (apply_revert_success_moves_pointer_attaches_tag_emits_event).
    expect(agent.messages[7]).toMatchObject({ role: 'assistant', nodeId: 7, parentId: 2 })
  })

  it('keeps the whole history, without tags or labels', async () => {
    const { agent } = await playReverts([looking, looking, revert('n2', 'Port 80 is taken.'), done])
    expect(agent.messages.map(({ role }) => role)).toEqual([
      'user',
      ...['assistant', 'toolResult', 'assistant', 'toolResult', 'assistant', 'toolResult', 'assistant'],
    ])
    expect(agent.messages.every((message) => !('tags' in message))).toBe(true)
    expect(agent.checkpoint().state.reverts).toMatchObject([
      { targetNodeId: 2, abandonedNodeIds: [3, 4, 5, 6], tag: { kind: 'lesson', createdAtTurn: 3, abandonedNodeIds: [3, 4, 5, 6] } },
    ])
  })

  it('reverts to the prompt itself as the target', async () => {
    const { model } = await playReverts([looking, revert('[n0]', 'Nothing there.'), done])
    expect(texts(model.provider.requests[2])).toEqual(['[n0]the prompt[lesson] Nothing there.'])
  })

  it.each([
    ['failure', 'failure', 'lesson'],
    ['tangent', 'tangent', 'finding'],
    ['completion', 'completion', 'outcome'],
    ['step-summary', 'stepSummary', 'checkpoint'],
  ] as [string, RevertCategory, string][])('reports category %s as %s and adds a %s tag', async (word, category, kind) => {
    const { events, model } = await playReverts([looking, revert('0', 'text', word), done])
    expect(ofType(events, 'revertApplied')).toMatchObject([{ category, applied: true }])
    expect(requestText(model.provider.requests[2])).toContain(`[${kind}] text`)
  })

  it('adds an empty tag without a summary (apply_revert_summary_none_attaches_empty_text_tag)', async () => {
    const { agent, events, model } = await playReverts([looking, revert('n0', undefined, 'step-summary'), done])
    expect(ofType(events, 'revertApplied')[0]?.summary).toBeUndefined()
    expect(agent.checkpoint().state.reverts?.[0]?.tag).toMatchObject({ kind: 'checkpoint', text: '' })
    expect(texts(model.provider.requests[2])).toEqual(['[n0]the prompt[checkpoint]'])
  })

  it('emits revertApplied after the tool results, before turnEnd', async () => {
    const { events } = await playReverts([looking, revert('n0'), done])
    const at = events.findIndex(({ type }) => type === 'revertApplied')
    expect(outline(events.slice(at - 1, at + 2))).toEqual(['messageEnd toolResult', 'revertApplied', 'turnEnd'])
  })

  it('applies to later prompts, with the oldest tag of a target first', async () => {
    const { agent, model } = await playReverts([looking, revert('n0', 'first'), looking, revert('n0', 'second'), done, done])
    await agent.prompt('more').result
    expect(texts(model.provider.requests.at(-1))).toEqual(['[n0]the prompt[lesson] first[lesson] second', 'done', '[n10]more'])
  })

  it('applies reverts of a session in another process', async () => {
    const { agent } = await playReverts([looking, revert('n0', 'learnt'), done])
    const { agent: other, model } = await playReverts([done])
    other.restore(parseSnapshot(JSON.stringify(agent.checkpoint())))
    await other.prompt('here').result
    expect(texts(model.provider.requests.at(-1))).toEqual(['[n0]the prompt[lesson] learnt', 'done', '[n6]here'])
    expect(other.messages.at(-2)).toMatchObject({ nodeId: 6, parentId: 5 })
  })
})

describe('a refused revert', () => {
  it.each([
    ['does not exist (apply_revert_unknown_target_is_rejected)', 'n99', 'revert target n99 not found in message history'],
    ['was abandoned', 'n4', 'revert refused: n4 was abandoned by an earlier revert'],
  ])('reports that the target %s and changes nothing', async (_, step, reason) => {
    const { agent, events, model } = await playReverts([looking, looking, revert('n2', 'x'), revert(step, 'y'), done])
    expect(ofType(events, 'revertApplied').map(({ applied, reason: why }) => [applied, why])).toEqual([
      [true, undefined],
      [false, reason],
    ])
    expect(agent.checkpoint().state.reverts).toHaveLength(1)
    const last = requestText(model.provider.requests.at(-1))
    expect(last).toContain('the revert was refused')
    expect(last).not.toContain('[lesson] y')
  })

  it('rejects a revert across a user message (apply_revert_refuses_when_span_contains_user_message)', async () => {
    const { agent, events, model } = await playReverts([looking, done, looking, revert('n2', 'x'), done])
    const run = agent.prompt('changed my mind')
    const later: typeof events = []
    run.subscribe((event) => later.push(event))
    await run.result
    expect(ofType(later, 'revertApplied')).toMatchObject([{ target: 2, applied: false, abandonedNodeIds: [], summary: 'x' }])
    expect(ofType(later, 'revertApplied')[0]?.reason).toMatch(/user message/)
    expect(requestText(model.provider.requests.at(-1))).toContain('changed my mind')
    expect(requestText(model.provider.requests.at(-1))).toContain('seen 1;')
  })

  it('rejects a revert if the user steered during the run', async () => {
    const { agent, model } = await playReverts([done, looking, looking, revert('n3', 'x'), done])
    const run = agent.prompt('start')
    await seen(run, 'toolExecutionStart')
    run.steer('mind the gap')
    const events = []
    for await (const event of run) events.push(event)
    expect(ofType(events, 'revertApplied')).toMatchObject([{ applied: false }])
    expect(requestText(model.provider.requests.at(-1))).toContain('mind the gap')
  })

  it('rejects a revert to a compacted node', async () => {
    const contextConfig = {
      maxContextTokens: 1000,
      systemPromptTokens: 0,
      compaction: { keepFirstTurns: 0, keepRecentTurns: 2, maxSummaryTokens: 100 },
    }
    const script = [...Array<ScriptedStep>(9).fill(looking), revert('n2', 'x'), done]
    const { events } = await playReverts(script, { contextConfig })
    expect(ofType(events, 'compactionEnded').length).toBeGreaterThan(0)
    expect(ofType(events, 'revertApplied')).toMatchObject([{ applied: false, reason: expect.stringContaining('compacted') }])
  })
})

describe('tag decay', () => {
  const young = revertTool({ windowTurns: 2, keepCount: 0 })
  const look = tool('look', () => 'seen')

  it('removes lessons from requests after the configured number of turns', async () => {
    const script = [looking, revert('n0', 'old news'), looking, looking, looking, looking, done]
    const { agent, model } = await playReverts(script, { tools: [look, young] })
    const shown = model.provider.requests.map((request) => requestText(request).includes('[lesson] old news'))
    expect(shown).toEqual([false, false, true, true, true, false, false])
    expect(agent.checkpoint().state.reverts?.[0]?.tag.text).toBe('old news')
  })

  it('removes old lessons in later runs but keeps outcomes (revert_render_policy_strips_old_lesson_tags_from_llm_prompt)', async () => {
    const script = [looking, revert('n0', 'the lesson'), looking, revert('n0', 'the outcome', 'completion'), done]
    const { agent, model } = await playReverts([...script, done, done, done], { tools: [look, young] })
    for (const said of ['one', 'two', 'three']) await agent.prompt(said).result
    const shown = model.provider.requests.slice(2).map((request) => requestText(request).includes('[lesson]'))
    expect(shown).toEqual([true, true, true, false, false, false])
    expect(requestText(model.provider.requests.at(-1))).toContain('[outcome] the outcome')
  })

  it('keeps the newest tag of each kind regardless of age', async () => {
    const keepOne = revertTool({ windowTurns: 0, keepCount: 1 })
    const script = [looking, revert('n0', 'first'), looking, revert('n0', 'second'), looking, looking, done]
    const { model } = await playReverts(script, { tools: [look, keepOne] })
    const last = requestText(model.provider.requests.at(-1))
    expect(last).toContain('[lesson] second')
    expect(last).not.toContain('[lesson] first')
  })
})

describe('revert with prune and compaction', () => {
  it('applies a prune before a revert in the same turn', async () => {
    const both: ScriptedStep = {
      toolCalls: [revertCall('n4', 'kept'), { name: 'prun_with_memo', arguments: { tokens: 1, memo: 'gone' } }],
    }
    const { events, model } = await playReverts([looking, looking, looking, both, done])
    expect(events.map(({ type }) => type).filter((type) => type === 'prunApplied' || type === 'revertApplied')).toEqual([
      'prunApplied',
      'revertApplied',
    ])
    const last = requestText(model.provider.requests.at(-1))
    expect(last).toContain('seen 2;')
    expect(last).not.toContain('seen 3;')
    expect(last).toContain('[lesson] kept')
  })

  it('omits pruned calls after a revert', async () => {
    const { model } = await playReverts([
      looking,
      looking,
      { toolCalls: [{ name: 'prun', arguments: { tokens: 1 } }] },
      revert('n2', 'back'),
      done,
    ])
    const last = requestText(model.provider.requests.at(-1))
    expect(last).toContain('seen 1;')
    expect(last).not.toContain('seen 2;')
    expect(last).toContain('[lesson] back')
  })

  it('omits abandoned nodes from a compaction but keeps the tag', async () => {
    const contextConfig = {
      maxContextTokens: 1000,
      systemPromptTokens: 0,
      compaction: { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 100 },
    }
    const script = [looking, looking, revert('n2', 'Port 80 is taken.'), ...Array<ScriptedStep>(10).fill(looking), done]
    const { events, model } = await playReverts(script, { contextConfig })
    expect(ofType(events, 'compactionEnded').length).toBeGreaterThan(0)
    const last = model.provider.requests.at(-1)
    expect(requestTokens(last)).toBeLessThan(850)
    expect(requestText(last)).not.toContain('seen 2;')
    expect(requestText(last)).toContain('[lesson] Port 80 is taken.')
    expect(requestText(last)).toContain('the prompt')
  })

  it('reverts within the turns that a compaction kept', async () => {
    const contextConfig = {
      maxContextTokens: 1000,
      systemPromptTokens: 0,
      compaction: { keepFirstTurns: 1, keepRecentTurns: 3, maxSummaryTokens: 100 },
    }
    const { events, model } = await playReverts([looking, looking, revert('n2', 'learnt'), done], {
      messages: longHistory(20, 100),
      contextConfig,
    })
    expect(ofType(events, 'compactionEnded')).toHaveLength(1)
    expect(ofType(events, 'revertApplied')).toMatchObject([{ applied: true }])
    const last = requestText(model.provider.requests.at(-1))
    expect(last).toContain('answer old-0;')
    expect(last).toContain('answer old-19;')
    expect(last).not.toContain('answer old-9;')
    expect(last).toContain('[lesson] learnt')
    expect(last).not.toContain('seen 2;')
  })
})

describe('revert and journal', () => {
  it('records the revert before the next request', async () => {
    const entries: JournalEntry[] = []
    const journal: Journal = { append: async ({ entry }) => void entries.push(entry) }
    const script = [looking, revert('n0', 'x'), done]
    const before: string[][] = []
    const answer: Script = (_, turn) => {
      before.push(entries.map(({ type }) => type))
      return script[turn] ?? done
    }
    const { agent } = await playReverts(answer, { journal })
    expect(before[2]?.slice(-2)).toEqual(['revert', 'turnStart'])
    expect(entries.flatMap((entry) => (entry.type === 'revert' ? [entry.record] : []))).toEqual(agent.checkpoint().state.reverts)
    // Stored messages have their numbers: a store can rebuild the tree.
    const stored = entries.flatMap((entry) => ('message' in entry ? [entry.message] : []))
    expect(stored).toEqual(agent.messages)
  })

  it('ends the run if recording the revert fails', async () => {
    const journal: Journal = {
      append: async ({ entry }) => {
        if (entry.type === 'revert') throw new Error('disk full')
      },
    }
    const { agent, events, result } = await playReverts([looking, revert('n0', 'x'), done], { journal })
    expect(result).toMatchObject({ status: 'error', error: { code: 'journal' } })
    expect(ofType(events, 'revertApplied')).toEqual([])
    expect(agent.checkpoint().state).toEqual({})
  })
})
