import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mcpTools } from '../../adapters/mcp/index.ts'
import { Agent, ConfigError } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { generations, offering } from './in-memory.ts'

const connect = generations['sdk 1.x']

async function setOf(names: readonly string[], prefix?: string) {
  if (connect === undefined) throw new Error('no client')
  const lines: string[] = []
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const { client } = await connect(
    offering(
      () => tools,
      () => ({ result: { content: [] } }),
    ),
  )
  const set = await mcpTools(client, { logger: { warn: (event) => void lines.push(event) }, ...(prefix !== undefined && { prefix }) })
  return { set, lines }
}

/** Names that are close to one another, and to what a name is changed to. */
const odd = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '_', '-', '.', ' ', '\ud800', '\ud801', 'ä', '0'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 60, maxLength: 70 }),
  fc.string({ minLength: 1, unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '0'), minLength: 12, maxLength: 12 }).map((end) => `x_${end}`),
)

describe('tool names of mcpTools', () => {
  it('creates legal and unique names for any server names', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(odd, { minLength: 2, maxLength: 12 }),
        fc.constantFrom(undefined, 'p', 'a'.repeat(32)),
        async (names, prefix) => {
          const { set, lines } = await setOf(names, prefix)
          const found = set.map(({ name }) => name)
          expect(lines).toEqual([])
          expect(new Set(found).size).toBe(names.length)
          for (const name of found) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
          await set.close()
        },
      ),
      { numRuns: 60 },
    )
  })

  it('avoids a name that another server uses', async () => {
    const { set } = await setOf(['a.b'], 'p')
    const changed = set[0]?.name ?? ''
    expect((await setOf([changed.replace('p__', '')], 'p')).set[0]?.name).not.toBe(changed)
    expect((await setOf([changed])).set[0]?.name).not.toBe(changed)
  })

  it('rejects two servers with the same tool name', async () => {
    const [one, other] = [await setOf(['act']), await setOf(['act'])]
    expect(() => new Agent({ model: scripted([]), tools: [...one.set, ...other.set] })).toThrow(ConfigError)
    expect(() => new Agent({ model: scripted([]), tools: [...one.set, ...other.set] })).toThrow(/act/)
    const named = await setOf(['act'], 'other')
    expect(new Agent({ model: scripted([]), tools: [...one.set, ...named.set] })).toBeInstanceOf(Agent)
  })
})
