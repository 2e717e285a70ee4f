import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeTools } from '../../../adapters/node/index.ts'
import type { JsonObject } from '../../../src/index.ts'
import { toToolResult } from '../../../src/loop/calls/tool-result.ts'
import { failureOf, temporaryRoot, toolContext } from './temporary.ts'

function toolbox() {
  const { root, outside } = temporaryRoot()
  const tools = nodeTools({ root, bash: { sandbox: 'none' } })
  const call = async (name: string, args: JsonObject) => {
    const result = await tools.find((tool) => tool.name === name)?.execute(args, toolContext())
    if (result === undefined) return undefined
    return toToolResult(name, result)
      .content.map((block) => (block.type === 'text' ? block.text : block.type))
      .join('')
  }
  return { root, outside, tools, call }
}

describe('nodeTools', () => {
  it('includes six built-in tools, with bash optional', () => {
    const { root, tools } = toolbox()
    const files = ['read_file', 'write_file', 'edit_file', 'list_files', 'search']
    expect(tools.map((tool) => tool.name)).toEqual(['bash', ...files])
    expect(nodeTools({ root, bash: false }).map((tool) => tool.name)).toEqual(files)
  })

  it('uses the same files in all tools', async () => {
    const { call } = toolbox()
    await call('write_file', { path: 'src/a.txt', content: 'first\nsecond\n' })
    await call('edit_file', { path: 'src/a.txt', old_text: 'second', new_text: 'changed' })
    expect(await call('read_file', { path: 'src/a.txt' })).toContain('   2 | changed')
    expect(await call('list_files', {})).toContain('src/a.txt')
    expect(await call('search', { pattern: 'CHANGED' })).toContain('src/a.txt:2:changed')
    expect(await call('bash', { command: 'cat src/a.txt' })).toBe('Exit code: 0\nfirst\nchanged\n')
  })

  it('blocks access outside the root and runs no code during a search', async () => {
    const { root, outside, call } = toolbox()
    writeFileSync(join(outside, 'secret'), 'SECRET')
    symlinkSync(outside, join(root, 'link'))
    for (const path of ['../outside/secret', join(outside, 'secret'), 'link/secret']) {
      expect(await failureOf(call('read_file', { path }))).not.toBe('fulfilled')
      expect(await failureOf(call('write_file', { path, content: 'X' }))).not.toBe('fulfilled')
    }
    expect(await call('search', { pattern: 'SECRET' })).toBe("No matches found for 'SECRET'")
    expect(await call('list_files', {})).toBe('No files found in .')
    expect(await failureOf(call('write_file', { path: '.git/hooks/pre-commit', content: 'X' }))).not.toBe('fulfilled')
  })
})
