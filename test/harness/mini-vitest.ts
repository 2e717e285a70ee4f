/**
 * The part of vitest that the shared suite uses, for runtimes that vitest cannot drive (Deno's own runner, bare workerd): `describe` and
 * `it` collect cases, deno.ts and workerd.ts run them. `expect` is vitest's own, assembled as vitest assembles it.
 */
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  chai,
  customMatchers,
  type ExpectStatic,
  getState,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect'

type Step = () => unknown

export interface Case {
  name: string
  run: () => Promise<void>
}

interface Group {
  name: string
  before: Step[]
  after: Step[]
}

/** Every case the imported test files declared, in order. */
export const cases: Case[] = []

const open: Group[] = []

export function describe(name: string, body: () => void): void {
  open.push({ name, before: [], after: [] })
  body()
  open.pop()
}

function declare(name: string, body: Step): void {
  const groups = [...open]
  cases.push({
    name: [...groups.map((group) => group.name), name].join(' > '),
    run: async () => {
      for (const group of groups) for (const step of group.before) await step()
      try {
        await body()
      } finally {
        for (const group of groups.toReversed()) for (const step of group.after) await step()
      }
    },
  })
}

function each<Row>(rows: readonly Row[]) {
  return (name: string, body: (row: Row) => unknown): void => {
    for (const row of rows) declare(name.replace('%s', String(row)), () => body(row))
  }
}

export const it = Object.assign(declare, { each })

export function beforeEach(step: Step): void {
  open.at(-1)?.before.push(step)
}

export function afterEach(step: Step): void {
  open.at(-1)?.after.push(step)
}

/** What the files leave to be done after the last case. */
export const finals: Step[] = []

export function afterAll(step: Step): void {
  finals.push(step)
}

chai.use(JestExtend)
chai.use(JestChaiExpect)
chai.use(JestAsymmetricMatchers)

const call = (value: unknown, message?: string) => chai.expect(value, message)
// The matchers are mixed in at run time by the plugins above; no type describes the steps in between.
export const expect = Object.assign(
  call,
  chai.expect,
  Reflect.get(globalThis, ASYMMETRIC_MATCHERS_OBJECT) as object,
) as unknown as ExpectStatic
setState({ ...getState(expect), assertionCalls: 0 }, expect)
const { expect: chaiExpect } = chai as unknown as { expect: { extend(target: ExpectStatic, matchers: typeof customMatchers): void } }
chaiExpect.extend(expect, customMatchers)
