import { describe, expect, it } from 'vitest'
import { type McpTool, mcpInstructions, mcpTools } from '../../adapters/mcp/index.ts'
import { generations, offering } from './in-memory.ts'

const bad = 'a\u001b[2Jb\u202ec\u200bd\u0007'
const seen = 'a\\u{1b}[2Jb\\u{202e}c\\u{200b}d\\u{7}'

const inputSchema = {
  type: 'object',
  title: bad,
  description: bad,
  properties: {
    plain: { type: 'string', description: bad, default: bad, enum: [bad], examples: [{ description: bad }] },
    default: { type: 'string', title: bad },
    description: { type: 'object', properties: { inner: { oneOf: [{ const: bad, title: bad }] } } },
    list: { type: 'array', items: { type: 'string', $comment: bad, enumNames: [bad] }, prefixItems: [{ description: bad }] },
  },
  $defs: { enum: { description: bad } },
  additionalProperties: { description: bad },
}

describe.each(Object.entries(generations))('text from an MCP server: %s', (_, connect) => {
  async function listed(tool: object) {
    const infos: McpTool[] = []
    const { client } = await connect(offering(() => [{ name: 'act', inputSchema: { type: 'object' }, ...tool }]))
    const [agentTool] = await mcpTools(client, { include: (info) => infos.push(info) > 0 })
    return { tool: agentTool, infos }
  }

  it('escapes control characters in tool descriptions and labels', async () => {
    const { tool, infos } = await listed({ title: bad, description: `first\n${bad}`, annotations: { title: bad } })
    expect(tool).toMatchObject({ label: seen, description: `first\n${seen}` })
    expect(infos).toMatchObject([{ title: seen, description: `first\n${seen}`, annotations: { title: seen } }])
    expect((await listed({ annotations: { title: bad } })).tool?.label).toBe(seen)
  })

  it('escapes control characters in schema titles and descriptions, but not in values', async () => {
    const { tool } = await listed({ inputSchema })
    expect(tool?.jsonSchema ?? tool?.parameters).toEqual({
      type: 'object',
      title: seen,
      description: seen,
      properties: {
        plain: { type: 'string', description: seen, default: bad, enum: [bad], examples: [{ description: bad }] },
        default: { type: 'string', title: seen },
        description: { type: 'object', properties: { inner: { oneOf: [{ const: bad, title: seen }] } } },
        list: { type: 'array', items: { type: 'string', $comment: seen, enumNames: [seen] }, prefixItems: [{ description: seen }] },
      },
      $defs: { enum: { description: seen } },
      additionalProperties: { description: seen },
    })
  })
})

describe('instructions of an MCP server', () => {
  it('escapes control characters of server instructions in the prompt', async () => {
    const [connect] = Object.values(generations)
    const { client } = (await connect?.(offering(() => []))) ?? {}
    if (client === undefined) throw new Error('no client')
    const set = await mcpTools(Object.assign(client, { getInstructions: () => bad }))
    expect(set.instructions).toBe(seen)
    expect(mcpInstructions(set)).toContain(seen)
  })
})
