import { describe, expect, it } from 'vitest'
import { text } from '../../../src/contract/message/message.ts'
import { type AgentEvent, type JsonObject, type ToolContext, textOf } from '../../../src/index.ts'
import type { LoopHooks } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { gate, ofType } from '../../support/play.ts'
import { call, hooked, start, tasks } from '../../support/tool-hooks.ts'

describe('update hooks', () => {
  const updating = (count: number, then: () => Promise<string> | string = () => 'ok') => ({
    execute: (_: JsonObject, ctx: ToolContext) => {
      for (let n = 1; n <= count; n += 1) ctx.update({ content: [text(`${n}`)] })
      return then()
    },
  })
  const shown = (events: AgentEvent[]) => ofType(events, 'toolExecutionUpdate').map((event) => textOf(event.partialResult.content))

  it('runs before and after each of three updates (async_update_hooks_fire_through_sync_bridge)', async () => {
    const fired: string[] = []
    const { events } = await hooked(
      {
        beforeToolExecutionUpdate: async ({ partialResult }) => void fired.push(`before ${textOf(partialResult.content)}`),
        afterToolExecutionUpdate: async ({ partialResult }) => fired.push(`after ${textOf(partialResult.content)}`),
      },
      updating(3),
    )
    expect(fired).toEqual(['before 1', 'after 1', 'before 2', 'after 2', 'before 3', 'after 3'])
    expect(shown(events)).toEqual(['1', '2', '3'])
  })

  it.each<[string, LoopHooks['beforeToolExecutionUpdate']]>([
    ['false', async () => false],
    ['an error', () => Promise.reject(new Error('x'))],
  ])('suppresses an update and skips its after hook: %s', async (_, before) => {
    const after: string[] = []
    const { events, results: told } = await hooked(
      {
        beforeToolExecutionUpdate: (info) => (textOf(info.partialResult.content) === '2' ? before?.(info) : true),
        afterToolExecutionUpdate: ({ partialResult }) => after.push(textOf(partialResult.content)),
      },
      updating(3),
    )
    expect(shown(events)).toEqual(['1', '3'])
    expect(after).toEqual(['1', '3'])
    expect(told).toEqual(['ok'])
  })

  it('runs in order and finishes before the call ends, even if it fails', async () => {
    for (const outcome of ['ok', 'failed']) {
      const then = () => (outcome === 'ok' ? outcome : Promise.reject(new Error(outcome)))
      let running = 0
      const atEnd: number[] = []
      const { events, results: told } = await hooked(
        {
          beforeToolExecutionUpdate: async ({ partialResult }) => {
            running += 1
            await tasks(4 - Number(textOf(partialResult.content)))
          },
          afterToolExecutionUpdate: async () => {
            await tasks(1)
            running -= 1
          },
        },
        { ...updating(3, then), onEvent: (event) => event.type === 'toolExecutionEnd' && atEnd.push(running) },
      )
      expect(shown(events)).toEqual(['1', '2', '3'])
      expect(atEnd).toEqual([0])
      expect(told).toEqual([outcome])
    }
  })

  it('does not delay the end of a timed-out or aborted tool', async () => {
    for (const how of ['timeout', 'abort'] as const) {
      const { opened, open } = gate()
      const released = gate()
      const after: string[] = []
      const before: string[] = []
      const { run, events } = start(
        {
          beforeToolExecutionUpdate: ({ partialResult }) => {
            before.push(textOf(partialResult.content))
            open()
            return released.opened.then(() => true)
          },
          afterToolExecutionUpdate: ({ partialResult }) => after.push(textOf(partialResult.content)),
        },
        { ...updating(2, () => new Promise<string>(() => undefined)), ...(how === 'timeout' && { toolTimeoutMs: 1 }) },
      )
      await opened
      if (how === 'abort') run.abort()
      await run.result
      released.open()
      await tasks()
      expect(shown(events)).toEqual([])
      expect(before).toEqual(['1'])
      expect(after).toEqual([])
      expect(grammarFaults(events)).toEqual([])
    }
  })

  it('does not block a later call with the same id when one hangs', async () => {
    let updates = 0
    const model = scripted([{ toolCalls: [call('same')] }, { toolCalls: [call('same')] }, { text: 'done' }])
    const { events, result } = await hooked(
      { beforeToolExecutionUpdate: () => (++updates === 1 ? new Promise<boolean>(() => undefined) : true) },
      { model, toolTimeoutMs: 20, ...updating(1) },
    )
    expect(result.status).toBe('completed')
    expect(shown(events)).toEqual(['1'])
  })

  it('receives a copy, so later mutations of an update have no effect', async () => {
    const { events } = await hooked(
      { beforeToolExecutionUpdate: () => tasks(2).then(() => true) },
      {
        execute: (_, ctx) => {
          const block = text('first')
          ctx.update({ content: [block] })
          block.text = 'changed'
          return 'ok'
        },
      },
    )
    expect(shown(events)).toEqual(['first'])
  })
})
