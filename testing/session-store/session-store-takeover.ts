import { Agent } from '../../src/agent/agent.ts'
import { resumeAgent } from '../../src/agent/resume-agent.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import type { AgentTool } from '../../src/types/tool/tool.ts'
import type { TestRunner } from '../test-runner.ts'
import { type SessionStoreSuiteOptions, storesOf } from './session-store-harness.ts'

/** Tests two agents in one session, which the later agent continues. */
export function takeoverByAgentTests({ it, expect }: TestRunner, options: SessionStoreSuiteOptions): void {
  it("lets an agent take over a busy session and ends the other agent's run with a conflict", async () => {
    const { store, other, written } = await storesOf(options)
    const work = steppedTool()
    const older = new Agent({ model: working('old', 3), tools: [work.tool], session: store, sessionId: 's1' })
    const ends = countEnds(older)
    const running = older.prompt('Work.')
    await Promise.race([work.begun(), running.result])
    await written()
    const newer = await resumeAgent(other, 's1', { model: working('new', 1), tools: [{ ...work.tool, execute: () => 'done' }] })
    // The new agent has not read records that are written from now on.
    work.finish()
    await Promise.race([work.begun(), running.result])
    await written()
    const { status, error, loopId } = await newer.prompt('Go on.').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    work.finish()
    work.finishAll()
    const result = await running.result
    const expected = store.promises.conflict === 'refused' ? ['error', 'journal', 'conflict'] : ['completed', undefined, undefined]
    expect([result.status, result.error?.code, result.error?.cause?.code]).toEqual(expected)
    expect(ends()).toBe(1)
    await Promise.all([older.close(), newer.close()])
    await written()
    const calls = newer.messages.flatMap((message) => (message.role === 'toolResult' ? [[message.toolCallId, message.isError]] : []))
    expect(calls).toEqual([
      ['old0', false],
      ['old1', true],
      ['new0', false],
    ])
    const again = await resumeAgent(other, 's1', { model: working('x', 0), loopId })
    expect(again.messages.map(({ id }) => id)).toEqual(newer.messages.map(({ id }) => id))
  })

  it('rejects a new agent for an existing session and lets the current writer continue', async () => {
    const { store, other, written } = await storesOf(options)
    const work = steppedTool()
    const older = new Agent({ model: working('old', 1), tools: [work.tool], session: store, sessionId: 's1' })
    const running = older.prompt('Work.')
    await Promise.race([work.begun(), running.result])
    await written()
    const { error } = await new Agent({ model: working('new', 0), session: other, sessionId: 's1' }).prompt('Mine.').result
    expect([error?.code, error?.cause?.code]).toEqual(['journal', 'conflict'])
    work.finish()
    expect((await running.result).status).toBe('completed')
    await older.close()
  })
}

/** Returns a model that calls `work` once per turn, `calls` times, and then responds. */
function working(name: string, calls: number) {
  const steps = Array.from({ length: calls }, (_, at) => ({ toolCalls: [{ id: `${name}${at}`, name: 'work', arguments: {} }] }))
  return scripted([...steps, { text: 'Done.' }])
}

/** Returns a tool whose calls run until they are released. */
function steppedTool() {
  let next = deferred()
  let finishing = deferred()
  let isFree = false
  const tool: AgentTool = {
    ...{ name: 'work', label: 'Work', description: 'Works.', parameters: { type: 'object' } },
    execute: async () => {
      next.resolve()
      if (!isFree) await finishing.promise
      return 'done'
    },
  }
  return {
    tool,
    /** Resolves when the next call has started. */
    begun: async () => {
      await next.promise
      next = deferred()
    },
    finish: () => {
      finishing.resolve()
      finishing = deferred()
    },
    finishAll: () => {
      isFree = true
    },
  }
}

function deferred() {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

function countEnds(agent: Agent): () => number {
  let ends = 0
  agent.subscribe(({ type }: AgentEvent) => {
    if (type === 'agentEnd') ends += 1
  })
  return () => ends
}
