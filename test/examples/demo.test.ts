import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'

const path = { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }

/** Runs the demo without any key; `onOutput` sees what has been printed so far. */
function demo(args: string[], preload = '', onOutput: (printed: string, interrupt: () => void) => void = () => undefined) {
  return new Promise<{ printed: string; code: number | null }>((resolve) => {
    const flags = preload === '' ? [] : ['--import', `data:text/javascript,${encodeURIComponent(preload)}`]
    const child = spawn(process.execPath, [...flags, 'examples/demo/main.ts', ...args], { env: { NO_COLOR: '1', ...path } })
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

/** A local server in place of the scripted model; it wants `call`, and says `done` after it. */
const serverThatCalls = (name: string, args: object) => `
  const chunks = (choice) => 'data: ' + JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, ...choice }] }) + '\\n\\n'
  const call = { index: 0, id: 'c1', function: { name: '${name}', arguments: ${JSON.stringify(JSON.stringify(args))} } }
  let asked = 0
  globalThis.fetch = async (url) => {
    if (String(url).endsWith('/models')) return Response.json({ data: [{ id: 'm' }] })
    const answer = asked++ === 0
      ? chunks({ delta: { tool_calls: [call] } }) + chunks({ delta: {}, finish_reason: 'tool_calls' })
      : chunks({ delta: { content: 'done \\u001b[2J\\u202e' } }) + chunks({ delta: {}, finish_reason: 'stop' })
    return new Response(answer + 'data: [DONE]\\n\\n', { headers: { 'content-type': 'text/event-stream' } })
  }`

it('finds and fixes a bug, runs the tests and prints cost and trace', async () => {
  const { code, printed } = await demo([])
  expect(code, printed).toBe(0)
  expect(printed.split('\n')[0]).toMatch(/scripted/)
  const story = [
    'FAIL takes off 10 at 100',
    '? edit_file total.js asks for your approval',
    '  - return sum > 100 ?',
    '  + return sum >= 100 ?',
    'Nobody is here to be asked: it is the change of this script',
    'ok   takes off 10 at 100',
    'Mended: all 3 tests pass.',
    '[completed]',
    'run_tests',
    'tokens, $',
  ]
  let at = 0
  for (const part of story) {
    const found = printed.indexOf(part, at)
    expect(found, `${part} in\n${printed.slice(at)}`).toBeGreaterThan(-1)
    at = found
  }
})

it('blocks unapproved writes by the model and escapes control characters', async () => {
  const { printed } = await demo([], serverThatCalls('write_file', { path: 'total.js', content: 'process.exit()' }))
  expect(printed).toContain('Nobody is here to be asked: no.')
  expect(printed).toContain('done \\u{1b}[2J\\u{202e}')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come through
  expect(printed).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
})

it('accepts a custom prompt and reports that it cannot understand it', async () => {
  const { printed } = await demo(['What does normalise do?'])
  expect(printed).toContain('do not understand "What does normalise do?"')
})

it('exits with code 130 on Ctrl-C', async () => {
  let isInterrupted = false
  const { code, printed } = await demo([], '', (text, interrupt) => {
    if (isInterrupted || !text.includes('run_tests')) return
    isInterrupted = true
    interrupt()
  })
  expect(printed).toContain('[aborted]')
  expect(code).toBe(130)
})
