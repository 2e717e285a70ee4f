import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DataLines } from '../../../../adapters/node/cli/render/data-lines.ts'
import { painterFor } from '../../../../adapters/node/cli/terminal/paint.ts'
import type { DataEvent } from '../../../../src/contract/run/event.ts'
import { directory, environment, piped } from './command.ts'
import { modelServer } from './model-server.ts'

/** A data part of the call `c1`. */
const part = (name: string, value: DataEvent['value'], more: Partial<DataEvent> = {}): DataEvent => ({
  ...{ type: 'data', name, value, dataId: name, toolCallId: 'c1' },
  ...{ runId: 'r', seq: 1, at: 0, sessionId: 's', loopId: 'l' },
  ...more,
})

const painter = painterFor(process.stderr)

describe('data parts in phi', () => {
  it('shows one line per part with the newest value, without transient parts', () => {
    const lines = new DataLines()
    for (let done = 1; done <= 1000; done += 1) lines.add(part('steps', { done }))
    lines.add(part('cursor', 7, { transient: true }))
    expect(lines.newest('c1', painter, 80).join()).toContain('cursor 7')
    const shown = lines.take('c1', painter, 80)
    expect(shown).toHaveLength(1)
    expect(shown[0]).toContain('steps {"done":1000}')
    expect(lines.take('c1', painter, 80)).toEqual([])
  })

  it('shortens and escapes values, and shows at most five per call', () => {
    const lines = new DataLines()
    for (let at = 0; at < 8; at += 1) lines.add(part(`n${at}`, `\u202e${'x'.repeat(500)}`))
    const shown = lines.take('c1', painter, 40)
    expect(shown).toHaveLength(6)
    expect(shown[0]).toContain('3 earlier data parts')
    expect(shown.join('\n')).not.toContain('\u202e')
    expect(Math.max(...shown.map((line) => line.replace(/\\u\{202e\}/, '').length))).toBeLessThan(80)
  })

  it('shows parts after their turn, and prints every event with --json', async () => {
    const { env } = await modelServer(() => ({ text: ['Done.'] }))
    const cwd = directory()
    writeFileSync(
      join(cwd, 'show.mjs'),
      `export default ({ definePlugin }) => definePlugin({ name: 'show', begin: ({ data }) => ({ beforeTurn() { for (const done of [1, 2]) data('steps', { done }, { id: 's' }) } }) })`,
    )
    const provider = `[provider]\nmodel = "test"\napi = "openai_completions"\nbase_url = "${env.OPENAI_BASE_URL}"\napi_key = "k"\n`
    writeFileSync(join(cwd, 'agent.toml'), `[agent]\nplugins = ["./show.mjs"]\n${provider}`)
    const flags = ['--config', 'agent.toml', '--trust', '-p', 'hi']
    const { stderr, stdout } = await piped(flags, { cwd, env: environment() })
    expect(stdout, stderr).toBe('Done.\n')
    expect(stderr.match(/steps .*/g)).toEqual(['steps {"done":2}'])
    const json = await piped([...flags, '--json'], { cwd, env: environment() })
    const events = json.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(events.filter(({ type }) => type === 'data').map(({ value }) => value)).toEqual([{ done: 1 }, { done: 2 }])
  })
})
