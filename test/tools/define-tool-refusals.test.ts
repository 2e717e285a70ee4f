import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run } from '../harness/packed.ts'

describe.each([true, false])('type errors of execute with exactOptionalPropertyTypes %s', (exact) => {
  const schemas = {
    zod: 'parameters: z.object({ city: z.string() })',
    valibot: "parameters: v.object({ city: v.string() }), jsonSchema: { type: 'object' }",
    json: "parameters: { type: 'object' }",
  }
  let said = ''
  beforeAll(() => {
    const folder = mkdtempSync(resolve('test/tools/.types-'))
    try {
      for (const [name, parameters] of Object.entries(schemas)) writeFileSync(join(folder, `${name}.ts`), program(parameters))
      said = tsc(folder, exact)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 120_000)

  it.each(Object.keys(schemas))('reports only results that JSON cannot represent: %s', (name) => {
    const errors = said.split('\n').filter((line) => line.startsWith(`${name}.ts(`))
    expect(errors).toEqual([expect.stringMatching(/^\w+\.ts\(5,\d+\): error TS2322: .*execute returns a value that is not JSON/)])
    expect(errors[0]).not.toContain('Schema')
  })
})

/** A tool that returns what JSON can hold, and in line 5 one that does not. */
function program(parameters: string): string {
  const tool = (returned: string) => `defineTool({ name: 'look', description: 'Looks.', ${parameters}, execute: () => (${returned}) })`
  return `import { z } from 'zod'
import * as v from 'valibot'
import { defineTool } from '../../../src/index.ts'
export const good = ${tool('{ at: new Date() }')}
export const bad = ${tool('new Map<string, string>()')}
export const used = [z, v]
`
}

/** What tsc says about the programs in a folder. */
function tsc(folder: string, exact: boolean): string {
  const strict = ['--ignoreConfig', '--strict', '--skipLibCheck', '--noEmit', '--allowImportingTsExtensions']
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--exactOptionalPropertyTypes', String(exact)]
  try {
    return run(resolve('node_modules/.bin/tsc'), [...strict, ...target, 'zod.ts', 'valibot.ts', 'json.ts'], folder)
  } catch (error) {
    return String(error)
  }
}
