/** `npm run soak [-- kills]`: kills writers of the file store, SQLite and Redis at so many random moments each (10,000 unless told) and checks every time. */
import { killLoop, raceWriters } from '../test/adapters/node/session/kill-loop.ts'
import { redisProgram } from '../test/adapters/redis/server.ts'

const points = Number(process.argv[2] ?? 10_000)
if (!Number.isSafeInteger(points) || points < 1) throw new Error('usage: npm run soak [-- number of kills]')

if (redisProgram() === undefined) console.log('NOT RUN: redis: there is no Redis on this machine (apt-get install redis-server)')
for (const kind of ['files', 'sqlite', ...(redisProgram() === undefined ? [] : (['redis'] as const))] as const) {
  const killed = await killLoop(kind, points)
  const found = `${killed.acknowledged} records acknowledged, ${killed.torn} torn ends, ${killed.faults.length} faults`
  console.log(`${kind}: ${killed.kills} kills, ${found}`)
  const raced = await raceWriters(kind, 8, Math.ceil(points / 8))
  console.log(`${kind}: 8 writers at once, ${raced.acknowledged} records acknowledged, ${raced.faults.length} faults`)
  for (const fault of [...killed.faults, ...raced.faults].slice(0, 20)) console.error(fault)
  if (killed.faults.length + raced.faults.length > 0) process.exitCode = 1
}
