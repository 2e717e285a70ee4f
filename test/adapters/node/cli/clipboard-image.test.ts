import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fromAppleScript } from '../../../../adapters/node/cli/repl/outside-input.ts'
import { directory, environment } from './command.ts'
import { modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPgPAAEDAQAIicLsAAAAAElFTkSuQmCC', 'base64')

it('parses an image in AppleScript output', () => {
  expect(fromAppleScript(`«data PNGf${png.toString('hex').toUpperCase()}»\n`)).toEqual(png)
  expect(fromAppleScript('execution error')).toHaveLength(0)
})

describe.skipIf(pty === undefined || process.platform !== 'linux')('pasting an image with Ctrl-V', () => {
  it('sends the clipboard image or reports that there is none', async () => {
    const bin = directory()
    writeFileSync(join(bin, 'picture'), png)
    writeFileSync(join(bin, 'xclip'), `#!/bin/sh\ncat ${join(bin, 'picture')}\n`)
    chmodSync(join(bin, 'xclip'), 0o755)
    const { env, asked } = await modelServer(() => ({ text: ['A dot.'] }))
    const base = environment(env)
    const phi = inTerminal(['--model', 'openai/gpt-4.1', '--no-sandbox'], { env: { ...base, PATH: `${bin}:${base.PATH}` }, columns: 200 })
    await phi.shows('› ')
    phi.type('what is it? \x16')
    await phi.shows(/@"\S+pasted-\d+\.png" $/)
    phi.type('\r')
    await phi.shows('A dot.')
    expect(JSON.stringify(asked[0]?.messages.at(-1)?.content)).toContain(png.toString('base64'))
    writeFileSync(join(bin, 'picture'), readFileSync(join(bin, 'xclip')))
    phi.type('\x16')
    await phi.shows('The clipboard contains no image')
  })
})
