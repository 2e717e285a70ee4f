import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mentionOf } from '../../../../adapters/node/cli/modes/prompt-input.ts'
import { directory, environment, piped } from './command.ts'
import { messagesText, modelServer } from './model-server.ts'
import { inTerminal, pty } from './terminal.ts'

const pdf = '%PDF-1.7 the report'
const base64 = Buffer.from(pdf).toString('base64')
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'

async function asked(args: readonly string[], files: Record<string, string | Buffer> = {}, input = '') {
  const cwd = directory()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  const server = await modelServer(() => ({ text: ['Yes.'] }))
  const ran = await piped(['--model', 'openai/gpt-4.1', ...args], { env: environment(server.env), cwd, input })
  return { ...ran, cwd, asked: server.asked, said: server.asked.map(messagesText).join('\n') }
}

describe('files attached to a prompt', () => {
  it.each([
    ['a mention', ['-p', 'What does @report.pdf say?'], 'report.pdf'],
    ['a quoted mention', ['-p', 'Read @"the report.pdf".'], 'the report.pdf'],
    ['--file', ['-p', 'What does it say?', '--file', 'report.pdf'], 'report.pdf'],
    ['-f together with a mention of the same file', ['-p', 'See @report.pdf', '-f', 'report.pdf'], 'report.pdf'],
  ])('sends the file once: %s', async (_name, args, file) => {
    const { said, code, stderr, stdout } = await asked(args, { [file]: pdf })
    expect(code, stderr).toBe(0)
    expect(stdout).toBe('Yes.\n')
    expect(said.split(base64)).toHaveLength(2)
    expect(said).toContain(file)
  })

  it('sends an image as an image and accepts several --file options', async () => {
    const files = { 'a.png': Buffer.from(png, 'base64'), 'notes.txt': 'Milk.' }
    const { said } = await asked(['-p', 'Look.', '-f', 'a.png', '-f', 'notes.txt'], files)
    expect(said).toContain(`data:image/png;base64,${png}`)
    expect(said).toContain('Milk.')
  })

  it('does not attach text files, user names or names in piped input', async () => {
    const { said, code } = await asked(['-p', 'Ask @ann about @notes.txt'], { 'notes.txt': 'Milk.' }, 'see @report.pdf')
    expect(code).toBe(0)
    expect(said).not.toContain('Milk.')
  })

  it.each([
    ['does not exist', 'none.pdf', {}, /No such file: "none\.pdf"/],
    ['is empty', 'a.pdf', { 'a.pdf': '' }, /empty/],
    ['does not match its extension', 'a.pdf', { 'a.pdf': '<html>' }, /is declared as application\/pdf/],
    ['is a directory', '.', {}, /is not a file/],
  ])('rejects a file that %s and sends no prompt', async (_name, file, files, message) => {
    const { asked: requests, stderr, code } = await asked(['-p', 'Look.', '-f', file], files)
    expect(stderr).toMatch(message)
    expect(code).not.toBe(0)
    expect(requests).toEqual([])
  })

  it('rejects a large file without reading it', async () => {
    const cwd = directory()
    writeFileSync(join(cwd, 'large.pdf'), pdf)
    truncateSync(join(cwd, 'large.pdf'), 30_000_000)
    const server = await modelServer(() => ({ text: ['Yes.'] }))
    const { stderr, code } = await piped(['--model', 'openai/test', '-p', 'See @large.pdf'], { env: environment(server.env), cwd })
    expect(stderr).toContain('30000000 bytes')
    expect(code).not.toBe(0)
    expect(server.asked).toEqual([])
  })

  it.each([
    ['/tmp/a.pdf', '@/tmp/a.pdf '],
    ["'/tmp/my report.pdf'", '@"/tmp/my report.pdf" '],
    ['/tmp/my\\ report.pdf', '@"/tmp/my report.pdf" '],
    ['file:///tmp/a%20b.png', '@"/tmp/a b.png" '],
    ['/tmp/notes.txt', undefined],
    ['see /tmp/a.pdf', undefined],
    ['/help', undefined],
    ['/tmp/a"b.pdf', undefined],
  ])('converts a pasted %s to %s', (pasted, mention) => expect(mentionOf(pasted)).toBe(mention))
})

/** A service whose answer is a picture. */
async function drawing(picture = png): Promise<Record<string, string>> {
  const images = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }]
  const chunks = [
    { choices: [{ index: 0, delta: { content: 'Here.', images } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

describe('images in a response', () => {
  it('shows an image as one line of text', async () => {
    const { stderr, stdout } = await piped(['--model', 'openai/test', '-p', 'Draw.'], { env: environment(await drawing()) })
    expect(stdout).toContain('Here.')
    expect(stderr + stdout).toContain('▣ image/png  69 bytes; /save writes it to a file')
  })

  it.skipIf(pty === undefined)('writes images with /save, even in a resumed session', async () => {
    const picture = Buffer.concat([Buffer.from(png, 'base64'), Buffer.alloc(100_000, 7)])
    const shared = { env: environment(await drawing(picture.toString('base64'))), cwd: directory() }
    const asking = ['--model', 'openai/test', '--no-sandbox']
    await piped([...asking, '-p', 'Draw.'], shared)
    const resumed = inTerminal([...asking, '--resume'], shared)
    await resumed.shows('› ')
    resumed.type('/save out.png\r')
    await resumed.shows('out.png, image/png')
    expect(readFileSync(join(shared.cwd, 'out.png')).equals(picture)).toBe(true)
    resumed.kill('SIGKILL')
    await resumed.ended
  })
})
