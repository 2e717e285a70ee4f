import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editedLines } from '../../../../adapters/node/cli/terminal/line-editor.ts'
import { runs } from '../../../support/runs.ts'
import { directory, environment, program } from './command.ts'
import { calling, modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** What a terminal may send: keys, pastes, words, and bytes that nobody meant. */
const sent = fc.oneof(
  fc.constantFrom(
    '\r',
    '\n',
    '\t',
    '\x1b[Z',
    '\x7f',
    '\x1b',
    '\x1b\r',
    '\\\r',
    '\x03',
    '\x1b[A',
    '\x1b[B',
    '\x1b[C',
    '\x1b[D',
    '\x1b[H',
    '\x1b[F',
  ),
  fc.constantFrom(
    '\x01',
    '\x05',
    '\x0b',
    '\x15',
    '\x17',
    '\x19',
    '\x12',
    '\x1bb',
    '\x1bf',
    '\x1b\x7f',
    '\x1b[3~',
    '\x1b[1;5C',
    '\x1b[13;2u',
    '\x1b[97;5u',
    '\x1b[27;2;13~',
  ),
  fc.constantFrom(
    '\x1b[200~',
    '\x1b[201~',
    '\x1b[200~pasted\nlines\x1b[201~',
    '\x1b[',
    '\x1b[27',
    '\x1b]',
    'ö',
    '漢',
    '👩‍👩‍👧',
    'e\u0301',
    '\ud83d',
    '/re',
    '@no',
    '!ls',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }),
)

/** A terminal that is nowhere: it says how its mode was set last. */
function nowhere() {
  let isRaw = false
  let written = ''
  const input = Object.assign(new PassThrough(), {
    setRawMode: (mode: boolean) => {
      isRaw = mode
    },
  })
  const control = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written += chunk.toString()
      done()
    },
  })
  // All of a terminal that is used here.
  return { input: input as unknown as ReadStream, control: control as unknown as WriteStream, mode: () => ({ isRaw, written }) }
}

describe('the line editor with arbitrary key input', () => {
  it('keeps the cursor between characters and restores the terminal mode', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 40 }), async (chunks) => {
        const { input, control, mode } = nowhere()
        const none = (): void => undefined
        const lines = editedLines(
          input,
          control,
          { line: none, change: none, interrupt: none, escape: none, end: none, note: none },
          {
            complete: (before) => (before.endsWith('@no') ? { from: before.length - 3, options: ['@notes.md ', '@node '] } : undefined),
          },
        )
        for (const chunk of chunks) {
          input.emit('data', Buffer.from(chunk))
          const { text, cursor, label } = lines.typed
          expect(cursor).toBeLessThanOrEqual(text.length)
          if (label === undefined) {
            const line = text.lastIndexOf('\n', cursor - 1) + 1
            const ends = Array.from(graphemes.segment(text.slice(line)), ({ index }) => line + index)
            expect([...ends, text.length, text.indexOf('\n', cursor)]).toContain(cursor)
          }
        }
        lines.close()
        const { isRaw, written } = mode()
        expect(isRaw).toBe(false)
        expect(written.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(written.lastIndexOf('\x1b[?2004h'))
        expect(written.lastIndexOf('\x1b[<u')).toBeGreaterThan(written.lastIndexOf('\x1b[>1u'))
      }),
      { numRuns: runs(100, 10_000) },
    )
  })
})

/** The program that a shell waits for; `undefined` where it has ended, or the shell has. */
function childOf(pid: number): number | undefined {
  const list = `/proc/${pid}/task/${pid}/children`
  const children = existsSync(list) ? readFileSync(list, 'utf8').trim() : ''
  return children === '' ? undefined : Number(children.split(' ')[0])
}

/** How a phi ends: by keys, by a signal, at once. */
const endings = fc.constantFrom('\x03', 'SIGTERM', 'SIGHUP')

describe.skipIf(pty === undefined || process.platform !== 'linux')('arbitrary key input in a terminal', () => {
  it('restores the terminal mode and leaves no partial file', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 25 }), endings, fc.nat(400), async (chunks, ending, wait) => {
        const cwd = directory()
        const texts = ['a', 'b'].map((letter) => letter.repeat(1_000_000))
        const { env } = await modelServer(({ attempt }) => calling('write_file', { path: 'big.txt', content: texts[attempt % 2] }))
        const command = `${process.execPath} ${program} --model openai/test --no-sandbox --mode all`
        // The shell reads no key itself, and tells how phi has left its terminal.
        const script = `trap : INT; ${command}; stty -a | grep -o -- '[- ]icanon'; echo over`
        const shell = inTerminal(['-c', script], { file: '/bin/bash', cwd, env: environment(env) })
        await shell.shows(/all · test · 0% › $/)
        shell.type('go\r')
        for (const chunk of chunks) shell.type(chunk)
        await new Promise((done) => setTimeout(done, wait))
        const pid = childOf(shell.pid)
        if (ending !== '\x03' && pid !== undefined) process.kill(pid, ending)
        // Each has something to end: a search, a question, a line, the run, phi.
        for (let left = 20; ending === '\x03' && childOf(shell.pid) === pid && left > 0; left -= 1) {
          shell.type(`\x1b[201~${ending}`)
          await new Promise((done) => setTimeout(done, 200))
        }
        await shell.shows(/ icanon\nover/)
        const file = join(cwd, 'big.txt')
        if (existsSync(file)) expect(texts).toContain(readFileSync(file, 'utf8'))
      }),
      { numRuns: runs(3, 200) },
    )
  })
})
