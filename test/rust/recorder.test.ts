import { describe, expect, it } from 'vitest'
import { exploreBranches } from '../../src/agents.ts'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { type InputFilter, parallelLoop, pickFirst } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { EventRecorderOptions } from '../../src/rust/recorder/event-recorder.ts'
import { EventRecorder } from '../../src/rust.ts'
import { childrenOf, getLoop, parallelSiblings, rootLoops } from '../../src/session.ts'
import { answer, result, usageOf } from '../session/tree.ts'
import { add, approveWaiting, ofType, play, seen } from '../support/play.ts'
import { type Body, end, events, recorderOf, said, start, turnStart } from './loop-events.ts'

const toolScript = [{ toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'three' }]

const refuse: InputFilter = () => ({ type: 'reject', reason: 'not that' })

/** A recorder that has heard a run. */
async function recorded(script: Parameters<typeof play>[0], options: Parameters<typeof play>[1] = {}, kept: EventRecorderOptions = {}) {
  const played = await play(script, options)
  const recorder = new EventRecorder(kept)
  for (const event of played.events) recorder.accept(event)
  const session = recorder.getSession(played.agent.sessionId)
  const loop = session?.loops[0]
  if (session === undefined || loop === undefined) throw new Error('nothing was recorded')
  return { ...played, recorder, session, loop }
}

describe('EventRecorder loops', () => {
  it('records identity, configuration, usage, messages and events (session_recorder_single_loop)', async () => {
    const { agent, result: run, events: heard, session, loop } = await recorded([{ text: 'hi' }])
    expect(session).toMatchObject({
      sessionId: agent.sessionId,
      agentId: agent.agentId,
      scope: 'ephemeral',
      formation: { type: 'firstLoop' },
    })
    expect(loop).toMatchObject({ loopId: run.loopId, status: 'completed', continuationKind: { kind: 'initial' }, usage: run.usage })
    expect(loop.config).toMatchObject({ provider: 'scripted' })
    expect(loop.messages).toEqual(agent.messages)
    expect([session.createdAt, loop.startedAt, loop.endedAt]).toEqual([heard[0]?.at, heard[0]?.at, heard.at(-1)?.at])
    expect(loop.events.map(({ event }) => event)).toEqual(heard.filter((event) => event.type !== 'messageUpdate'))
  })

  it('records the prompts of one agent as one session tree (session_recorder_continuation)', async () => {
    const model = scripted([{ text: 'one' }, { text: 'two' }, { text: 'three' }])
    const agent = new Agent({ model })
    const recorder = new EventRecorder()
    agent.subscribe((event) => recorder.accept(event))
    const loops = [await agent.prompt('1').result, await agent.prompt('2').result, await agent.prompt('3').result].map((run) => run.loopId)
    const [session, ...others] = recorder.sessions()
    if (session === undefined) throw new Error('nothing was recorded')
    expect(others).toEqual([])
    expect(rootLoops(session).map((loop) => loop.loopId)).toEqual(loops.slice(0, 1))
    expect(session.loops.map((loop) => loop.parentLoopId)).toEqual([undefined, loops[0], loops[1]])
    expect(session.loops.map((loop) => loop.childrenLoopIds)).toEqual([[loops[1]], [loops[2]], []])
    expect(session.lastActiveAt).toBe(session.loops[2]?.startedAt)
  })

  it('records branches of a loop with tags (session_recorder_bidirectional_tree, session_recorder_continuation_kind)', async () => {
    const agent = new Agent({ model: scripted([{ text: 'root' }, { text: 'a' }, { text: 'b' }]) })
    const recorder = new EventRecorder()
    agent.subscribe((event) => recorder.accept(event))
    const root = await agent.prompt('go').result
    const branches = exploreBranches(agent, [
      { tag: 'left', prompt: 'left' },
      { tag: 'right', prompt: 'right' },
    ])
    for (const { run } of branches) for await (const event of run) recorder.accept(event)
    const session = recorder.getSession(agent.sessionId)
    const children = session === undefined ? [] : childrenOf(session, root.loopId)
    expect(children.map((loop) => loop.continuationKind)).toEqual([
      { kind: 'branch', tag: 'left' },
      { kind: 'branch', tag: 'right' },
    ])
    expect(getLoop(session ?? failed(), root.loopId)?.childrenLoopIds).toEqual(children.map((loop) => loop.loopId))
  })

  it('returns the running loop, and undefined after it ends (session_recorder_current_loop)', async () => {
    const recorder = new EventRecorder()
    const agent = new Agent({ model: scripted([{ text: 'hi' }]) })
    const current: (string | undefined)[] = []
    agent.subscribe((event) => {
      recorder.accept(event)
      current.push(recorder.currentLoop()?.loopId)
    })
    const { loopId } = await agent.prompt('go').result
    expect(new Set(current.slice(0, -1))).toEqual(new Set([loopId]))
    expect(current.at(-1)).toBeUndefined()
    const two = recorderOf(events('s', 's.c.1', [start()]), events('s', 's.c.2', [start()]))
    expect([two.currentLoop()?.loopId, two.currentLoop('s.c.1')?.loopId, two.currentLoop('none')]).toEqual(['s.c.2', 's.c.1', undefined])
  })

  it.each<[string, Parameters<typeof play>[0], Parameters<typeof play>[1], object]>([
    ['error', [{ fail: { code: 'auth', message: 'no' } }], {}, { error: { code: 'auth' } }],
    ['limit', [{ text: 'one' }], { limits: { maxTurns: 0, maxTotalTokens: 1, maxDurationMs: 1000 } }, {}],
    ['rejected', [{ text: 'one' }], { inputFilters: [refuse] }, { rejection: 'not that' }],
  ])('records the status %s and its cause', async (status, script, options, more) => {
    const { loop } = await recorded(script, options)
    expect(loop).toMatchObject({ status, ...more })
  })

  it('accepts loop ids without dots or with one dot (malformed_loop_id_handling)', () => {
    const recorder = recorderOf(events('s', 'plain', [start('nobody'), end]), events('s', 'one.dot', [start('plain'), end]))
    const [session] = recorder.sessions()
    expect(session?.loops.map((loop) => [loop.loopId, loop.parentLoopId])).toEqual([
      ['plain', 'nobody'],
      ['one.dot', 'plain'],
    ])
    expect(session?.loops[0]?.childrenLoopIds).toEqual(['one.dot'])
    expect(session?.parentSpawnRef).toBeUndefined()
  })

  it('ignores events of an unknown loop, but records a rejected loop of a known session', () => {
    const recorder = recorderOf(events('s', 'x', [turnStart, said(), end]))
    expect(recorder.sessions()).toEqual([])
    for (const event of events('s', 'a', [start(), end])) recorder.accept(event)
    const refused: Body<AgentEvent> = { type: 'agentEnd', status: 'rejected', messages: [], usage: usageOf(0), rejection: 'no' }
    for (const event of events('s', 'b', [refused])) recorder.accept(event)
    expect(recorder.getSession('s')?.loops.map(({ loopId, status, rejection }) => [loopId, status, rejection])).toEqual([
      ['a', 'completed', undefined],
      ['b', 'rejected', 'no'],
    ])
  })

  it('ignores a replayed event stream', async () => {
    const { recorder, session, events: heard } = await recorded(toolScript, { tools: [add] })
    const before = structuredClone(session)
    for (const event of heard) recorder.accept(event)
    expect(recorder.sessions()).toEqual([before])
  })
})

describe('EventRecorder events', () => {
  it('records deltas only if configured, and leaves sequence gaps otherwise (session_recorder_streaming_events)', async () => {
    const quiet = await recorded([{ text: 'many words come here' }])
    const loud = await recorded([{ text: 'many words come here' }], {}, { includeStreamingEvents: true })
    expect(quiet.loop.events.some(({ event }) => event.type === 'messageUpdate')).toBe(false)
    expect(loud.loop.events.map(({ event }) => event)).toEqual(loud.events)
    expect(loud.loop.events.map(({ sequence }) => sequence)).toEqual(loud.events.map((_, index) => index))
    const gaps = quiet.loop.events.filter(({ sequence }, index) => sequence !== index)
    expect(gaps.length).toBeGreaterThan(0)
    expect(quiet.loop.events.at(-1)?.sequence).toBe(quiet.events.length - 1)
  })

  it('captures requests in both turns and events, or in neither', async () => {
    const options = { captureTurnRequests: true, tools: [add] }
    const off = await recorded(toolScript, options)
    expect(ofType(off.events, 'turnRequest')).toHaveLength(2)
    expect(off.loop.events.map(({ event }) => event.type)).not.toContain('turnRequest')
    expect(off.loop.turns.some((turn) => 'requestPayload' in turn)).toBe(false)
    const on = await recorded(toolScript, options, { captureTurnRequests: true })
    const requests = ofType(on.events, 'turnRequest').map(({ request }) => request)
    expect(on.loop.turns.map((turn) => turn.requestPayload)).toEqual(requests)
    expect(on.loop.events.filter(({ event }) => event.type === 'turnRequest')).toHaveLength(2)
  })

  it('records compactions, prunes and reverts', () => {
    const bodies: Body<AgentEvent>[] = [
      { type: 'compactionStarted', estimatedTokens: 9, messageCount: 3 },
      {
        type: 'compactionEnded',
        messagesBefore: 3,
        messagesAfter: 1,
        estimatedTokensBefore: 9,
        estimatedTokensAfter: 1,
        loopsCompacted: 1,
      },
      { type: 'prunApplied', tokensRemoved: 5, messagesRemoved: 1, prunedMessageIds: ['m'] },
      { type: 'revertApplied', category: 'failure', target: 1, abandonedNodeIds: [2], applied: true },
    ]
    const [session] = recorderOf(events('s', 'a', [start(), ...bodies, end])).sessions()
    expect(session?.loops[0]?.events.map(({ event }) => event.type)).toEqual(['agentStart', ...bodies.map(({ type }) => type), 'agentEnd'])
  })

  it('records a long loop in linear time', () => {
    const updates: Body<AgentEvent>[] = Array.from({ length: 200_000 }, () => ({
      type: 'progressMessage',
      toolCallId: 'c',
      toolName: 't',
      text: '.',
    }))
    const [session] = recorderOf(events('s', 'a', [start(), ...updates, end])).sessions()
    expect(session?.loops[0]?.events).toHaveLength(200_002)
  })
})

describe('EventRecorder turns', () => {
  it('records a turn with index, trigger, input, output and times (turn_materialization_single_turn)', async () => {
    const { agent, loop, events: heard } = await recorded([{ text: 'hi' }])
    const [input, output] = agent.messages
    expect(loop.turns).toEqual([
      {
        turnId: { loopId: loop.loopId, turnIndex: 0 },
        triggeredBy: 'user',
        usage: ofType(heard, 'turnEnd')[0]?.usage,
        inputMessages: [input],
        outputMessage: output,
        toolResults: [],
        startedAt: ofType(heard, 'turnStart')[0]?.at,
        endedAt: ofType(heard, 'turnEnd')[0]?.at,
      },
    ])
  })

  it('records tool results separately from input (turn_materialization_multi_turn, tool_use_turn_has_continuation_trigger)', async () => {
    const { agent, loop } = await recorded(toolScript, { tools: [add] })
    const [prompt, call, sum, last] = agent.messages
    expect(
      loop.turns.map(({ triggeredBy, inputMessages, outputMessage, toolResults }) => ({
        triggeredBy,
        inputMessages,
        outputMessage,
        toolResults,
      })),
    ).toEqual([
      { triggeredBy: 'user', inputMessages: [prompt], outputMessage: call, toolResults: [sum] },
      { triggeredBy: 'continuation', inputMessages: [], outputMessage: last, toolResults: [] },
    ])
  })

  it('adds the turn id to tool results (turn_tool_results_carry_turn_id)', () => {
    const turnEnd: Body<AgentEvent> = {
      type: 'turnEnd',
      turnIndex: 0,
      message: llm(answer('x', ['c1'])),
      usage: usageOf(1),
      toolResults: [toolMessage(result('c1'))],
    }
    const [session] = recorderOf(events('s', 'a', [start(), turnStart, turnEnd, end])).sessions()
    expect(session?.loops[0]?.turns[0]?.toolResults).toEqual([{ ...result('c1'), turnId: { loopId: 'a', turnIndex: 0 } }])
    expect(session?.loops[0]?.turns[0]?.outputMessage).toEqual(answer('x', ['c1']))
  })

  it('records a turn that only runs approved calls, with results but no output', async () => {
    const model = scripted(toolScript)
    const asking = { ...add, needsApproval: true }
    const agent = new Agent({ model, tools: [asking], approvalTimeoutMs: 1 })
    const recorder = new EventRecorder()
    agent.subscribe((event) => recorder.accept(event))
    const paused = await agent.prompt('go').result
    expect(paused.status).toBe('paused')
    const run = agent.continueLoop()
    await seen(run, 'approvalRequested')
    approveWaiting(run)
    await run.result
    const loops = recorder.getSession(agent.sessionId)?.loops ?? []
    expect(loops.map((loop) => loop.status)).toEqual(['paused', 'completed'])
    const [resumed] = loops[1]?.turns ?? []
    expect(resumed?.outputMessage).toBeUndefined()
    expect(resumed?.toolResults).toMatchObject([{ toolCallId: 'c1' }])
  })

  it('discards unfinished turns (turn_aborted_loop_partial_turn_discarded, turn_agent_end_cleans_orphaned_partial_turn)', () => {
    const open = recorderOf(events('s', 'a', [start(), turnStart, said()]))
    open.flush()
    expect(open.sessions()[0]?.loops[0]?.turns).toEqual([])
    const orphaned = recorderOf(events('s', 'a', [start(), turnStart, said(), end]))
    expect(orphaned.sessions()[0]?.loops[0]?.turns).toEqual([])
  })
})

describe('EventRecorder parallel groups', () => {
  it('records the parallel group, the selected branch, and start and end events per branch (session_recorder_parallel_group)', async () => {
    const recorder = new EventRecorder()
    const statuses: unknown[] = []
    const emit = (event: AgentEvent): void => {
      recorder.accept(event)
      if (event.type === 'agentStart') statuses.push(recorder.getSession(event.sessionId)?.loops.map((loop) => loop.status))
    }
    const configs = [
      { model: scripted([{ text: 'left' }]), configId: 'l' },
      { model: scripted([{ text: 'right' }]), configId: 'r' },
    ]
    const context = { systemPrompt: '', messages: [], tools: [] }
    const outcome = await parallelLoop({
      prompt: 'go',
      context,
      configs,
      strategy: pickFirst,
      emit,
      signal: new AbortController().signal,
    })
    const [session = failed()] = recorder.sessions()
    expect(statuses[0]).toEqual(['running', 'pending'])
    const branches = parallelSiblings(session, outcome.selectedLoopId)
    expect(branches).toHaveLength(2)
    expect(branches.map((loop) => loop.parallelGroup?.isSelected)).toEqual([true, false])
    for (const { events: kept, parallelGroup } of branches) {
      expect(kept[0]?.event.type).toBe('parallelLoopStart')
      expect(kept.at(-1)?.event.type).toBe('parallelLoopEnd')
      expect(parallelGroup?.allLoopIds).toEqual(branches.map((loop) => loop.loopId))
    }
  })

  it('marks a branch that never started as rejected, or as interrupted on a flush', () => {
    const announced: Body<AgentEvent> = { type: 'parallelLoopStart', loopIds: ['a', 'b', 'c'] }
    const refused: Body<AgentEvent> = { type: 'agentEnd', status: 'rejected', messages: [], usage: usageOf(0), rejection: 'no' }
    const recorder = recorderOf(events('s', 'whole', [announced]), events('s', 'a', [start(), end]), events('s', 'b', [refused]))
    recorder.flush()
    expect(recorder.getSession('s')?.loops.map((loop) => loop.status)).toEqual(['completed', 'rejected', 'interrupted'])
  })
})

function failed(): never {
  throw new Error('nothing was recorded')
}

/** Both are what their names say; the type of a history entry is wider. */
function llm(message: ReturnType<typeof answer>) {
  return message.role === 'extension' ? failed() : message
}

function toolMessage(message: ReturnType<typeof result>) {
  return message.role === 'toolResult' ? message : failed()
}
