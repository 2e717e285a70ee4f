import { describe, expect, it } from 'vitest'
import { defineTool } from '../../src/index.ts'
import { ToolRegistry } from '../../src/tools.ts'

const tool = (name: string) => defineTool({ name, description: name, parameters: { type: 'object' }, execute: () => name })

describe('ToolRegistry', () => {
  it('returns an empty list if no tool is registered', () => {
    const registry = new ToolRegistry()
    expect(registry.resolve([])).toEqual([])
    expect(registry.names).toEqual([])
  })

  it('resolves a subset in the requested order', () => {
    const registry = new ToolRegistry([tool('a'), tool('b')]).register(tool('c'))
    expect(registry.resolve(['c', 'a']).map(({ name }) => name)).toEqual(['c', 'a'])
    expect(registry.names).toEqual(['a', 'b', 'c'])
  })

  it('throws for unknown names and lists the known ones', () => {
    const registry = new ToolRegistry([tool('a'), tool('b')])
    expect(() => registry.resolve(['a', 'x', 'y'])).toThrow('Unknown tools: "x", "y". Known: a, b.')
    expect(() => registry.resolve(['x'])).toThrow(expect.objectContaining({ code: 'invalidTool' }))
  })

  it('rejects a second tool with the same name', () => {
    expect(() => new ToolRegistry([tool('a'), tool('a')])).toThrow(/already registered/)
  })

  it('treats names of inherited object members as unregistered', () => {
    const registry = new ToolRegistry()
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(registry.has(name)).toBe(false)
      expect(registry.get(name)).toBe(undefined)
      expect(registry.register(tool(name)).get(name)?.name).toBe(name)
    }
  })
})
