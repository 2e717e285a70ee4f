// A process that is killed: argv directory, then `write` or `list`. Says which session it is about to write, and `done` when that is acknowledged;
// `list` when a list was made, each of which makes an index.
import { writeSync } from 'node:fs'
import { fileDriver } from '../../../../adapters/node/session/file-driver.ts'
import { nodeFileOperations } from '../../../../adapters/node/session/file-operations.ts'
import { logLimits } from '../../../../adapters/node/session/log/segments.ts'
import { logSessionStore } from '../../../../src/session.ts'
import { note } from '../../../../testing/session-store/session-samples.ts'

const [directory = '', task] = process.argv.slice(2)
const store = logSessionStore(fileDriver(directory, nodeFileOperations(), { ...logLimits, looks: 0, ageMs: -1 }))

while (task === 'list') {
  await store.list()
  writeSync(1, 'list\n')
}
for (;;) {
  const id = `s${Math.floor(Math.random() * 8)}`
  writeSync(1, `${id}\n`)
  // Another process may take the session over: then this write is none that was acknowledged.
  const isDone = await store
    .open(id, { agentId: 'a' })
    .then(async (writer) => {
      await writer.append([note('x')])
      await writer.close()
      return true
    })
    .catch(() => false)
  if (isDone) writeSync(1, 'done\n')
}
