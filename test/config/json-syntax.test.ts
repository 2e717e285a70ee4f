import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { ConfigError } from '../../src/index.ts'
import { runs } from '../support/runs.ts'

async function failure(text: string): Promise<unknown> {
  return parseConfig(text, 'json').then(
    () => undefined,
    (reason: unknown) => reason,
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('invalid JSON', () => {
  it.each([
    ['{"a": 1,}', 'a key in double quotes'],
    ["{'a': 1}", 'a key in double quotes or "}"'],
    ['{"a" 1}', '":"'],
    ['{"a": [1 2]}', '"," or the end of what was opened'],
    ['{"a": tru}', 'a value'],
    ['{"a": "b\nc"}', 'a text that ends in its line'],
    ['{} {}', 'nothing more'],
  ])('names the expected token: %j', async (text, expected) => {
    const message = expect.stringContaining(`The configuration is not valid JSON: expected ${expected}`)
    expect(await failure(text)).toMatchObject({ code: 'parse', line: 1, message })
  })

  it('rejects the same text as JSON.parse', async () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b\\n"',
      '"\\x"',
      '"\t"',
      '1',
      '-0.5e3',
      '01',
      '1.',
      'true',
      'nul',
      ' ',
      '\n',
      '\u00a0',
      '\ud800',
      '"\u0085"',
    )
    const texts = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((all) => all.join('')),
      fc.json(),
      fc.tuple(fc.json(), fc.nat(40)).map(([all, at]) => all.slice(0, at)),
    )
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const error = await failure(text)
        const isRefused = ConfigError.isInstance(error) && error.message.includes('not valid JSON')
        expect(isRefused).toBe(!isJson(text))
      }),
      { numRuns: runs(2000, 20_000) },
    )
  })
})
