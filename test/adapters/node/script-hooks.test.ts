import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ScriptHookOptions, scriptHooks } from '../../../adapters/node/index.ts'
import { Agent, ConfigError, defineTool, type JsonObject, type JsonValue, type LoopHooks, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { checkedOptions } from '../../options/surface.ts'
import { present, temporaryRoot } from './temporary.ts'

const hasPython = present('/usr/bin/python3', '--version')
const hasNode = present('/usr/bin/node', '--version')

type Scripts = Record<string, string>

/** A root with these files, and hooks made of them. */
function hooksOf(files: Scripts, scripts: ScriptHookOptions['scripts'], options: Partial<ScriptHookOptions> = {}) {
  const { root, outside } = temporaryRoot()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return { root, outside, hooks: scriptHooks({ root, scripts, ...options }) }
}

const tool = (ran: string[]) =>
  defineTool<{ path: string }>({
    name: 'remove',
    description: 'Removes.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    execute: ({ path }, { update }) => {
      update({ content: [{ type: 'text', text: 'half' }] })
      ran.push(path)
      return `removed ${path}`
    },
  })

/** A run with one call of a tool under these hooks. */
async function played(hooks: LoopHooks, args: JsonObject = { path: 'a' }, signal?: AbortSignal) {
  const ran: string[] = []
  const logged: JsonValue[] = []
  const model = scripted([{ toolCalls: [{ name: 'remove', arguments: args }] }, { text: 'Done.' }])
  const agent = new Agent({ model, tools: [tool(ran)], hooks, logger: { warn: (event, fields) => logged.push([event, fields]) } })
  const run = agent.prompt('Go.', signal === undefined ? {} : { signal })
  const types: string[] = []
  run.subscribe(({ type }) => types.push(type))
  const result = await run.result
  const answers = agent.messages.flatMap((message) => (message.role === 'toolResult' ? [textOf(message.content)] : []))
  return { ran, logged: JSON.stringify(logged), result, answers, types }
}

const beforeTool = (script: string, options?: Partial<ScriptHookOptions>, name = 'h.sh') =>
  hooksOf({ [name]: script }, { beforeToolExecution: name }, options)

/** Whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('a script before something', () => {
  it.each([
    ['nothing', 'exit 0'],
    ['{"allow": true}', 'echo \'{"allow": true}\''],
    ['white space', 'echo; echo'],
    ['without reading its input', 'exec <&-; exit 0'],
  ])('allows by writing %s', async (_, script) => {
    const { ran, logged } = await played(beforeTool(script).hooks)
    expect([ran, logged]).toEqual([['a'], '[]'])
  })

  it('refuses with a reason, which the model is told', async () => {
    const { ran, answers, logged } = await played(beforeTool('echo \'{"allow": false, "reason": "not a\\u001b[2J"}\'').hooks)
    expect(answers).toEqual(['Tool execution skipped by before_tool_execution hook: not a\\u{1b}[2J'])
    expect([ran, logged]).toEqual([[], '[]'])
    expect((await played(beforeTool('echo \'{"allow": false}\'').hooks)).answers).toEqual([
      'Tool execution skipped by before_tool_execution hook.',
    ])
  })

  it.each([
    ['ends with another code', 'echo why >&2; exit 3', /ended with code 3: why/],
    ['ends with another code, but allows', 'echo \'{"allow": true}\'; exit 1', /ended with code 1/],
    ['is ended by a signal', 'kill -9 $$', /ended by a signal/],
    ['writes no JSON', 'echo ok', /It wrote: ok/],
    ['writes JSON and more', 'echo \'{"allow": true}\'; echo debug', /It wrote/],
    ['writes a list', 'echo "[true]"', /It wrote: \[true\]/],
    ['writes null', 'echo null', /It wrote: null/],
    ['writes true', 'echo true', /It wrote: true/],
    ['says neither', 'echo "{}"', /It wrote: \{\}/],
    ['says it as a text', 'echo \'{"allow": "true"}\'', /It wrote/],
    ['says what nobody knows', 'echo \'{"allow": true, "arguments": {}}\'', /It wrote/],
    ['has a reason that is no text', 'echo \'{"allow": false, "reason": 7}\'', /It wrote/],
    ['does not parse', 'if then fi', /ended with code 2/],
    ['writes without end', 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done', /wrote more than 65536 bytes/],
    ['does not end', 'sleep 60', /did not end within 200 ms/],
    ['does not want to end', 'trap "" TERM; while :; do sleep 1; done', /did not end within 200 ms/],
  ])('refuses when it %s', async (name, script, message) => {
    const { hooks } = beforeTool(script, name.includes('want') || name.includes('not end') ? { timeoutMs: 200 } : {})
    const { ran, answers, logged, result } = await played(hooks)
    expect(ran).toEqual([])
    expect(answers).toEqual(['Tool execution skipped: the before_tool_execution hook failed.'])
    expect(logged).toMatch(message)
    expect(logged).toContain('hookFailed')
    expect(result.status).toBe('completed')
  })

  it.each<[string, (root: string, outside: string) => void]>([
    ['is gone', (root) => rmSync(join(root, 'h.sh'))],
    ['was changed', (root) => writeFileSync(join(root, 'h.sh'), 'exit  0')],
    ['was made longer', (root) => writeFileSync(join(root, 'h.sh'), 'exit 0\n')],
    [
      'became a directory',
      (root) => {
        rmSync(join(root, 'h.sh'))
        mkdirSync(join(root, 'h.sh'))
      },
    ],
    [
      'became a link that leads out',
      (root, outside) => {
        rmSync(join(root, 'h.sh'))
        writeFileSync(join(outside, 'x.sh'), 'exit 0')
        symlinkSync(join(outside, 'x.sh'), join(root, 'h.sh'))
      },
    ],
    [
      'became a device',
      (root) => {
        rmSync(join(root, 'h.sh'))
        symlinkSync('/dev/zero', join(root, 'h.sh'))
      },
    ],
  ])('refuses when it %s since the hooks were made', async (_, change) => {
    const { hooks, root, outside } = beforeTool('exit 0')
    change(root, outside)
    const { ran, logged } = await played(hooks)
    expect(ran).toEqual([])
    expect(logged).toMatch(/The script h\.sh is not what it was when the hooks were made/)
  })

  it('runs what was looked at, also where the file changes right after', async () => {
    // The script itself changes the file that it came from; the second call sees it.
    const { hooks } = beforeTool('echo "exit 0 # changed" > h.sh; echo \'{"allow": false}\'')
    expect((await played(hooks)).answers).toEqual(['Tool execution skipped by before_tool_execution hook.'])
    expect((await played(hooks)).logged).toContain('its content has changed')
  })

  it('ends the run where it refuses a turn or a loop', async () => {
    const no = 'echo \'{"allow": false, "reason": "closed today"}\''
    for (const hook of ['beforeLoop', 'beforeTurn'] as const) {
      const refused = await played(hooksOf({ 'h.sh': no }, { [hook]: 'h.sh' }).hooks)
      expect(refused.result).toMatchObject({ status: 'rejected', rejection: `The ${hook} hook returned false: closed today` })
      const failed = await played(hooksOf({ 'h.sh': 'exit 1' }, { [hook]: 'h.sh' }).hooks)
      expect(failed.result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
      expect([...refused.ran, ...failed.ran]).toEqual([])
    }
  })

  it('keeps back updates, and compactions', async () => {
    const { types } = await played(hooksOf({ 'h.sh': 'exit 1' }, { beforeToolExecutionUpdate: 'h.sh' }).hooks)
    expect(types).not.toContain('toolExecutionUpdate')
    expect((await played({})).types).toContain('toolExecutionUpdate')
    const { hooks } = hooksOf({ 'h.sh': 'exit 1' }, { beforeCompactionStart: 'h.sh' })
    const agent = new Agent({
      model: scripted([]),
      hooks,
      messages: Array.from({ length: 40 }, () => ({ role: 'user' as const, content: 'x' })),
    })
    const compacted: string[] = []
    agent.subscribe(({ type }) => compacted.push(type))
    await agent.compact().result
    expect(compacted).not.toContain('compactionStarted')
  })
})

describe('a script that observes', () => {
  it.each([
    ['exit 7', /ended with code 7/],
    ['echo anything at all', undefined],
    ['kill -9 $$', /ended by a signal/],
    ['yes', /wrote more than/],
  ])('%s does not disturb the run', async (script, message) => {
    const scripts = { afterLoop: 'h.sh', afterTurn: 'h.sh', afterToolExecution: 'h.sh', afterToolExecutionUpdate: 'h.sh' }
    const { ran, result, logged } = await played(hooksOf({ 'h.sh': script }, scripts).hooks)
    expect([ran, result.status]).toEqual([['a'], 'completed'])
    if (message === undefined) expect(logged).toBe('[]')
    else expect(logged).toMatch(message)
    expect(JSON.parse(logged)).toHaveLength(message === undefined ? 0 : 5)
  })
})

describe('what a script gets', () => {
  const write = 'cat >> told; exit 0'
  const all: Required<ScriptHookOptions['scripts']> = {
    ...{ beforeLoop: 'w.sh', afterLoop: 'w.sh', beforeTurn: 'w.sh', afterTurn: 'w.sh', onError: 'w.sh', beforeToolExecution: 'w.sh' },
    ...{ afterToolExecution: 'w.sh', beforeToolExecutionUpdate: 'w.sh', afterToolExecutionUpdate: 'w.sh' },
    ...{ beforeCompactionStart: 'w.sh', afterCompactionEnd: 'w.sh' },
  }
  const told = (root: string) =>
    readFileSync(join(root, 'told'), 'utf8')
      .trim()
      .split('\n')
      .map((line): JsonObject => JSON.parse(line))

  it('is one line of JSON about each of the eleven places', async () => {
    const { hooks, root } = hooksOf({ 'w.sh': write }, all)
    const agent = new Agent({
      model: scripted([
        { toolCalls: [{ name: 'remove', arguments: { path: 'ä"\n' } }] },
        { text: 'Done.' },
        { fail: { code: 'api', message: 'down' } },
      ]),
      tools: [tool([])],
      hooks,
      agentId: 'me',
      sessionId: 's',
      retry: false,
    })
    await agent.prompt('Go.').result
    await agent.prompt('Again.').result
    agent.replaceMessages(
      Array.from({ length: 60 }, (_, at) =>
        at % 2 === 0 ? { role: 'user' as const, content: 'x'.repeat(999) } : { role: 'user' as const, content: 'y' },
      ),
    )
    await agent.compact().result
    const lines = told(root)
    const loopId = 's.default.1'
    const first = (hook: string) => lines.find((line) => line.hook === hook)
    const origin = { loopId: expect.any(String), agentId: 'me' }
    expect(first('beforeLoop')).toEqual({ hook: 'beforeLoop', ...origin, messageCount: expect.any(Number) })
    expect(first('beforeTurn')).toEqual({ hook: 'beforeTurn', ...origin, turnIndex: 0, messageCount: 1 })
    const call = { ...origin, toolCallId: expect.any(String), toolName: 'remove' }
    expect(first('beforeToolExecution')).toEqual({ hook: 'beforeToolExecution', ...call, args: { path: 'ä"\n' } })
    expect(first('beforeToolExecutionUpdate')).toEqual({ hook: 'beforeToolExecutionUpdate', ...call, text: 'half' })
    expect(first('afterToolExecutionUpdate')).toEqual({ hook: 'afterToolExecutionUpdate', ...call, text: 'half' })
    expect(first('afterToolExecution')).toEqual({ hook: 'afterToolExecution', ...call, isError: false, text: 'removed ä"\n' })
    expect(first('afterTurn')).toMatchObject({
      ...origin,
      turnIndex: 0,
      messageCount: 3,
      stopReason: 'toolUse',
      text: '',
      toolResultCount: 1,
    })
    expect(first('afterLoop')).toMatchObject({
      ...origin,
      messageCount: 4,
      status: 'completed',
      usage: { totalTokens: expect.any(Number) },
    })
    expect(first('onError')).toEqual({
      hook: 'onError',
      ...origin,
      turnIndex: 0,
      error: { code: 'api', message: expect.stringContaining('down') },
    })
    expect(first('beforeCompactionStart')).toMatchObject({ ...origin, messageCount: 60, estimatedTokens: expect.any(Number) })
    expect(first('afterCompactionEnd')).toMatchObject({ ...origin, messagesBefore: 60, tokensAfter: expect.any(Number) })
    expect(new Set(lines.map(({ hook }) => hook))).toEqual(new Set(Object.keys(all)))
    expect(loopId).toBeTruthy()
  })

  it('is cut where it is long, except for arguments', async () => {
    const { hooks, root } = hooksOf({ 'w.sh': write }, { afterToolExecution: 'w.sh', beforeToolExecution: 'w.sh' })
    const path = 'x'.repeat(300_000)
    await played(hooks, { path })
    const [before, after] = told(root)
    expect(before).toMatchObject({ args: { path } })
    expect(after).toMatchObject({ text: `removed ${path}`.slice(0, 65_536), truncated: true })
  })

  it('is no environment but what it needs and is given', async () => {
    process.env.PHI_TEST_SECRET = 'sk-secret'
    onTestFinished(() => void delete process.env.PHI_TEST_SECRET)
    const { hooks, root } = hooksOf(
      { 'e.sh': 'cat /proc/self/environ | tr "\\0" "\\n" > env; pwd > pwd' },
      { beforeTurn: 'e.sh' },
      { env: { MY: 'own' } },
    )
    expect((await played(hooks)).result.status).toBe('completed')
    const env = readFileSync(join(root, 'env'), 'utf8')
    expect(env).not.toContain('sk-secret')
    const names = env
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0])
    const known = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'MY', 'PHI_HOOK', 'PHI_HOOK_SCRIPT', 'PHI_CORE_RUN', 'PWD', 'SHLVL', '_', 'OLDPWD']
    expect(names.filter((name) => !known.includes(name ?? ''))).toEqual([])
    expect(env).toContain(`PHI_HOOK=beforeTurn\n`)
    expect(env).toContain(`PHI_HOOK_SCRIPT=${root}/e.sh\n`)
    expect(env).toMatch(/^PATH=\/usr\/bin:/m)
    expect(readFileSync(join(root, 'pwd'), 'utf8').trim()).toBe(root)
  })
})

describe('what a script leaves', () => {
  it('is killed with it: what it started, in its group and, on Linux, out of it', async () => {
    const script = 'sleep 300 & echo $! > one; setsid sleep 300 & echo $! > two; sh -c "sleep 300 & echo \\$! > three"; exit 0'
    const { hooks, root } = beforeTool(script)
    expect((await played(hooks)).ran).toEqual(['a'])
    const pids = ['one', 'two', 'three'].map((name) => Number(readFileSync(join(root, name), 'utf8')))
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('is nothing in the directory for temporary files', async () => {
    const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('phi-hook-'))
    const before = copies()
    const { hooks, root } = beforeTool('echo "$0" > zero; kill -9 $$')
    await played(hooks)
    const copy = readFileSync(join(root, 'zero'), 'utf8').trim()
    expect(copy.startsWith(join(tmpdir(), 'phi-hook-'))).toBe(true)
    expect(existsSync(copy)).toBe(false)
    expect(copies().length).toBeLessThanOrEqual(before.length + 0)
  })

  it.each<[keyof LoopHooks, string]>([
    ['beforeLoop', 'aborted'],
    ['beforeTurn', 'aborted'],
    ['beforeToolExecution', 'aborted'],
    ['afterToolExecution', 'aborted'],
    ['beforeToolExecutionUpdate', 'aborted'],
    ['afterTurn', 'aborted'],
  ])('is stopped when the run is: %s', async (hook, status) => {
    const { hooks, root } = hooksOf({ 'h.sh': 'echo $$ > pid.new; mv pid.new pid; sleep 300' }, { [hook]: 'h.sh' }, { timeoutMs: 60_000 })
    const controller = new AbortController()
    const playing = played(hooks, { path: 'a' }, controller.signal)
    await expect.poll(() => existsSync(join(root, 'pid'))).toBe(true)
    controller.abort()
    expect((await playing).result.status).toBe(status)
    const pid = Number(readFileSync(join(root, 'pid'), 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('is the last word of a run that was stopped', async () => {
    const { hooks, root } = hooksOf({ 'h.sh': 'cat > told' }, { afterLoop: 'h.sh' })
    const controller = new AbortController()
    controller.abort()
    await played(hooks, { path: 'a' }, controller.signal)
    await expect.poll(() => existsSync(join(root, 'told'))).toBe(true)
    await expect.poll(() => readFileSync(join(root, 'told'), 'utf8')).toContain('"status":"aborted"')
  })
})

describe('scriptHooks', () => {
  it('has the hooks that have scripts, and no others', () => {
    expect(Object.keys(hooksOf({ 'a.sh': '' }, { beforeTurn: 'a.sh', onError: 'a.sh' }).hooks)).toEqual(['beforeTurn', 'onError'])
    expect(hooksOf({}, {}).hooks).toEqual({})
  })

  it.skipIf(!hasPython)('runs .py with Python', async () => {
    const script =
      'import json, sys\ninfo = json.load(sys.stdin)\nprint(json.dumps({"allow": info["args"]["path"] != "a", "reason": "ä"}))\n'
    expect((await played(beforeTool(script, {}, 'h.py').hooks)).answers[0]).toMatch(/hook: ä$/)
    expect((await played(beforeTool(script, {}, 'h.py').hooks, { path: 'b' })).ran).toEqual(['b'])
    const { hooks } = hooksOf({ check: script }, { beforeToolExecution: 'python3 check' })
    expect((await played(hooks)).ran).toEqual([])
  })

  it.skipIf(!hasNode)('runs .mjs with Node', async () => {
    const script =
      'let text = ""; for await (const chunk of process.stdin) text += chunk\nconsole.log(JSON.stringify({ allow: JSON.parse(text).args.path === "b" }))'
    expect((await played(beforeTool(script, {}, 'h.mjs').hooks)).ran).toEqual([])
    expect((await played(beforeTool(script, {}, 'h.mjs').hooks, { path: 'b' })).ran).toEqual(['b'])
  })

  it('needs no permission to execute: the interpreter reads it', async () => {
    const { root } = temporaryRoot()
    writeFileSync(join(root, 'h'), '#!/bin/false\nexit 0\n')
    chmodSync(join(root, 'h'), 0o400)
    expect((await played(scriptHooks({ root, scripts: { beforeTurn: 'h' } }))).ran).toEqual(['a'])
  })

  it('refuses what cannot be used, at once', () => {
    const { root, outside } = temporaryRoot()
    writeFileSync(join(outside, 'x.sh'), 'exit 0')
    writeFileSync(join(root, 'big.sh'), '#'.repeat(1024 * 1024 + 1))
    writeFileSync(join(root, 'a.sh'), 'exit 0')
    symlinkSync(join(outside, 'x.sh'), join(root, 'link.sh'))
    symlinkSync(outside, join(root, 'folder'))
    const make =
      (script: string, options = {}) =>
      () =>
        scriptHooks({ root, scripts: { beforeTurn: script }, ...options })
    for (const [script, message] of [
      ['none.sh', /no such file/],
      ['', /no regular file/],
      ['.', /no regular file/],
      ['big.sh', /at most 1048576/],
      ['../outside/x.sh', /allowOutside/],
      [join(root, 'a.sh'), /allowOutside/],
      ['link.sh', /allowOutside/],
      ['folder/x.sh', /allowOutside/],
      ['/nowhere', /allowOutside/],
      ['my_plugin::before_turn', /no such file/],
      ['sh ../outside/x.sh', /allowOutside/],
    ] as const) {
      expect(make(script), script).toThrow(ConfigError)
      expect(make(script), script).toThrow(message)
    }
    for (const script of ['../outside/x.sh', 'link.sh', join(outside, 'x.sh')]) expect(make(script, { allowOutside: true })).not.toThrow()
    expect(make('a.sh', { interpreters: { sh: 'sh' } })).toThrow(/not an absolute path/)
    expect(make('a.sh', { interpreters: { sh: join(root, 'a.sh') } })).toThrow(/Cannot use/)
    expect(make('a.sh', { root: join(root, 'a.sh') })).toThrow(/not a directory/)
  })

  it('keeps the copies out of where tools write', () => {
    const { root } = temporaryRoot()
    const before = process.env.TMPDIR
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    })
    process.env.TMPDIR = root
    expect(() => scriptHooks({ root, scripts: {} })).toThrow(/Set TMPDIR/)
  })
})

const { root } = temporaryRoot()
writeFileSync(join(root, 'a.sh'), 'exit 0')
checkedOptions<ScriptHookOptions>(
  'scriptHooks',
  {
    root,
    scripts: { beforeTurn: 'a.sh' },
    allowOutside: true,
    timeoutMs: 5,
    maxOutputBytes: 5,
    env: { A: 'b' },
    interpreters: { sh: '/bin/sh' },
  },
  (options) => scriptHooks(options),
  ['root', 'scripts'],
)
