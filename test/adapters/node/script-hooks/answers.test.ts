import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Agent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { beforeTool, hooksOf, played } from './played.ts'

describe('a script that decides an action', () => {
  it.each([
    ['nothing', 'exit 0'],
    ['{"allow": true}', 'echo \'{"allow": true}\''],
    ['whitespace', 'echo; echo'],
    ['nothing, with closed input', 'exec <&-; exit 0'],
  ])('allows the action by writing %s', async (_, script) => {
    const { ran, logged } = await played(beforeTool(script).hooks)
    expect([ran, logged]).toEqual([['a'], '[]'])
  })

  it('allows the action without reading its input and with unrelated output', async () => {
    expect((await played(beforeTool('exit 0').hooks, { path: 'x'.repeat(5_000_000) })).ran).toHaveLength(1)
    expect((await played(beforeTool('head -c 5000000 /dev/zero >&2').hooks)).ran).toEqual(['a'])
  })

  it('rejects the action with a reason for the model', async () => {
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
  ])('rejects the action if it %s', async (name, script, message) => {
    const { hooks } = beforeTool(script, name.includes('want') || name.includes('not end') ? { timeoutMs: 200 } : {})
    const { ran, answers, logged, result } = await played(hooks)
    expect(ran).toEqual([])
    expect(answers).toEqual(['Tool execution skipped: the before_tool_execution hook failed.'])
    expect(logged).toMatch(message)
    expect(logged).toContain('hookFailed')
    expect(result.status).toBe('completed')
  })

  it.each<[string, (root: string, outside: string) => void]>([
    ['does not exist', (root) => rmSync(join(root, 'h.sh'))],
    ['was changed', (root) => writeFileSync(join(root, 'h.sh'), 'exit  0')],
    ['became longer', (root) => writeFileSync(join(root, 'h.sh'), 'exit 0\n')],
    [
      'became a directory',
      (root) => {
        rmSync(join(root, 'h.sh'))
        mkdirSync(join(root, 'h.sh'))
      },
    ],
    [
      'became a link out of the root',
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
  ])('rejects the action if it %s after the hooks were created', async (_, change) => {
    const { hooks, root, outside } = beforeTool('exit 0')
    change(root, outside)
    const { ran, logged } = await played(hooks)
    expect(ran).toEqual([])
    expect(logged).toMatch(/The script h\.sh changed after the hooks were created/)
  })

  it('runs the checked content even if the file changes afterwards', async () => {
    // The script itself changes the file that it came from; the second call sees it.
    const { hooks } = beforeTool('echo "exit 0 # changed" > h.sh; echo \'{"allow": false}\'')
    expect((await played(hooks)).answers).toEqual(['Tool execution skipped by before_tool_execution hook.'])
    expect((await played(hooks)).logged).toContain('its content has changed')
  })

  it('ends the run if it rejects a turn or a loop', async () => {
    const no = 'echo \'{"allow": false, "reason": "closed today"}\''
    for (const hook of ['beforeLoop', 'beforeTurn'] as const) {
      const refused = await played(hooksOf({ 'h.sh': no }, { [hook]: 'h.sh' }).hooks)
      expect(refused.result).toMatchObject({ status: 'rejected', rejection: `The ${hook} hook returned false: closed today` })
      const failed = await played(hooksOf({ 'h.sh': 'exit 1' }, { [hook]: 'h.sh' }).hooks)
      expect(failed.result).toMatchObject({ status: 'error', error: { code: 'hookFailed' } })
      expect([...refused.ran, ...failed.ran]).toEqual([])
    }
  })

  it('blocks updates and compactions', async () => {
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
  ])('does not affect the run with %s', async (script, message) => {
    const scripts = { afterLoop: 'h.sh', afterTurn: 'h.sh', afterToolExecution: 'h.sh', afterToolExecutionUpdate: 'h.sh' }
    const { ran, result, logged } = await played(hooksOf({ 'h.sh': script }, scripts).hooks)
    expect([ran, result.status]).toEqual([['a'], 'completed'])
    if (message === undefined) expect(logged).toBe('[]')
    else expect(logged).toMatch(message)
    expect(JSON.parse(logged)).toHaveLength(message === undefined ? 0 : 5)
  })
})
