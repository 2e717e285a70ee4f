import { existsSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type AgentConfig, type ConfigFormat, parseConfig, substituteEnv } from '../../src/config.ts'
import { ConfigError, type JsonObject, type JsonValue } from '../../src/index.ts'

const folder = '../shared/conformance/config/'
const isThere = existsSync(`${folder}expected.json`)
if (!isThere) console.warn('SKIPPED: agent files of the conformance data, because ../shared/conformance is absent')

interface Case {
  value?: JsonValue
  error?: string
  var?: string
}

interface Expected {
  env: Record<string, string>
  cases: Record<string, Case>
}

const expected: Expected = isThere ? JSON.parse(readFileSync(`${folder}expected.json`, 'utf8')) : { env: {}, cases: {} }

/** What is not as expected, and why; the reasons are on the page of divergences. */
const different: Record<string, string> = {
  'edge/env-quote.toml': 'variables are filled in after parsing, so a quote in a value is a quote',
  'edge/env-inject.toml': 'variables are filled in after parsing, so a value injects nothing',
  'edge/env-number.toml': 'variables are filled in after parsing, and only in texts',
  'edge/inline-newline.toml': 'TOML 1.1 is read as well',
  'edge/alias-both.toml': 'a name and its alias together are refused, as the crate does after parsing',
  'edge/wrong-type.toml': 'values are checked, as the crate does after parsing',
  'edge/norway.yaml': 'values are checked, as the crate does after parsing: "yes" is a text',
  'edge/tag-binary.yaml': 'tags are refused',
  'edge/anchors.yaml': 'a merge is refused: YAML 1.2 has none, and what it was to bring would be missing',
}

type Outcome = { value: JsonObject } | { error: string; field?: string }

async function outcomeOf(file: string): Promise<Outcome> {
  const format = extname(file).slice(1) as ConfigFormat // the data has no other names
  try {
    const { document } = await parseConfig(readFileSync(folder + file, 'utf8'), format)
    return { value: substituteEnv(document as AgentConfig, expected.env) as JsonObject } // variables are filled in whatever it is
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    return { error: error.code, ...(error.field !== undefined && { field: error.field }) }
  }
}

const codes: Record<string, string> = { Parse: 'parse', MissingEnvVar: 'missingEnvVar', InvalidField: 'invalidField' }

describe.skipIf(!isThere)('agent files', () => {
  it.each(Object.entries(expected.cases).filter(([file]) => different[file] === undefined))(
    'parses %s like the crate',
    async (file, { value, error }) => {
      const outcome = await outcomeOf(file)
      // A document without anything in it says nothing, in YAML as in TOML.
      expect(outcome).toMatchObject(error === undefined ? { value: value ?? {} } : { error: codes[error] ?? error })
    },
  )

  it('reports each documented difference', async () => {
    const outcomes = await Promise.all(Object.keys(different).map(async (file) => [file, await outcomeOf(file)] as const))
    expect(Object.fromEntries(outcomes)).toEqual({
      'edge/env-quote.toml': { value: { provider: { model: 'm', api_key: 'a"b' } } },
      'edge/env-inject.toml': { value: { provider: { api_key: 'x"\nmodel = "injected' } } },
      'edge/env-number.toml': { error: 'parse' },
      'edge/inline-newline.toml': { value: { provider: { model: 'm', name: 'n' } } },
      'edge/alias-both.toml': { error: 'invalidField', field: 'provider.base_url' },
      'edge/wrong-type.toml': { error: 'invalidField', field: 'provider.model' },
      'edge/norway.yaml': { error: 'invalidField', field: 'provider.reasoning' },
      'edge/tag-binary.yaml': { error: 'parse' },
      'edge/anchors.yaml': { error: 'parse' },
    })
  })
})
