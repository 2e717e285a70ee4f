import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import type { Session } from '../../src/contract/session/session.ts'
import { Agent, type AgentEvent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { user } from '../session/tree.ts'
import { play, seen, tool } from '../support/play.ts'
import { type Body, end, events, recorderOf, said, start, toolEnd, turnStart } from './loop-events.ts'

describe('EventRecorder with sub-agents', () => {
  const call: Body<AgentEvent> = { type: 'toolExecutionStart', toolCallId: 'c1', toolName: 'sub', args: {} }
  const parent = events('p', 'p.c.1', [start(), call])
  const child = events('k', 'k.sub.1', [start('p.c.1'), end])
  const finished = events('p', 'p.c.1', [toolEnd('k.sub.1'), end], 3)
  const spawn = { parentSessionId: 'p', parentLoopId: 'p.c.1', toolCallId: 'c1', toolName: 'sub' }
  const childRef = { toolCallId: 'c1', toolName: 'sub', childLoopId: 'k.sub.1', childSessionId: 'k' }
  const links = (recorder: EventRecorder) => [recorder.getSession('k')?.parentSpawnRef, recorder.getSession('p')?.loops[0]?.childLoopRefs]

  it('links a tool call and its child session (session_recorder_child_loop_ref)', () => {
    const recorder = recorderOf(parent, child, finished)
    expect(links(recorder)).toEqual([spawn, [childRef]])
    expect(recorder.getSession('p')?.loops[0]?.childrenLoopIds).toEqual([])
  })

  it("leaves the child session's tool call id empty until the call ends", () => {
    expect(links(recorderOf(parent, child))).toEqual([{ ...spawn, toolCallId: '', toolName: '' }, []])
  })

  it('links a tool call and its child session if the call ends first (session_recorder_child_loop_ref_tool_end_before_child_end)', () => {
    expect(links(recorderOf(parent, child.slice(0, 1), finished, child.slice(1)))).toEqual([spawn, [childRef]])
    expect(links(recorderOf(parent, finished, child))).toEqual([spawn, [childRef]])
  })

  it('fills in the child session when a child with a custom loop id starts', () => {
    const odd = events('k', 'odd', [start('p.c.1'), end])
    const recorder = recorderOf(parent, events('p', 'p.c.1', [toolEnd('odd')], 3))
    expect(links(recorder)[1]).toEqual([{ ...childRef, childLoopId: 'odd', childSessionId: '' }])
    for (const event of odd) recorder.accept(event)
    expect(links(recorder)).toEqual([spawn, [{ ...childRef, childLoopId: 'odd' }]])
  })

  it('links a tool call and its child session across a flush (session_recorder_spawn_ref_enrichment_after_flush)', () => {
    const recorder = recorderOf(parent, child)
    recorder.flush()
    for (const event of finished) recorder.accept(event)
    expect(links(recorder)).toEqual([spawn, [childRef]])
    expect(recorder.getSession('p')?.loops[0]?.status).toBe('completed')
  })

  it('builds the child session from forwarded events, without duplicates', () => {
    const inside = child.map((event): Body<AgentEvent> => ({ type: 'childEvent', toolCallId: 'c1', toolName: 'sub', event }))
    const recorder = recorderOf(parent, events('p', 'p.c.1', [...inside, toolEnd('k.sub.1'), end], 3))
    expect(links(recorder)).toEqual([spawn, [childRef]])
    expect(recorder.getSession('k')?.loops.map(({ status, events: kept }) => [status, kept.length])).toEqual([['completed', 2]])
    expect(recorder.getSession('p')?.loops[0]?.events.map(({ event }) => event.type)).not.toContain('childEvent')
  })

  it('builds the child session of a real sub-agent', async () => {
    const helper = new SubAgentTool({ name: 'helper', description: 'helps', model: scripted([{ text: 'done' }]), forward: 'events' })
    const script = [{ toolCalls: [{ id: 'c1', name: 'helper', arguments: { task: 'help' } }] }, { text: 'thanks' }]
    const { agent, events: heard } = await play(script, { tools: [helper] })
    const recorder = recorderOf(heard)
    const loop = recorder.getSession(agent.sessionId)?.loops[0]
    const ref = loop?.childLoopRefs[0]
    const theirs = recorder.getSession(ref?.childSessionId ?? '')
    expect(theirs?.parentSpawnRef).toEqual({
      parentSessionId: agent.sessionId,
      parentLoopId: loop?.loopId,
      toolCallId: 'c1',
      toolName: 'helper',
    })
    expect(theirs?.loops).toMatchObject([{ loopId: ref?.childLoopId, status: 'completed', turns: [{ triggeredBy: 'subAgent' }] }])
  })
})

describe('EventRecorder tasks, checkpoints, flush and drain', () => {
  const first = events('s', 's.c.1', [start(), turnStart, said()])

  it('calls beforeTask once per session, ignoring its result (before_task_fires_on_new_session, task_callbacks_not_fired_on_continuation, before_task_can_abort)', () => {
    const began: string[] = []
    const closed: string[] = []
    const recorder = new EventRecorder({
      beforeTask: ({ sessionId }) => began.push(sessionId) < 0,
      afterTask: ({ sessionId }) => closed.push(sessionId),
    })
    for (const event of [...first, ...events('s', 's.c.2', [start('s.c.1'), end]), ...events('t', 't.c.1', [start()])])
      recorder.accept(event)
    expect([began, closed]).toEqual([['s', 't'], []])
    expect(recorder.sessions().map(({ sessionId }) => sessionId)).toEqual(['s', 't'])
  })

  it('calls afterTask on a flush, and again only after new events (after_task_fires_on_flush)', () => {
    const closed: string[] = []
    const recorder = new EventRecorder({ afterTask: ({ loops }) => closed.push(loops.map((loop) => loop.status).join()) })
    for (const event of first) recorder.accept(event)
    recorder.flush()
    recorder.flush()
    for (const event of events('s', 's.c.2', [start('s.c.1'), end])) recorder.accept(event)
    recorder.flush()
    expect(closed).toEqual(['interrupted', 'interrupted,completed'])
  })

  it('marks an open loop as interrupted on a flush (session_recorder_flush_aborts_open_loop)', () => {
    const recorder = recorderOf(first)
    recorder.flush()
    expect(recorder.getSession('s')?.loops).toMatchObject([{ status: 'interrupted', endedAt: 1030, messages: [user('u')] }])
    expect(recorder.currentLoop()).toBeUndefined()
  })

  it('passes copies of changed sessions to onCheckpoint', () => {
    const told: Session[] = []
    const recorder = new EventRecorder({ onCheckpoint: (session) => told.push(session) })
    for (const event of first) recorder.accept(event)
    const [copy] = recorder.checkpoint()
    expect(told).toEqual([copy])
    expect(copy?.loops[0]).toMatchObject({ status: 'running', messages: [user('u')] })
    expect(recorder.checkpoint()).toEqual([])
    for (const event of [...events('s', 's.c.1', [end], 4), ...events('s', 's.c.2', [start('s.c.1'), end])]) recorder.accept(event)
    expect(recorder.sessions()).toHaveLength(1)
    const [later, ...others] = recorder.checkpoint()
    expect(others).toEqual([])
    expect(later?.loops.map((loop) => loop.status)).toEqual(['completed', 'completed'])
    expect(copy?.loops).toHaveLength(1)
  })

  it('drains the sessions that a flush closed', () => {
    const recorder = recorderOf(first)
    expect(recorder.drain()).toEqual([])
    recorder.flush()
    for (const event of events('t', 't.c.1', [start()])) recorder.accept(event)
    expect(recorder.drain().map(({ sessionId }) => sessionId)).toEqual(['s'])
    expect(recorder.sessions().map(({ sessionId }) => sessionId)).toEqual(['t'])
    expect(recorder.drain()).toEqual([])
  })

  it('records an error result for a tool that hangs after an abort', async () => {
    const recorder = new EventRecorder()
    const agent = new Agent({
      model: scripted([{ toolCalls: [{ id: 'c1', name: 'hang', arguments: {} }] }]),
      tools: [tool('hang', () => new Promise(() => undefined))],
    })
    agent.subscribe((event) => recorder.accept(event))
    const run = agent.prompt('go')
    await seen(run, 'toolExecutionStart')
    run.abort()
    await run.result
    expect(recorder.getSession(agent.sessionId)?.loops).toMatchObject([
      { status: 'aborted', turns: [{ toolResults: [{ isError: true }] }] },
    ])
  })
})
