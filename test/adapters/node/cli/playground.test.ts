import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest'
import { launchChromium } from '../../../harness/app.ts'
import { directory, environment } from './command.ts'
import { calling, messagesText, modelServer } from './model-server.ts'
import { inTerminal, pty, type Terminal } from './terminal.ts'

const args = ['--model', 'openai/test', '--no-sandbox']

let browser: Browser | undefined
beforeAll(async () => {
  browser = await launchChromium()
})
afterAll(() => browser?.close())

/** The page that `/open` names. */
async function opened(phi: Terminal): Promise<{ page: Page; faults: string[] }> {
  phi.type('/open\r')
  await phi.shows(/http:\/\/127\.0\.0\.1:\d+\/#token=\S+&session=\S+\n/)
  if (browser === undefined) throw new Error('There is no Chromium here.')
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  onTestFailed(async () => console.error(faults, await page.locator('body').innerText()))
  await page.goto(/http:\S+/.exec(phi.screen.text)?.[0] ?? '')
  return { page, faults }
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
}

describe.skipIf(pty === undefined)('the playground opened from phi', () => {
  it("continues the terminal's session live in both places", async (test) => {
    test.skip(browser === undefined)
    const { env } = await modelServer((asked) => {
      if (messagesText(asked).includes('write it') && !messagesText(asked).includes('call_write_file'))
        return calling('write_file', { path: 'note.txt', content: 'from the page' })
      return { text: [`Answer ${asked.attempt}.`] }
    })
    const phi = inTerminal(args, { env: environment(env), cwd: directory(), columns: 200 })
    await phi.shows('› ')
    phi.type('first, in the terminal\r')
    await phi.shows('Answer 1.')
    const { page, faults } = await opened(phi)
    await page.getByText('Answer 1.').waitFor()
    expect(page.url()).not.toContain('token')

    await say(page, 'second, in the page')
    await page.getByText('Answer 2.').waitFor()
    await phi.shows(/› second, in the page\n[\s\S]*Answer 2\.\n[\s\S]*\[done/)

    phi.type('third, in the terminal\r')
    await phi.shows('Answer 3.')
    await page.getByText('Answer 3.').waitFor()

    // Asked on both sides; one answers.
    await say(page, 'write it')
    await phi.shows('note.txt')
    await phi.shows(/Allow|Apply|\[y/)
    await page.getByTestId('tool-card').last().getByRole('button', { name: 'Approve' }).click()
    await phi.shows('Answer 5.')
    await page.getByText('Answer 5.').waitFor()

    // Asked again, answered in the terminal.
    await page.reload()
    await page.getByText('Answer 5.').waitFor()
    phi.type('\x04')
    expect(await phi.ended).toBe(0)
    expect(faults.filter((fault) => !/Failed to load resource|ERR_CONNECTION/.test(fault))).toEqual([])
  })

  it('opens during an approval, branches back and shows the new run', async (test) => {
    test.skip(browser === undefined)
    const { env } = await modelServer((asked) => {
      if (messagesText(asked).includes('write it') && !messagesText(asked).includes('call_write_file'))
        return calling('write_file', { path: 'note.txt', content: 'from the terminal' })
      return { text: [`Answer ${asked.attempt}.`] }
    })
    const phi = inTerminal(args, { env: environment(env), cwd: directory(), columns: 200 })
    await phi.shows('› ')
    const { page } = await opened(phi)
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor()
    phi.type('write it\r')
    const card = page.getByTestId('tool-card').last()
    await card.getByRole('button', { name: 'Approve' }).waitFor()
    phi.type('y\r')
    await phi.shows('Answer 2.')
    await page.getByText('Answer 2.').waitFor()

    phi.type('hello\r')
    await page.getByText('Answer 3.').waitFor()
    await page.getByRole('button', { name: 'Commands' }).click()
    await page.getByRole('combobox', { name: 'Command' }).fill('Regenerate the last response')
    await page.getByRole('combobox', { name: 'Command' }).press('Enter')
    await page.getByText('Answer 4.').waitFor()
    await phi.shows('Answer 4.')
    phi.type('and now\r')
    await phi.shows('Answer 5.')
    await page.getByText('Answer 5.').waitFor()

    // The page goes on with the one before, the terminal with a new one.
    phi.type('/clear\r')
    await phi.shows('new session')
    await say(page, 'for the page alone')
    await page.getByText('Answer 6.').waitFor()
    phi.type('for the terminal alone\r')
    await phi.shows('Answer 7.')
    expect(phi.screen.text).not.toContain('for the page alone')
  })
})
