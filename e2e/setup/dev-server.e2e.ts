import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright/test'
import { build, preview } from 'vite'
import browserConfig from '../../examples/browser/vite.config.ts'
import { expect, test } from '../page/browser.ts'
import { startDevServer } from '../page/dev-server.ts'
import { finish, quickPage, tab } from '../page/playground-page.ts'

/** Lengths that follow from the text are left out: times and names differ from run to run. */
const compared = [
  ...['display', 'position', 'gap', 'align-items', 'justify-content', 'overflow-x', 'overflow-y', 'list-style-type'],
  ...['color', 'background-color', 'opacity', 'box-shadow', 'cursor', 'transition-duration'],
  ...['font-family', 'font-size', 'font-weight', 'line-height', 'text-align', 'white-space-collapse'],
  ...['padding-top', 'padding-right', 'padding-bottom', 'padding-left', 'margin-top', 'margin-bottom'],
  ...['border-top-width', 'border-top-style', 'border-top-color', 'border-top-left-radius'],
]

// Both start the playground: two dev servers that share a cache reload each other's page while they fill it.
test.describe.configure({ mode: 'default' })

type Styles = Record<string, Record<string, string>>

function styleOf(element: Locator): Promise<Record<string, string>> {
  return element.first().evaluate((node, names) => {
    const style = getComputedStyle(node)
    return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]))
  }, compared)
}

/** Collects the errors and warnings on the console of `page`, and exceptions that nothing catches. */
function troubleOn(page: Page): readonly string[] {
  const seen: string[] = []
  page.on('pageerror', (error) => seen.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.push(message.text())
  })
  return seen
}

/** Runs a scenario of the playground and returns the styles of five elements, each with a style sheet of its own. */
async function playgroundStyles(page: Page, url: string): Promise<Styles> {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto(new URL(quickPage, url).href)
  await finish(page, 'Thinking and tools')
  const styles: Styles = {
    conversation: await styleOf(page.getByTestId('stored-session')),
    toolCard: await styleOf(page.getByTestId('tool-card').locator('summary')),
    traceBar: await styleOf(page.locator('[data-testid=span] .bar')),
  }
  await tab(page, 'Request')
  styles.requestBlock = await styleOf(page.getByTestId('request-block'))
  await page.getByTestId('model-button').click()
  styles.settings = await styleOf(page.getByRole('dialog').locator('fieldset, .field'))
  return styles
}

/** Asks the agent of `examples/chat` and returns the styles of five elements of its page. */
async function chatStyles(page: Page, url: string): Promise<Styles> {
  await page.goto(url)
  const field = page.getByRole('textbox', { name: 'Message' })
  await field.fill('Hello?')
  await field.press('Enter')
  await expect(page.locator('#transcript')).toContainText('Ask me to note something.')
  const conversation = page.locator('#conversations button')
  await expect(conversation).toHaveText('Hello?')
  return {
    navigation: await styleOf(page.getByRole('navigation')),
    conversation: await styleOf(conversation),
    response: await styleOf(page.locator('#transcript > li').last()),
    field: await styleOf(field),
    send: await styleOf(page.getByRole('button', { name: 'Send' })),
  }
}

const folder = mkdtempSync(join(tmpdir(), 'phi-chat-built-'))
test.afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('serves the built page with npm run playground without errors', async ({ page, baseURL }) => {
  const built = await playgroundStyles(page, baseURL ?? '')
  await using server = await startDevServer('npm', 'run', 'playground', '--')
  const trouble = troubleOn(page)
  expect(await playgroundStyles(page, server.url)).toEqual(built)
  expect(trouble).toEqual([])
})

test('serves the Vite examples while the playground dev server runs', async ({ page, context }) => {
  const config = {
    root: 'examples/chat',
    configFile: 'examples/chat/vite.config.ts',
    logLevel: 'error',
    build: { outDir: folder, emptyOutDir: true },
  } as const
  await build(config)
  const site = await preview({ ...config, preview: { host: '127.0.0.1', port: 0 } })
  const built = await chatStyles(page, site.resolvedUrls?.local[0] ?? '')
  await site.close()

  await using playground = await startDevServer('npm', 'run', 'playground', '--')
  await using chat = await startDevServer('npx', 'vite', 'examples/chat', '--host', '127.0.0.1')
  const otherPage = await context.newPage()
  const trouble = [troubleOn(page), troubleOn(otherPage)]
  await otherPage.goto(new URL(quickPage, playground.url).href)
  expect(await chatStyles(page, chat.url)).toEqual(built)
  await using third = await startDevServer('npx', 'vite', 'examples/browser', '--host', '127.0.0.1')
  const last = await context.newPage()
  trouble.push(troubleOn(last))
  await last.goto(third.url)
  await last.getByRole('textbox').fill('Hello?')
  await last.getByRole('textbox').press('Enter')
  await expect(last.locator('#conversation')).toContainText('I am a scripted model')
  expect(existsSync(join('examples/browser', browserConfig.cacheDir ?? '', 'deps'))).toBe(true)
  // The other servers took nothing away that the first one serves.
  await otherPage.reload()
  await finish(otherPage, 'Thinking and tools')
  expect(trouble).toEqual([[], [], []])
})
