import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ScriptHookOptions } from '../../../../adapters/node/index.ts'
import { Agent, type JsonObject } from '../../../../src/index.ts'
import type { LoopHooks } from '../../../../src/loop.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { beforeTool, hooksOf, played, tool } from './played.ts'

/** Processes start late on a busy machine. */

/** Whether a process is there. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe('input of script hooks', () => {
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

  it('contains one JSON line for each of the eleven hooks', async () => {
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
    const first = (hook: string) => lines.find((line) => line.hook === hook)
    const origin = { loopId: expect.any(String), agentId: 'me' }
    expect(first('beforeLoop')).toEqual({ hook: 'beforeLoop', ...origin, messageCount: expect.any(Number) })
    expect(first('beforeTurn')).toEqual({ hook: 'beforeTurn', ...origin, turnIndex: 0, messageCount: 0 })
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
  })

  it('truncates long values except the arguments', async () => {
    const { hooks, root } = hooksOf({ 'w.sh': write }, { afterToolExecution: 'w.sh', beforeToolExecution: 'w.sh' })
    const path = 'x'.repeat(300_000)
    await played(hooks, { path })
    const [before, after] = told(root)
    expect(before).toMatchObject({ args: { path } })
    expect(after).toMatchObject({ text: `removed ${path}`.slice(0, 65_536), truncated: true })
  })

  it('passes only required and given environment variables', async () => {
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

describe('cleanup of script hooks', () => {
  it('kills child processes, on Linux also outside the process group', async () => {
    const script = 'sleep 300 & echo $! > one; setsid sleep 300 & echo $! > two; sh -c "sleep 300 & echo \\$! > three"; exit 0'
    const { hooks, root } = beforeTool(script)
    expect((await played(hooks)).ran).toEqual(['a'])
    const pids = ['one', 'two', 'three'].map((name) => Number(readFileSync(join(root, name), 'utf8')))
    for (const pid of pids) await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('leaves no temporary files behind', async () => {
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
  ])('kills the script when the run is aborted: %s', async (hook, status) => {
    const { hooks, root } = hooksOf({ 'h.sh': 'echo $$ > pid.new; mv pid.new pid; sleep 300' }, { [hook]: 'h.sh' }, { timeoutMs: 60_000 })
    const controller = new AbortController()
    const playing = played(hooks, { path: 'a' }, controller.signal)
    await expect.poll(() => existsSync(join(root, 'pid'))).toBe(true)
    controller.abort()
    expect((await playing).result.status).toBe(status)
    const pid = Number(readFileSync(join(root, 'pid'), 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
  })

  it('runs a final script for an aborted run', async () => {
    const { hooks, root } = hooksOf({ 'h.sh': 'cat > told' }, { afterLoop: 'h.sh' })
    const controller = new AbortController()
    controller.abort()
    await played(hooks, { path: 'a' }, controller.signal)
    await expect.poll(() => existsSync(join(root, 'told'))).toBe(true)
    await expect.poll(() => readFileSync(join(root, 'told'), 'utf8')).toContain('"status":"aborted"')
  })
})
