import { describe, expect, it } from 'vitest'
import type { AgentEvent, ToolContext, ToolResult } from '../../src/index.ts'
import { grammarFaults } from '../support/grammar.ts'
import { ofType, play, tool } from '../support/play.ts'

const circular: { self?: unknown } = {}
circular.self = circular

/** Runs one call of a tool that may return and report anything. */
async function run(execute: (ctx: ToolContext) => unknown) {
  const odd = tool('t', (_, ctx) => execute(ctx) as ToolResult)
  const played = await play([{ toolCalls: [{ name: 't', arguments: {} }] }, { text: 'ok' }], { tools: [odd] })
  expect(played.result.status).toBe('completed')
  expect(grammarFaults(played.events)).toEqual([])
  expect(isPlain(played.events)).toBe(true)
  const [end] = ofType(played.events, 'toolExecutionEnd')
  return { ...played, ended: end?.result, message: played.agent.messages[2] }
}

/** Whether `events` survive both JSON and `structuredClone` unchanged. */
function isPlain(events: readonly AgentEvent[]): boolean {
  return JSON.stringify(structuredClone(events)) === JSON.stringify(events)
}

const words = { type: 'text', text: 'x' }
const notAResult = /^Tool t returned .+ instead of a string or \{ content: \[\.\.\.\] \}\.$/
const notJson = /^Tool t returned a value that is not JSON: /

describe('a result that is none', () => {
  it.each<[string, unknown, RegExp]>([
    ['null', null, notAResult],
    ['an array', [words], notAResult],
    ['content that is no list', { content: 'x' }, notAResult],
    ['a block of another type', { content: [{ type: 'audio', data: '' }] }, notAResult],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    ['a hole between blocks', { content: [, words] }, notAResult],
    ['circular details', { content: [], details: circular }, notJson],
    ['a bigint in the details', { content: [], details: { n: 1n } }, notJson],
    ['a function as details', { content: [], details: () => 1 }, notJson],
    [
      'a member that throws',
      {
        get content() {
          throw new Error('trap')
        },
      },
      notJson,
    ],
  ])('%s: the model is told', async (_, returned, expected) => {
    const { ended } = await run(() => returned)
    expect(ended).toMatchObject({ isError: true, content: [{ type: 'text', text: expect.stringMatching(expected) }] })
  })
})

describe('a result', () => {
  it('becomes plain JSON: what does not belong to it is left out', async () => {
    const details = { at: new Date(0), f: () => 1, kept: [1, null] }
    const returned = { content: [{ ...words, f: () => 1 }], details, isError: 'yes', childLoopId: circular, extra: circular }
    const { ended, message } = await run(() => returned)
    expect(ended).toEqual({ content: [words], details: { at: '1970-01-01T00:00:00.000Z', kept: [1, null] } })
    expect(message).toMatchObject({ content: [words], isError: false })
  })

  it('cannot be changed by the tool that keeps it', async () => {
    const kept = { content: [{ type: 'text', text: 'first' }], details: { n: 1 } }
    const { ended, message } = await run(() => kept)
    kept.content.push({ type: 'text', text: 'more' })
    kept.content[0] = { type: 'text', text: 'other' }
    kept.details.n = 2
    expect(ended).toEqual({ content: [{ type: 'text', text: 'first' }], details: { n: 1 } })
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'first' }] })
  })
})

describe('update and progress', () => {
  it('never throw, and make plain events of anything', async () => {
    const trap = {
      get content() {
        throw new Error('trap')
      },
    }
    const odd: unknown[] = [undefined, null, 42, 'text', circular, trap, { content: [], details: 1n }, Object.create(null), Symbol('s')]
    const { events, ended } = await run((ctx) => {
      for (const value of odd) ctx.update(value as ToolResult)
      for (const value of odd) ctx.progress(value as string)
      return 'done'
    })
    expect(ended).toEqual({ content: [{ type: 'text', text: 'done' }] })
    expect(ofType(events, 'toolExecutionUpdate')).toHaveLength(odd.length)
    expect(ofType(events, 'progressMessage').map((event) => typeof event.text)).toEqual(odd.map(() => 'string'))
  })

  it('report what was true when they were called', async () => {
    const growing: ToolResult = { content: [{ type: 'text', text: '1' }], details: { n: 1 } }
    const { events } = await run((ctx) => {
      ctx.update(growing)
      growing.content.push({ type: 'text', text: '2' })
      growing.details = { n: 2 }
      ctx.update(growing)
      return growing
    })
    expect(ofType(events, 'toolExecutionUpdate').map((event) => [event.partialResult.content.length, event.partialResult.details])).toEqual(
      [
        [1, { n: 1 }],
        [2, { n: 2 }],
      ],
    )
  })

  it('work when they are passed on as callbacks', async () => {
    const { events } = await run(({ update, progress }) => {
      update({ content: [] })
      progress('p')
      return 'done'
    })
    expect([ofType(events, 'toolExecutionUpdate').length, ofType(events, 'progressMessage').length]).toEqual([1, 1])
  })
})
