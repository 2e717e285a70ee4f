import { afterEach, describe, expect, it, vi } from 'vitest'
import { runClientTools } from '../../src/client.ts'
import { Agent, type InferTools, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { clientTool } from '../../src/tools.ts'

const circular: { self?: unknown } = {}
circular.self = circular

afterEach(() => vi.restoreAllMocks())

/** Runs one call of a tool of the page that may return anything; says what the model hears, and how often the tool ran. */
async function heard(run: () => unknown, more: { maxResultChars?: number } = {}) {
  const model = scripted([{ toolCalls: [{ name: 'save', arguments: {} }] }, { text: 'done' }])
  const save = clientTool({ name: 'save', description: 'Saves the page', parameters: { type: 'object' }, ...more })
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const agent = new Agent({ model, tools: [save] })
  let ran = 0
  const stop = runClientTools(agent, {
    save: () => {
      ran += 1
      return run() as string // may be anything here
    },
  })
  const { status } = await agent.prompt('go').result
  stop()
  const [result] = agent.messages.filter((message) => message.role === 'toolResult')
  expect([status, ran]).toEqual(['completed', 1])
  return {
    text: textOf(result?.content ?? []),
    isError: result?.isError,
    warnings: warn.mock.calls.map(([line]) => String(line).split(/[ .]/)[1]),
  }
}

describe('browser tool results', () => {
  it.each<[string, () => unknown, string]>([
    ['nothing', () => undefined, '(no output)'],
    ['a promise of nothing', async () => undefined, '(no output)'],
    ['null', () => null, 'null'],
    ['text content with flags', () => ({ content: 'text', endRun: true }), '{"content":"text","endRun":true}'],
    ['a file', () => ({ content: 'text', path: 'a' }), '{"content":"text","path":"a"}'],
  ])('reports success if the tool returns %s', async (_name, run, text) => {
    expect(await heard(run)).toEqual({ text, isError: false, warnings: [] })
  })

  it.each<[string, () => unknown, RegExp]>([
    ['a bigint', () => 1n, /a bigint/],
    ['a nested bigint', () => ({ n: 1n }), /BigInt/],
    ['a cyclic object', () => circular, /circular/],
    ['a response', () => new Response('x'), /Response/],
    ['a generator', () => (function* () {})(), /Generator/],
    ['a function', () => () => 1, /function/],
    ['a number that JSON cannot represent', () => Number.NaN, /NaN/],
    ['a browser File', () => new File(['x'], 'a.txt'), /File/],
  ])('reports success with a warning if the result is not serializable: %s', async (_name, run, why) => {
    const { text, isError, warnings } = await heard(run)
    expect([text, isError, warnings]).toEqual([expect.stringMatching(why), false, ['clientToolFailed']])
    expect(text).toMatch(/^The tool ran, but its result cannot be shown: /)
  })

  it.each<[string, () => unknown, RegExp]>([
    ['is longer than the tool allows', () => 'x'.repeat(400), /allows 300/],
    ['has an unsupported block', () => ({ content: [{ type: 'audio', data: '' }] }), /content\[0\]/],
    ['has too many blocks', () => ({ content: Array(21).fill({ type: 'a' }) }), /20 are allowed/],
  ])('reports success with a warning if the result is rejected because it %s', async (_name, run, why) => {
    const { text, isError, warnings } = await heard(run, { maxResultChars: 300 })
    expect([text, isError, warnings]).toEqual([expect.stringMatching(why), false, ['clientToolFailed']])
    expect(text).toMatch(/^The tool ran, but its result cannot be shown: /)
  })

  it.each([20, 8, 2])('reports success even if the result is limited to %d characters', async (maxResultChars) => {
    const { text, isError } = await heard(() => 'x'.repeat(100), { maxResultChars })
    expect([text, isError]).toEqual([maxResultChars === 20 ? 'The tool ran.' : '', false])
  })

  it('reports a failure if the tool throws', async () => {
    const failing = () => {
      throw new Error('no room')
    }
    expect(await heard(failing)).toEqual({ text: 'no room', isError: true, warnings: [] })
  })

  it('reports a failure with a short text if the error is too long', async () => {
    const failing = () => {
      throw new Error('x'.repeat(200))
    }
    expect(await heard(failing, { maxResultChars: 100 })).toEqual({ text: 'Failed.', isError: true, warnings: ['clientToolFailed'] })
  })
})

it('accepts handlers without a result, and types results by tool', () => {
  const agent = new Agent({ model: scripted([]) })
  const save = clientTool<{ text: string }, 'save', { saved: boolean }>({
    name: 'save',
    description: 'Saves',
    parameters: { type: 'object' },
  })
  runClientTools(agent, { save: () => {}, paint: async () => {} })()
  runClientTools<InferTools<[typeof save]>>(agent, { save: ({ text }) => ({ saved: text !== '' }) })()
  // @ts-expect-error It promises { saved }.
  runClientTools<InferTools<[typeof save]>>(agent, { save: () => {} })()
  expect(agent.messages).toEqual([])
})
