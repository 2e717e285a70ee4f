import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startWebKit } from '../../scripts/browsers/webkit.ts'

/** An X server that says its display, and a WebDriver whose second session never begins, as on a busy machine. */
const screen = `require('node:fs').writeSync(3, '7\\n')
setInterval(() => undefined, 1000)`
const driver = `const { appendFileSync, readFileSync } = require('node:fs')
const log = __filename + '.log'
const port = Number(process.argv.find((flag) => flag.startsWith('--port=')).slice(7))
let isHanging = false
require('node:http').createServer((request, response) => {
  const isBegin = request.method === 'POST' && request.url === '/session'
  if (isBegin) appendFileSync(log, process.pid + '\\n')
  isHanging ||= isBegin && readFileSync(log, 'utf8').split('\\n').length === 3
  if (isHanging) return
  const value = isBegin ? { sessionId: 's', capabilities: { browserVersion: '1' } } : 'window'
  response.end(JSON.stringify({ value }))
}).listen(port, '127.0.0.1')`

it('starts a session with another driver if the first browser fails to start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'phi-driver-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = (name: string, source: string): string => {
    const path = join(folder, name)
    writeFileSync(path, `#!${process.execPath}\n${source}\n`)
    chmodSync(path, 0o755)
    return path
  }
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined)
  onTestFinished(() => warn.mockRestore())
  const programs = { driver: program('driver', driver), xvfb: program('screen', screen), miniBrowser: 'none', sessionTimeoutMs: 5000 }
  const browser = await startWebKit(programs)
  onTestFinished(() => browser.close())
  await (await browser.newContext()).close()
  const [first, second, third] = readFileSync(`${programs.driver}.log`, 'utf8').trim().split('\n')
  expect(second).toBe(first)
  expect(third).not.toBe(second)
  expect(warn).toHaveBeenCalledOnce()
  // The driver that hung is gone.
  expect(() => process.kill(Number(first), 0)).toThrow('ESRCH')
})
