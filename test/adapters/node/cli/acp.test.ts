import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { McpServer, SessionUpdate } from '@agentclientprotocol/sdk'
import { describe, expect, it, vi } from 'vitest'
import { patient } from '../../../support/patience.ts'
import { directory, environment, piped } from './command.ts'
import { type Editor, type EditorOptions, editorWith, on, text } from './editor.ts'
import { calling, messagesText, modelServer } from './model-server.ts'

const textIn = (updates: readonly SessionUpdate[]): string =>
  updates
    .map((update) => (update.sessionUpdate === 'agent_message_chunk' && update.content.type === 'text' ? update.content.text : ''))
    .join('')

describe('phi acp', () => {
  it('streams a run with a tool, a diff and an approval, using editor buffers', async () => {
    const cwd = directory()
    const file = join(cwd, 'a.txt')
    writeFileSync(file, 'on disk\n')
    const { env, asked } = await modelServer(({ attempt }) => {
      if (attempt === 1) return calling('read_file', { path: 'a.txt' })
      if (attempt === 2) return calling('edit_file', { path: 'a.txt', old_text: 'unsaved', new_text: 'edited' })
      return { text: ['It is ', 'done.'] }
    })
    const editor = await editorWith({ env: environment(env), cwd })
    editor.open.set(file, 'unsaved\n')
    const { sessionId, modes } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    expect(modes?.currentModeId).toBe('ask')
    const { stopReason } = await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('edit it') })
    expect(stopReason).toBe('end_turn')
    expect(asked.map(messagesText)[1]).toContain('unsaved')
    expect(textIn(editor.updates)).toBe('It is done.')
    const diff = { type: 'diff', path: file, oldText: 'unsaved\n', newText: 'edited\n' }
    expect(editor.asked[0]?.toolCall).toMatchObject({ title: 'edit_file a.txt', kind: 'edit', status: 'pending', content: [diff] })
    expect(editor.asked[0]?.options.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_always', 'allow_always', 'reject_once'])
    expect(editor.updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call', title: 'read_file a.txt', kind: 'read', status: 'in_progress' }),
    )
    expect(editor.updates).toContainEqual(
      expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed', content: expect.arrayContaining([diff]) }),
    )
    expect(editor.updates.at(-1)).toMatchObject({ sessionUpdate: 'usage_update', size: 128_000 })
    expect(readFileSync(file, 'utf8')).toBe('edited\n')
    expect(editor.open.get(file)).toBe('edited\n')
  })

  it('reports the total session cost after a reload', async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) => ({ text: [`ok ${attempt}`] }))
    const shared = { env: environment(env), cwd, args: ['--model', 'openai/gpt-5.1', '--no-sandbox'] }
    const costs = ({ updates }: Editor) =>
      updates.flatMap((update) => (update.sessionUpdate === 'usage_update' ? [update.cost?.amount ?? 0] : []))
    const before = await editorWith(shared)
    const { sessionId } = await before.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    await before.connection.agent.request(on.session.prompt, { sessionId, prompt: text('one') })
    await before.connection.agent.request(on.session.close, { sessionId })

    const after = await editorWith(shared)
    await after.connection.agent.request(on.session.load, { sessionId, cwd, mcpServers: [] })
    await after.connection.agent.request(on.session.prompt, { sessionId, prompt: text('two') })
    const [one = 0] = costs(before)
    expect(one).toBeGreaterThan(0)
    expect(costs(after)).toEqual([expect.closeTo(2 * one, 10)])
  })

  it("requests approval for an agent file's tools", async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) =>
      attempt === 1 ? calling('write_file', { path: 'a.txt', content: 'x' }) : { text: ['ok'] },
    )
    const provider = `[provider]\nmodel = "test"\napi = "openai_completions"\nbase_url = "${env.OPENAI_BASE_URL}"\napi_key = "k"\n`
    writeFileSync(join(cwd, 'agent.toml'), `${provider}[tools]\nenabled = ["write_file"]\n`)
    const editor = await editorWith({ env: environment(), cwd, args: ['--config', 'agent.toml', '--trust'] })
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    const { stopReason } = await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') })
    expect({ stopReason, asked: editor.asked.length }).toEqual({ stopReason: 'end_turn', asked: 1 })
    expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('x')
  })

  it('skips rejected calls, remembers session approvals and follows the mode', async () => {
    const cwd = directory()
    const { env, asked } = await modelServer(({ attempt }) => {
      const commands = ['touch one', 'touch two', 'touch two', 'touch three']
      const command = commands[attempt - 1]
      return command === undefined ? { text: ['ok'] } : calling('bash', { command })
    })
    const answers = ['no', 'session']
    const editor = await editorWith({ env: environment(env), cwd, answer: () => answers.shift() ?? 'no' })
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') })
    expect(['one', 'two', 'three'].map((name) => existsSync(join(cwd, name)))).toEqual([false, true, false])
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual(['bash touch one', 'bash touch two', 'bash touch three'])
    expect(asked.map(messagesText)[1]).toContain('denied this call')
    await editor.connection.agent.request(on.session.setMode, { sessionId, modeId: 'all' })
    expect(editor.updates.at(-1)).toEqual({ sessionUpdate: 'current_mode_update', currentModeId: 'all' })
    await expect(editor.connection.agent.request(on.session.setMode, { sessionId, modeId: 'root' })).rejects.toThrow(/Invalid params/)
  })

  it('stops on cancel, even during an approval, and accepts another prompt', async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) => (attempt === 1 ? calling('bash', { command: 'touch ran' }) : { text: ['again'] }))
    const editor = await editorWith({ env: environment(env), cwd, answer: () => undefined })
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    const run = editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') })
    await vi.waitFor(() => expect(editor.asked).toHaveLength(1), patient)
    await expect(editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('too') })).rejects.toThrow(/Invalid request/)
    await editor.connection.agent.notify(on.session.cancel, { sessionId })
    expect(await run).toEqual({ stopReason: 'cancelled' })
    expect(existsSync(join(cwd, 'ran'))).toBe(false)
    expect(await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('and now') })).toEqual({
      stopReason: 'end_turn',
    })
  })

  it('lists the sessions of a directory and opens one in another process', async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) =>
      attempt === 1 ? calling('list_files', { path: '.' }) : { text: [`Answer ${attempt}.`] },
    )
    const shared = { env: environment(env), cwd }
    await piped(['--model', 'openai/test', '--no-sandbox', '-p', 'what is here?'], shared)
    const editor = await editorWith(shared)
    const { sessions } = await editor.connection.agent.request(on.session.list, { cwd })
    expect(sessions).toMatchObject([{ cwd, title: 'what is here?' }])
    const { sessionId } = sessions[0] ?? { sessionId: '' }
    await editor.connection.agent.request(on.session.load, { sessionId, cwd, mcpServers: [] })
    expect(editor.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      'user_message_chunk',
      'tool_call',
      'tool_call_update',
      'agent_message_chunk',
    ])
    await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('and?') })
    expect(textIn(editor.updates)).toBe('Answer 2.Answer 3.')
    await editor.connection.agent.request(on.session.close, { sessionId })
    await expect(editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('?') })).rejects.toThrow(/Invalid params/)
  })

  it('offers prompts of MCP servers as commands, and attaches mentioned resources', async () => {
    const cwd = directory()
    const { env, asked } = await modelServer(() => ({ text: ['ok'] }))
    const editor = await editorWith({ env: environment(env), cwd })
    const server = resolve('test/adapters/mcp/resource-server.mjs')
    const mcpServers: McpServer[] = [{ name: 'mem', command: process.execPath, args: [server], env: [] }]
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers })
    await vi.waitFor(
      () =>
        expect(editor.updates).toContainEqual({
          sessionUpdate: 'available_commands_update',
          availableCommands: [
            { name: 'mem:greet', description: 'Greets', input: { hint: 'who [tone]' } },
            { name: 'mem:picture', description: '' },
          ],
        }),
      patient,
    )
    const prompt = (words: string) => editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text(words) })
    await prompt('/mem:greet Ann very short')
    expect(asked.at(-1)?.messages.at(-1)?.content).toBe('Greet Ann, very short')
    await prompt('What is in @mem:mem:///notes?')
    expect(messagesText(asked.at(-1) ?? { model: '', messages: [], attempt: 0 })).toMatch(
      /\[resource mem:\/\/\/notes\].*hello.*What is in @mem:mem:\/\/\/notes\?/,
    )
    await expect(prompt('/mem:greet')).rejects.toThrow('/mem:greet needs who. Type /mem:greet who [tone].')
    expect(asked).toHaveLength(2)
  })

  it("uses the editor's MCP servers, with approval", async () => {
    const cwd = directory()
    const { env } = await modelServer(({ attempt }) => (attempt === 1 ? calling('files__list_allowed_directories', {}) : { text: ['ok'] }))
    const editor = await editorWith({ env: environment(env), cwd })
    const server = resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
    const mcpServers: McpServer[] = [{ name: 'files', command: process.execPath, args: [server, cwd], env: [] }]
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers })
    await editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') })
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual(['files__list_allowed_directories'])
    expect(JSON.stringify(editor.updates)).toContain('Allowed directories')
  })

  describe('user input requests in an ACP editor', () => {
    async function asking(fill?: EditorOptions['fill'], times = 1) {
      const cwd = directory()
      const { env, asked } = await modelServer(({ attempt }) => (attempt <= times ? calling('desk__book', {}) : { text: ['Booked.'] }))
      const editor = await editorWith({ env: environment(env), cwd, ...(fill !== undefined && { fill }) })
      const server: McpServer = {
        name: 'desk',
        command: process.execPath,
        args: [resolve('test/adapters/node/cli/asking-server.mjs')],
        env: [],
      }
      const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [server] })
      const prompted = editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('book') })
      return { editor, asked, sessionId, prompted }
    }

    it('displays a form in the editor and returns its values to the tool', async () => {
      const { editor, asked, sessionId, prompted } = await asking(() => ({ action: 'accept', content: { guests: 3, meal: 'fish' } }))
      expect(await prompted).toMatchObject({ stopReason: 'end_turn' })
      expect(editor.questions).toMatchObject([
        {
          sessionId,
          mode: 'form',
          message: 'Which table?',
          toolCallId: 'call_desk__book',
          requestedSchema: { required: ['guests', 'meal'] },
        },
      ])
      expect(JSON.stringify(asked.at(-1))).toMatch(/answered .*accept.*guests.*3.*fish/)
    })

    it('declines without form support and cancels on invalid form responses', async () => {
      const none = await asking()
      await none.prompted
      expect(none.editor.questions).toEqual([])
      expect(JSON.stringify(none.asked.at(-1))).toMatch(/answered .*decline/)
      const strange = [{ action: '_else' }, { action: 'accept', content: 'all of it' }, { action: 'accept', content: [1] }]
      const fills = [{ action: 'decline' }, ...strange]
      const some = await asking(() => fills.shift() as never, fills.length)
      await some.prompted
      const results = some.asked.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
      const actions = results.map(({ content }) => /answered .*?"action\W+(\w+)/.exec(JSON.stringify(content))?.[1])
      expect(actions).toEqual(['decline', 'cancel', 'cancel', 'cancel'])
    })

    it('ends the request if the prompt is canceled or the editor crashes', async () => {
      const { editor, sessionId, prompted } = await asking(() => undefined)
      await vi.waitFor(() => expect(editor.questions).toHaveLength(1), patient)
      await editor.connection.agent.notify(on.session.cancel, { sessionId })
      expect(await prompted).toMatchObject({ stopReason: 'cancelled' })
      const dying = await asking(() => undefined)
      dying.prompted.catch(() => undefined)
      await vi.waitFor(() => expect(dying.editor.questions).toHaveLength(1), patient)
      const ended = new Promise((done) => dying.editor.child.on('exit', done))
      dying.editor.child.stdin?.destroy()
      dying.editor.child.stdout?.destroy()
      expect(await ended).toBe(0)
    })
  })

  it('exits without running the call if the editor crashes during a permission request', async () => {
    const cwd = directory()
    const { env } = await modelServer(() => calling('write_file', { path: 'a.txt', content: 'x' }))
    const editor = await editorWith({ env: environment(env), cwd, answer: () => undefined })
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') }).catch(() => undefined)
    await vi.waitFor(() => expect(editor.asked).toHaveLength(1), patient)
    const ended = new Promise((done) => editor.child.on('exit', done))
    editor.child.stdin?.destroy()
    editor.child.stdout?.destroy()
    expect(await ended).toBe(0)
    expect(existsSync(join(cwd, 'a.txt'))).toBe(false)
  })

  it('reports a model failure, a missing directory and an untrusted agent file', async () => {
    const cwd = directory()
    const dead = { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
    const wrong = await editorWith({ env: environment(dead), cwd })
    await expect(wrong.connection.agent.request(on.session.new, { cwd: join(cwd, 'no'), mcpServers: [] })).rejects.toThrow(/does not exist/)
    const file = join(cwd, 'agent.toml')
    writeFileSync(file, '[provider]\napi = "openai_completions"\nmodel = "test"\napi_key = "k"\nbase_url = "https://models.test/v1"\n')
    const untrusted = await editorWith({ env: environment({ OPENAI_API_KEY: 'k' }), cwd, args: ['--config', file] })
    await expect(untrusted.connection.agent.request(on.session.new, { cwd, mcpServers: [] })).rejects.toThrow(/trust/)
  })

  it('exits when the editor disconnects, even during a run', async () => {
    const cwd = directory()
    const { env, asked } = await modelServer(() => new Promise(() => undefined))
    const editor = await editorWith({ env: environment(env), cwd })
    const { sessionId } = await editor.connection.agent.request(on.session.new, { cwd, mcpServers: [] })
    const run = editor.connection.agent.request(on.session.prompt, { sessionId, prompt: text('go') })
    run.catch(() => undefined)
    await vi.waitFor(() => expect(asked).toHaveLength(1), patient)
    const ended = new Promise((done) => editor.child.on('exit', done))
    editor.child.stdin?.end()
    expect(await ended).toBe(0)
    const { code, stderr } = await piped(['acp', '-p', 'x'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'phi: phi acp takes no --print.\n' })
  })
})
