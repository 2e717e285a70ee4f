import { describe, expect, it, vi } from 'vitest'
import { emptyUsage } from '../../../src/contract/model/usage.ts'
import {
  type AgentEvent,
  type Logger,
  type ToolContext,
  ToolError,
  type ToolErrorCode,
  type ToolResult,
  textOf,
} from '../../../src/index.ts'
import { WorkspaceError } from '../../../src/tools.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { ofType, play, tool } from '../../support/play.ts'

const circular: { self?: unknown } = {}
circular.self = circular

/** Runs one call of a tool that may return and report anything. */
async function run(execute: (ctx: ToolContext) => unknown, logger?: Logger | false) {
  const odd = tool('t', (_, ctx) => execute(ctx) as ToolResult)
  const played = await play([{ toolCalls: [{ name: 't', arguments: {} }] }, { text: 'ok' }], {
    tools: [odd],
    ...(logger !== undefined && { logger }),
  })
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

const rates = { inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 1, cacheWritePerMillion: 1 }
const words = { type: 'text', text: 'x' }
const cannotBeShown = (why: RegExp) => new RegExp(`^The tool ran, but its result cannot be shown: ${why.source}`)

describe('a result that JSON cannot represent', () => {
  class Trap {
    toJSON(): never {
      throw new Error('no JSON today')
    }
  }
  it.each<[string, unknown, RegExp]>([
    ['a number outside JSON', Number.NaN, /it is NaN/],
    ['a function', () => 1, /it is a function/],
    ['a symbol', Symbol('s'), /it is a symbol/],
    ['a bigint', 1n, /it is a bigint/],
    ['a nested bigint', { n: 1n }, /.*BigInt/],
    ['a map', new Map([['a', 1]]), /it is Map/],
    ['a set', new Set([1]), /it is Set/],
    ['an error', new Error('returned, not thrown'), /it is Error/],
    ['bytes', new Uint8Array(2), /it is Uint8Array/],
    ['a blob', new Blob(['x']), /it is Blob/],
    ['a response', new Response('x'), /it is Response/],
    ['a stream', new ReadableStream(), /it is ReadableStream/],
    ['a generator', (function* () {})(), /it is Generator/],
    ['a circular list', [circular], /.*circular/],
    ['a throwing toJSON', new Trap(), /no JSON today/],
    ['a nested toJSON that throws', { deep: [new Trap()] }, /no JSON today/],
    ['a toJSON that returns undefined', { toJSON: () => undefined }, /its JSON is empty/],
    ['a block of an unknown type', { content: [{ type: 'audio', data: '' }] }, /content\[0\] /],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
    ['a hole between blocks', { content: [, words] }, /content\[0\] /],
    ['an image with invalid bytes', { content: [{ type: 'image', mimeType: 'image/png', data: btoa('%PDF-1.7') }] }, /content\[0\] /],
    ['a file without bytes', { content: [{ type: 'file', mimeType: 'application/pdf' }] }, /content\[0\] /],
    [
      'a throwing getter',
      {
        get content() {
          throw new Error('trap')
        },
      },
      /trap/,
    ],
    [
      'a throwing then',
      {
        // biome-ignore lint/suspicious/noThenProperty: it is what is tested
        get then() {
          throw new Error('trap')
        },
      },
      /trap/,
    ],
  ])('succeeds with a note and a warning: %s', async (_, returned, why) => {
    const logger = { warn: vi.fn() }
    const { ended, message } = await run(() => returned, logger)
    expect(ended?.content).toEqual([{ type: 'text', text: expect.stringMatching(cannotBeShown(why)) }])
    expect(message).toMatchObject({ isError: false })
    expect(logger.warn.mock.calls.map(([event]) => event)).toEqual(['toolResult'])
  })

  it("keeps the result's flags", async () => {
    const content = [{ type: 'audio' }]
    expect((await run(() => ({ content, isError: true, endRun: true }), false)).ended).toMatchObject({ isError: true, endRun: true })
  })

  it.each([circular, { n: 1n }, () => 1])('omits non-JSON details and logs a warning', async (details) => {
    const logger = { warn: vi.fn() }
    const { ended } = await run(() => ({ content: [words], details }), logger)
    expect(ended).toEqual({ content: [words] })
    expect(logger.warn).toHaveBeenCalledTimes(1)
  })

  it('logs to the console by default', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    await run(() => new WeakMap(), undefined)
    expect(warn.mock.calls.map(([line]) => String(line))).toEqual([expect.stringContaining('it is WeakMap')])
    warn.mockRestore()
  })
})

describe('a tool that returns nothing', () => {
  it.each([
    ['undefined', () => undefined],
    ['a promise of undefined', async () => {}],
  ])('succeeds with "(no output)" for %s', async (_, execute) => {
    const logger = { warn: vi.fn() }
    const { ended, message } = await run(execute, logger)
    expect(ended).toEqual({ content: [{ type: 'text', text: '(no output)' }] })
    expect(message).toMatchObject({ isError: false })
    expect(logger.warn).not.toHaveBeenCalled()
  })
})

describe('an object with a string content', () => {
  it('becomes a ToolResult if all its keys are ToolResult fields', async () => {
    const { ended, message } = await run(() => ({ content: 'text', endRun: true, details: { a: 1 } }))
    expect(ended).toEqual({ content: [{ type: 'text', text: 'text' }], endRun: true, details: { a: 1 } })
    expect(message).toMatchObject({ endRun: true })
  })

  it('becomes an error with isError', async () => {
    expect((await run(() => ({ content: 'no', isError: true }))).message).toMatchObject({ isError: true })
  })

  it.each([
    [{ content: 'text', path: 'a.txt' }, 0],
    [{ content: 'text', path: 'a.txt', endRun: true }, 1],
    [{ ok: true, isError: true }, 1],
    [{ ok: true, isError: false }, 0],
  ])('becomes plain JSON with other keys and warns about ineffective flags: %j', async (returned, warnings) => {
    const logger = { warn: vi.fn() }
    const { ended, message } = await run(() => returned, logger)
    expect(ended).toEqual({ content: [{ type: 'text', text: JSON.stringify(returned) }], details: returned })
    expect(message).toMatchObject({ isError: false })
    expect(logger.warn).toHaveBeenCalledTimes(warnings)
  })
})

it('applies the same rules to a result from a hook', async () => {
  const odd = tool('t', () => 'x')
  const results: unknown[] = [undefined, new Map(), { content: 'text' }]
  const turns = results.map(() => ({ toolCalls: [{ name: 't', arguments: {} }] }))
  const { agent } = await play([...turns, { text: 'ok' }], {
    tools: [odd],
    logger: false,
    hooks: { afterToolExecution: () => ({ result: results.shift() as ToolResult }) },
  })
  const told = agent.messages.flatMap((each) => (each.role === 'toolResult' ? [[textOf(each.content), each.isError]] : []))
  expect(told).toEqual([
    ['(no output)', false],
    ['The tool ran, but its result cannot be shown: it is Map, which JSON cannot represent.', false],
    ['text', false],
  ])
})

it("stores a result's files and citations unchanged in the history", async () => {
  const file = { type: 'file', mimeType: 'application/pdf', data: btoa('%PDF-1.7'), name: 'a.pdf' }
  const quote = { type: 'text', text: 'x', citations: [{ url: 'https://example.org/' }] }
  const { message } = await run(() => ({ content: [file, { ...quote, own: 1 }] }))
  expect(message).toMatchObject({ content: [file, quote] })
})

describe('a JSON value', () => {
  it.each<[unknown, string]>([
    [null, 'null'],
    [42, '42'],
    [0, '0'],
    [false, 'false'],
    [[1, 'two', { three: null }], '[1,"two",{"three":null}]'],
    [[], '[]'],
    [{ rain: true, days: [1, 2] }, '{"rain":true,"days":[1,2]}'],
    [{ content: 'of a page', title: 'A page' }, '{"content":"of a page","title":"A page"}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ])('converts %j to text and details', async (returned, expected) => {
    for (const value of [returned, Promise.resolve(returned)]) {
      const { ended, message } = await run(() => value)
      expect(ended).toEqual({ content: [{ type: 'text', text: expected }], details: JSON.parse(expected) })
      expect(message).toMatchObject({ isError: false, content: [{ type: 'text', text: expected }] })
    }
  })

  it('copies the value, so later mutations leave the history unchanged', async () => {
    const kept = { list: [1] }
    const { ended } = await run(() => kept)
    kept.list.push(2)
    expect(ended?.details).toEqual({ list: [1] })
  })

  it('accepts empty text and partial results', async () => {
    expect((await run(() => '')).ended).toEqual({ content: [{ type: 'text', text: '' }] })
    const { events } = await run((ctx) => {
      ctx.update({ share: 0.5 } as unknown as ToolResult)
      return 'done'
    })
    expect(ofType(events, 'toolExecutionUpdate')[0]?.partialResult.details).toEqual({ share: 0.5 })
  })
})

describe('errors thrown by a tool', () => {
  const told = async (thrown: unknown) => textOf((await run(() => Promise.reject(thrown))).ended?.content ?? [])

  it.each<[string, unknown, string]>([
    ['an error', new Error('disk on fire'), 'disk on fire'],
    ['an error without a message', new Error(''), 'Error'],
    ['another error without a message', new TypeError(''), 'TypeError'],
    ['an error with a cause but no message', new Error('', { cause: new Error('disk on fire') }), 'Error: disk on fire'],
    ['an object with a message', { message: 'disk on fire', code: 5 }, 'disk on fire'],
    ['an object without a message', { code: 5 }, '{"code":5}'],
    ['text', 'disk on fire', 'disk on fire'],
    ['empty text', '', 'an error without a message'],
    ['undefined', undefined, 'undefined'],
    ['a circular object', circular, 'an error that cannot be shown as text'],
  ])('sends the model the error of a tool that threw %s', async (_, thrown, expected) => {
    expect(await told(thrown)).toBe(expected)
  })

  it.each<[ToolErrorCode, string, string]>([
    ['failed', 'disk on fire', 'disk on fire'],
    ['timeout', 'Command timed out after 3s', 'Command timed out after 3s'],
    ['invalidArguments', "missing 'path'", "Invalid arguments: missing 'path'"],
    ['invalidArguments', "Invalid arguments: missing 'path'", "Invalid arguments: missing 'path'"],
    ['invalidArguments', '', 'Invalid arguments'],
    ['notFound', 'weather', 'Tool not found: weather'],
    ['notFound', 'Tool not found: weather', 'Tool not found: weather'],
    ['notFound', 'Directory not found: src. Check the path and try again.', 'Directory not found: src. Check the path and try again.'],
    ['cancelled', 'Cancelled', 'Cancelled'],
    ['cancelled', '', 'Cancelled'],
    ['cancelled', 'the disk was full', 'Cancelled: the disk was full'],
  ])('formats a ToolError %s %j as specified', async (code, message, expected) => {
    expect(await told(new ToolError(code, message))).toBe(expected)
  })

  it('reports a missing file without calling the tool missing', async () => {
    const cause = new WorkspaceError('notFound', '"a" does not exist in the workspace.')
    expect(await told(new ToolError('notFound', `Cannot read a: ${cause.message}`, { cause }))).toMatch(
      /^Cannot read a: "a" does not exist/,
    )
  })
})

describe('a ToolResult', () => {
  it('becomes plain JSON without unknown members', async () => {
    const details = { at: new Date(0), f: () => 1, kept: [1, null] }
    const returned = { content: [{ ...words, f: () => 1 }], details, isError: 'yes', childLoopId: circular, extra: circular }
    const { ended, message } = await run(() => returned)
    expect(ended).toEqual({ content: [words], details: { at: '1970-01-01T00:00:00.000Z', kept: [1, null] } })
    expect(message).toMatchObject({ content: [words], isError: false })
  })

  it('ignores later mutations by the tool', async () => {
    const kept = { content: [{ type: 'text', text: 'first' }], details: { n: 1 } }
    const { ended, message } = await run(() => kept)
    kept.content.push({ type: 'text', text: 'more' })
    kept.content[0] = { type: 'text', text: 'other' }
    kept.details.n = 2
    expect(ended).toEqual({ content: [{ type: 'text', text: 'first' }], details: { n: 1 } })
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'first' }] })
  })
})

describe('ctx.update and ctx.progress', () => {
  it('accepts any value without throwing and emits plain events', async () => {
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

  it.each<[string, (ctx: ToolContext) => void, RegExp]>([
    ['childEvent without an event', (ctx) => ctx.childEvent(undefined as never), /ctx\.childEvent does not accept undefined/],
    [
      'childEvent with an incomplete event',
      (ctx) => ctx.childEvent({ type: 'turnEnd' } as never),
      /ctx\.childEvent does not accept \{"type":"turnEnd"\}/,
    ],
    [
      'childEvent without an inner event',
      (ctx) => ctx.childEvent({ type: 'childEvent', runId: 'r', loopId: 'l', sessionId: 's', seq: 1, at: 1 } as never),
      /ctx\.childEvent does not accept/,
    ],
    ['changeContext without a change', (ctx) => ctx.changeContext(null as never), /ctx\.changeContext does not accept null/],
    ['a prune of NaN tokens', (ctx) => ctx.changeContext({ type: 'prune', tokens: Number.NaN }), /ctx\.changeContext does not accept/],
    [
      'a revert without a target',
      (ctx) => ctx.changeContext({ type: 'revert', category: 'tangent' } as never),
      /ctx\.changeContext does not accept/,
    ],
    [
      'an unknown change',
      (ctx) => ctx.changeContext({ type: 'forget' } as never),
      /ctx\.changeContext does not accept \{"type":"forget"\}/,
    ],
    ['a charge of NaN', (ctx) => ctx.budget.charge({ input: Number.NaN } as never, {} as never), /budget\.charge: input is NaN/],
    ['a charge of undefined', (ctx) => ctx.budget.charge(undefined as never, undefined as never), /budget\.charge: input is undefined/],
    ['a negative charge', (ctx) => ctx.budget.charge({ ...emptyUsage(), output: -1 }, rates), /budget\.charge: output is -1/],
    ['a charge without rates', (ctx) => ctx.budget.charge(emptyUsage(), {} as never), /budget\.charge: inputPerMillion is undefined/],
  ])('throws for %s without ending the run', async (_, misuse, expected) => {
    const { ended, result } = await run((ctx) => {
      misuse(ctx)
      return 'done'
    })
    expect(textOf(ended?.content ?? [])).toMatch(expected)
    expect(ended?.isError).toBe(true)
    expect(result.totalUsage).toEqual(result.usage)
  })

  it('copies the value when called', async () => {
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

  it('works as a detached callback', async () => {
    const { events } = await run(({ update, progress }) => {
      update({ content: [] })
      progress('p')
      return 'done'
    })
    expect([ofType(events, 'toolExecutionUpdate').length, ofType(events, 'progressMessage').length]).toEqual([1, 1])
  })
})
