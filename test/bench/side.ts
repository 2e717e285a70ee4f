// One side of the comparison in a process of its own, so that neither shapes the code that is compiled for the other.
// argv: scenario, side, ms of CPU to warm up. Warms up, says `ready`, then answers each message with the figures of one sample.
import { GCProfiler, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { limit } from './limit.ts'
import { type Scenario, scenarios } from './scenarios.ts'
import { cpuOf, once, type Side } from './task.ts'

/** What one sample took, per run. */
export interface Sample {
  cpuMs: number
  garbageMB: number
}

setFlagsFromString('--expose-gc')
const collect: (options: { type: 'minor' }) => void = runInNewContext('gc')
const collectYoung = () => collect({ type: 'minor' })

async function cpuMs(scenario: Scenario, side: Side): Promise<number> {
  const ms = await cpuOf(async () => {
    for (let n = 0; n < scenario.repeat; n += 1) await Promise.all(Array.from({ length: scenario.agents }, () => once(scenario, side)))
  })
  return ms / scenario.repeat
}

/** Young objects are collected before, so that nothing is charged to the next sample, and after, so that all garbage is counted. */
async function sample(scenario: Scenario, side: Side): Promise<Sample> {
  collectYoung()
  const collector = new GCProfiler()
  collector.start()
  const ms = await cpuMs(scenario, side)
  collectYoung()
  const bytes = collector.stop().statistics.reduce((sum, { beforeGC, afterGC }) => {
    return sum + beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize
  }, 0)
  return { cpuMs: ms, garbageMB: bytes / 2 ** 20 / scenario.repeat }
}

const [scenario] = scenarios(process.argv[2] ?? '')
const side: Side = process.argv[3] === 'limit' ? limit : (await import('./contender.mjs')).run
if (scenario === undefined) throw new Error(`There is no scenario ${process.argv[2]}.`)
// Until the code is compiled: by CPU time, so that a busy machine does not shorten it.
for (let spent = 0; spent < Number(process.argv[4]); ) spent += (await cpuMs(scenario, side)) * scenario.repeat
process.on('message', async () => process.send?.(await sample(scenario, side)))
process.on('disconnect', () => process.exit(0))
process.send?.('ready')
