import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { Agent, defineTool, memorySessionStore, resumeAgent, type SessionStore } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { exportSession } from '../../../../src/session.ts'
import { bundledProgram } from '../../../support/quick-program.ts'
import { isSoak } from '../../../support/runs.ts'
import { failureOf, temporaryRoot } from '../temporary.ts'

/** How much of an append is done when the process is killed in it. */
const parts = isSoak ? [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1] : [0.6]
/** Of the changes, every second one is tried in `npm test`: the even ones over an old session, the odd ones over none. */
const step = isSoak ? 1 : 2
const first = isSoak ? { old: 1, none: 1 } : { old: 2, none: 1 }
const lanes = 3

const paying = () => scripted([{ toolCalls: [{ id: 'c1', name: 'pay', arguments: {} }] }, { text: 'Paid.' }])

function payTool(pay: () => unknown) {
  const execute = async () => {
    await pay()
    return 'paid'
  }
  return defineTool({ name: 'pay', description: 'Pays.', parameters: { type: 'object' }, idempotent: true, execute })
}

/** A session `s1` whose process ended while an idempotent call ran: whoever resumes it runs that again. */
async function unfinished(): Promise<SessionStore> {
  const store = memorySessionStore()
  await new Promise<void>((begun) => {
    const hangs = payTool(() => {
      begun()
      return new Promise(() => undefined)
    })
    const agent = new Agent({ model: paying(), tools: [hangs], session: store, sessionId: 's1', systemPrompt: 'x' })
    void agent.prompt('Pay. '.repeat(500)).result
  })
  return store
}

/** The program that imports, as one file, and what it needs. */
async function prepare() {
  const { root } = temporaryRoot()
  const program = await bundledProgram(fileURLToPath(new URL('import-writer.ts', import.meta.url)))
  const text = join(root, 'export.txt')
  const imported = await unfinished()
  writeFileSync(text, await exportSession(imported, 's1'))
  const old = join(root, 'old')
  const agent = new Agent({ model: scripted([{ text: 'Hello.' }]), session: fileSessionStore(old), sessionId: 's1' })
  await agent.prompt('Hi. '.repeat(1000)).result
  await agent.close()
  mkdirSync(join(root, 'none'))
  return { root, program, text, imported: await contentsOf(imported), replaced: await contentsOf(fileSessionStore(old)) }
}

/** The records of `s1`, wherever they stand in the log; nothing where there are none. */
async function contentsOf(store: SessionStore): Promise<string> {
  const { records } = await store.tail('s1').catch(() => ({ records: [] }))
  return records.map(({ epoch: _epoch, seq: _seq, ...record }) => JSON.stringify(record)).join('\n')
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** Resolves with what the process has said when it was not killed. */
async function importing({ program, text }: Prepared, directory: string, last: number, part: number): Promise<string> {
  const child = spawn(process.execPath, [program, directory, text, String(last), String(part)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    said += more
  })
  await once(child, 'close')
  return said
}

/** What is there after the process was killed at one change, and what a recovery has run. */
async function outcomeOf(
  prepared: Prepared,
  from: 'old' | 'none',
  last: number,
  part: number,
): Promise<{ found: string; payments: number }> {
  const directory = join(prepared.root, `${from}-${last}-${part}`)
  cpSync(join(prepared.root, from), directory, { recursive: true })
  const said = await importing(prepared, directory, last, part)
  if (said !== '') throw new Error(`The process was not killed at change ${last}.`)
  const store = fileSessionStore(directory)
  const text = await contentsOf(store)
  const { imported, replaced } = prepared
  const found = text === imported ? 'new' : text === replaced ? 'old' : text === '' && from === 'none' ? 'old' : `a part: ${text}`
  let payments = 0
  if (found !== 'new') {
    const resumed = resumeAgent(store, 's1', { model: paying(), tools: [payTool(() => payments++)] })
    if (from === 'old') await resumed
    else expect(await failureOf(resumed)).toMatch(/^(notFound|invalidSession)$/)
  }
  rmSync(directory, { recursive: true })
  return { found, payments }
}

it('keeps the old session or the complete new one after a crash during import', async () => {
  const prepared = await prepare()
  const cases: [from: 'old' | 'none', last: number, part: number][] = []
  for (const from of ['old', 'none'] as const) {
    const whole = join(prepared.root, `whole-${from}`)
    cpSync(join(prepared.root, from), whole, { recursive: true })
    const changes = Number(await importing(prepared, whole, 0, 0))
    expect(changes).toBeGreaterThan(10)
    for (let last = first[from]; last <= changes; last += step) for (const part of parts) cases.push([from, last, part])
  }
  const counts = new Map<string, number>()
  const next = cases.values()
  const lane = async () => {
    for (const [from, last, part] of next) {
      const { found, payments } = await outcomeOf(prepared, from, last, part)
      expect([from, last, part, found, payments]).toEqual([from, last, part, expect.stringMatching(/^(old|new)$/), 0])
      counts.set(found, (counts.get(found) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  expect([...counts.keys()].toSorted()).toEqual(['new', 'old'])
})
