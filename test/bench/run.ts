// npm run bench [-- filter]: CPU time of an agent as a ratio to the bare parse of the same bytes. Both run by turns, each in its own process.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { type Scenario, scenarios } from './scenarios.ts'
import type { Sample } from './side.ts'

const processes = 3
const samples = 9

/** A process that is warm. */
async function start(scenario: Scenario, side: 'limit' | 'agent'): Promise<ChildProcess> {
  const child = fork(new URL('side.ts', import.meta.url), [scenario.id, side])
  child.once('exit', (code) => code !== 0 && process.exit(1))
  await once(child, 'message')
  return child
}

async function take(child: ChildProcess): Promise<Sample> {
  child.send('go')
  const [sample] = await once(child, 'message')
  return sample
}

const quantile = (list: number[], share: number) => [...list].sort((a, b) => a - b)[Math.floor(list.length * share)] ?? 0
const middle = (list: number[]) => quantile(list, 0.5).toFixed(1)

async function measure(scenario: Scenario) {
  const ratios: number[] = []
  const own: Sample[] = []
  // Several processes, because what a compiler makes of the same code differs from one to the next.
  for (let n = 0; n < processes; n += 1) {
    const limit = await start(scenario, 'limit')
    const agent = await start(scenario, 'agent')
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
  const ratio = quantile(ratios, 0.5)
  return {
    scenario: scenario.id,
    what: scenario.title,
    ratio: ratio.toFixed(2),
    quartiles: `${quantile(ratios, 0.25).toFixed(2)} – ${quantile(ratios, 0.75).toFixed(2)}`,
    goal: `≤ ${scenario.goal}`,
    met: ratio <= scenario.goal,
    'CPU ms': middle(own.map(({ cpuMs }) => cpuMs)),
    'garbage MB': middle(own.map(({ garbageMB }) => garbageMB)),
  }
}

const rows: Awaited<ReturnType<typeof measure>>[] = []
for (const scenario of scenarios(process.argv[2] ?? '')) rows.push(await measure(scenario))
console.table(rows)
