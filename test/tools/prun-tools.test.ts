import { describe, expect, it } from 'vitest'
import type { ContextChange } from '../../src/contract/context/context-change.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import { prunTools } from '../../src/tools.ts'
import { checkArguments, toolJsonSchema } from '../../src/validation/tool-parameters.ts'
import { context } from './context.ts'

async function call(name: string, args: JsonObject) {
  const tool = prunTools().find((each) => each.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  const changes: ContextChange[] = []
  const ctx = { ...context(), changeContext: (change: ContextChange) => void changes.push(change) }
  const checked = await checkArguments(tool, args)
  if (checked.issues !== undefined) return { changes, issues: checked.issues }
  try {
    return { changes, answer: await tool.execute(checked.value, ctx) }
  } catch (error) {
    return { changes, error }
  }
}

describe('prunTools', () => {
  it('returns both tools with their schemas', () => {
    const [prun, withMemo] = prunTools()
    expect(prun?.name).toBe('prun')
    expect(prun && toolJsonSchema(prun)).toMatchObject({ properties: { tokens: { type: 'integer' } }, required: ['tokens'] })
    expect(withMemo?.name).toBe('prun_with_memo')
    expect(withMemo && toolJsonSchema(withMemo)).toMatchObject({ properties: { memo: { type: 'string' } }, required: ['tokens', 'memo'] })
  })

  it('requests the prune from the loop and describes its effect', async () => {
    const answer = 'Prun request recorded: 500 tokens will be removed before next turn.'
    expect(await call('prun', { tokens: 500 })).toEqual({ changes: [{ type: 'prune', tokens: 500 }], answer })
    const changes = [{ type: 'prune', tokens: 500, memo: 'JWT' }]
    expect(await call('prun_with_memo', { tokens: 500, memo: 'JWT' })).toEqual({ changes, answer })
  })

  it.each(['prun', 'prun_with_memo'])('rejects zero tokens in %s', async (name) => {
    for (const tokens of [0, -5]) {
      const error = expect.objectContaining({ code: 'invalidArguments', message: 'Invalid arguments: tokens must be > 0' })
      expect(await call(name, { tokens, memo: 'x' })).toEqual({ changes: [], error })
    }
  })

  it('rejects an empty or huge memo and malformed arguments', async () => {
    const huge = 'x'.repeat(1_000_000)
    expect(await call('prun_with_memo', { tokens: 5, memo: huge })).toMatchObject({ changes: [], error: { code: 'invalidArguments' } })
    expect(await call('prun_with_memo', { tokens: 5, memo: ' ' })).toMatchObject({ changes: [], error: { code: 'invalidArguments' } })
    const shapes: [string, JsonObject][] = [
      ['prun', {}],
      ['prun', { tokens: 1.5 }],
      ['prun', { tokens: 'many' }],
      ['prun_with_memo', { tokens: 5 }],
    ]
    for (const [name, args] of shapes) expect(await call(name, args)).toMatchObject({ changes: [], issues: [expect.anything()] })
  })
})
