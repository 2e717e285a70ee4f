import { afterEach, describe, expect, it, vi } from 'vitest'
import { Agent, type AgentEvent } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults, unansweredCalls } from '../../support/grammar.ts'
import { add, fastRetry, gate, seen, tool } from '../../support/play.ts'

const sum = { toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }
const failing = { fail: { code: 'api' as const, message: 'the service is down' } }

afterEach(() => void vi.useRealTimers())

describe('hooks that never settle', () => {
  it.each(['beforeLoop', 'beforeTurn', 'afterTurn', 'onError', 'beforeToolExecution', 'afterToolExecution'] as const)(
    'ends an aborted run immediately and aborts the signal of %s',
    async (name) => {
      const { opened, open } = gate()
      let signal: AbortSignal | undefined
      const hooks: LoopHooks = {
        [name]: (info: { signal?: AbortSignal }) => {
          signal = info.signal
          open()
          return new Promise(() => undefined)
        },
      }
      const agent = new Agent({ model: scripted([sum, failing]), tools: [add], hooks, retry: fastRetry })
      const events: AgentEvent[] = []
      agent.subscribe((event) => events.push(event))
      const run = agent.prompt('go')
      await opened
      run.abort()
      const { status } = await run.result
      // The model had failed for good when onError was called.
      expect(status).toBe('aborted')
      expect(grammarFaults(events)).toEqual([])
      expect(unansweredCalls(agent.messages)).toEqual([])
      if (signal !== undefined) expect(signal.aborted).toBe(true)
    },
  )

  it.each(['beforeToolExecutionUpdate', 'afterToolExecutionUpdate'] as const)(
    'ends an aborted run immediately despite a hanging %s',
    async (name) => {
      const { opened, open } = gate()
      const hooks: LoopHooks = {
        [name]: () => {
          open()
          return new Promise(() => undefined)
        },
      }
      const reporting = tool('add', (_, ctx) => {
        ctx.update({ content: [] })
        return 'sum 3'
      })
      const agent = new Agent({ model: scripted([sum, { text: 'never' }]), tools: [reporting], hooks })
      const run = agent.prompt('go')
      await opened
      run.abort()
      expect((await run.result).status).toBe('aborted')
      expect(unansweredCalls(agent.messages)).toEqual([])
    },
  )

  it('stops waiting for afterLoop within a second of an abort', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { opened, open } = gate()
    const controller = new AbortController()
    const hooks: LoopHooks = {
      afterLoop: () => {
        open()
        return new Promise(() => undefined)
      },
    }
    for (const stop of [(run: { abort(): void }) => run.abort(), () => controller.abort()]) {
      const agent = new Agent({ model: scripted([{ text: 'ok' }]), hooks })
      const run = agent.prompt('go', { signal: controller.signal })
      await opened
      await seen(run, 'agentEnd')
      stop(run)
      let isSettled = false
      void run.result.then(() => {
        isSettled = true
      })
      await vi.advanceTimersByTimeAsync(999)
      expect(isSettled).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect((await run.result).status).toBe('completed')
      expect(vi.getTimerCount()).toBe(0)
    }
  })
})
