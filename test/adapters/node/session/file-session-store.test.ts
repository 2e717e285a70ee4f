// Runs in Node, Deno and Bun: see scripts/test.ts.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { fileSessionStore } from '../../../../adapters/node/session/file-session-store.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { sessionStoreSuite } from '../../../../testing/index.ts'
import { note, notesIn } from '../../../../testing/session-store/session-samples.ts'

describe('fileSessionStore on disk', () => {
  let directory = ''
  const made: string[] = []
  afterEach(() => {
    for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true })
  })

  function create() {
    directory = mkdtempSync(join(tmpdir(), 'phi-sessions-'))
    made.push(directory)
    return fileSessionStore(directory)
  }

  /** Puts the lines that there are, changed by `how`, in place of all files of the session. */
  async function damage(sessionId: string, how: (lines: string[]) => string[]): Promise<void> {
    const folder = join(directory, sessionId)
    const names = readdirSync(folder).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    const lines = names.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').filter(Boolean))
    const last = names.at(-1) ?? ''
    for (const name of names) writeFileSync(join(folder, name), name === last ? how(lines).join('\n') : '')
  }

  sessionStoreSuite({ describe, it, expect }, { name: 'fileSessionStore', create, another: () => fileSessionStore(directory), damage })

  /** So small that every second record begins a file, and nearly every log is read as it is asked for. */
  const small = () => logSessionStore(fileDriver(directory, nodeFileOperations(), { segmentBytes: 700, atOnceBytes: 1000 }))
  const createSmall = () => {
    create()
    return small()
  }
  sessionStoreSuite({ describe, it, expect }, { name: 'files in small segments', create: createSmall, another: small, damage })

  it('keeps acknowledged records for the next process', async () => {
    const writer = await create().open('s1', { agentId: 'agent-1' })
    const message = { role: 'user' as const, id: 'm1', content: [{ type: 'text' as const, text: 'Hello' }], timestamp: 1 }
    await writer.append([{ entry: { type: 'input', message } }])
    await writer.close()
    const { records } = await fileSessionStore(directory).tail('s1')
    expect(records.map(({ entry }) => entry)).toEqual([{ type: 'input', message }])
    expect(readdirSync(join(directory, 's1'))).toEqual(['log.1'])
  })

  it('continues a log that an editor saved with CRLF and a byte order mark', async () => {
    const store = create()
    for (const text of ['one', 'two']) {
      const writer = await store.open('s1', { agentId: 'agent-1' })
      await writer.append([note(text)])
      await writer.close()
    }
    for (const name of readdirSync(join(directory, 's1'))) {
      const path = join(directory, 's1', name)
      writeFileSync(path, `\ufeff${readFileSync(path, 'utf8').replaceAll('\n', '\r\n')}`)
    }
    const again = fileSessionStore(directory)
    const { sessions } = await again.list()
    expect(sessions.map(({ sessionId, messages, error }) => [sessionId, messages, error])).toEqual([['s1', 2, undefined]])
    const writer = await again.open('s1', { agentId: 'agent-1', after: 1 })
    expect(notesIn(writer.records)).toEqual(['two'])
    await writer.append([note('three')])
    await writer.close()
    const { records, damage } = await fileSessionStore(directory).tail('s1')
    expect([notesIn(records), damage]).toEqual([['one', 'two', 'three'], undefined])
    expect(notesIn((await again.tail('s1', { after: 2 })).records)).toEqual(['three'])
  })
})
