import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readKeys } from '../../../../adapters/node/cli/terminal/key-reader.ts'

/** What the reader reports for these chunks: keys and pastes in order, and the background. */
async function reportOf(chunks: readonly string[]): Promise<{ reported: string[]; isLight: boolean | undefined }> {
  const terminal = new PassThrough()
  const reported: string[] = []
  let light: boolean | undefined
  const stop = readKeys(terminal, {
    key: (_, { sequence, name }) => reported.push(`${name ?? 'text'} ${JSON.stringify(sequence)}`),
    pasted: (text) => reported.push(`pasted ${JSON.stringify(text)}`),
    background: (isLight) => {
      light = isLight
    },
    end: () => undefined,
  })
  for (const chunk of chunks) {
    terminal.write(chunk)
    await new Promise(setImmediate)
  }
  terminal.end()
  await once(terminal, 'end')
  stop()
  return { reported, isLight: light }
}

/** Alt-Enter, Shift-Enter of kitty and of xterm, arrows, a paste with a line break, and the answer about the background. */
const input = 'a\x1b\rb\x1b[13;2uc\x1b[27;2;13~d\x1b[A\x1b[1;5De\x1b[200~one\ntwo\x1b[201~f\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\g'

describe('the key reader', () => {
  it('reads the same keys and pastes, wherever the input is split', async () => {
    const whole = await reportOf([input])
    expect(whole.reported).toContain('pasted "one\\ntwo"')
    expect(whole.isLight).toBe(true)
    for (let at = 1; at < input.length; at += 1) {
      expect(await reportOf([input.slice(0, at), input.slice(at)]), `split at ${at}`).toEqual(whole)
    }
    expect(await reportOf([...input])).toEqual(whole)
  })
})
