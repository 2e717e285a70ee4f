import { describe, expect, it } from 'vitest'
import { mcpTools } from '../../adapters/mcp/index.ts'
import { generations, offering } from './in-memory.ts'

describe.each(Object.entries(generations))('a set without tools, %s', (_, connect) => {
  it('reports the first tools of its server', async () => {
    const tools: object[] = []
    const { client } = await connect(offering(() => tools))
    const set = await mcpTools(client)
    const changes: unknown[] = []
    set.subscribe((change) => changes.push(change))
    tools.push({ name: 'a', inputSchema: { type: 'object' } })
    await set.refresh()
    expect(set.map(({ name }) => name)).toEqual(['a'])
    expect(changes).toEqual([{ added: ['a'], removed: [], changed: [] }])
  })
})
