import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ConfigFormat, parseConfig, parseConfigAuto, substituteEnv } from '../../src/config.ts'
import { ConfigError } from '../../src/index.ts'
import { refusal } from '../support/agent-files.ts'
import { runs } from '../support/runs.ts'

async function failure(text: string, format: ConfigFormat = 'toml'): Promise<ConfigError> {
  const error: unknown = await parseConfig(text, format).catch((reason: unknown) => reason)
  if (ConfigError.isInstance(error)) return error
  throw new Error(`no ConfigError: ${String(error)}`)
}

describe('parseConfig', () => {
  it('gives the same result for TOML, JSON and YAML', async () => {
    const toml = await parseConfig('[provider]\nmodel = "m"\n[provider.cost]\ninput_per_million = 3', 'toml')
    const json = await parseConfig('{"provider":{"model":"m","cost":{"input_per_million":3}}}', 'json')
    const yaml = await parseConfig('provider:\n  model: m\n  cost: {input_per_million: 3}', 'yaml')
    expect(json.config).toEqual(toml.config)
    expect(yaml.config).toEqual(toml.config)
    expect(toml.config).toEqual({ provider: { model: 'm', cost: { input_per_million: 3 } } })
    expect([toml.warnings, json.warnings, yaml.warnings]).toEqual([[], [], []])
  })

  it('detects TOML, else JSON, else YAML', async () => {
    expect((await parseConfigAuto('')).format).toBe('toml')
    expect((await parseConfigAuto('[provider]\nmodel="m"')).format).toBe('toml')
    expect((await parseConfigAuto('{"provider":{}}')).format).toBe('json')
    expect((await parseConfigAuto('provider:\n  model: m')).format).toBe('yaml')
    await expect(parseConfigAuto('just words')).rejects.toMatchObject({ code: 'parse', message: expect.stringContaining('neither TOML') })
  })

  it('reports invalid fields without trying another format', async () => {
    await expect(parseConfigAuto('[provider]\nmodel = 5')).rejects.toMatchObject({ code: 'invalidField', field: 'provider.model' })
  })

  it('normalizes aliases, comments and null, and keeps the document', async () => {
    const { config, document, warnings } = await parseConfig(
      '{"$schema":"x","_comment":"c","provider":{"url":"https://a.test","name":null}}',
      'json',
    )
    expect(config).toEqual({ provider: { base_url: 'https://a.test' } })
    expect(document).toEqual({ $schema: 'x', _comment: 'c', provider: { url: 'https://a.test', name: null } })
    expect(warnings).toEqual([])
  })

  it('rejects a key together with its alias', async () => {
    expect(await failure('[provider]\nurl="a"\nbase_url="b"')).toMatchObject({ code: 'invalidField', field: 'provider.base_url', line: 3 })
  })

  it('ignores a byte order mark and Windows line ends', async () => {
    const { config } = await parseConfig('\uFEFF[agent]\r\nsystem_prompt = """a\r\nb"""\r\n', 'toml')
    expect(config).toEqual({ agent: { system_prompt: 'a\nb' } })
  })
})

describe('error positions', () => {
  it.each<[ConfigFormat, string, number, number]>([
    ['toml', '[provider]\nmodel = "m"\n[agent.profile]\ntemperature = "hot"\n', 4, 1],
    ['toml', '[[agent.instances]]\nname="a"\n[[agent.instances]]\nname = "b"\n  agent_profile = 3', 5, 3],
    ['json', '{\n "agent": {"profile":\n  {"temperature": "hot"}}}', 3, 4],
    ['yaml', 'agent:\n  profile:\n    temperature: hot', 3, 5],
  ])('points to line and column in %s: %j', async (format, text, line, column) => {
    const error = await failure(text, format)
    expect(error).toMatchObject({ code: 'invalidField', line, column })
    expect(error.message).toContain(`line ${line}, column ${column}`)
  })

  it.each<[ConfigFormat, string, number]>([
    ['toml', '\n[[mcp.servers]]\ncommand = "x"', 2],
    ['json', '{"mcp": {"servers":\n [{"command": "x"}]}}', 2],
    ['yaml', 'mcp:\n  servers:\n    - command: x', 3],
    ['json', '{"agent": 1,\n "agent": 2}', 2],
    ['json', '{"agent":\n oops}', 2],
    ['json', '{"agent":\n ', 2],
    ['json', `{"agent":\n {"name": ${'['.repeat(40)}${']'.repeat(40)}}}`, 2],
    ['json', '{"agent":\n {"__proto__": 1}}', 2],
    ['yaml', '\n- a', 1],
    ['json', '', 1],
    ['json', '{"a":\n [1,,2]}', 2],
    ['json', '{"a":\n :1}', 2],
    ['json', '{"a": 1,\n}', 2],
    ['json', '{"a":\n // a comment\n 1}', 2],
    ['json', '{"a": 1}\n}', 2],
    ['yaml', 'a: 1\n%YAML 1.2\n---\n', 2],
    ['yaml', 'a: 1\n? b\n: 2', 2],
    ['yaml', `a:\n ${'['.repeat(40)}`, 2],
    ['yaml', `a:\n${'- 1\n'.repeat(4000)}`, 1201],
    ['yaml', 'a: 1\nb: *c', 2],
    ['yaml', 'a: &x [1, 2]\nb: !!foo 3', 2],
    ['toml', 'a = 1\n\na = 2', 3],
    ['toml', 'a = 1\nb = "', 2],
    ['toml', `${'#\n'.repeat(70_000)}`, 65_537],
  ])('reports a position for missing and impossible values: %s %j', async (format, text, line) => {
    const error = await failure(text, format)
    expect(error.line).toBe(line)
    expect(error.message).toMatch(new RegExp(`\\(line ${line}, column \\d+\\)\\.?$`))
  })

  it('reports invalid syntax without quoting the text', async () => {
    const key = 'sk-ant-very-secret-key'
    for (const [format, text] of [
      ['toml', `[provider]\napi_key = "${key}`],
      ['json', `{"provider": {"api_key": "${key}`],
      ['yaml', `provider:\n  api_key: "${key}\nx`],
    ] as const) {
      const error = await failure(text, format)
      expect(error.code).toBe('parse')
      expect(`${error.message}${JSON.stringify(error)}`).not.toContain('very-secret')
    }
  })

  it('lists the accepted values', async () => {
    expect(await failure('[agent.profile]\nthinking_level = "extreme"')).toMatchObject({
      field: 'agent.profile.thinking_level',
      value: '"extreme"',
      expected: '"off", "minimal", "low", "medium", "high", "xhigh", "max"',
      message: expect.stringContaining('Invalid value for agent.profile.thinking_level: "extreme" (expected "off"'),
    })
    expect(await failure('[execution]\nmax_turns = 1.5')).toMatchObject({
      field: 'execution.max_turns',
      expected: 'an integer of at least 1',
    })
    expect(await failure('[execution]\nmax_cost = nan')).toMatchObject({ field: 'execution.max_cost' })
    expect(await failure('[[agent.profile.instances]]\nname = "a"')).toMatchObject({
      field: 'agent.profile.instances[0].id',
      message: expect.stringContaining('is missing'),
    })
    expect(await failure('agent = 5')).toMatchObject({ field: 'agent', expected: 'a table' })
    expect(await failure('[tools]\nenabled = ["a", 5]')).toMatchObject({ field: 'tools.enabled[1]', expected: 'a string' })
  })

  it('hides values that may be secrets', async () => {
    for (const text of [
      'api_key = 5\nmodel = ["sk-secret"]',
      'headers = { x = ["sk-secret"] }',
      '[provider.headers]\na = { b = "sk-secret" }',
    ]) {
      const error = await failure(text.startsWith('[') ? text : `[provider]\n${text}`)
      expect(JSON.stringify([error, error.message])).not.toContain('sk-secret')
    }
  })
})

describe('unknown keys', () => {
  it('warns with position and the nearest known key', async () => {
    const { warnings, config } = await parseConfig('[provider]\nmodell = "m"\n[agent.profile]\ntemprature = 1\n', 'toml')
    expect(warnings).toMatchObject([
      { code: 'unknownKey', field: 'provider.modell', line: 2, message: expect.stringContaining('Did you mean model?') },
      { code: 'unknownKey', field: 'agent.profile.temprature', line: 4, message: expect.stringContaining('Did you mean temperature?') },
    ])
    expect(config).toEqual({ provider: {}, agent: { profile: {} } })
  })

  it('warns about keys named like Object members', async () => {
    const { warnings } = await parseConfig('[provider]\nconstructor = 1\ntoString = 2\nhasOwnProperty = 3', 'toml')
    expect(warnings.map(({ field }) => field)).toEqual(['provider.constructor', 'provider.toString', 'provider.hasOwnProperty'])
  })

  it('rejects YAML merge keys and names them', async () => {
    const refused = parseConfig('provider:\n  <<: {model: m}', 'yaml')
    await expect(refused).rejects.toMatchObject({
      code: 'parse',
      line: 2,
      message: expect.stringContaining('merge keys ("<<") are not supported'),
    })
  })
})

describe('settings without effect', () => {
  it.each([
    ['[execution]\nmax_cost = 5', 'execution.max_cost'],
    ['[compaction]\nkeep_first_turns = 1', 'compaction'],
    ['[tools]\nbatch_size = 2', 'tools.batch_size'],
    ['[provider]\nmodel = "gpt-4o"', 'provider.model'],
    ['[[provider.instances]]\nmodel = "gemini-2.5-flash"', 'provider.instances[0].model'],
  ])('warns about %j', async (text, field) => {
    const { warnings } = await parseConfig(text, 'toml')
    expect(warnings).toMatchObject([{ code: 'noEffect', field }])
  })
})

describe('environment variables', () => {
  const env = { A: 'one', QUOTE: 'a"b', INJECT: 'x"\nmodel = "injected', NESTED: '${A}', EMPTY: '' }
  const resolved = async (text: string) => substituteEnv((await parseConfig(text, 'toml')).config, env)

  it('treats values as data that is never parsed or substituted again', async () => {
    expect(await resolved('[provider]\nmodel = "${INJECT}"\nname = "${NESTED}"\nbase_url = "x${A}y${EMPTY}${QUOTE}"')).toEqual({
      provider: { model: 'x"\nmodel = "injected', name: '${A}', base_url: 'xoneya"b' },
    })
  })

  it('leaves malformed variables as text', async () => {
    const text = '${UNCLOSED and ${} and $A and $ {A} and $${'
    expect(await resolved(`[agent]\nsystem_prompt = '${text}'`)).toEqual({ agent: { system_prompt: text } })
    expect(await resolved("[agent]\nsystem_prompt = '${UNCLOSED ${A}'")).toEqual({ agent: { system_prompt: '${UNCLOSED one' } })
  })

  it('reports missing variables by field, including names of Object members', async () => {
    for (const name of ['NOT_SET', '__proto__', 'constructor', 'a b']) {
      const error = await refusal(`[provider]\nmodel = "m"\napi_key = "\${${name}}"`, { env })
      expect(error).toMatchObject({ code: 'missingEnvVar', field: 'provider.api_key', value: name, line: 3 })
      expect(error.message).toContain(`Missing environment variable \${${name}}`)
    }
  })

  it('leaves variables in keys unchanged', async () => {
    const { config } = await parseConfig('[provider.headers]\n"${A}" = "x"', 'toml')
    expect(substituteEnv(config, env)).toEqual({ provider: { headers: { '${A}': 'x' } } })
  })
})

describe('hostile configuration text', () => {
  const hostile: [string, ConfigFormat, string][] = [
    ['a megabyte', 'toml', `a = "${'x'.repeat(1_000_000)}"`],
    ['nested tables', 'toml', `a = ${'{a='.repeat(5000)}`],
    ['nested lists', 'json', '['.repeat(100_000)],
    ['a list of lists', 'json', `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`],
    ['a long key path', 'toml', `a${'.a'.repeat(5000)} = 1`],
    ['many values', 'json', `{"a":[${'1,'.repeat(60_000)}1]}`],
    [
      'a billion laughs',
      'yaml',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[at]}`).join()}]`),
      ].join('\n'),
    ],
    ['nested flows', 'yaml', '['.repeat(100_000)],
    ['nested sequences', 'yaml', '- '.repeat(60_000)],
    ['complex keys', 'yaml', '? '.repeat(60_000)],
    ['many documents', 'yaml', '---\n'.repeat(30_000)],
    ['a cyclic alias', 'yaml', 'a: &a [*a]'],
    ['a tag', 'yaml', 'a: !!js/function "x"'],
    ['a directive', 'yaml', '%YAML 1.1\n---\na: yes'],
    ['__proto__ in TOML', 'toml', '[__proto__]\na = 1'],
    ['__proto__ in JSON', 'json', '{"agent":{"__proto__":{"system_prompt":"x"}}}'],
    ['__proto__ in YAML', 'yaml', 'provider:\n  headers:\n    __proto__: x'],
    ['a duplicate key in JSON', 'json', '{"agent":{"workspace":"a","workspace":"b"}}'],
    ['a duplicate key in YAML', 'yaml', 'agent:\n  workspace: a\n  workspace: b'],
    ['a list', 'json', '[1]'],
    ['a string', 'yaml', 'hello'],
    ['empty JSON', 'json', ''],
  ]

  it.each(hostile)('rejects hostile text: %s', async (_name, format, text) => {
    expect((await failure(text, format)).code).toBe('parse')
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  it('quickly parses a list that resembles an unclosed header', async () => {
    const { warnings } = await parseConfig(`zzz = 1\nlist = [\n[${' '.repeat(120_000)}\n1]]\n`, 'toml')
    expect(warnings.map(({ line }) => line)).toEqual([1, 2])
  }, 5000)

  it('reports at most a hundred unknown keys', async () => {
    const text = Array.from({ length: 4000 }, (_, at) => `key${at} = 1`).join('\n')
    expect((await parseConfig(text, 'toml')).warnings).toHaveLength(100)
  })

  it('returns a ParsedConfig or a ConfigError with its line', async () => {
    const formats = fc.constantFrom<ConfigFormat>('toml', 'json', 'yaml')
    const words = fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '=',
      ':',
      '-',
      '? ',
      '\n',
      ' ',
      '&a',
      '*a',
      '!!x',
      '#',
      '${A}',
      '{{a}}',
      'agent',
      'provider',
      '<<',
      '\u0000',
      '\ud800',
      '٣',
      '|',
      '>',
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(words, { maxLength: 40 }).map((parts) => parts.join('')),
    )
    await fc.assert(
      fc.asyncProperty(texts, formats, async (text, format) => {
        try {
          const { config } = await parseConfig(text, format)
          expect(typeof config).toBe('object')
        } catch (error) {
          if (!ConfigError.isInstance(error)) throw error
          expect(error.line, error.message).toBeGreaterThan(0)
        }
      }),
      { numRuns: runs(200, 5000) },
    )
  })

  it('returns a ParsedConfig or ConfigError for any JSON, and is stable', async () => {
    const names = fc.constantFrom(
      'agent',
      'provider',
      'instances',
      'profile',
      'model',
      'api_key',
      'url',
      'base_url',
      'tools',
      'enabled',
      'id',
      'name',
      'x',
    )
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
      tree: fc.oneof({ maxDepth: 5 }, tie('leaf'), fc.array(tie('tree'), { maxLength: 3 }), fc.dictionary(names, tie('tree'))),
    }))
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, tree), async (value) => {
        const parsed = await parseConfig(JSON.stringify(value), 'json').catch((error: unknown) => error)
        if (ConfigError.isInstance(parsed)) return
        const { config } = parsed as Awaited<ReturnType<typeof parseConfig>> // all else is thrown away by the next line
        expect((await parseConfig(JSON.stringify(config), 'json')).config).toEqual(config)
      }),
    )
  })
})

describe('unknown restrictive keys', () => {
  it.each([
    ['[callbacks]\nbefore_tool_executon = "a.sh"', 'callbacks.before_tool_executon', 2, 'Did you mean before_tool_execution?'],
    ['[hooks]\ntransform = "a"', 'hooks.transform', 2, 'rejected'],
    ['[execution]\nmax_costs = 1', 'execution.max_costs', 2, 'Did you mean max_cost?'],
    ['[limits]\nmax_turns = 3', 'limits', 1, 'Did you mean execution?'],
    ['[tools]\nneeds_approval = ["bash"]', 'tools.needs_approval', 2, 'rejected'],
    ['[mcpServers.a]\ncommand = "x"', 'mcpServers', 1, '[[mcp.servers]]'],
    ['[[mcp_servers]]\nname = "a"', 'mcp_servers', 1, '[[mcp.servers]]'],
    ['[[mcp.servers]]\nname = "a"', 'mcp.servers[0].command', 1, 'a program, or url'],
  ])('rejects %j and reports its line', async (text, field, line, words) => {
    const error = await refusal(text)
    expect(error).toMatchObject({ code: 'invalidField', field, line })
    expect(error.message).toContain(words)
  })
})
