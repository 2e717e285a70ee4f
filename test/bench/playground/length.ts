/** What a long conversation costs when its page is opened again, and when somebody scrolls through all of it. */
import type { Browser, Page } from 'playwright'
import { quantile } from '../task.ts'
import { type FrameTimes, traceFrames } from './frames.ts'

export interface Length {
  /** Until its last question is there. */
  reloadMs: number
  heapMb: number
  /** From the end to the beginning. */
  scroll: FrameTimes
}

const reloads = 5

/** Imports `history`, which asks `asked` things, into a page that is open. */
export async function measureLength(browser: Browser, page: Page, { history, asked }: { history: string; asked: number }): Promise<Length> {
  const last = page.getByText(`of day ${asked}?`).last()
  await page.getByLabel('File to import').setInputFiles({ name: 'long.jsonl', mimeType: 'text/plain', buffer: Buffer.from(history) })
  await last.waitFor()
  const times: number[] = []
  for (let n = 0; n < reloads; n += 1) {
    const start = performance.now()
    await page.reload()
    await last.waitFor()
    times.push(performance.now() - start)
  }
  const devtools = await page.context().newCDPSession(page)
  for (let n = 0; n < 3; n += 1) await devtools.send('HeapProfiler.collectGarbage')
  const { usedSize } = await devtools.send('Runtime.getHeapUsage')
  const scroll = await traceFrames(browser, page, () => page.evaluate(scrollThrough))
  return { reloadMs: quantile(times), heapMb: usedSize / 1e6, scroll }
}

/** In the page. */
async function scrollThrough(): Promise<void> {
  const box = document.querySelector('.transcript')
  if (box === null) return
  box.scrollTop = box.scrollHeight
  while (box.scrollTop > 0) {
    box.scrollTop -= 300
    await new Promise(requestAnimationFrame)
  }
}
