/** What a trace of Chromium tells of the frames of a page. */
import type { Browser, Page } from 'playwright'
import { quantile } from '../task.ts'

/** An event of a trace. Times are in microseconds. */
interface TraceEvent {
  name: string
  pid: number
  tid: number
  ts: number
  dur?: number
  /** CPU time of the thread: what else the machine does is not in it. */
  tdur?: number
  args: { name?: string }
}

/** What the main thread of a page did while it was traced. */
export interface FrameTimes {
  frames: number
  /** Milliseconds of all work of the main thread from one frame to the next. */
  p50: number
  p95: number
  /** The same as CPU time. */
  cpuP95: number
  /** Milliseconds between the beginnings of frames. */
  betweenP95: number
  longTasks: number
}

const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', '__metadata']
const longTaskMs = 50

/** Traces `page` while `work` goes on. No other page of `browser` may do anything meanwhile. */
export async function traceFrames(browser: Browser, page: Page, work: () => Promise<void>): Promise<FrameTimes> {
  await browser.startTracing(page, { categories })
  await work()
  const trace = await browser.stopTracing()
  const { traceEvents }: { traceEvents: TraceEvent[] } = JSON.parse(trace.toString())
  return frameTimes(ofMainThread(traceEvents))
}

/** The events of the renderer that drew most frames. */
function ofMainThread(events: readonly TraceEvent[]): TraceEvent[] {
  const threads = new Map<string, TraceEvent[]>()
  for (const event of events) {
    const thread = `${event.pid} ${event.tid}`
    const list = threads.get(thread) ?? []
    list.push(event)
    threads.set(thread, list)
  }
  const drawn = (list: readonly TraceEvent[]) => list.filter(({ name }) => name === 'FireAnimationFrame').length
  const [most = []] = [...threads.values()].sort((a, b) => drawn(b) - drawn(a))
  return most.toSorted((a, b) => a.ts - b.ts)
}

function frameTimes(events: readonly TraceEvent[]): FrameTimes {
  const tasks = events.filter(({ name, dur = 0 }) => name === 'RunTask' && dur > 0)
  const beginnings = events.filter(({ name }) => name === 'FireAnimationFrame').map(({ ts }) => ts)
  const frames: { start: number; wall: number; cpu: number }[] = []
  let next = 0
  for (const { ts, dur = 0, tdur = dur } of tasks) {
    // The task in which its callbacks run begins a frame; what follows up to the next one is part of it.
    const isBeginning = (beginnings[next] ?? Number.POSITIVE_INFINITY) < ts + dur
    while ((beginnings[next] ?? Number.POSITIVE_INFINITY) < ts + dur) next += 1
    if (isBeginning) frames.push({ start: ts, wall: 0, cpu: 0 })
    const frame = frames.at(-1)
    if (frame === undefined) continue
    frame.wall += dur / 1000
    frame.cpu += tdur / 1000
  }
  const walls = frames.map(({ wall }) => wall)
  const between = frames.slice(1).map(({ start }, at) => (start - (frames[at]?.start ?? start)) / 1000)
  return {
    frames: frames.length,
    p50: quantile(walls),
    p95: quantile(walls, 0.95),
    cpuP95: quantile(
      frames.map(({ cpu }) => cpu),
      0.95,
    ),
    betweenP95: quantile(between, 0.95),
    longTasks: tasks.filter(({ dur = 0 }) => dur > longTaskMs * 1000).length,
  }
}
