import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type BrowserContext, type BrowserType, chromium, expect, type Page, test } from 'playwright/test'
import { findChromium } from '../../scripts/browsers/chromium.ts'
import { main } from '../page/browser.ts'
import type {} from './session-page.ts'

/** How often a tab, or the whole browser, ends while it writes: twice in each order of ends, unless told. */
const crashes = Number(process.env.PHI_TAB_CRASHES ?? 12)
const address = 'http://127.0.0.1:4999/'
const { launchOptions } = await findChromium()

let script = ''
let folder = ''
let context: BrowserContext
const acknowledged: string[] = []
let takenOver: string[] = []

test.beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ['e2e/kept/session-page.ts'],
    absWorkingDir: join(import.meta.dirname, '../..'),
    bundle: true,
    format: 'esm',
    write: false,
  })
  script = outputFiles[0]?.text ?? ''
})

test.beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'phi-tabs-'))
  acknowledged.length = 0
  takenOver = []
  context = await launch(chromium)
})

test.afterEach(async () => {
  await context.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

/** A browser with its profile on disk, which outlives it. */
async function launch(browser: BrowserType): Promise<BrowserContext> {
  const started = await browser.launchPersistentContext(folder, { ...launchOptions, headless: true })
  await started.route(`${address}**`, (route) =>
    route.request().url().endsWith('.js')
      ? route.fulfill({ contentType: 'text/javascript', body: script })
      : route.fulfill({ contentType: 'text/html', body: '<!doctype html><script type="module" src="/page.js"></script>' }),
  )
  await started.exposeFunction('acknowledged', (text: string) => void acknowledged.push(text))
  await started.exposeFunction('takenOver', (sessionId: string) => void takenOver.push(sessionId))
  return started
}

async function newTab(): Promise<Page> {
  const page = await context.newPage()
  await page.goto(address)
  await page.waitForFunction(() => window.session !== undefined)
  return page
}

const open = (page: Page) => page.evaluate(() => window.session.open())
const textsIn = (page: Page) => page.evaluate(() => window.session.texts())

function write(page: Page, prefix: string, count = 100_000, length = 400): Promise<string> {
  return page.evaluate(([name, many, size]) => window.session.write(name, many, size), [prefix, count, length] as const)
}

/** Four ways to end. Each leaves the page no time to say anything. */
const endings: Record<string, (page: Page) => Promise<void>> = {
  async crash(page) {
    const crashed = page.waitForEvent('crash')
    const session = await context.newCDPSession(page)
    session.send('Page.crash').catch(() => undefined)
    await crashed
    await page.close()
  },
  close: (page) => page.close({ runBeforeUnload: false }),
  async reload(page) {
    await page.reload()
    await page.close()
  },
  async 'crash of the browser'(page) {
    const closed = context.waitForEvent('close')
    const session = await context.newCDPSession(page)
    session.send('Browser.crash').catch(() => undefined)
    await closed
    context = await launch(chromium)
  },
}

test(`keeps acknowledged records across ${crashes} tab crashes`, async () => {
  test.setTimeout(60_000 + crashes * 4000)
  const kinds = ['crash', 'close', 'crash', 'reload', 'crash', 'crash of the browser']
  for (let round = 0; round < crashes; round++) {
    const page = await newTab()
    await expect.poll(() => page.evaluate(() => window.session.openIds())).toEqual([])
    const { texts, damage } = await open(page)
    expect(damage).toBe(undefined)
    expect(new Set(texts).size).toBe(texts.length)
    const kept = new Set(texts)
    expect(acknowledged.filter((text) => !kept.has(text))).toEqual([])
    expect(await page.evaluate(() => window.session.openIds())).toEqual(['s'])
    const before = acknowledged.length
    write(page, `${round}`).catch(() => undefined)
    const wanted = before + 1 + ((round * 7) % 13)
    await expect.poll(() => acknowledged.length, { intervals: [1] }).toBeGreaterThanOrEqual(wanted)
    await endings[kinds[round % kinds.length] ?? 'crash']?.(page)
  }
  const kept = new Set(await textsIn(await newTab()))
  expect(acknowledged.length).toBeGreaterThanOrEqual(crashes)
  expect(acknowledged.filter((text) => !kept.has(text))).toEqual([])
})

test('takes over from a writing tab, which receives a notice and rejected writes', main, async () => {
  const [first, second] = [await newTab(), await newTab()]
  await open(first)
  const writing = write(first, 'first')
  await expect.poll(() => acknowledged.length).toBeGreaterThan(10)
  await open(second)
  expect(await writing).toBe('conflict')
  await expect.poll(() => takenOver).toEqual(['s'])
  expect(await write(second, 'second', 3)).toBe('written')
  const kept = await textsIn(first)
  expect(kept.slice(-3)).toEqual(['second.0', 'second.1', 'second.2'])
  await expect.poll(() => acknowledged.filter((text) => !kept.includes(text))).toEqual([])
})

test('rejects with quota on a full disk and keeps acknowledged records', async () => {
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(address).origin, quotaSize: 6_000_000 })
  await page.goto(address)
  await open(page)
  expect(await write(page, 'much', 40, 300_000)).toBe('quota')
  const kept = await textsIn(page)
  expect(kept.length).toBeGreaterThan(0)
  await expect.poll(() => acknowledged).toEqual(kept)
  expect(await write(page, 'more', 1)).toBe('quota')
  await session.send('Storage.overrideQuotaForOrigin', { origin: new URL(address).origin })
  expect(await page.evaluate(() => window.session.delete('s'))).toBe(true)
})
