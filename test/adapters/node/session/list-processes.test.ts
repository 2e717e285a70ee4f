import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fileSessionStore } from '../../../../adapters/node/index.ts'
import { quickProgram } from '../../../support/quick-program.ts'
import { runs } from '../../../support/runs.ts'
import { temporaryRoot } from '../temporary.ts'

const program = quickProgram(fileURLToPath(new URL('list-process.ts', import.meta.url)))

/** Not the first page: what it shows has the place that the index gives it. */
const unmended = { cursor: '99999999999999/z', limit: 100 }

/** A process that was started, and what it has said. */
interface Started {
  child: ChildProcess
  lines: string[]
}

function start(root: string, task: 'write' | 'list'): Started {
  const child = spawn(process.execPath, [program.path, root, task], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines: string[] = []
  child.stdout?.setEncoding('utf8').on('data', (more: string) => void lines.push(...more.split('\n').filter(Boolean)))
  return { child, lines }
}

/** Kills it once it has said so many lines more. Resolves with the session it was writing. */
async function killAfter({ child, lines }: Started, more: number): Promise<string | undefined> {
  for (const enough = lines.length + more; lines.length < enough; ) await once(child.stdout ?? child, 'data')
  const gone = once(child, 'close')
  child.kill('SIGKILL')
  await gone
  const last = lines.at(-1)
  return last === 'done' || last === 'list' ? undefined : last
}

it('lists every acknowledged record regardless of which process is killed and when', async () => {
  const { root } = temporaryRoot()
  const unsure = new Set<string>()
  let compared = 0
  for (let round = 0; round < runs(2, 100); round++) {
    const [first, second, lister, other] = [start(root, 'write'), start(root, 'write'), start(root, 'list'), start(root, 'list')]
    await killAfter(lister, 3 + (round % 5))
    const again = start(root, 'list')
    for (const each of [await killAfter(first, 20 + round), await killAfter(second, 20)]) if (each !== undefined) unsure.add(each)
    await killAfter(other, 1)
    await killAfter(again, 1)
    const indexed = new Map((await fileSessionStore(root).list(unmended)).sessions.map((each) => [each.sessionId, each.lastActiveAt]))
    rmSync(join(root, '.lists'), { recursive: true })
    const { sessions } = await fileSessionStore(root).list()
    const sure = sessions.filter(({ sessionId }) => !unsure.has(sessionId))
    expect(sure.map(({ sessionId }) => [sessionId, indexed.get(sessionId)])).toEqual(
      sure.map((each) => [each.sessionId, each.lastActiveAt]),
    )
    expect([...indexed.keys()].toSorted()).toEqual(sessions.map(({ sessionId }) => sessionId).toSorted())
    compared += sure.length
    // Nobody writes now: what is there is what everybody knows.
    unsure.clear()
  }
  expect(compared).toBeGreaterThan(5)
})
