import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentPrompt, composeSystemPrompt, minimalPrompt, type SystemPromptStrategy } from '../../src/agent/system-prompt.ts'
import { ConfigError, WorkspaceError } from '../../src/contract/errors.ts'
import { memoryWorkspace } from '../../src/workspace/memory-workspace.ts'

const names = (strategy: SystemPromptStrategy) => strategy.blocks.map(({ name, maxLength }) => [name, maxLength])
const one = (maxLength: number): SystemPromptStrategy => ({ blocks: [{ name: 'only', order: 0, maxLength }] })

/** What `promise` rejects with. */
async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.fail(`resolved with ${JSON.stringify(value)}`),
    (error: unknown) => error,
  )
}

describe('built-in prompt strategies', () => {
  it('defines four blocks for agentPrompt (agent_prompt_strategy_has_4_blocks)', () => {
    expect(names(agentPrompt)).toEqual([
      ['identity', 500],
      ['instructions', 2000],
      ['tools', 1000],
      ['constraints', 500],
    ])
  })

  it('defines two blocks for minimalPrompt (minimal_prompt_strategy_has_2_blocks)', () => {
    expect(names(minimalPrompt)).toEqual([
      ['identity', 1000],
      ['task', 3000],
    ])
  })
})

describe('composeSystemPrompt', () => {
  it('joins blocks in order with a blank line (system_prompt_compose_from_strategy)', async () => {
    const content = { constraints: 'Never lie.', tools: 'You have bash.', identity: 'You are Ada.', instructions: 'Answer.' }
    expect(await composeSystemPrompt(agentPrompt, content)).toBe('You are Ada.\n\nAnswer.\n\nYou have bash.\n\nNever lie.')
  })

  it('sorts blocks by their order value (compose_orders_by_block_order)', async () => {
    const strategy: SystemPromptStrategy = {
      blocks: [
        { name: 'last', order: 10, maxLength: 9 },
        { name: 'first', order: -1, maxLength: 9 },
        { name: 'second', order: 0, maxLength: 9 },
        { name: 'third', order: 0, maxLength: 9 },
      ],
    }
    const content = { last: 'd', third: 'c', second: 'b', first: 'a' }
    expect(await composeSystemPrompt(strategy, content)).toBe('a\n\nb\n\nc\n\nd')
    expect(strategy.blocks[0]?.name).toBe('last')
  })

  it('skips missing and empty blocks (compose_skips_missing_blocks)', async () => {
    expect(await composeSystemPrompt(minimalPrompt, { task: 'Sum up.' })).toBe('Sum up.')
    expect(await composeSystemPrompt(agentPrompt, { identity: '', tools: ' \n', constraints: 'x' })).toBe('x')
    expect(await composeSystemPrompt(minimalPrompt, {})).toBe('')
  })

  it('truncates to the block length (compose_truncates)', async () => {
    expect(await composeSystemPrompt(one(5), { only: 'hello world' })).toBe('hello')
    expect(await composeSystemPrompt(one(5), { only: 'hello' })).toBe('hello')
  })

  it('truncates without splitting a character', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 20 }), async (text, maxLength) => {
        const whole = `x${text}`
        const cut = await composeSystemPrompt(one(maxLength), { only: whole })
        expect(cut.length).toBeLessThanOrEqual(maxLength)
        if (cut !== '') expect(whole.startsWith(cut)).toBe(true)
        expect(() => encodeURIComponent(cut)).not.toThrow()
        if (whole.length > maxLength && cut !== '') expect(cut.length).toBeGreaterThanOrEqual(maxLength - 1)
      }),
    )
  })

  it('rejects an unknown block and lists the known ones', async () => {
    const error = await failure(composeSystemPrompt(minimalPrompt, { identity: 'x', tasks: 'y' }))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ code: 'invalidOption', message: 'The strategy has no block "tasks". It has: "identity", "task".' })
    expect(await failure(composeSystemPrompt({ blocks: [] }, { a: 'b' }))).toMatchObject({ code: 'invalidOption' })
    expect(await failure(composeSystemPrompt(minimalPrompt, { constructor: 'y' }))).toMatchObject({ code: 'invalidOption' })
  })

  it('ignores inherited members of the content', async () => {
    const strategy: SystemPromptStrategy = { blocks: [{ name: 'constructor', order: 0, maxLength: 10 }] }
    expect(await composeSystemPrompt(strategy, {})).toBe('')
  })

  it('rejects invalid blocks and reports the value', async () => {
    expect(await failure(composeSystemPrompt(one(0), {}))).toMatchObject({ message: expect.stringContaining('is 0;') })
    expect(await failure(composeSystemPrompt(one(1.5), {}))).toMatchObject({ message: expect.stringContaining('is 1.5;') })
    const noOrder = { blocks: [{ name: 'a', order: Number.NaN, maxLength: 1 }] }
    expect(await failure(composeSystemPrompt(noOrder, {}))).toMatchObject({ message: expect.stringContaining('NaN') })
    const twice = { blocks: [...one(1).blocks, ...one(2).blocks] }
    expect(await failure(composeSystemPrompt(twice, {}))).toMatchObject({
      message: expect.stringContaining('Two blocks are named "only"'),
    })
  })
})

describe('composeSystemPrompt: file blocks', () => {
  const workspace = memoryWorkspace({ 'prompts/coder.md': 'You write code.', 'empty.md': '' })

  it('reads files relative to the workspace (compose_reads_file)', async () => {
    const content = { identity: 'file:prompts/coder.md', task: 'Fix it.' }
    expect(await composeSystemPrompt(minimalPrompt, content, { workspace })).toBe('You write code.\n\nFix it.')
    expect(await composeSystemPrompt(minimalPrompt, { identity: 'file: empty.md ', task: 'x' }, { workspace })).toBe('x')
  })

  it('reports the block and file if the file is missing (compose_file_not_found)', async () => {
    const error = await failure(composeSystemPrompt(minimalPrompt, { task: 'file:none.md' }, { workspace }))
    expect(error).toBeInstanceOf(WorkspaceError)
    expect(error).toMatchObject({ code: 'notFound', message: expect.stringMatching(/"task".*none\.md/) })
  })

  it('rejects paths outside the workspace', async () => {
    for (const path of ['/etc/passwd', '../secret.md']) {
      const error = await failure(composeSystemPrompt(minimalPrompt, { task: `file:${path}` }, { workspace }))
      expect(error).toMatchObject({ name: 'WorkspaceError', code: 'outside' })
    }
  })

  it('throws if a file block has no workspace', async () => {
    const error = await failure(composeSystemPrompt(minimalPrompt, { task: 'file:a.md' }))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toMatchObject({ code: 'invalidOption', message: expect.stringMatching(/"task".*"a\.md".*no workspace/) })
  })

  it('returns the same result as inline text while reading only the start', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        async (text, maxLength, marked) => {
          const files = memoryWorkspace({ f: `${marked ? '\ufeff' : ''}x${text}` })
          const fromFile = await composeSystemPrompt(one(maxLength), { only: 'file:f' }, { workspace: files })
          expect(fromFile).toBe(await composeSystemPrompt(one(maxLength), { only: `x${text}` }))
        },
      ),
    )
  })

  it('reads only as many bytes as needed and forwards the signal', async () => {
    const asked: unknown[] = []
    const read = (_path: string, options?: object) => {
      asked.push(options)
      return Promise.resolve(new TextEncoder().encode('abc'))
    }
    const { signal } = new AbortController()
    expect(await composeSystemPrompt(one(2), { only: 'file:f' }, { workspace: { ...workspace, read }, signal })).toBe('ab')
    expect(asked).toEqual([{ end: 10, signal }])
  })

  it("rejects with the signal's abort reason", async () => {
    const signal = AbortSignal.abort('enough')
    expect(await failure(composeSystemPrompt(minimalPrompt, { task: 'file:prompts/coder.md' }, { workspace, signal }))).toBe('enough')
  })
})
