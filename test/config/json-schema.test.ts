import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { configJsonSchema, parseConfig } from '../../src/config.ts'
import { ajvValidator } from '../../src/tools.ts'
import { page, withKeys } from '../docs/config-keys.ts'

const check = ajvValidator(Ajv2020).compile(configJsonSchema())
const issuesOf = (value: unknown) => {
  const result = check(value)
  return 'issues' in result ? (result.issues ?? []) : []
}

describe('the JSON Schema of agent files', () => {
  it('accepts aliases, comments and variables like the parser', async () => {
    const { document } = await parseConfig(readFileSync('examples/agent-file/agent.toml', 'utf8'), 'toml')
    expect(issuesOf(document)).toEqual([])
    expect(
      issuesOf({
        $schema: 'x',
        _comment: 'y',
        provider: { url: 'z', api: '${API}' },
        compaction: { keep_first: 1, compaction_scope: 'token_budget' },
      }),
    ).toEqual([])
  })

  it.each([
    [{ provider: { modell: 'm' } }],
    [{ agent: { profile: { thinking_level: 'extreme' } } }],
    [{ agent: { profile: { instances: [{}] } } }],
    [{ execution: { max_turns: 0 } }],
    [{ tools: { enabled: 'bash' } }],
    [{ system_prompt: { instances: [{ id: 'a', block: 5 }] } }],
    [{ provider: { headers: { a: 1 } } }],
  ])('reports %j as invalid', (value) => expect(issuesOf(value)).not.toEqual([]))
})

it('keeps the schema in sync with the documented key table', () => {
  const text = readFileSync(page, 'utf8')
  expect(withKeys(text)).toBe(text)
})
