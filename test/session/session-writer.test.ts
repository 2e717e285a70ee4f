import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/contract/errors.ts'
import type { JsonValue } from '../../src/contract/json.ts'
import { logSessionStore } from '../../src/session.ts'
import type { LogDriver, LogLine, NewSessionRecord, SessionWriter } from '../../src/types/session/session-store.ts'

interface Write {
  lines: readonly LogLine[]
  done: () => void
  fail: (error: unknown) => void
}

/** A driver whose writes end when the test says so. */
class HeldDriver {
  readonly writes: Write[] = []
  readonly driver: LogDriver
  released = 0
  #arrived: (() => void) | undefined

  constructor(lines: readonly string[] = []) {
    this.driver = {
      promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'nothing' },
      claim: async (sessionId) => ({ sessionId, epoch: 4, lines }),
      append: (_claim, written) =>
        new Promise((done, fail) => {
          this.writes.push({ lines: written, done, fail })
          this.#arrived?.()
        }),
      release: async () => {
        this.released++
      },
      read: async () => undefined,
      list: async () => [],
      delete: async () => false,
    }
  }

  open(): Promise<SessionWriter> {
    return logSessionStore(this.driver).open('s', { agentId: 'a' })
  }

  /** The write of this index, as soon as it is there. */
  async write(index: number): Promise<Write> {
    for (;;) {
      const found = this.writes[index]
      if (found !== undefined) return found
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
  }
}

function note(data: JsonValue): NewSessionRecord {
  return { loopId: 'l', entry: { type: 'input', message: { role: 'extension', id: 'm', kind: 'note', data } } }
}

function dataOf({ lines }: Write): unknown[] {
  return lines.map(({ text }) => JSON.parse(text).body.message.data)
}

describe('SessionWriter.append', () => {
  it('runs one write at a time and groups appends made during a write', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const acknowledged: number[] = []
    const append = (...data: number[]) => writer.append(data.map(note)).then(() => acknowledged.push(...data))
    const first = append(1)
    const one = await held.write(0)
    const rest = Promise.all([append(2, 3), append(4), append(), append(5)])
    await Promise.resolve()
    expect([held.writes.length, acknowledged]).toEqual([1, []])
    one.done()
    await first
    expect(acknowledged).toEqual([1])
    const two = await held.write(1)
    expect(acknowledged).toEqual([1])
    two.done()
    await rest
    expect([dataOf(one), dataOf(two)]).toEqual([[1], [2, 3, 4, 5]])
    expect(acknowledged).toEqual([1, 2, 3, 4, 5])
    expect(two.lines.map(({ epoch, seq }) => [epoch, seq])).toEqual([2, 3, 4, 5].map((seq) => [4, seq]))
  })

  it('groups appends made in the same tick into one write', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const all = [1, 2, 3].map((data) => writer.append([note(data)]))
    const write = await held.write(0)
    expect(dataOf(write)).toEqual([1, 2, 3])
    write.done()
    await Promise.all(all)
  })

  it('copies the records when append is called', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const list: JsonValue[] = [1]
    const appended = writer.append([note(list)])
    list.push(2)
    const write = await held.write(0)
    expect(dataOf(write)).toEqual([[1]])
    write.done()
    await appended
  })

  it('appends after existing records without rewriting them', async () => {
    const one = new HeldDriver()
    const many = Array.from({ length: 2000 }, (_, index) => note(index))
    const first = (await one.open()).append(many)
    const { lines, done } = await one.write(0)
    done()
    await first
    const two = new HeldDriver(lines.map(({ text }) => text))
    const writer = await two.open()
    expect(writer.records.length).toBe(2000)
    expect(writer.epoch).toBe(4)
    const appended = writer.append([note('x')])
    const write = await two.write(0)
    expect(write.lines.map(({ seq }) => seq)).toEqual([2001])
    write.done()
    await appended
  })
})

describe('SessionWriter after a failed write', () => {
  it('rejects current, queued and later appends with the same error', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const first = writer.append([note(1)])
    const write = await held.write(0)
    const second = writer.append([note(2)])
    const third = writer.append([])
    const failure = new SessionError('quota', 'No room.')
    write.fail(failure)
    for (const rejected of [first, second, third, writer.append([note(3)]), writer.append([])]) await expect(rejected).rejects.toBe(failure)
    expect(held.writes.length).toBe(1)
    await writer.close()
    expect(held.released).toBe(1)
  })

  it('rejects with a SessionError code for any thrown value', async () => {
    for (const thrown of [new Error('EIO: the disk is gone'), 'text', undefined]) {
      const held = new HeldDriver()
      const appended = (await held.open()).append([note(1)])
      const write = await held.write(0)
      write.fail(thrown)
      const error = await appended.catch((rejected: unknown) => rejected)
      expect(error).toMatchObject({ name: 'SessionError', code: 'io' })
      expect(Reflect.get(Object(error), 'message')).toContain('Session s could not be read or written: ')
    }
  })

  it('writes records before a non-JSON record and none after it', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const first = writer.append([note(1)])
    const wrong = writer.append([note(2), note(1n as unknown as JsonValue)])
    const after = writer.append([note(3)])
    await expect(wrong).rejects.toMatchObject({ code: 'invalidSession' })
    await expect(after).rejects.toMatchObject({ code: 'invalidSession' })
    const write = await held.write(0)
    expect(dataOf(write)).toEqual([1])
    write.done()
    await first
  })
})

describe('SessionWriter.close', () => {
  it('writes accepted records and then releases the claim once', async () => {
    const held = new HeldDriver()
    const writer = await held.open()
    const first = writer.append([note(1)])
    const one = await held.write(0)
    const second = writer.append([note(2)])
    const closed = Promise.all([writer.close(), writer.close()])
    await expect(writer.append([note(3)])).rejects.toMatchObject({ name: 'SessionError', code: 'io' })
    one.done()
    await first
    const two = await held.write(1)
    expect([dataOf(two), held.released]).toEqual([[2], 0])
    two.done()
    await second
    await closed
    expect([held.writes.length, held.released]).toEqual([2, 1])
  })
})
