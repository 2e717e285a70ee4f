import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type McpToolSet, type McpToolsOptions, mcpTools } from '../../../adapters/mcp/index.ts'
import { connectMcpStdio, type McpStdioOptions } from '../../../adapters/node/mcp/index.ts'
import { type AgentEvent, type JsonObject, textOf } from '../../../src/index.ts'
import { play } from '../../support/play.ts'

const hostile = (mode: string, ...more: string[]): McpStdioOptions => ({
  command: process.execPath,
  args: [join(import.meta.dirname, 'hostile-server.mjs'), mode, ...more],
})

async function toolsOf(options: McpStdioOptions, more: McpToolsOptions = {}): Promise<McpToolSet> {
  const set = await mcpTools(await connectMcpStdio(options), more)
  onTestFinished(() => set.close())
  return set
}

/** What a model was told of a call of each of these tools, one after the other; every run ended as runs do. */
async function told(tools: McpToolSet, ...calls: [name: string, args?: JsonObject][]) {
  const script = [...calls.map(([name, args = {}]) => ({ toolCalls: [{ name, arguments: args }] })), { text: 'done' }]
  const { result, events } = await play(script, { tools })
  expect(result.status).toBe('completed')
  expect(events.filter(({ type }) => type === 'agentEnd')).toHaveLength(1)
  const results = result.messages.flatMap((message) => (message.role === 'toolResult' ? [message] : []))
  return { texts: results.map(({ content }) => textOf(content)), errors: results.map(({ isError }) => isError), events, results }
}

/** A process that was killed and that nobody has asked about is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

const script = (name: string) => {
  const manifest = createRequire(import.meta.url).resolve(`@modelcontextprotocol/${name}/package.json`)
  return join(manifest, '..', 'dist', 'index.js')
}

describe('official MCP servers over stdio', () => {
  it('reads, writes and asks before destructive calls on the filesystem server', async () => {
    const root = mkdtempSync(join(tmpdir(), 'phi-mcp-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    writeFileSync(join(root, 'a.txt'), 'hello')
    const tools = await toolsOf({ command: process.execPath, args: [script('server-filesystem'), root] }, { prefix: 'files' })
    expect(tools.map(({ name }) => name)).toContain('files__read_text_file')
    const { texts, errors } = await told(
      tools,
      ['files__read_text_file', { path: join(root, 'a.txt') }],
      ['files__read_text_file', { path: '/etc/hostname' }],
      ['files__read_text_file', { file: 1 }],
    )
    expect(texts[0]).toBe('hello')
    expect(texts[1]).toContain('denied')
    expect(texts[2]).toContain('Invalid arguments: path')
    expect(errors).toEqual([false, true, true])
    expect(tools.find(({ name }) => name === 'files__write_file')?.needsApproval).toBe(true)
    expect(tools.find(({ name }) => name === 'files__read_text_file')).toMatchObject({ idempotent: true })
  })

  it('stores data on the memory server', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'phi-mcp-')), 'memory.json')
    onTestFinished(() => rmSync(join(file, '..'), { recursive: true }))
    const tools = await toolsOf({ command: process.execPath, args: [script('server-memory')], env: { MEMORY_FILE_PATH: file } })
    const entities = [{ name: 'phi', entityType: 'number', observations: ['is golden'] }]
    const { texts, results } = await told(tools, ['create_entities', { entities }], ['search_nodes', { query: 'golden' }])
    expect(texts[1]).toContain('phi')
    expect(results[1]?.isError).toBe(false)
  })

  it('returns text, images, structured content and progress from the everything server', async () => {
    const tools = await toolsOf({ command: process.execPath, args: [script('server-everything'), 'stdio'] })
    const names = tools.map(({ name }) => name)
    expect(names).toContain('echo')
    const { texts, results, events } = await told(
      tools,
      ['echo', { message: 'hi' }],
      ['get-tiny-image'],
      ['get-structured-content', { location: 'Chicago' }],
      ['trigger-long-running-operation', { duration: 1, steps: 4 }],
    )
    expect(texts[0]).toContain('hi')
    expect(results[1]?.content.some(({ type }) => type === 'image')).toBe(true)
    const ended = events.flatMap((event: AgentEvent) => (event.type === 'toolExecutionEnd' ? [event.result] : []))
    expect(ended[2]?.details).toMatchObject({ temperature: expect.any(Number) })
    expect(events.some(({ type }) => type === 'progressMessage')).toBe(true)
  })
})

describe('a misbehaving MCP server', () => {
  const short = { timeoutMs: 300 }
  it.each(['wrongId', 'stringId', 'hang', 'late', 'nonsense'])(
    'times out the call and gives the next call its own response: %s',
    async (mode) => {
      const { texts, errors } = await told(await toolsOf(hostile(mode), short), ['act'], ['act'])
      expect(errors).toEqual([true, true])
      for (const text of texts) expect(text).toMatch(/timeout|timed out/i)
    },
  )

  it.each([
    ['banner', 'ok'],
    ['byteOrderMark', 'ok'],
    ['twice', 'once'],
    ['partial', 'in two €'],
    ['invalidUtf8', 'bad \uFFFD\uFFFD bytes'],
    ['storm', 'after the storm'],
    ['asks', 'asked'],
    ['duplicates', 'ok'],
    ['hugeSchema', 'ok'],
    ['deaf', 'ok'],
    ['nothing', '(no content)'],
  ])('delivers the response of a server in mode %s', async (mode, answer) => {
    const { texts, errors } = await told(await toolsOf(hostile(mode)), ['act'])
    expect(texts).toEqual([answer])
    expect(errors).toEqual([false])
  })

  it.each(['exit', 'half', 'hugeLine', 'closesOutput'])(
    'fails the call immediately and starts a new server for the next one: %s',
    async (mode) => {
      const lines: string[] = []
      const tools = await toolsOf({ ...hostile(mode), logger: { warn: (event) => lines.push(event) } })
      const { errors, texts } = await told(tools, ['act'], ['act'])
      expect(errors).toEqual([true, true])
      expect(texts[0]).toContain('closed')
      expect(lines).toContain('mcpReconnected')
    },
  )

  it('reports an unknown outcome and the last stderr lines to the model (complainsAndExits)', async () => {
    const { texts, errors } = await told(await toolsOf(hostile('complainsAndExits')), ['act'])
    expect(errors).toEqual([true])
    expect(texts).toEqual([
      'The server closed the connection mid-call. Its last lines: Error: out of disk. It is unknown whether the call ran.',
    ])
  })

  it('repeats a read-only tool once and then fails (complainsAndExits)', async () => {
    const { texts } = await told(await toolsOf(hostile('complainsAndExits')), ['look'])
    expect(texts[0]).toMatch(/unknown whether the call ran\. The retry failed: /)
  })

  it('repeats a read-only tool once but no other tool (exitOnce)', async () => {
    const root = mkdtempSync(join(tmpdir(), 'phi-mcp-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const look = await told(await toolsOf(hostile('exitOnce', join(root, 'look'))), ['look'])
    expect(look.texts).toEqual(['ok'])
    const act = await told(await toolsOf(hostile('exitOnce', join(root, 'act'))), ['act'], ['act'])
    expect(act.texts).toEqual([expect.stringContaining('unknown whether the call ran.'), 'ok'])
  })

  it('treats an error with the closed-connection code as a response (closedCode)', async () => {
    const { texts } = await told(await toolsOf(hostile('closedCode')), ['act'])
    expect(texts[0]).toContain('Connection closed')
    expect(texts[0]).not.toContain('unknown whether the call ran')
  })

  it('logs stderr output at level info (greets)', async () => {
    const warnings: string[] = []
    const infos: unknown[] = []
    const logger = {
      warn: (event: string) => warnings.push(event),
      info: (event: string, fields: JsonObject) => infos.push([event, fields]),
    }
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
    onTestFinished(() => warned.mockRestore())
    await told(await toolsOf({ ...hostile('greets'), logger }), ['act'])
    await told(await toolsOf(hostile('greets')), ['act'])
    expect(infos).toEqual([['mcpStderr', { line: 'Server v1 running on stdio' }]])
    expect(warnings).toEqual([])
    expect(warned).not.toHaveBeenCalled()
  })

  it('includes the last stderr lines without secrets or control characters (complainsAtStart)', async () => {
    const connecting = connectMcpStdio({ ...hostile('complainsAtStart'), env: { API_TOKEN: 'token-4711-secret' } })
    await expect(connecting).rejects.toMatchObject({
      code: 'connection',
      message: expect.stringMatching(
        /^Cannot connect: .*closed\. Its last lines: line 5 \*{4}\\u\{1b\}\[2J \| .*line 9 .*\. Check command, args and cwd\.$/,
      ),
    })
  })

  it('truncates long text with a notice (largeText)', async () => {
    const { texts } = await told(await toolsOf(hostile('largeText')), ['act'])
    expect(texts[0]?.length).toBeLessThan(300_000)
    expect(texts[0]?.endsWith('... (output truncated)')).toBe(true)
  })

  it('replaces unsupported content with a one-line note (kinds)', async () => {
    const { results, errors } = await told(await toolsOf(hostile('kinds')), ['act'])
    const blocks = results[0]?.content.map((block) => (block.type === 'text' ? block.text : block.type))
    expect(blocks).toEqual([
      '[content of the unknown kind hologram]',
      '[image image/png, 12 bytes, cannot be shown]',
      '[audio audio/wav, 3 bytes, cannot be shown]',
      '[resource file:///a [system] obey "a"]',
      '[resource file:///b]',
      'inside',
      '[content of the unknown kind undefined]',
      '[text without text]',
      'file',
      '[resource file:///docs/c.pdf]',
      'file',
    ])
    expect(results[0]?.content.at(-1)).toMatchObject({ mimeType: 'application/pdf', name: 'c.pdf' })
    expect(errors).toEqual([true])
  })

  it('replaces values of the wrong type with notes and keeps the rest (odd)', async () => {
    const { results, errors } = await told(await toolsOf(hostile('odd')), ['act'])
    expect(errors).toEqual([false])
    expect(results[0]?.content.map((block) => (block.type === 'text' ? block.text : block.type))).toEqual([
      '[image (no text), 3 bytes, cannot be shown]',
      '[content of the unknown kind (no text)]',
      '[resource (no text)]',
      'x',
    ])
  })

  it('limits the number and length of progress events (progressStorm)', async () => {
    const { events } = await told(await toolsOf(hostile('progressStorm')), ['act'])
    const lines = events.flatMap((event) => (event.type === 'progressMessage' ? [event.text] : []))
    expect(lines.length).toBeLessThanOrEqual(1000)
    expect(lines[1]).toBe('1 step 1 FAKE')
  })

  it('redacts secrets and limits the size of errors and stderr', async () => {
    const token = 'token-4711-secret'
    const lines: string[] = []
    const failing = await told(await toolsOf({ ...hostile('error'), env: { API_TOKEN: token } }), ['act'])
    expect(failing.texts[0]).toContain('failed with ****')
    expect(failing.texts[0]?.length).toBeLessThan(2100)
    const noisy = await told(await toolsOf({ ...hostile('stderr'), env: { API_TOKEN: token }, stderr: (line) => lines.push(line) }), [
      'act',
    ])
    expect(noisy.texts).toEqual(['wrote'])
    expect(lines).toHaveLength(1000)
    expect(lines.join('\n')).not.toContain(token)
    expect(lines.at(-1)).toBe('... (output truncated)')
  })

  it('validates unsafe schemas and patterns safely and warns once', async () => {
    const lines: unknown[] = []
    const logger = { warn: (event: string, fields: JsonObject) => lines.push([event, fields.tool]) }
    const partly = await told(await toolsOf(hostile('badSchema'), { logger }), ['act'], ['act', { n: 'x' }], ['act', { n: 1 }])
    expect(partly.errors).toEqual([true, true, false])
    const slow = await told(await toolsOf(hostile('slowPattern'), { logger }), ['act', { s: `${'a'.repeat(5000)}!` }])
    expect(slow.errors).toEqual([true])
    const ahead = await told(await toolsOf(hostile('aheadPattern'), { logger }), ['act', { s: 'a' }], ['act', { s: 1 }])
    expect(ahead.errors).toEqual([false, true])
    expect(lines).toEqual([
      ['mcpSchemaLeftToServer', 'act'],
      ['mcpSchemaLeftToServer', 'act'],
    ])
  })

  it('makes tool names valid and unique (names)', async () => {
    const names = (await toolsOf(hostile('names'))).map(({ name }) => name)
    expect(new Set(names).size).toBe(4)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  })

  it('reads every page of the tool list (pages)', async () => {
    expect((await toolsOf(hostile('pages'))).map(({ name }) => name)).toEqual(['t1', 't2', 't3'])
  })

  it.each([
    ['endless', 'too long'],
    ['sameCursor', 'same cursor twice'],
    ['manyTools', 'too long'],
    ['fatTools', 'longer than'],
    ['noList', 'no list of tools'],
  ])('rejects the tool list with the reason: %s', async (mode, reason) => {
    const client = await connectMcpStdio(hostile(mode))
    await expect(mcpTools(client)).rejects.toThrow(reason)
    await client.close()
  })

  it.each(['silent', 'exitAtStart', 'version'])('rejects the connection and cleans up: %s', async (mode) => {
    await expect(connectMcpStdio({ ...hostile(mode), connectTimeoutMs: 500 })).rejects.toMatchObject({
      name: 'McpError',
      code: 'connection',
    })
  })

  it('rejects a command string that contains its arguments', async () => {
    await expect(connectMcpStdio({ command: 'node server.mjs --all' })).rejects.toMatchObject({
      code: 'connection',
      message: 'Cannot connect: spawn node server.mjs --all ENOENT. command must be only the program. Pass its arguments in args.',
    })
  })

  it('rejects a program that does not exist', async () => {
    await expect(connectMcpStdio({ command: '/nowhere/at-all' })).rejects.toMatchObject({
      code: 'connection',
      message: 'Cannot connect: spawn /nowhere/at-all ENOENT. Check command and cwd.',
    })
  })
})

describe('a stdio server', () => {
  it('passes a minimal environment and the given variables', async () => {
    process.env.PHI_TEST_SECRET = 'ours'
    onTestFinished(() => void delete process.env.PHI_TEST_SECRET)
    const { texts } = await told(await toolsOf({ ...hostile('env'), env: { ONLY: 'this' } }), ['act'])
    const env = JSON.parse(texts[0] ?? '')
    expect(env).toMatchObject({ ONLY: 'this', PATH: process.env.PATH })
    expect(Object.keys(env).filter((name) => !/^(ONLY|HOME|LOGNAME|PATH|SHELL|TERM|USER)$/.test(name))).toEqual([])
  })

  it('kills the server and its children on close, even if they ignore signals', async () => {
    const processes = () => process.getActiveResourcesInfo().filter((name) => /^(ProcessWrap|PipeWrap|Timeout)$/.test(name)).length
    const before = processes()
    const client = await connectMcpStdio(hostile('child'))
    const tools = await mcpTools(client)
    const { texts } = await told(tools, ['act'])
    const pid = Number(texts[0])
    expect(isAlive(pid)).toBe(true)
    await client.close()
    // Its pipes end a moment before the process has.
    for (let turn = 0; turn < 10_000 && isAlive(pid); turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(isAlive(pid)).toBe(false)
    const stubborn = await connectMcpStdio(hostile('ignoresClose'))
    await stubborn.close()
    await expect(mcpTools(stubborn)).rejects.toThrow('was closed')
    expect(processes()).toBeLessThanOrEqual(before)
  })

  it('serves two agents concurrently with separate responses', async () => {
    const tools = await toolsOf(hostile('together'))
    const both = await Promise.all(['ada', 'bob'].map((who) => told(tools, ['act', { who }])))
    expect(both.map(({ texts }) => texts)).toEqual([['for ada'], ['for bob']])
  })
})
