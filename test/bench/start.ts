// npm run bench start: what a program pays before its first answer. Importing the package, and running README's kind of program up to its
// first request, in a fresh Node over a Node that does nothing; starting a Worker with it in workerd over starting an empty one.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleApp } from '../harness/app.ts'
import { serveWorkerFile } from '../harness/workerd-serve.ts'
import { entry } from './contender.mjs'
import { quantile } from './task.ts'

const repetitions = 21
const programs = {
  bare: ['-e', 'process.exit()'],
  import: ['-e', "Promise.all([import('phi-core'), import('phi-core/providers/anthropic')]).then(() => process.exit())"],
  request: ['--input-type=module', '-e', `${entry}\nglobalThis.fetch = () => process.exit()\nawait run('test-key')`],
}

function nodeMs(args: readonly string[]): number {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env: { ...process.env, NODE_ENV: 'production' } })
  if (status !== 0) throw new Error(String(stderr).slice(0, 500))
  return performance.now() - start
}

/** Until it listens: by then all its code has been evaluated. */
async function workerMs(script: string): Promise<number> {
  const start = performance.now()
  const worker = await serveWorkerFile(script, {})
  const ms = performance.now() - start
  await worker.stop()
  return ms
}

/** Both by turns, so that what else the machine does falls on both. */
async function compare(base: () => number | Promise<number>, own: () => number | Promise<number>): Promise<Times> {
  const times: Times = { base: [], own: [] }
  for (let n = 0; n < repetitions; n += 1) {
    times.base.push(await base())
    times.own.push(await own())
  }
  return times
}

interface Times {
  base: number[]
  own: number[]
}

const folder = mkdtempSync(join(tmpdir(), 'phi-bench-'))
const rows: object[] = []
/** `fastest` hardly depends on what else the machine does. */
function add(what: string, { base, own }: Times, goal: number): void {
  const ms = quantile(own.map((time, n) => time - (base[n] ?? 0)))
  const fastest = Math.min(...own) - Math.min(...base)
  rows.push({ what, 'median ms': ms.toFixed(1), 'fastest ms': fastest.toFixed(1), goal: `≤ ${goal}`, met: ms <= goal })
}
try {
  for (const args of Object.values(programs)) nodeMs(args) // fills the file cache
  const bare = () => nodeMs(programs.bare)
  add('import, over bare Node', await compare(bare, () => nodeMs(programs.import)), 15)
  add('first request, over bare Node', await compare(bare, () => nodeMs(programs.request)), 25)
  const app = await bundleApp(`${entry}\nexport default { fetch: async () => new Response(await run('test-key')) }`, {
    runtime: 'workerd',
    splitting: false,
  })
  const [own, empty] = [join(folder, 'own.js'), join(folder, 'empty.js')]
  writeFileSync(own, app.code)
  writeFileSync(empty, 'export default { fetch: () => new Response("ok") }')
  await workerMs(own)
  add(
    'start of a Worker, over an empty one',
    await compare(
      () => workerMs(empty),
      () => workerMs(own),
    ),
    6,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.table(rows)
