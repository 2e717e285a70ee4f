import { describe, expect, it } from 'vitest'
import type { ContextChange } from '../../src/contract/context/context-change.ts'
import type { JsonObject } from '../../src/contract/json.ts'
import { revertTool } from '../../src/tools.ts'
import { checkArguments, toolJsonSchema } from '../../src/validation/tool-parameters.ts'
import { context, textOf } from './context.ts'

async function call(args: JsonObject) {
  const tool = revertTool()
  const changes: ContextChange[] = []
  const ctx = { ...context(), changeContext: (change: ContextChange) => void changes.push(change) }
  const checked = await checkArguments(tool, args)
  if (checked.issues !== undefined) return { changes, issues: checked.issues }
  try {
    return { changes, answer: textOf(await tool.execute(checked.value, ctx)) }
  } catch (error) {
    return { changes, error }
  }
}

describe('revertTool', () => {
  it('requires category and step, with an optional summary', () => {
    expect(toolJsonSchema(revertTool())).toMatchObject({
      properties: { category: { enum: ['failure', 'tangent', 'completion', 'step-summary'] }, step: { type: 'string' }, summary: {} },
      required: ['category', 'step'],
    })
  })

  it('exposes the policy that enables revert mode', () => {
    expect(revertTool().revertPolicy).toEqual({ windowTurns: 5, keepCount: 3 })
    expect(revertTool({ keepCount: 0 }).revertPolicy).toEqual({ windowTurns: 5, keepCount: 0 })
    for (const windowTurns of [-1, 1.5, Number.NaN]) {
      expect(() => revertTool({ windowTurns })).toThrow(expect.objectContaining({ code: 'invalidOption' }))
    }
  })

  it.each([
    ['failure', 'failure'],
    ['tangent', 'tangent'],
    ['completion', 'completion'],
    ['step-summary', 'stepSummary'],
  ])('requests a revert from the loop for a %s', async (word, category) => {
    const { changes, answer } = await call({ category: word, step: 'n12', summary: 'Why' })
    expect(changes).toEqual([{ type: 'revert', category, targetNodeId: 12, summary: 'Why' }])
    expect(answer).toContain('n12')
  })

  it('accepts several step formats and a missing summary', async () => {
    for (const step of ['n12', '12', '[n12]', ' N12', '<<k3f9a2b1 [n12] k3f9a2b1>>']) {
      expect((await call({ category: 'failure', step })).changes).toEqual([{ type: 'revert', category: 'failure', targetNodeId: 12 }])
    }
  })

  it('rejects missing, unknown and malformed arguments without reverting', async () => {
    for (const args of [{ step: 'n1' }, { category: 'boredom', step: 'n1' }, { category: 'failure' }]) {
      expect(await call(args)).toMatchObject({ changes: [], issues: [expect.anything()] })
    }
    for (const [step, message] of [
      ['', 'Invalid arguments: step is required: the id of a state, such as n12'],
      ['the start', 'Invalid arguments: step "the start" is no id of a state. Use one that is shown, such as n12.'],
    ] as const) {
      expect(await call({ category: 'failure', step })).toEqual({ changes: [], error: expect.objectContaining({ message }) })
    }
  })

  it('validates its arguments even outside a loop', () => {
    const ctx = context()
    expect(() => revertTool().execute({}, ctx)).toThrow('Invalid arguments: category is required')
    expect(() => revertTool().execute({ category: 'failure' }, ctx)).toThrow('Invalid arguments: step is required')
  })
})
