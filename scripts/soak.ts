/** `npm run soak [-- kills]`: kills writers of the file store at so many random moments (10,000 unless told) and checks every time. */
import { killLoop, raceWriters } from '../test/adapters/node/session/kill-loop.ts'

const points = Number(process.argv[2] ?? 10_000)
if (!Number.isSafeInteger(points) || points < 1) throw new Error('usage: npm run soak [-- number of kills]')

const started = performance.now()
const report = (done: number): void => {
  if (done % 500 === 0) console.log(`${done} of ${points} kills, ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
const killed = await killLoop(points, report)
console.log(`${killed.kills} kills: ${killed.acknowledged} records acknowledged, ${killed.torn} torn ends, ${killed.faults.length} faults`)
const raced = await raceWriters(8, Math.ceil(points / 8))
console.log(`8 writers at once: ${raced.acknowledged} records acknowledged, ${raced.faults.length} faults`)
for (const fault of [...killed.faults, ...raced.faults].slice(0, 20)) console.error(fault)
process.exitCode = killed.faults.length + raced.faults.length > 0 ? 1 : 0
