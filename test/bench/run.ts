// npm run bench [-- filter]: CPU time of an agent, all threads, as a ratio to the bare parse of the same bytes: in a process that has run for
// long, and in one that has just started. Both sides run by turns, each in its own process.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type Goal, type Scenario, scenarios } from './scenarios.ts'
import type { Sample } from './side.ts'
import { quantile } from './task.ts'

/** `first`: after one second of CPU most of the time is still compilation. `steady`: what a server pays. */
const phases: Record<keyof Goal, { warmUpMs: number; processes: number; samples: number }> = {
  first: { warmUpMs: 1000, processes: 5, samples: 4 },
  steady: { warmUpMs: 3000, processes: 3, samples: 12 },
}

/** A process that has run for as long as it should. */
async function start(scenario: Scenario, side: 'limit' | 'agent', warmUpMs: number): Promise<ChildProcess> {
  const child = fork(new URL('side.ts', import.meta.url), [scenario.id, side, String(warmUpMs)])
  child.once('exit', (code) => code !== 0 && process.exit(1))
  await once(child, 'message')
  return child
}

async function take(child: ChildProcess): Promise<Sample> {
  child.send('go')
  const [sample] = await once(child, 'message')
  return sample
}

/** Ratios and own figures of several processes, because what a compiler makes of the same code differs from one to the next. */
async function measure(scenario: Scenario, phase: keyof Goal) {
  const { warmUpMs, processes, samples } = phases[phase]
  const ratios: number[] = []
  const own: Sample[] = []
  for (let n = 0; n < processes; n += 1) {
    const limit = await start(scenario, 'limit', warmUpMs)
    const agent = await start(scenario, 'agent', warmUpMs)
    let before = await take(limit)
    for (let count = 0; count < samples; count += 1) {
      const sample = await take(agent)
      const after = await take(limit)
      ratios.push(sample.cpuMs / ((before.cpuMs + after.cpuMs) / 2))
      own.push(sample)
      before = after
    }
    for (const child of [limit, agent]) child.disconnect()
  }
  const goal = scenario.goal[phase]
  return {
    [phase]: quantile(ratios).toFixed(2),
    [`${phase} quartiles`]: `${quantile(ratios, 0.25).toFixed(2)} – ${quantile(ratios, 0.75).toFixed(2)}`,
    [`${phase} goal`]: `≤ ${goal}${quantile(ratios) <= goal ? '' : ', missed'}`,
    ...(phase === 'steady' && {
      'CPU ms': quantile(own.map(({ cpuMs }) => cpuMs)).toFixed(1),
      'garbage MB': quantile(own.map(({ garbageMB }) => garbageMB)).toFixed(1),
    }),
  }
}

const rows: Record<string, string>[] = []
for (const scenario of scenarios(process.argv[2] ?? '')) {
  const steady = await measure(scenario, 'steady')
  rows.push({ scenario: scenario.id, what: scenario.title, ...steady, ...(await measure(scenario, 'first')) })
}
console.table(rows)
