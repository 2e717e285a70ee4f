import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { resumeAgent } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { tool } from '../../../support/play.ts'
import { quickProgram } from '../../../support/quick-program.ts'

const directory = mkdtempSync(join(tmpdir(), 'phi-takeover-'))
const program = quickProgram(fileURLToPath(new URL('takeover-agent.ts', import.meta.url)))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** An agent in a process of its own; `turns` resolves after so many of its calls, `outcome` is what it says in the end. */
function olderAgent(sessionId: string) {
  const child = spawn(process.execPath, [program.path, join(directory, 'sessions'), sessionId], { stdio: ['ignore', 'pipe', 'inherit'] })
  const waiting: { count: number; resolve: () => void }[] = []
  let count = 0
  let last = ''
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    last = line
    count += 1
    for (const each of waiting) if (count >= each.count) each.resolve()
  })
  const outcome = Promise.all([once(child, 'close'), once(lines, 'close')]).then(() => JSON.parse(last))
  const turns = (wanted: number) =>
    new Promise<void>((resolve) => {
      waiting.push({ count: wanted, resolve })
    })
  return { turns, outcome }
}

describe('taking over a session that is active in another process', () => {
  it.each([1, 2, 5, 9, 14, 20])('continues after a takeover at %d calls and informs the other process', async (calls) => {
    const sessionId = `s${calls}`
    const older = olderAgent(sessionId)
    await older.turns(calls)
    const store = fileSessionStore(join(directory, 'sessions'))
    const model = scripted([{ toolCalls: [{ id: 'new', name: 'work', arguments: {} }] }, { text: 'Done.' }])
    const newer = await resumeAgent(store, sessionId, { model, tools: [tool('work', () => 'done')] })
    // It writes on, unread.
    await older.turns(calls + 4)
    const { status, error } = await newer.prompt('Mine now.').result
    expect([status, error?.message]).toEqual(['completed', undefined])
    expect(await older.outcome).toMatchObject({ status: 'error', code: 'journal', cause: 'conflict', ends: 1 })
    await newer.close()
    const again = await resumeAgent(store, sessionId, { model })
    expect(again.messages).toEqual(newer.messages)
    expect((await store.tail(sessionId)).damage).toBe(undefined)
    const results = newer.messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : []))
    expect(results.slice(0, calls + 3)).toEqual(Array.from({ length: calls + 3 }, (_, at) => `old${at}`))
    expect(new Set(results).size).toBe(results.length)
  })
})
