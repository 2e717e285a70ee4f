import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config.ts'
import { ConfigError } from '../../src/index.ts'
import { OpenApiError, openApiTools } from '../../src/openapi.ts'
import { parseSkill, SkillError } from '../../src/tools.ts'

/** As much as a file may have, less a little. */
const size = 120_000
const times = (piece: string, length = size): string => piece.repeat(Math.floor(length / piece.length))

/** Texts that are deep, wide, or nearly something, by the language that they are written in. No promise of any is that it can be read. */
const hostile = {
  toml: {
    'a table header of many parts': `[${times('a.')}a]\nb = 1`,
    'a table header of many quoted parts': `[${times('"a".')}a]\nb = 1`,
    'a list header of many parts': `[[${times('a.')}a]]\nb = 1`,
    'a key of many parts': `${times('a.')}a = 1`,
    'a key of many parts in an inline table': `x = {${times('a.')}a = 1}`,
    'many headers of many parts': times(`[${times('a.', 400)}a]\n`),
    'many tables': Array.from({ length: 12_000 }, (_, n) => `[t${n}]`).join('\n'),
    'many entries of a list': times('[[t]]\n'),
    'a header that never ends': `[${times('a.')}`,
    'a key without a value': times('a.'),
    'a key of blanks': `a${times(' ')}`,
    'an open text of many lines': `a = """\n${times('x\n')}`,
    'nested arrays': `a = ${times('[')}`,
    'nested inline tables': `a = ${times('{a=')}`,
  },
  yaml: {
    'nested maps': Array.from({ length: 480 }, (_, n) => `${' '.repeat(n)}a:`).join('\n'),
    'nested flow lists': times('['),
    'nested flow maps': times('{a: '),
    'a long list': times('- a\n'),
    'nested dashes': times('- '),
    'aliases that multiply': `a: &a [x, x]\n${Array.from({ length: 30 }, (_, n) => `b${n}: &b${n} [*${n === 0 ? 'a' : `b${n - 1}`}, *${n === 0 ? 'a' : `b${n - 1}`}]`).join('\n')}`,
    'many anchors': times('- &a x\n'),
    'many documents': times('---\n'),
    'an open quote': `a: "${times('x ')}`,
    'a block of blank lines': `a: |\n${times('\n')}`,
    'many comments': times('# x\n'),
    'a key of blanks': `a${times(' ')}`,
  },
  json: {
    'nested arrays': times('['),
    'nested objects': times('{"a":'),
    'many keys': `{${Array.from({ length: 9000 }, (_, n) => `"k${n}":1`).join(',')}}`,
    'an open text': `{"a":"${times('x')}`,
    escapes: `{"a":"${times('\\u0041')}"}`,
    'many commas': times(','),
    blanks: times(' '),
  },
} as const

type Language = keyof typeof hostile
const cases = Object.entries(hostile).flatMap(([language, texts]) =>
  Object.entries(texts).map(([name, text]) => [`${language}: ${name}`, language as Language, text] as const),
)

/** The error of a rejected promise; `undefined` if it resolves. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

// What takes too long ends the test with its time limit, and what takes too much memory the process.
describe('text from an untrusted author', () => {
  it.each(cases)('parses or rejects any text as a configuration (%s)', async (_name, language, text) => {
    const error = await errorOf(parseConfig(text, language))
    if (error !== undefined) expect(error).toBeInstanceOf(ConfigError)
  })

  it.each(cases)('parses or rejects any text as skill front matter (%s)', async (_name, _language, text) => {
    for (const matter of [text, text.slice(0, 8000), `name: a\ndescription: b\nmetadata: ${text.slice(0, 7900)}`]) {
      const error = await errorOf(parseSkill(`---\n${matter}\n---\nBody.`))
      if (error !== undefined) expect(error).toBeInstanceOf(SkillError)
    }
  })

  it.each(cases)('parses or rejects any text as an API description (%s)', async (_name, _language, text) => {
    const error = await errorOf(openApiTools(text, { baseUrl: 'https://api.example.org' }))
    expect(error).toBeInstanceOf(OpenApiError)
  })
})
