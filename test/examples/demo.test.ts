import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Runs the demo without any key; `onOutput` sees what has been printed so far. */
function demo(args: string[], env: Record<string, string>, onOutput: (printed: string, interrupt: () => void) => void = () => undefined) {
  return new Promise<{ printed: string; code: number | null }>((resolve) => {
    const child = spawn(process.execPath, ['examples/demo/main.ts', ...args], { env: { NO_COLOR: '1', ...env } })
    let printed = ''
    const collect = (chunk: Buffer) => {
      printed += chunk.toString()
      onOutput(printed, () => child.kill('SIGINT'))
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('close', (code) => resolve({ printed, code }))
  })
}

const isHere = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

const path = { PATH: process.env.PATH ?? '' }
const tracked = isHere('git') ? execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { encoding: 'utf8' }).trim().split('\n') : []
const lines = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1

describe.skipIf(tracked.length === 0)('npm run demo', { timeout: 60_000 }, () => {
  const most = Math.max(...tracked.map(lines))

  it('says that its model is scripted, and answers with figures that are true of this checkout', async () => {
    if (!isHere('bwrap')) console.warn('bubblewrap is missing: the demo is tested without its sandbox')
    const { code, printed } = await demo([], path)
    expect(code, printed).toBe(0)
    expect(printed.split('\n')[0]).toMatch(/scripted/)
    const [, count, largest, length] = /There are (\d+) TypeScript files .* The largest is (\S+) with (\d+) lines/.exec(printed) ?? []
    if (isHere('bwrap')) expect(Number(count)).toBe(tracked.length)
    expect(Number(length)).toBe(most)
    expect(lines(largest ?? '')).toBe(most)
  })

  it('without a sandbox names the package to install and goes on', async () => {
    // A PATH with node alone: neither bwrap nor rg nor git.
    const { code, printed } = await demo([], { PATH: dirname(process.execPath) })
    expect(code, printed).toBe(0)
    expect(printed).toContain('apt-get install bubblewrap')
    expect(printed).toContain(`with ${most} lines`)
    expect(printed).not.toContain('tracked by git')
  })

  it('takes a prompt of your own, and does not pretend to understand it', async () => {
    const { printed } = await demo(['What does normalise do?'], path)
    expect(printed).toMatch(/do not understand/)
    expect(printed).toMatch(/"normalise" stands in src\//)
  })

  it('ends cleanly on Ctrl-C', async () => {
    let isInterrupted = false
    const { code, printed } = await demo([], path, (_, interrupt) => {
      if (isInterrupted || !_.includes('list_files')) return
      isInterrupted = true
      interrupt()
    })
    expect(printed).toContain('[aborted]')
    expect(code).toBe(130)
  })
})
