import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { sessionFromSpec, sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from '../../src/rust.ts'
import { recordsOf, sessionOf, snapshotOf } from '../../src/session.ts'
import { log, session, usageOf } from '../session/tree.ts'
import { canonical } from './arbitrary.ts'
import { crateEvents, loopsIn } from './arbitrary-session.ts'

/** A file with every variant, as the crate writes it. */
const fixture = readFileSync(new URL('../fixtures/spec-json/session.json', import.meta.url), 'utf8')

describe('a session file of the crate', () => {
  const read = sessionFromSpecJson(fixture)

  it('contains every event type, status and continuation kind', () => {
    const kinds = new Set(read.loops.flatMap((record) => record.events.map(({ event }) => event.type.toLowerCase())))
    expect(kinds).toEqual(new Set(crateEvents.map((type) => type.toLowerCase())))
    expect(new Set(read.loops.map((record) => record.status))).toEqual(
      new Set(['completed', 'rejected', 'interrupted', 'running', 'pending']),
    )
    expect(new Set(read.loops.map((record) => record.continuationKind.kind))).toEqual(
      new Set(['initial', 'branch', 'rerun', 'default', 'compaction']),
    )
  })

  it('survives a round trip with unknown keys and nanoseconds (session_save_load_roundtrip, turn_serde_roundtrip)', () => {
    expect(canonical(sessionToSpec(read))).toBe(canonical(JSON.parse(fixture)))
    expect(canonical(JSON.parse(sessionToSpecJson(sessionFromSpecJson(sessionToSpecJson(read)))))).toBe(canonical(JSON.parse(fixture)))
  })

  it('survives a round trip through the session log', () => {
    expect(canonical(sessionToSpec(sessionOf(log(recordsOf(read)), 's')))).toBe(canonical(JSON.parse(fixture)))
  })

  it('converts a crate session to a native session', () => {
    expect(read).toMatchObject({ sessionId: 's', agentId: 'a', scope: 'persistent', createdAt: Date.UTC(2026, 3, 5, 6, 7, 8, 123) })
    expect(read.formation).toMatchObject({ type: 'inactivityTimeout', thresholdSecs: 1800, at: Date.UTC(2026, 3, 5, 6, 7, 8, 120) })
    expect(read.formation).not.toHaveProperty('previousSessionId')
    expect(read.parentSpawnRef).toMatchObject({ parentSessionId: 'p', parentLoopId: 'p.c.1', toolCallId: '', toolName: '' })
    const [first, left, right] = read.loops
    expect(first).toMatchObject({
      loopId: 's.main.1',
      status: 'completed',
      endedAt: Date.UTC(2026, 3, 5, 6, 7, 8, 987),
      childrenLoopIds: ['s.b.1', 's.b.2'],
    })
    expect(first?.childLoopRefs).toMatchObject([{ toolCallId: 'c1', toolName: 'look', childLoopId: 'k.sub.1', childSessionId: 'k' }])
    expect(left).toMatchObject({
      continuationKind: { kind: 'branch', tag: 'one' },
      parallelGroup: { isSelected: false, selectedConfigIndex: 1 },
    })
    expect(right).toMatchObject({
      continuationKind: { kind: 'rerun', tag: 'two' },
      parallelGroup: { isSelected: true, evaluationUsage: usageOf(3) },
    })
    expect(first?.turns[0]?.requestPayload).toMatchObject({
      modelId: 'm',
      thinkingLevel: 'minimal',
      provider: 'p',
      api: 'anthropicMessages',
    })
  })

  it('assigns a message the same id in every place and at every read', () => {
    const [first] = read.loops
    expect(first?.messages.map(({ id }) => id)).toEqual([
      's.main.1#0',
      's.main.1#1',
      's.main.1#2',
      's.main.1#3',
      's.main.1#4',
      's.main.1#5',
    ])
    expect(first?.turns.map(({ outputMessage }) => outputMessage?.id)).toEqual(['s.main.1#1', 's.main.1#4', 's.main.1#5'])
    expect(first?.turns[0]?.toolResults.map(({ id }) => id)).toEqual(['s.main.1#2'])
    expect(sessionFromSpecJson(fixture)).toEqual(read)
    expect(fixture).not.toContain('"id": "s.')
  })

  it('restores a crate session into an agent that continues it', async () => {
    const agent = new Agent({ model: scripted([{ text: 'and on' }]) })
    agent.restore(snapshotOf(log(recordsOf(read)), { sessionId: 's', loopId: 's.d.1' }))
    const run = await agent.prompt('more').result
    expect(run.status).toBe('completed')
    expect(agent.messages.map(({ id }) => id).slice(0, 4)).toEqual(['s.d.1#0', 's.d.1#1', 's.d.1#2', 's.d.1#3'])
  })
})

describe('session files of older versions', () => {
  const old = { session_id: 's', agent_id: 'a', created_at: '2025-01-01T00:00:00Z', last_active_at: '2025-01-01T00:00:00Z' }
  const header = { ...old, formation: { Explicit: { timestamp: '2025-01-01T00:00:00Z' } } }
  const required = { loop_id: 'l', session_id: 's', agent_id: 'a', started_at: '2025-01-01T00:00:00Z', status: 'Completed', messages: [] }
  const bare = { ...required, usage: { input: 1, output: 2 }, events: [], children_loop_ids: [], child_loop_refs: [] }

  it('reads a missing scope as ephemeral (session_new_fields_backward_compat, session_scope_serde_roundtrip)', () => {
    expect(sessionFromSpec({ ...header, loops: [] })).toMatchObject({ scope: 'ephemeral', formation: { type: 'explicit' } })
    for (const scope of ['ephemeral', 'persistent'] as const) {
      expect(sessionFromSpec({ ...header, loops: [], scope }).scope).toBe(scope)
      expect(sessionToSpec(session([], { scope })).scope).toBe(scope)
    }
  })

  it('reads missing fields as empty, and writes them (loop_record_backward_compat_no_turns)', () => {
    const [read] = sessionFromSpec({ ...header, loops: [{ ...bare, continuation_kind: null }] }).loops
    expect(read).toMatchObject({ turns: [], continuationKind: { kind: 'initial' }, usage: { input: 1, output: 2, reasoning: 0 } })
    expect(loopsIn(sessionToSpec(sessionFromSpec({ ...header, loops: [bare] })))[0]).toMatchObject({
      continuation_kind: 'Initial',
      turns: [],
      ended_at: null,
      config: null,
      parent_loop_id: null,
    })
  })

  it('reads FollowUp as continuation and writes Continuation (turn_trigger_followup_deserializes_as_continuation, turn_trigger_continuation_serializes_as_continuation)', () => {
    const moments = { started_at: old.created_at, ended_at: old.created_at }
    const made = {
      turn_id: { loopId: 'l', turnIndex: 0 },
      usage: bare.usage,
      input_messages: [],
      output_message: { role: 'user', content: [], timestamp: 1 },
      tool_results: [],
    }
    const read = sessionFromSpec({ ...header, loops: [{ ...bare, turns: [{ ...made, ...moments, triggered_by: 'FollowUp' }] }] })
    expect(read.loops[0]?.turns[0]?.triggeredBy).toBe('continuation')
    expect(loopsIn(sessionToSpec(read))[0]?.turns).toMatchObject([{ triggered_by: 'Continuation' }])
  })

  it.each([
    ['session.created_at', { ...header, loops: [], created_at: '2025-01-01 00:00:00' }, 'RFC 3339 time'],
    ['session.created_at', { ...header, loops: [], created_at: '2025-02-30T00:00:00Z' }, 'RFC 3339 time'],
    ['session.formation', { ...header, loops: [], formation: 'FirstLoop' }, '{FirstLoop}'],
    ['session.scope', { ...header, loops: [], scope: 'Persistent' }, 'ephemeral|persistent'],
    ['session.loops', header, 'array'],
    ['session.loops[1].status', { ...header, loops: [bare, { ...bare, status: 'Done' }] }, 'Pending|Running'],
    ['session.loops[0].usage.input', { ...header, loops: [{ ...bare, usage: { input: -1, output: 0 } }] }, 'integer from 0'],
    ['session.loops[0].loop_id', { ...header, loops: [{ ...bare, loop_id: 7 }] }, 'string'],
    [
      'session.loops[0].messages[0].role',
      { ...header, loops: [{ ...bare, messages: [{ role: 'system', content: [], timestamp: 1 }] }] },
      'user|assistant',
    ],
    ['session.loops[0].config.api', { ...header, loops: [{ ...bare, config: { api: 'openai_completions' } }] }, 'open_ai_completions'],
    [
      'session.loops[0].events[0].event.type',
      { ...header, loops: [{ ...bare, events: [{ sequence: 0, event: { type: 'New', loop_id: 'l' } }] }] },
      'an event',
    ],
    [
      'session.loops[0].events[0].event.turn_index',
      { ...header, loops: [{ ...bare, events: [{ sequence: 0, event: { type: 'TurnStart', loop_id: 'l', triggered_by: 'User' } }] }] },
      'number',
    ],
    [
      'session.loops[0].events[0].event.timestamp',
      {
        ...header,
        loops: [{ ...bare, events: [{ sequence: 0, event: { type: 'InputRejected', loop_id: 'l', reason: 'r', timestamp: 'now' } }] }],
      },
      'RFC 3339 time',
    ],
  ])('rejects the same files as the crate: %s', (path, json, expected) => {
    const refused = expect.objectContaining({ code: 'invalidSession', message: expect.stringContaining(`${path}: expected `) })
    expect(() => sessionFromSpec(json)).toThrow(refused)
    expect(() => sessionFromSpec(json)).toThrow(expected)
  })

  it('rejects invalid JSON without quoting it', () => {
    expect(() => sessionFromSpecJson('{"secret')).toThrow(
      expect.objectContaining({ code: 'invalidSession', message: 'session: not valid JSON (8 characters)' }),
    )
  })
})

describe('session timestamps', () => {
  it.each([
    ['2026-04-05T06:07:08Z', '2026-04-05T06:07:08Z', 0],
    ['2026-04-05T06:07:08.1Z', '2026-04-05T06:07:08.100Z', 100],
    ['2026-04-05T06:07:08.000400Z', '2026-04-05T06:07:08.000400Z', 0],
    ['2026-04-05T06:07:08.999999999Z', '2026-04-05T06:07:08.999999999Z', 999],
    ['2026-04-05T08:07:08.5+02:00', '2026-04-05T06:07:08.500Z', 500],
    ['2026-04-05t01:37:08-04:30', '2026-04-05T06:07:08Z', 0],
  ])('writes %s as %s', (text, expected, ms) => {
    const spec = { ...sessionToSpec(session([])), created_at: text }
    const read = sessionFromSpec(spec)
    expect(read.createdAt).toBe(Date.UTC(2026, 3, 5, 6, 7, 8, ms))
    expect(sessionToSpec(read).created_at).toBe(expected)
  })

  it('writes a changed time in place of the one that was read', () => {
    const read = sessionFromSpec({ ...sessionToSpec(session([])), last_active_at: '2026-04-05T06:07:08.000000001Z' })
    expect(sessionToSpec({ ...read, lastActiveAt: 1500 }).last_active_at).toBe('1970-01-01T00:00:01.500Z')
  })
})
