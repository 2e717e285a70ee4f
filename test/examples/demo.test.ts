import { execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Runs the demo without any key; `onOutput` sees what has been printed so far. */
function demo(
  args: string[],
  env: Record<string, string>,
  onOutput: (printed: string, interrupt: () => void) => void = () => undefined,
  flags: string[] = [],
) {
  return new Promise<{ printed: string; code: number | null }>((resolve) => {
    const child = spawn(process.execPath, [...flags, 'examples/demo/main.ts', ...args], { env: { NO_COLOR: '1', ...env } })
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

describe.skipIf(tracked.length === 0)('npm run demo', () => {
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
    // A processor for which there is no sandbox.
    const preload = "Object.defineProperty(process, 'arch', { value: 'riscv64' })"
    const { code, printed } = await demo([], path, undefined, ['--import', `data:text/javascript,${encodeURIComponent(preload)}`])
    expect(code, printed).toBe(0)
    expect(printed).toContain('apt-get install bubblewrap')
    expect(printed).toContain(`with ${most} lines`)
    expect(printed).not.toContain('tracked by git')
  })

  it('lets no command run that it did not write itself, when nobody can be asked', async () => {
    // A local server in place of the scripted model, which wants another command than the script does.
    const preload = `
      const chunks = (choice) => 'data: ' + JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, ...choice }] }) + '\\n\\n'
      const call = { index: 0, id: 'c1', function: { name: 'bash', arguments: JSON.stringify({ command: 'echo \\u001b]0;pwned\\u0007 ran' }) } }
      let asked = 0
      globalThis.fetch = async (url) => {
        if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm' }] })
        const answer = asked++ === 0
          ? chunks({ delta: { tool_calls: [call] } }) + chunks({ delta: {}, finish_reason: 'tool_calls' })
          : chunks({ delta: { content: 'done \\u001b[2J\\u202e' } }) + chunks({ delta: {}, finish_reason: 'stop' })
        return new Response(answer + 'data: [DONE]\\n\\n', { headers: { 'content-type': 'text/event-stream' } })
      }`
    const { printed } = await demo([], path, undefined, ['--import', `data:text/javascript,${encodeURIComponent(preload)}`])
    expect(printed).toContain('asked for approval: not given')
    expect(printed).not.toContain('Exit code')
    expect(printed).toContain('done \\u{1b}[2J\\u{202e}')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
    expect(printed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
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
