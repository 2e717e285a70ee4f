import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { launchChromium } from '../../../harness/app.ts'
import { openai } from '../../../harness/server/openai.ts'
import { patient } from '../../../support/patience.ts'
import { directory, environment, program } from './command.ts'

let browser: Browser | undefined
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser?.close())

const frames = openai.frames({ text: ['The first words, ', 'more of them, ', 'and the last.'] }).map(String)

/** A service that answers each request as `answer` does. */
async function service(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer(async (request, response) => {
    await text(request)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`
}

/** The page of `phi serve`, opened by its link. */
async function served(answer: (response: ServerResponse) => void): Promise<{ page: Page; child: ChildProcess }> {
  const env = environment({ OPENAI_API_KEY: 'test-key', OPENAI_BASE_URL: await service(answer) })
  const args = ['serve', '--model', 'openai/gpt-5.1', '--no-sandbox']
  const child = spawn(process.execPath, [program, ...args], { env, cwd: directory(), stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const link = await new Promise<string>((resolve) => child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim())))
  if (browser === undefined) throw new Error('There is no Chromium here.')
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  onTestFailed(async () => console.error(await page.locator('body').innerText()))
  await page.goto(link)
  return { page, child }
}

async function say(page: Page, words: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: 'Message', exact: true })
  await composer.fill(words)
  await composer.press('Enter')
}

const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true }).click()
const shown = (page: Page, testId: string) => page.getByTestId(testId).innerText()

describe('the web page of phi serve', () => {
  it('shows the request, context usage and cost', async (test) => {
    test.skip(browser === undefined)
    const { page } = await served((response) => void response.end(frames.join('')))
    await tab(page, 'Request')
    await say(page, 'Hello.')
    await page.getByText('and the last.').waitFor()
    await page.getByTestId('request-block').filter({ hasText: 'Hello.' }).waitFor()
    await tab(page, 'Usage')
    const usage = await shown(page, 'usage')
    for (const part of ['Tools', 'System prompt', 'User']) expect(usage).toMatch(new RegExp(`${part}\\s+[1-9]`))
    expect(usage).toMatch(/Cost\s+\$0\.\d*[1-9]/)
    // A reload reads it from the session.
    await page.reload()
    await tab(page, 'Request')
    await page.getByTestId('request-block').filter({ hasText: 'Hello.' }).waitFor()
  })

  it('does not treat the link token as an API key', async (test) => {
    test.skip(browser === undefined)
    const { page } = await served((response) => void response.end(frames.join('')))
    await say(page, 'Hello.')
    await page.getByText('and the last.').waitFor()
    expect(await page.getByTestId('key-banner').count()).toBe(0)
    await page.reload()
    await say(page, 'And again.')
    await page.getByText('and the last.').nth(1).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    expect(await page.getByRole('button', { name: 'Forget keys' }).isDisabled()).toBe(true)
  })

  it('shows that it is reconnecting while its server is down', async (test) => {
    test.skip(browser === undefined)
    const { page, child } = await served((response) => void response.write(frames.slice(0, 2).join('')))
    await say(page, 'Hello.')
    await page.getByText('The first words,').waitFor()
    await expect.poll(() => shown(page, 'run-status'), patient).toBe('Running')
    child.kill('SIGKILL')
    await expect.poll(() => shown(page, 'run-status'), patient).toBe('Reconnecting')
    await page.getByTestId('connection').waitFor()
    expect(await page.title()).toBe('… reconnecting · phi playground')
  })

  it('shows one response and one failure for a repeatedly broken stream, also after a reload', async (test) => {
    test.skip(browser === undefined)
    const { page } = await served((response) => {
      response.write(frames.slice(0, 3).join(''), () => response.destroy())
    })
    await say(page, 'Hello.')
    await page.getByTestId('ending').filter({ hasText: 'It was tried 4 times.' }).waitFor()
    const failures = page.locator('.message-error, [data-testid=ending]').filter({ visible: true })
    const counts = async () => ({ responses: await page.getByTestId('message-assistant').count(), failures: await failures.count() })
    expect(await counts()).toEqual({ responses: 1, failures: 1 })
    await page.reload()
    await failures.waitFor()
    expect(await counts()).toEqual({ responses: 1, failures: 1 })
  })
})
