import { describe, expect, it, vi } from 'vitest'
import { type McpToolSet, mcpMentions, mcpTools } from '../../adapters/mcp/index.ts'
import { textOf } from '../../src/index.ts'
import { patient } from '../support/patience.ts'
import { type Answer, type Asked, generations } from './in-memory.ts'

const review = {
  name: 'review',
  description: 'Reviews code',
  arguments: [{ name: 'language', description: 'Such as en', required: true }, { name: 'tone' }],
}

/** A set with the prefix `mem` whose server answers these requests besides. */
async function setOf(answers: Record<string, (asked: Asked) => unknown> = {}): Promise<McpToolSet> {
  const known: typeof answers = {
    'tools/list': () => ({ tools: [] }),
    'prompts/list': () => ({ prompts: [review, { name: 'plain' }, { name: 'with space' }] }),
    'prompts/get': ({ params }) => ({
      messages: [{ role: 'user', content: { type: 'text', text: `Review ${JSON.stringify(params?.arguments)}` } }],
    }),
    'resources/list': () => ({ resources: [{ uri: 'mem:///notes', name: 'notes', title: 'Notes' }] }),
    'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'db:///{table}', name: 'table' }] }),
    'resources/read': () => ({ contents: [{ uri: 'mem:///notes', text: 'hello' }] }),
    'completion/complete': () => ({ completion: { values: ['users', 'orders of Ann', ''] } }),
    ...answers,
  }
  const answering = (asked: Asked): Answer => {
    const answer = known[asked.method ?? '']
    return answer === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: answer(asked) }
  }
  const connect = Object.values(generations)[0]
  if (connect === undefined) throw new Error('There is no client.')
  return mcpTools((await connect(answering)).client, { prefix: 'mem' })
}

async function loaded(answers?: Parameters<typeof setOf>[0]) {
  const mentions = mcpMentions([await setOf(answers)])
  await mentions.load()
  return mentions
}

const options = (mentions: Awaited<ReturnType<typeof loaded>>, before: string) => mentions.complete(before)?.options.map(({ text }) => text)

describe('mcpMentions', () => {
  it('lists prompts that can be typed as commands', async () => {
    const mentions = await loaded()
    expect(mentions.servers).toEqual(['mem'])
    expect(mentions.commands).toEqual([
      { command: '/mem:review', usage: 'language [tone]', description: 'Reviews code' },
      { command: '/mem:plain', usage: '' },
    ])
  })

  it('completes servers, resources and templates', async () => {
    const mentions = await loaded()
    expect(mentions.complete('See @m')).toEqual({ from: 4, options: [{ text: '@mem:' }] })
    expect(mentions.complete('@mem:no')).toEqual({ from: 0, options: [{ text: '@mem:mem:///notes ', description: 'Notes' }] })
    expect(options(mentions, '@mem:db')).toEqual(['@mem:db:///'])
    expect(options(mentions, 'a@m')).toBeUndefined()
    expect(options(mentions, '@other')).toBeUndefined()
  })

  it('completes prompts, their arguments and values, and calls listeners when values arrive', async () => {
    const mentions = await loaded()
    const listener = vi.fn()
    const stop = mentions.subscribe(listener)
    expect(mentions.complete('/mem:r')).toEqual({
      from: 0,
      options: [{ text: '/mem:review ', description: 'language [tone] · Reviews code' }],
    })
    expect(mentions.complete('/mem:review ')).toEqual({
      from: 12,
      options: [{ text: 'language=', description: 'Such as en' }, { text: 'tone=' }],
    })
    expect(options(mentions, '/mem:review language=en t')).toEqual(['tone='])
    expect(options(mentions, '/mem:review tone=')).toBeUndefined()
    await vi.waitFor(() => expect(listener).toHaveBeenCalledOnce(), patient)
    expect(options(mentions, '/mem:review tone=')).toEqual(['tone=users ', 'tone="orders of Ann" '])
    expect(options(mentions, '@mem:db:///')).toBeUndefined()
    await vi.waitFor(() => expect(listener).toHaveBeenCalledTimes(2), patient)
    expect(options(mentions, '@mem:db:///')).toEqual(['@mem:db:///users', '@mem:db:///orders%20of%20Ann'].map((text) => `${text} `))
    stop()
  })

  it('returns the messages of a typed prompt', async () => {
    const mentions = await loaded()
    const sent = async (typed: string) => {
      const [message] = await mentions.messages(typed)
      return message !== undefined && 'content' in message && typeof message.content !== 'string' ? textOf(message.content) : undefined
    }
    expect(await sent('/mem:review en very short')).toBe('Review {"language":"en","tone":"very short"}')
    expect(await sent(' /mem:review tone="a b" en ')).toBe('Review {"tone":"a b","language":"en"}')
    expect(mentions.isCommand('/mem:review en')).toBe(true)
    expect(['/other:x', 'see /mem:review', '/mem'].some((text) => mentions.isCommand(text))).toBe(false)
  })

  it.each([
    ['/mem:nothing', '/mem:nothing is not a prompt. Prompts of MCP servers: /mem:review, /mem:plain.'],
    ['/mem:review', '/mem:review needs language. Type /mem:review language [tone].'],
    ['/mem:plain x', 'Too many arguments. Type /mem:plain.'],
  ])('rejects %s', async (typed, message) => {
    await expect((await loaded()).messages(typed)).rejects.toMatchObject({ code: 'invalidOption', message })
  })

  it('reads mentioned resources once each, marked with their URI', async () => {
    const mentions = await loaded()
    const content = await mentions.resourcesIn('See @mem:mem:///notes, @mem:mem:///notes and @file.txt or ann@mem:x.')
    expect(textOf(content)).toBe('[resource mem:///notes]hello')
    expect(await mentions.resourcesIn('nothing here')).toEqual([])
    expect(mentions.resource('file.txt')).toBeUndefined()
  })

  it('reads a mention with much punctuation in linear time', async () => {
    const mentions = await loaded()
    const start = performance.now()
    expect(await mentions.resourcesIn(`@${'!'.repeat(100_000)}a @mem:mem:///notes?!`)).toHaveLength(2)
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('rejects a resource that cannot be read, and says what to change', async () => {
    const mentions = await loaded()
    await expect(mentions.resourcesIn('@mem:relative')).rejects.toMatchObject({
      code: 'invalidOption',
      message: expect.stringMatching(/^Cannot attach @mem:relative: .* Use another URI, or remove the @\.$/),
    })
  })

  it('lists a server that reports a change with each response a limited number of times', async () => {
    let lists = 0
    const set = await setOf({
      'prompts/list': () => {
        lists += 1
        changed()
        return { prompts: [review] }
      },
    })
    const listeners = new Set<(list: 'prompts') => void>()
    const changed = () => {
      for (const listener of listeners) listener('prompts')
    }
    const onListChange: McpToolSet['onListChange'] = (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
    const mentions = mcpMentions([Object.assign(set, { onListChange })])
    // As in a user interface. Ends the loop of a failing test.
    mentions.subscribe(() => lists < 200 && mentions.complete('/mem:'))
    await mentions.load()
    await expect.poll(() => lists, patient).toBeGreaterThan(10)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(lists).toBeLessThan(50)
  })

  it('completes values of a server while another server does not respond', async () => {
    const silent = await setOf({ 'completion/complete': () => new Promise(() => undefined) })
    const mentions = mcpMentions([Object.assign(silent, { prefix: 'silent' }), await setOf()])
    await mentions.load()
    mentions.complete('/silent:review language=e')
    await expect.poll(() => options(mentions, '/mem:review language=e')).toContain('language=users ')
  })

  it('treats the lists of a failing server as empty', async () => {
    const mentions = await loaded({ 'prompts/list': () => ({ prompts: 1 }), 'resources/list': () => ({ resources: 1 }) })
    expect(mentions.commands).toEqual([])
    expect(options(mentions, '@mem:')).toBeUndefined()
  })
})
