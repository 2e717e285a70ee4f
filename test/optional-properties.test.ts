import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assertFreshBuild } from './harness/fresh-build.ts'
import { run } from './harness/packed.ts'
import { publicEntries } from './harness/public-entries.ts'
import { exportsOf } from './harness/source.ts'

/** A type for each public one: those of its optional keys that do not take `undefined`. */
const helpers = `
type Optional<T> = { [K in Exclude<keyof T, keyof Object>]-?: object extends Pick<T, K> ? K : never }[Exclude<keyof T, keyof Object>]
type Refused<T> = T extends string | number | boolean | symbol | readonly unknown[] | ((...args: never) => unknown) ? never
  : T extends object ? { [K in Optional<T> & string]: { [_ in K]: undefined } extends Pick<T, K> ? never : K }[Optional<T> & string] : never
type Given<F> = F extends (...args: infer Args) => unknown ? Args[number] : never
`

let project = ''
beforeAll(() => {
  assertFreshBuild()
  project = mkdtempSync(join(tmpdir(), 'phi-optional-'))
  mkdirSync(join(project, 'node_modules'))
  symlinkSync(resolve('.'), join(project, 'node_modules/phi-core'))
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

/** What tsc says about `program` in a stranger's project with `exactOptionalPropertyTypes`. */
function compiled(program: string): string {
  writeFileSync(join(project, 'program.ts'), program)
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--noEmit']
  const target = ['--target', 'es2023', '--module', 'nodenext', '--typeRoots', resolve('node_modules/@types'), '--types', 'node']
  try {
    return run(resolve('node_modules/.bin/tsc'), [...strict, ...target, 'program.ts'], project)
  } catch (error) {
    return String(error)
  }
}

describe('exactOptionalPropertyTypes', () => {
  it('accepts undefined for every optional property of public types', () => {
    const found = publicEntries().flatMap(({ subpath, source }) =>
      exportsOf(source, readFileSync(source, 'utf8')).map((each) => ({ ...each, module: subpath.replace('.', 'phi-core'), source })),
    )
    expect(found.length).toBeGreaterThan(500)
    const checks = found.map(({ name, isType, from, module, source }, at) => {
      const code = readFileSync(from?.path ?? source, 'utf8')
      const generics =
        new RegExp(`^export (?:interface|type) ${from?.name ?? name}<(.*?)>(?=\\s+(?:=|\\{|extends))`, 'ms')
          .exec(code)?.[1]
          ?.split(/,\s+(?=[A-Z]\w* ?(?:extends|=|,|$))/) ?? []
      const args = generics.length === 0 ? '' : `<${generics.map(() => 'any').join(', ')}>`
      const type = isType ? `import('${module}').${name}${args}` : `Given<typeof import('${module}').${name}>`
      return `export const check${at}: [Refused<${type}>] extends [never] ? 'taken' : { of: '${name}', refused: Refused<${type}> } = 'taken'`
    })
    expect(compiled(`${helpers}\n${checks.join('\n')}\n`)).toBe('')
  })

  it('infers tool output types from a list and an agent', () => {
    const program = `import { Agent, defineTool, type InferTools } from 'phi-core'
const parameters = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] } as const
const add = defineTool({ name: 'add', description: 'Adds.', parameters, execute: ({ a }: { a: number }) => ({ sum: a }) })
declare const agent: Agent<unknown, readonly [typeof add]>
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false
export const ofList: Same<InferTools<readonly [typeof add]>['add']['output'], { sum: number }> = true
export const ofAgent: Same<InferTools<typeof agent>['add']['output'], { sum: number }> = true
`
    expect(compiled(program)).toBe('')
  })
})
