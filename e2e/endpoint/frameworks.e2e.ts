import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { Hono } from 'hono'
import type { BrowserContext, Locator, Page } from 'playwright/test'
import { toNodeHandler } from '../../adapters/node/index.ts'
import { weatherApp } from '../../examples/frameworks/agent.ts'
import { violations } from '../accessible/axe.ts'
import { browserName, everywhere, expect, test } from '../page/browser.ts'
import { builtPages } from './frameworks-build.ts'

/** Each tells the same story. */
const pages = [
  ['react', 'examples/frameworks/react/page.tsx'],
  ['vue', 'examples/frameworks/vue/main.ts'],
  ['svelte', 'examples/frameworks/svelte/main.ts'],
  ['solid', 'examples/frameworks/solid/page.tsx'],
] as const

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }

let url = ''
let close = async () => undefined as unknown

test.beforeAll(async () => {
  const made = await builtPages('examples/frameworks/vite.config.ts')
  const app = new Hono().route('/agent', weatherApp())
  const file = async (path: string) => new Response(await readFile(path), { headers: { 'content-type': types[extname(path)] ?? '' } })
  app.get('/favicon.ico', (c) => c.body(null, 204))
  // This page is not built: it has a script tag.
  app.get('/elements/', () => file(join(made.pages, 'elements/index.html')))
  app.get('/phi-elements.js', () => file(join(made.package, 'dist/elements/page.js')))
  app.get('*', ({ req }) => file(join(made.built, req.path.endsWith('/') ? `${req.path}index.html` : req.path)))
  const server = createServer(toNodeHandler(app.fetch))
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  close = async () => {
    server.closeAllConnections()
    server.close()
  }
})

test.afterAll(() => close())

test.describe.configure({ mode: 'default' })

/** What went wrong in a page, whether or not anybody noticed. Only Chromium tells. */
function troubleOf(page: Page): string[] {
  const wrong: string[] = []
  if (browserName !== 'chromium') return wrong
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('console', (message) => {
    // Of two tabs one asks for a call that the other has answered already: that is no fault.
    if (message.type() === 'error' && !message.location().url.endsWith('/claim')) wrong.push(`${message.text()} ${message.location().url}`)
  })
  return wrong
}

/** Puts a picture where the page takes files. Runs in the page. */
function pickPicture(): void {
  const root = document.querySelector('phi-chat')?.shadowRoot ?? document
  const input = root.querySelector<HTMLInputElement>('input[type=file]')
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const chosen = new DataTransfer()
  chosen.items.add(new File([Uint8Array.from(atob(png), (char) => char.charCodeAt(0))], 'a.png', { type: 'image/png' }))
  if (input !== null) input.files = chosen.files
}

/** Picks the other model. Runs in the page. */
function pickOther(): void {
  const root = document.querySelector('phi-chat')?.shadowRoot ?? document
  const select = root.querySelector('select')
  if (select !== null) select.value = select.value === 'deep' ? 'fast' : 'deep'
}

/** How many pictures have been drawn. Runs in the page. */
function picturesDrawn(): number {
  const root = document.querySelector('phi-chat')?.shadowRoot ?? document
  const inside = [...root.querySelectorAll('phi-message')].flatMap((message) => [...message.querySelectorAll('img')])
  const all = inside.length > 0 ? inside : [...root.querySelectorAll('img')]
  return all.filter(({ naturalWidth }) => naturalWidth > 0).length
}

/** Where a page says how it stands. */
interface Places {
  call: Locator
  status(status: string): Promise<void>
  /** Opens the same conversation in another tab. */
  join(other: Page): Promise<unknown>
  /** Looks at the page when it shows something new. */
  look?(): Promise<void>
}

async function story({ page, context }: { page: Page; context: BrowserContext }, name: string, places: Places): Promise<void> {
  const { call, status, join, look } = places
  const wrong = troubleOf(page)
  const composer = page.getByRole('textbox', { name: 'Message' })
  const say = async (words: string) => {
    await composer.fill(words)
    await composer.press('Enter')
  }
  await page.goto(`${url}/${name}/`)
  await expect(composer).toBeVisible()
  await look?.()
  await say('Will it rain?')
  await expect(page.getByRole('button', { name: 'Allow' })).toBeVisible()
  await expect(composer).toHaveValue('')
  await expect(page.getByText('Let me see.')).toBeVisible()
  await look?.()
  // The run waits on the server: another page finds it.
  await page.reload()
  await expect(call.getByText('Oslo')).toBeVisible()
  // What one tab decides, both show.
  const other = await context.newPage()
  await join(other)
  await expect(other.getByText('Will it rain?')).toBeVisible()
  await other.getByRole('button', { name: 'Allow' }).click()
  for (const tab of [other, page]) await expect(tab.getByText('Take an umbrella, says a scripted model.')).toBeVisible()
  await expect(call.getByText(/80 %|0\.8/)).toBeVisible()
  await status('completed')
  await look?.()

  // The page does what the agent asks: one of the two tabs, once.
  await say('Make it dark')
  for (const tab of [other, page]) await expect(tab.getByText('It is dark now.')).toBeVisible()
  const themes = await Promise.all([other, page].map((tab) => tab.evaluate(() => document.documentElement.dataset.theme ?? 'none')))
  expect(themes.toSorted()).toEqual(['dark', 'none'])
  if (browserName === 'chromium') await other.close()

  await page.evaluate(pickOther)
  await say('What is time?')
  await expect(page.getByText('That takes a deep thought.')).toBeVisible()
  await status('completed')
  // The components keep the choice; the forms of the pages begin anew.
  if (name === 'elements') await page.evaluate(pickOther)
  await page.evaluate(pickPicture)
  await say('Look at this')
  await expect(page.getByText('A picture! Here is another one.')).toBeVisible()
  await expect.poll(() => page.evaluate(picturesDrawn)).toBe(2)
  await look?.()
  await page.reload()
  await expect(page.getByText('A picture! Here is another one.')).toBeVisible()
  await expect.poll(() => page.evaluate(picturesDrawn)).toBe(2)

  await say('Tell me a story')
  await expect(page.getByText('Once upon a time and then')).toBeVisible()
  await page.reload()
  await expect(page.getByText('Once upon a time and then')).toBeVisible()
  await status('running')
  await look?.()
  await page.getByRole('button', { name: 'Stop' }).click()
  await status('aborted')
  await expect(page.getByText('it ended.')).toHaveCount(0)
  await expect(page.getByText('Tell me a story')).toHaveCount(1)
  expect(wrong).toEqual([])
}

for (const [name] of pages) {
  test(`${name}: covers approval, reload, two tabs, tools, models, pictures and stop`, everywhere, ({ page, context }) =>
    story({ page, context }, name, {
      call: page.getByRole('region', { name: 'weather' }),
      status: (status) => expect(page.locator('form')).toHaveAttribute('data-status', status),
      join: async (other) => other.goto(`${url}/${name}/#${await page.evaluate(() => sessionStorage.getItem('chat'))}`),
    }),
  )
}

test('covers the same with web components and passes axe', everywhere, async ({ page, context }) => {
  await story({ page, context }, 'elements', {
    call: page.getByRole('group', { name: 'weather' }),
    status: (status) => expect(page.locator('phi-chat')).toHaveAttribute('status', status),
    join: async (other) => {
      await other.goto(`${url}/elements/#${await page.evaluate(() => sessionStorage.getItem('phi-chat /agent'))}`)
      await other.evaluate(() => document.querySelector('phi-chat')?.setAttribute('session', location.hash.slice(1)))
    },
    look: async () => (browserName === 'chromium' ? expect(await violations(page)).toEqual([]) : undefined),
  })
})
