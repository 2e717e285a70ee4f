import { describe, expect, it } from 'vitest'
import { type AgentEvent, memorySessionStore } from '../../src/index.ts'
import { type AgentContext, agentLoop, elaborate, llmJudge, parallelLoop, pickFirst } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../src/rust.ts'
import { exportSession, importSession } from '../../src/session.ts'
import { fixtureModel, ofType, wires } from '../harness/fixture-model.ts'
import { grammarFaults } from '../support/grammar.ts'

const blank = (): AgentContext => ({ systemPrompt: '', messages: [], tools: [] })
const { signal } = new AbortController()

describe('parallel loops', () => {
  it('runs every protocol in parallel with separate loop ids and selects one branch', async () => {
    const events: AgentEvent[] = []
    const configs = wires.map((wire) => ({ model: fixtureModel(wire, 'text').model }))
    const emit = (event: AgentEvent) => void events.push(event)
    const context = blank()
    const { result, selectedIndex, outcomes, selectedContext } = await parallelLoop({
      prompt: 'Say hello.',
      context,
      configs,
      strategy: elaborate,
      emit,
      signal,
    })
    expect([result.text, outcomes.length]).toEqual(['Hello, world.', wires.length - 1])
    expect(ofType(events, 'parallelLoopEnd')).toMatchObject([{ selectedConfigIndex: selectedIndex, selectedLoopId: result.loopId }])
    const loopIds = ofType(events, 'parallelLoopStart')[0]?.loopIds ?? []
    expect(new Set(loopIds).size).toBe(wires.length)
    for (const id of loopIds) expect(grammarFaults(events.filter(({ loopId }) => loopId === id))).toEqual([])
    const next = await agentLoop('And then?', selectedContext, { model: scripted([{ text: 'on' }]) }, { emit, signal })
    expect([next.text, selectedContext.messages.length, context.messages.length]).toEqual(['on', 4, 0])
  })

  it('selects a branch with a judge', async () => {
    const configs = ['first', 'second'].map((text) => ({ model: scripted([{ text }]) }))
    const strategy = llmJudge({ config: { model: scripted([{ text: '2' }]) } })
    const { result } = await parallelLoop({ prompt: 'Who?', context: blank(), configs, strategy, emit: () => undefined, signal })
    expect(result.text).toBe('second')
  })

  it('records the judge both in the journal and with EventRecorder', async () => {
    const store = memorySessionStore()
    const journal = store.journal()
    const recorder = new EventRecorder()
    const configs = ['first', 'second'].map((text) => ({ model: scripted([{ text }]), journal }))
    const strategy = llmJudge({ config: { model: scripted([{ text: '2: it is the later one.' }]) } })
    const emit = (event: AgentEvent) => recorder.accept(event)
    const context = { ...blank(), sessionId: 's' }
    const { reason, selectedLoopId } = await parallelLoop({ prompt: 'Who?', context, configs, strategy, emit, signal })
    await journal.close()
    expect(reason).toBe('2: it is the later one.')
    const text = await exportSession(store, 's')
    const other = memorySessionStore()
    await importSession(other, text)
    for (const session of [await other.load('s'), recorder.getSession('s')]) {
      const chosen = session?.loops.find(({ loopId }) => loopId === selectedLoopId)
      expect(chosen?.parallelGroup).toMatchObject({ isSelected: true, reason })
    }
  })

  it('aborts all branches on a signal', async () => {
    const controller = new AbortController()
    const hanging = wires.map((wire) => fixtureModel(wire, 'hang'))
    const emit = (event: AgentEvent) => {
      if (event.type === 'messageUpdate') controller.abort()
    }
    const configs = hanging.map(({ model }) => ({ model }))
    const options = { prompt: 'Say hello.', context: blank(), configs, strategy: pickFirst, emit, signal: controller.signal }
    expect((await parallelLoop(options)).result.status).toBe('aborted')
    for (const { idle } of hanging) await idle()
  })
})
