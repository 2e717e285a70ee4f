import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { marked } from 'marked'
import { type Listening, serve } from '../../adapters/node/index.ts'
import { violations } from '../accessible/axe.ts'
import { expect, test } from '../page/browser.ts'

/** Some pages of the documentation, built as `npm run site` builds them. */
const pages = ['index', 'start/script', 'reference/errors', 'api/env', 'playground']
const types: Record<string, string> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' },
  ...{ '.json': 'application/json', '.webp': 'image/webp' },
}

let folder = ''
let server: Listening | undefined
const at = (path: string) => `${server?.url}/docs/${path}.html`

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'phi-site-'))
  await promisify(execFile)(process.execPath, ['scripts/site.ts', '--only', pages.join(','), '--to', folder])
  // Not at the root: the site may be put anywhere.
  server = await serve(
    async ({ url }) => {
      const path = decodeURIComponent(new URL(url).pathname).replace(/^\/docs\//, '')
      const body = await readFile(join(folder, path)).catch(() => undefined)
      return new Response(body ?? 'none', {
        status: body === undefined ? 404 : 200,
        headers: { 'content-type': types[extname(path)] ?? '' },
      })
    },
    { port: 0 },
  )
})
test.afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

for (const path of pages.slice(0, 4)) {
  test(`${path} passes axe in both themes and fits a phone`, async ({ page }) => {
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(at(path))
    expect(await violations(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    expect(errors).toEqual([])
  })
}

test('fits the README into one screen of 1280 × 1400', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 1400 })
  // As code hosts show it: a column of 980 px, without their bars.
  const style = `body { max-width: 980px; margin: 0 auto; padding: 24px 32px; font: 16px/1.5 sans-serif } h2 { margin: 24px 0 16px }
    p, ul, table, pre { margin: 0 0 16px } pre { padding: 16px; font-size: 85%; overflow: auto } table { border-collapse: collapse }
    td, th { padding: 6px 13px; border: 1px solid }`
  const image = async (path: string) =>
    `data:image/${path.endsWith('.svg') ? 'svg+xml' : 'webp'};base64,${(await readFile(path)).toString('base64')}`
  let html = await marked.parse(await readFile('README.md', 'utf8'))
  for (const [, path = ''] of html.matchAll(/src="([^"]+)"/g)) html = html.replace(path, await image(path))
  await page.setContent(`<style>${style}</style>${html}`)
  await page.evaluate(() => Promise.all(Array.from(document.images, (shown) => shown.decode())))
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(1400)
})

test('finds a section by keyboard search and opens it', async ({ page }) => {
  await page.goto(at('index'))
  await page.keyboard.press('/')
  await page.keyboard.type('ratelimited')
  await expect(page.getByRole('status')).toContainText('results')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/reference\/errors\.html#ratelimited$/)
  await expect(page.locator('#ratelimited')).toBeInViewport()
  await page.keyboard.press('/')
  await page.keyboard.type('qqqqqq')
  await expect(page.getByRole('status')).toContainText('Nothing found')
})

test('opens the page list on a phone and switches colors', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 })
  await page.goto(at('start/script'))
  await expect(page.getByRole('navigation', { name: 'Pages', exact: true })).toBeHidden()
  await page.getByRole('button', { name: 'Pages' }).click()
  await expect(page.getByRole('navigation', { name: 'Pages', exact: true })).toBeVisible()
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  const button = page.getByRole('button', { name: 'Change the colours' })
  await button.click()
  await button.click()
  expect(await background()).not.toBe(light)
  await page.reload()
  expect(await background()).not.toBe(light)
})
