import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, it } from 'vitest'
import { defineTool } from '../../../../src/index.ts'
import { loadSkills, memoryWorkspace } from '../../../../src/tools.ts'
import { deployTool } from '../../http/openai/served.ts'
import { type Answering, connected, helper, listening, textOf } from './served.ts'

const ask = { name: 'helper', arguments: { prompt: 'Deploy 2.' } }

describe('an agent as a tool of an MCP server', () => {
  it('runs with its own tools and reports progress', async () => {
    const { deploy, done } = deployTool()
    const agents = helper([{ text: 'Let me see.', toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }, { text: 'Done.' }], {
      tools: [{ ...deploy, needsApproval: false }],
    })
    const { url } = await listening({ agents, instructions: 'Ask the helper.' })
    const { client } = await connected(url)
    const { tools } = await client.listTools()
    expect([client.getInstructions(), tools.map(({ name, description }) => [name, description])]).toEqual([
      'Ask the helper.',
      [['helper', 'Helps.']],
    ])
    const progress: unknown[] = []
    const result = await client.callTool(ask, undefined, { onprogress: ({ progress: at, message }) => progress.push([at, message]) })
    expect([textOf(result), done]).toEqual(['Done.', ['2']])
    expect(progress).toEqual([
      [1, 'Begins'],
      [2, 'Runs deploy'],
      [3, 'deploy is done'],
      [4, 'Turn 2'],
    ])
  })

  const answers: [string, Answering | undefined, string, unknown[]][] = [
    ['yes', () => ({ action: 'accept', content: { approve: true } }), 'went', ['2']],
    ['no', () => ({ action: 'accept', content: { approve: false, reason: 'too early' } }), 'denied: too early', []],
    ['an empty form', () => ({ action: 'accept', content: {} }), 'denied: the user said no', []],
    ['a wrong value for yes', () => ({ action: 'accept', content: { approve: 'true' } }), 'denied: the user said no', []],
    ['decline', () => ({ action: 'decline' }), 'denied: the user said no', []],
    ['cancel', () => ({ action: 'cancel' }), 'denied: the user said no', []],
    ['an error', () => Promise.reject(new Error('broken')), 'denied: the client returned no decision', []],
    ['no response', () => new Promise(() => undefined), 'denied: the client returned no decision', []],
    ['no support for elicitation', undefined, 'denied: it requires user approval, which this client does not support', []],
  ]
  it.each(answers)('requests approval from the client and receives %s', async (_name, answer, said, expected) => {
    const { deploy, done } = deployTool()
    const agents = helper(
      ({ messages }) => {
        const last = messages.at(-1)
        if (last?.role !== 'toolResult') return { toolCalls: [{ name: 'deploy', arguments: { version: '2' } }] }
        const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
        return { text: last.isError ? text.replace('The user denied this tool call', 'denied') : 'went' }
      },
      { tools: [deploy] },
    )
    const { url } = await listening({ agents, askTimeoutMs: 300 })
    const asked: unknown[] = []
    const { client } = await connected(
      url,
      answer &&
        ((request) => {
          asked.push(request.message)
          return answer(request)
        }),
    )
    expect([textOf(await client.callTool(ask)), done]).toEqual([said, expected])
    if (answer !== undefined) expect(asked).toEqual(['The agent wants to run deploy with:\n{\n  "version": "2"\n}'])
  })

  it('stops when its call is canceled or its client ends the session', async () => {
    for (const how of ['cancel', 'end'] as const) {
      const ends: string[] = []
      const begun: string[] = []
      const hooks = { beforeLoop: () => void begun.push('begun'), afterLoop: ({ status }: { status: string }) => void ends.push(status) }
      const { url } = await listening({
        agents: helper([{ text: 'never' }], { hooks } as object, { gate: () => new Promise(() => undefined) }),
      })
      const { client, transport } = await connected(url)
      const abort = new AbortController()
      const call = client.callTool(ask, undefined, { signal: abort.signal }).catch(() => undefined)
      await expect.poll(() => begun.length).toBe(1)
      if (how === 'cancel') abort.abort()
      else await transport.terminateSession()
      await expect.poll(() => ends).toEqual(['aborted'])
      await client.close()
      await call
    }
  })

  it('reports why there is no response', async () => {
    const agents = helper([{ fail: { code: 'auth', message: 'The key is wrong.' } }])
    const broken = { description: 'x', agent: () => Promise.reject(new Error('secret reason')) }
    const { url } = await listening({ agents: { ...agents, broken } })
    const { client } = await connected(url)
    const failed = await client.callTool(ask)
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining('The key is wrong.')])
    const unmade = await client.callTool({ name: 'broken', arguments: { prompt: 'x' } })
    expect([unmade.isError, textOf(unmade)]).toEqual([true, expect.not.stringContaining('secret')])
    for (const args of [{}, { prompt: '' }, { prompt: 5 }])
      expect((await client.callTool({ name: 'helper', arguments: args })).isError).toBe(true)
    await expect(client.callTool({ name: '__proto__', arguments: {} })).rejects.toThrow(/not found/)
  })
})

describe('tools and skills of an MCP server', () => {
  it('validates arguments and requests approval as in any run', async () => {
    const { deploy, done } = deployTool()
    const { url } = await listening({ tools: [deploy] })
    const { client } = await connected(url, () => ({ action: 'accept', content: { approve: true } }))
    const wrong = await client.callTool({ name: 'deploy', arguments: { version: 2 } })
    expect([wrong.isError, textOf(wrong)]).toEqual([true, expect.stringContaining('version')])
    const right = await client.callTool({ name: 'deploy', arguments: { version: '3' } })
    expect([right.isError, textOf(right), done]).toEqual([undefined, 'Version 3 is in service.', ['3']])
  })

  it('requests user input and logs progress without a progress token', async () => {
    const parameters = { type: 'object', properties: {} }
    const greet = defineTool({
      name: 'greet',
      description: 'Greets.',
      parameters,
      execute: async (_args, ctx) => {
        ctx.progress('looking up the name')
        const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
        const answer = await ctx.requestInput?.({ message: 'Who are you?', schema })
        return answer?.action === 'accept' ? `Hello ${String(answer.content?.name)}` : 'Hello stranger'
      },
    })
    const { url } = await listening({ tools: [greet] })
    const { client } = await connected(url, ({ message }) => ({ action: 'accept', content: { name: `Ada (${message})` } }))
    const lines: unknown[] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void lines.push(params.data))
    const call = { name: 'greet', arguments: {} }
    expect(textOf(await client.callTool(call))).toBe('Hello Ada (Who are you?)')
    expect(lines).toEqual(['looking up the name'])
    await client.setLoggingLevel('error')
    expect(textOf(await (await connected(url)).client.callTool(call))).toBe('Hello stranger')
    await client.callTool(call)
    expect(lines).toHaveLength(1)
  })

  it('exposes skills as prompts and resources', async () => {
    const workspace = memoryWorkspace({ 'skills/brew/SKILL.md': '---\nname: brew\ndescription: Makes tea.\n---\nBoil water.' })
    const skills = await loadSkills(workspace, ['skills'])
    const { url } = await listening({ skills: { skills, workspace } })
    const { client } = await connected(url)
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'brew', description: 'Makes tea.' }])
    const { messages } = await client.getPrompt({ name: 'brew', arguments: { task: 'For two.' } })
    expect(messages.map(({ content }) => content)).toEqual([
      { type: 'text', text: expect.stringContaining('Boil water.') },
      { type: 'text', text: 'For two.' },
    ])
    const { resources } = await client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['skill://brew'])
    expect((await client.readResource({ uri: 'skill://brew' })).contents[0]).toMatchObject({ text: expect.stringContaining('Boil water.') })
    for (const uri of ['skill://../../etc/passwd', 'file:///etc/passwd', 'skill://'])
      await expect(client.readResource({ uri })).rejects.toThrow(/not found/)
  })
})

describe('the context of MCP calls', () => {
  const whoami = (seen: unknown[]) =>
    defineTool({
      name: 'whoami',
      description: 'Records the context.',
      parameters: { type: 'object' },
      execute: (_args, { context }) => {
        seen.push(context)
        return 'ok'
      },
    })
  const calling = { toolCalls: [{ name: 'whoami', arguments: {} }] }
  const whose = { name: 'whoami', arguments: {} }

  it.each([true, false])("comes from each call's caller and headers, for agents and tools (sessions: %s)", async (sessions) => {
    const seen: unknown[] = []
    const tool = whoami(seen)
    const agents = helper([calling, { text: 'a' }, calling, { text: 'b' }], { tools: [tool] })
    const { url } = await listening({
      agents,
      tools: [tool],
      sessions,
      context: ({ identity, toolName, headers }) => [identity, toolName, headers.get('Authorization')],
    })
    for (const user of ['ada', 'bob']) {
      const { client } = await connected(url, undefined, user)
      await client.callTool(ask)
      await client.callTool(whose)
    }
    const expected = ['ada', 'bob'].flatMap((user) => ['helper', 'whoami'].map((name) => [user, name, `Bearer key-of-${user}`]))
    expect(seen).toEqual(expected)
  })

  it("keeps an agent's default context if the function returns undefined", async () => {
    const seen: unknown[] = []
    const agents = helper([calling, { text: 'a' }], { tools: [whoami(seen)], context: 'default' })
    const { url } = await listening({ agents, context: () => undefined })
    const { client } = await connected(url)
    await client.callTool(ask)
    expect(seen).toEqual(['default'])
  })

  it('fails the call without details if the function fails', async () => {
    const seen: unknown[] = []
    const told: unknown[] = []
    const logger = { warn: (...args: unknown[]) => told.push(args) }
    const context = () => Promise.reject(new Error('The user database is down: hunter2'))
    const { url } = await listening({ tools: [whoami(seen)], context, logger })
    const { client } = await connected(url)
    const result = await client.callTool(whose)
    expect([result.isError, textOf(result), seen]).toEqual([true, "The call failed to start. The server's log has the reason.", []])
    expect(JSON.stringify(told)).toContain('hunter2')
  })

  it('frees the slot of a canceled call whose context never comes', async () => {
    const seen: unknown[] = []
    const abort = new AbortController()
    let calls = 0
    const { url } = await listening({
      tools: [whoami(seen)],
      maxCalls: 1,
      context: () => {
        if (calls++ > 0) return 'later'
        abort.abort()
        return new Promise(() => undefined)
      },
    })
    const { client } = await connected(url)
    await expect(client.callTool(whose, undefined, { signal: abort.signal })).rejects.toThrow()
    await expect.poll(async () => textOf(await client.callTool(whose))).toBe('ok')
    expect(seen).toEqual(['later'])
  })
})
