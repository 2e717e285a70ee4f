// npm run bench playground: what the playground costs a visitor, in a real Chromium. What is sent until something is seen, how long frames
// take while 500 pieces of text a second come in, and what a run of 500 turns holds. Prints Markdown.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright'
import { findChromium } from '../../../scripts/browsers/chromium.ts'
import { longHistory } from '../../harness/long-history.ts'
import { quantile } from '../task.ts'
import { type FrameTimes, traceFrames } from './frames.ts'
import { measureLength } from './length.ts'
import { freshPage, type Line, type Load, measureLoad, watchOrigin } from './load.ts'
import { buildPlayground, type Site, serveSite } from './site.ts'

const loads = 7
/** By their names: 10 Mbit/s, and what is left of it on a bad day. */
const slowLines: Record<string, Line> = {
  '10 Mbit/s and 40 ms': { bytesPerSecond: 1_250_000, latency: 40 },
  '1.6 Mbit/s and 150 ms': { bytesPerSecond: 200_000, latency: 150 },
}
const perSecond = 500
const seconds = 10
const messages = 2000
const goals = { opening: 60_000, firstLoad: 100_000, streamingMs: 1000, frameMs: 16, heapMb: 150, reloadMs: 2000, offOrigin: 0 }

const paragraph =
  'The **ice** drifts south, *slowly*, and `-11 °C` was read at noon. Nobody left the ship; [the depot](https://example.org) lies under the cairn.\n\n'
const list = '- Monday: two walruses\n- Tuesday: calm, the sledge was mended\n- Wednesday: open water, one walrus\n\n'
const code = '```ts\nconst rises = (hull: Hull, ice: number) => (hull.round ? ice * 0.6 : 0)\nconst crew = ["Nansen", "Sverdrup"]\n```\n\n'
const table = '| Day | Wind | Degrees |\n|---|---|---|\n| Monday | north-west | -11 |\n| Tuesday | calm | -17 |\n\n'
const text = (paragraph.repeat(3) + list + code + table).repeat(100)
const pieces = (text.match(/[\s\S]{1,5}/g) ?? []).slice(0, perSecond * seconds)

const rows: { what: string; figure: string; goal: string }[] = []
const add = (what: string, figure: string, goal = '–') => rows.push({ what, figure, goal })
const ms = (value: number): string => `${value.toFixed(value < 20 ? 1 : 0)} ms`
const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`

async function reportLoad(browser: Browser, site: Site): Promise<void> {
  const fast: Load[] = []
  const slow = Object.entries(slowLines).map(([name, line]): { name: string; line: Line; found: Load[] } => ({ name, line, found: [] }))
  for (let n = 0; n < loads; n += 1) {
    fast.push(await measureLoad(browser, site.url))
    for (const { line, found } of slow) found.push(await measureLoad(browser, site.url, line))
  }
  const median = (list: readonly Load[], of: (load: Load) => number) => quantile(list.map(of))
  const sent = (of: (load: Load) => { requests: number; bytes: number }) =>
    `${kB(median(fast, (load) => of(load).bytes))} in ${median(fast, (load) => of(load).requests)} requests`
  const took = (of: (load: Load) => number) =>
    [ms(median(fast, of)), ...slow.map(({ name, found }) => `${ms(median(found, of))} at ${name}`)].join('; ')
  add(
    'sent with gzip until a scenario can be picked',
    sent((load) => load.interactive),
    `≤ ${kB(goals.opening)}`,
  )
  add(
    'and until the first text of its answer',
    sent((load) => load.streaming),
    `≤ ${kB(goals.firstLoad)}`,
  )
  add(
    'and until its answer streams as Markdown',
    sent((load) => load.formatted),
  )
  add(
    'first paint',
    took((load) => load.firstPaintMs),
  )
  add(
    'a scenario can be picked',
    took((load) => load.interactive.ms),
  )
  add(
    'first text of its answer',
    took((load) => load.streaming.ms),
    `≤ ${ms(goals.streamingMs)}`,
  )
  const offOrigin = Math.max(...fast.map((load) => load.offOrigin))
  add('requests to other origins while it loads', String(offOrigin), String(goals.offOrigin))
}

/** Asks the model of `site`, which answers with `pieces`, while the frames are traced. */
async function framesOf(browser: Browser, site: Site, history?: string): Promise<FrameTimes> {
  const { context, page } = await freshPage(browser)
  try {
    const model = { source: 'local', modelId: 'paced', address: `${site.url}/v1`, contextWindow: 1_000_000 }
    const settings = JSON.stringify({ model, compaction: { isOn: false } })
    await page.addInitScript((chosen) => localStorage.setItem('phi-playground-settings', chosen), settings)
    await page.goto(site.url)
    if (history !== undefined) {
      await page.getByLabel('File to import').setInputFiles({ name: 'long.jsonl', mimeType: 'text/plain', buffer: Buffer.from(history) })
      await page
        .getByText(`of day ${messages / 2}?`)
        .last()
        .waitFor()
    }
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('What stands in the logbook?')
    return await traceFrames(browser, page, async () => {
      await page.keyboard.press('Enter')
      await ended(page)
    })
  } finally {
    await context.close()
  }
}

async function ended(page: Page): Promise<void> {
  await page.locator('[data-testid=run-status][data-status=running]').waitFor()
  await page.locator('[data-testid=run-status][data-status=completed]').waitFor({ timeout: 180_000 })
}

function reportFrames(where: string, { frames, p50, p95, cpuP95, betweenP95, longTasks }: FrameTimes): void {
  const figure = `${ms(p50)} median, ${ms(p95)} at the 95th percentile (CPU ${ms(cpuP95)})`
  add(`main thread per frame at ${perSecond} deltas a second, ${where}`, figure, `≤ ${goals.frameMs} ms at the 95th percentile`)
  add(`of it: frames in ${seconds} s; between them; tasks over 50 ms`, `${frames}; ${ms(betweenP95)} at the 95th percentile; ${longTasks}`)
}

async function reportLongRun(browser: Browser, site: Site): Promise<void> {
  const { context, page } = await freshPage(browser)
  const { offOrigin } = watchOrigin(page, site.url)
  await page.goto(site.url)
  await page.getByRole('button', { name: '500 turns', exact: true }).click()
  await ended(page)
  const devtools = await context.newCDPSession(page)
  for (let n = 0; n < 3; n += 1) await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  add('JS heap after the scenario of 500 turns', `${(usedSize / 1e6).toFixed(0)} MB`, `≤ ${goals.heapMb} MB`)
  add('requests to other origins in it', String(offOrigin()), String(goals.offOrigin))
  await context.close()
}

async function reportLength(browser: Browser, site: Site): Promise<void> {
  const { context, page } = await freshPage(browser)
  await page.goto(site.url)
  const { reloadMs, heapMb, scroll } = await measureLength(browser, page, { history: await longHistory(messages), asked: messages / 2 })
  await context.close()
  add(`reload of ${messages / 2} turns with their events and requests`, ms(reloadMs), `≤ ${ms(goals.reloadMs)}`)
  add('JS heap after it', `${heapMb.toFixed(0)} MB`, `≤ ${goals.heapMb} MB`)
  const figure = `${ms(scroll.p50)} median, ${ms(scroll.p95)} at the 95th percentile (CPU ${ms(scroll.cpuP95)})`
  add(`main thread per frame while all ${messages} messages pass by, 300 pixels a frame`, figure, `≤ ${goals.frameMs} ms`)
}

const parts = process.argv.slice(2)
const wants = (part: string): boolean => parts.length === 0 || parts.includes(part)
const folder = mkdtempSync(join(tmpdir(), 'phi-playground-'))
const browser = await chromium.launch((await findChromium()).launchOptions)
try {
  await buildPlayground(folder)
  const site = await serveSite(folder, { pieces, perSecond })
  if (wants('load')) await reportLoad(browser, site)
  if (wants('frames')) {
    reportFrames('empty page', await framesOf(browser, site))
    reportFrames(`${messages} messages`, await framesOf(browser, site, await longHistory(messages)))
  }
  if (wants('length')) await reportLength(browser, site)
  if (wants('heap')) await reportLongRun(browser, site)
  await site.close()
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}
console.log('| What | Measured | Goal |\n|---|---|---|')
for (const { what, figure, goal } of rows) console.log(`| ${what} | ${figure} | ${goal} |`)
