import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type BashOptions, bashTool } from '../../../adapters/node/index.ts'
import { processesWith } from '../../../adapters/node/process/kill.ts'
import { type Excess, watchSandbox } from '../../../adapters/node/process/sandbox-watch.ts'
import { Agent } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { patient } from '../../support/patience.ts'
import { failureOf, present, temporaryRoot, toolContext } from './temporary.ts'

const hasBubblewrap = present('bwrap', '--version')
const modes = [...(hasBubblewrap ? (['bubblewrap'] as const) : []), 'none' as const]

function shell(sandbox: NonNullable<BashOptions['sandbox']>, options: Partial<BashOptions> = {}) {
  const tool = bashTool({ root: temporaryRoot().root, sandbox, ...options })
  return { run: (command: string) => Promise.resolve(tool.execute({ command }, toolContext())) }
}

/** Processes of this user whose command line holds `argument`. */
const running = (argument: string) => processesWith('cmdline', (args) => args.includes(argument)).length

for (const sandbox of modes) {
  describe(`output of a stopped command: ${sandbox}`, () => {
    it('reports partial output to the model after a timeout', async () => {
      const { run } = shell(sandbox, { timeoutMs: 2000 })
      expect(await failureOf(run('echo before; sleep 311.25; echo after'))).toBe(
        'timeout: Command timed out after 2s. Output so far:\nbefore\n',
      )
      expect(await failureOf(run('echo out; echo err >&2; sleep 311.25'))).toBe(
        'timeout: Command timed out after 2s. Output so far:\nSTDOUT:\nout\n\nSTDERR:\nerr\n',
      )
    })

    it('truncates the middle of partial output to the limit', async () => {
      const { run } = shell(sandbox, { timeoutMs: 3000, maxOutputBytes: 100 })
      const failure = await failureOf(run('echo first; seq 1 5000; echo last; sleep 312.25'))
      expect(failure).toMatch(
        /^timeout: Command timed out after 3s\. Output so far:\nfirst\n1\n.*\n\.\.\. \(output truncated\)\n.*last\n$/s,
      )
      expect(failure.length).toBeLessThan(220)
    })

    it.each([
      ['a timeout of the loop', { timeoutMs: 2000 }, 'Tool exceeded timeout of 2s. Output so far:\nbefore\n'],
      ['an abort of the run', {}, 'Cancelled. Output so far:\nbefore\n'],
    ])('reports partial output to the model after %s', async (how, changed, text) => {
      const { root } = temporaryRoot()
      const tool = { ...bashTool({ root, sandbox, needsApproval: false }), ...changed }
      const call = { toolCalls: [{ name: 'bash', arguments: { command: 'echo before; sleep 313.25' } }] }
      const agent = new Agent({ model: scripted([call, { text: 'done' }]), tools: [tool] })
      const run = agent.prompt('go')
      run.subscribe((event) => {
        if (event.type === 'toolExecutionUpdate' && how === 'an abort of the run') run.abort()
      })
      await run.result
      const result = agent.messages.find((message) => message.role === 'toolResult')
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] })
      expect(running('313.25')).toBe(0)
    })
  })
}

describe.skipIf(!hasBubblewrap)('output of a command that the sandbox stopped', () => {
  it('reports renamed files after a limit and after a timeout', async () => {
    const few = shell('bubblewrap', { limits: { processes: 8 } })
    const many = 'echo before; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 314.25 & done; wait'
    expect(await failureOf(few.run(many))).toMatch(
      /^failed: Command started more than 8 concurrent processes .* stopped\. Output so far:\n.*before/s,
    )
    const { run } = shell('bubblewrap', { timeoutMs: 2000 })
    expect(await failureOf(run('mkdir -p sub; echo x > sub/.envrc; sleep 315.25'))).toBe(
      'timeout: Command timed out after 2s. Output so far:\nRenamed to ….blocked, because other programs execute or read settings from such files: sub/.envrc\n',
    )
  })

  it("counts no host process while the sandbox still shares the host's root", async () => {
    // bubblewrap makes the first process, and waits for descriptor 3 before it changes the root of it.
    const waiting = ['--unshare-all', '--unshare-user', '--info-fd', '4', '--userns-block-fd', '3']
    const child = spawn('bwrap', [...waiting, '--ro-bind', '/', '/', '--', 'true'], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const pid = child.pid ?? Number.NaN
    await expect.poll(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'), patient).not.toBe('')

    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const exceeded: Excess[] = []
    const limits = { processes: 8, memory: 2 ** 24, disk: { path: '/', least: { bytes: 0, files: 0 } } }
    const watch = watchSandbox(pid, limits, (which) => exceeded.push(which))
    onTestFinished(() => clearInterval(watch))
    vi.advanceTimersByTime(500)
    expect(exceeded).toEqual([])
    expect(child.exitCode).toBe(null)
  })
})
